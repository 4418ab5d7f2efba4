"""Whose fault it is that a valid instance cannot be written.

The engine refuses a text at a byte. The byte belongs to a value of the instance, the value to the
places of the schema that such values meet, and of their keywords one has to be named. A place is
found by its path: the names and indices that its route goes through.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from schemaguard.grammar.audit.constraints import SAME_PLACE, SPEAKS_OF
from schemaguard.grammar.audit.search import refused_at
from schemaguard.grammar.audit.stepping import LAST_INDEX
from schemaguard.grammar.audit.writing import PLAIN

if TYPE_CHECKING:
    from schemaguard.grammar.audit.constraints import Place
    from schemaguard.grammar.audit.engines import Grammar
    from schemaguard.grammar.audit.writing import Writing

# Stands in a path for any index, and any name.
_ANY_INDEX = object()
_ANY_NAME = object()

#: Keywords that say nothing of their own, but that engines read as if they did.
APPLICATORS: dict[str, frozenset[str]] = {
    "properties": frozenset({"object"}),
    "patternProperties": frozenset({"object"}),
    "prefixItems": frozenset({"array"}),
}

# A value says little about these: it keeps them whatever else is wrong with it.
_BROAD = frozenset({"type", "anyOf", "oneOf", "not", "if"})

_KINDS: tuple[tuple[str, Any], ...] = (
    ("boolean", bool),
    ("number", (int, float)),
    ("string", str),
    ("array", list),
    ("object", dict),
    ("null", type(None)),
)


class Blame:
    """Finds the places that a path leads to.

    Args:
        places: of the schema.
    """

    def __init__(self, places: list[Place]) -> None:
        self._by_length: dict[int, list[tuple[tuple[Any, ...], Place]]] = {}
        paths: dict[str, tuple[Any, ...]] = {}
        for place in places:
            parent = place.parent
            path = () if parent is None else paths[parent.pointer]
            if parent is not None and place.step[0] not in SAME_PLACE:
                path = (*path, _path_step(place))
            paths[place.pointer] = path
            self._by_length.setdefault(len(path), []).append((path, place))

    def places(self, path: tuple[Any, ...]) -> list[Place]:
        """The places whose values are at the path."""
        return [
            place
            for pattern, place in self._by_length.get(len(path), ())
            if all(map(_fits, pattern, path))
        ]

    def of(
        self,
        grammar: Grammar,
        text: str,
        value: Any,
        keyword: str,
        place: Place,
        writing: Writing = PLAIN,
    ) -> tuple[Place, str]:
        """The place and the keyword to blame for a valid text that the grammar refuses.

        Args:
            grammar: that refuses it.
            text: of an instance.
            value: the instance.
            keyword: what the instance was made for, which is to blame where nothing better is.
            place: where it is.
            writing: how the text was written.
        """
        return self.at(refused_at(grammar, text, writing), value, keyword, place)

    def at(
        self, path: tuple[Any, ...], value: Any, keyword: str, place: Place
    ) -> tuple[Place, str]:
        """The place and the keyword to blame for a member of a valid instance.

        Args:
            path: of the member.
            value: the instance.
            keyword: what it was made for, which is to blame where nothing better is.
            place: where that is.
        """
        found = value
        for key in path:
            try:
                found = found[key]
            except (KeyError, IndexError, TypeError):
                return place, keyword
        there = self.places(path)
        if place in there or not there:
            own = value if not there else found
            return place, _keyword(keyword, own, place.schema)
        ranked = [(other, _keyword("type", found, other.schema)) for other in there]
        named = [
            row for row in ranked if isinstance(row[0].schema, dict) and row[1] in row[0].schema
        ]
        narrow = [row for row in named if row[1] not in _BROAD]
        return (narrow or named or [(place, keyword)])[0]


def _path_step(place: Place) -> Any:
    keyword, key = place.step
    if keyword == "properties":
        return key
    if keyword == "prefixItems":
        return min(key, LAST_INDEX)
    return _ANY_INDEX if "tems" in keyword else _ANY_NAME


def _fits(step: Any, key: Any) -> bool:
    if step is _ANY_INDEX:
        return isinstance(key, int)
    if step is _ANY_NAME:
        return isinstance(key, str)
    return bool(step == key)


def _keyword(keyword: str, value: Any, schema: Any) -> str:
    """Which keyword of a schema to blame for a value that was made for `keyword`.

    Nearly any value keeps `type`. Where another keyword speaks of values like this one, that is
    more to blame.
    """
    if keyword not in _BROAD or not isinstance(schema, dict):
        return keyword
    kind = next(name for name, types in _KINDS if isinstance(value, types))
    order = [*SPEAKS_OF.items(), *APPLICATORS.items()]
    if kind == "object" and not _requires_undeclared(schema):
        # A member too many, then, and not one too few.
        order = [*_LISTS, *APPLICATORS.items(), *order]
    for other, kinds in order:
        if other in schema and other not in _BROAD and (kinds is None or kind in kinds):
            return other
    return keyword


# What beats all other keywords of its schema.
_LISTS: list[tuple[str, frozenset[str] | None]] = [("const", None), ("enum", None)]


def _requires_undeclared(schema: dict[str, Any]) -> bool:
    declared = schema.get("properties")
    required = schema.get("required")
    if not isinstance(required, list):
        return False
    return any(name not in (declared if isinstance(declared, dict) else ()) for name in required)

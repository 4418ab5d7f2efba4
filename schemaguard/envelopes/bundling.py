"""Schemas that stand by themselves, of a document whose schemas refer to each other.

In an OpenAPI document a reference leads from the root of the document, not of the schema: a schema
that is taken out of it has to bring along what it refers to. It gets a copy of each under `$defs`,
as gateways and code generators make them; all references in it lead there.
"""

from __future__ import annotations

import re

from schemaguard import data
from schemaguard.keywords import DATA, DEPENDENCIES, KEYWORDS, SCHEMA_MAP

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from schemaguard.envelopes.result import Place

#: JSON values that all bundles of one document may have together. Each operation brings along all
#: that it refers to: in a large document that multiplies.
MAX_VALUES = 5_000_000

#: Steps of a reference that is followed. Places are hashed, and so must not nest without bound.
_MAX_STEPS = 32

_MAPS = (SCHEMA_MAP, DEPENDENCIES)
_is_plain = re.compile(r"[A-Za-z0-9_.-]{1,64}").fullmatch
_NAMELESS = "definition"
_HOLDERS = frozenset(name for name, keyword in KEYWORDS.items() if keyword.holds != DATA)


class _Definition:
    """What references lead to.

    Attributes:
        name: under `$defs`.
        place: in the document.
        schema: the copy.
        uses: names of the definitions that it refers to.
        size: JSON values in it.
    """

    __slots__ = ("name", "place", "schema", "size", "uses")

    def __init__(self, name: str, place: Place, schema: Any, size: int) -> None:
        self.name = name
        self.place = place
        self.schema = schema
        self.size = size
        self.uses: Iterable[str] | None = None  # not yet looked at


class Bundler:
    """Makes the schemas of one document stand by themselves.

    Args:
        top: where the document is.
        document: the document.
    """

    __slots__ = ("_by_name", "_by_place", "_by_reference", "_document", "_taken", "_top", "_values")

    def __init__(self, top: Place, document: dict[str, Any]) -> None:
        self._top = top
        self._document = document
        self._by_reference: dict[str, _Definition | None] = {}
        self._by_place: dict[Place, _Definition] = {}
        self._by_name: dict[str, _Definition] = {}
        self._taken: dict[str, int] = {}
        self._values = 0

    def bundled(self, place: Place, schema: Any) -> tuple[Any, Mapping[str, Place]] | None:
        """A schema with all that it refers to.

        Args:
            place: of the schema.
            schema: the schema.

        Returns:
            The schema, itself when it refers to nothing outside; and definition under `$defs` →
            its place in the document. None when the document's schemas have become too many values.
        """
        if data.size(schema) is None:  # it contains itself
            return schema, {}
        copy, uses = self._copied(schema)
        if not uses:
            return schema, {}
        found: dict[str, _Definition] = {}
        pending = list(uses)
        while pending:
            name = pending.pop()
            if name in found:
                continue
            definition = found[name] = self._by_name[name]
            if definition.uses is None:
                definition.schema, definition.uses = self._copied(definition.schema)
            self._values += definition.size
            if self._values > MAX_VALUES:
                return None
            pending += definition.uses
        definitions = {name: found[name].schema for name in sorted(found)}
        places = {name: found[name].place for name in found}
        again = self._by_place.get(place)
        if again is not None and again.name in found:  # one copy of it is enough
            return {"$ref": f"#/$defs/{again.name}", "$defs": definitions}, places
        # A reference into the schema's own `$defs` would have led out of the document's root.
        own = copy.get("$defs")
        copy["$defs"] = {**(own if own.__class__ is dict else {}), **definitions}
        return copy, places

    def _copied(self, schema: Any) -> tuple[Any, Iterable[str]]:
        """A copy of the schemas in a schema, with references into `$defs`, and the names there."""
        uses: dict[str, None] = {}
        root = [schema]
        pending: list[tuple[Any, Any]] = [(root, 0)]
        while pending:
            holder, key = pending.pop()
            if holder[key].__class__ is not dict:
                continue
            copy = holder[key] = dict(holder[key])
            definition = self._defined(copy.get("$ref"))
            if definition is not None:
                copy["$ref"] = f"#/$defs/{definition.name}"
                uses[definition.name] = None
            for keyword in copy.keys() & _HOLDERS:
                held = copy[keyword]
                if held.__class__ is list:
                    held = copy[keyword] = list(held)
                    pending += [(held, index) for index in range(len(held))]
                elif held.__class__ is dict and KEYWORDS[keyword].holds in _MAPS:
                    held = copy[keyword] = dict(held)
                    pending += [(held, name) for name in held]
                else:
                    pending.append((copy, keyword))
        return root[0], tuple(uses)

    def _defined(self, reference: object) -> _Definition | None:
        """What a reference leads to; None for one that leads nowhere, which it then says itself."""
        if reference.__class__ is not str:
            return None
        if reference not in self._by_reference:
            self._by_reference[reference] = self._define(reference)
        return self._by_reference[reference]

    def _define(self, reference: str) -> _Definition | None:
        found = follow(self._top, self._document, reference)
        if found is None or found[1].__class__ not in (dict, bool):
            return None
        place, schema = found
        if place not in self._by_place:
            size = data.size(schema)
            if size is None:
                return None
            definition = _Definition(self._free(reference.rpartition("/")[2]), place, schema, size)
            self._by_place[place] = self._by_name[definition.name] = definition
        return self._by_place[place]

    def _free(self, token: str) -> str:
        """A name for what stands at a token: that, where it needs no escapes and is not taken."""
        base = token if _is_plain(token) else _NAMELESS
        name = base
        while name in self._by_name:
            self._taken[base] = self._taken.get(base, 1) + 1
            name = f"{base}-{self._taken[base]}"
        return name


def follow(top: Place, document: dict[str, Any], reference: str) -> tuple[Place, Any] | None:
    """Place and value that a reference like `#/components/schemas/Pet` names in a document."""
    if not reference.startswith("#/") or reference.count("/") > _MAX_STEPS:
        return None
    place: Place = top
    value: Any = document
    for step in reference[2:].split("/"):
        token = _unescaped(step)
        if value.__class__ is list:
            if not (token.isascii() and token.isdecimal() and len(token) <= _INDEX_DIGITS):
                return None
            index = int(token)
            if index >= len(value):
                return None
            place, value = (place, index), value[index]
        elif value.__class__ is dict and token in value:
            place, value = (place, token), value[token]
        else:
            return None
    return place, value


#: More digits are no index of a list that fits in memory.
_INDEX_DIGITS = 12


def _unescaped(step: str) -> str:
    """A token of a pointer in a URI fragment: percent-decoded, then `~1` and `~0` undone."""
    if "%" in step:
        first, *rest = step.split("%")
        try:
            raw = [bytes.fromhex(part[:2]) + part[2:].encode() for part in rest]
            step = (first.encode() + b"".join(raw)).decode()
        except ValueError:  # no hexadecimal digits, or no UTF-8: it names nothing
            return step
    return step.replace("~1", "/").replace("~0", "~")

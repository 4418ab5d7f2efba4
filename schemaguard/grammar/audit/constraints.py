"""What restricts instances: every keyword that does, at every place that instances can reach.

Places are found breadth first from the root, through local references, each once and on its
shortest route; a definition that nothing refers to restricts nothing. The route says how an
instance gets there: into which property or item, by which branch.

A constraint is the smallest part of a schema that can be broken alone. `properties`, `items`,
`$ref` and `allOf` only pass on what their subschemas say, so those count and they do not. What an
instance must match as a whole (`not`, `if`, `contains`, `propertyNames`, `dependentSchemas`) counts
as one constraint and is not entered.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from schemaguard.grammar.audit.judge import STANDARD_FORMATS, without
from schemaguard.reads import resolve
from schemaguard.report import escape, pointer_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from schemaguard.grammar.audit.judge import Judge

#: Most places of one schema; the rest is not audited.
MAX_PLACES = 5_000

#: A step of a route: the keyword, and the property, pattern or index in it.
Step = tuple[str, Any]

#: Steps that stay at the same place of the instance; the others go to a member of it.
SAME_PLACE = frozenset({"$ref", "allOf", "anyOf", "oneOf", "then", "else"})

_NUMBERS = frozenset({"number", "integer"})
_STRINGS = frozenset({"string"})
_ARRAYS = frozenset({"array"})
_OBJECTS = frozenset({"object"})

#: keyword → the types of instances that it says something about; None for all.
SPEAKS_OF: dict[str, frozenset[str] | None] = {
    "type": None,
    "enum": None,
    "const": None,
    "minimum": _NUMBERS,
    "maximum": _NUMBERS,
    "exclusiveMinimum": _NUMBERS,
    "exclusiveMaximum": _NUMBERS,
    "multipleOf": _NUMBERS,
    "minLength": _STRINGS,
    "maxLength": _STRINGS,
    "pattern": _STRINGS,
    "format": _STRINGS,
    "minItems": _ARRAYS,
    "maxItems": _ARRAYS,
    "uniqueItems": _ARRAYS,
    "contains": _ARRAYS,
    "minContains": _ARRAYS,
    "maxContains": _ARRAYS,
    "items": _ARRAYS,
    "additionalItems": _ARRAYS,
    "unevaluatedItems": _ARRAYS,
    "required": _OBJECTS,
    "minProperties": _OBJECTS,
    "maxProperties": _OBJECTS,
    "additionalProperties": _OBJECTS,
    "unevaluatedProperties": _OBJECTS,
    "propertyNames": _OBJECTS,
    "dependentRequired": _OBJECTS,
    "dependentSchemas": _OBJECTS,
    "dependencies": _OBJECTS,
    "anyOf": None,
    "oneOf": None,
    "not": None,
    "if": None,
}

# A keyword with such a value restricts nothing.
_VACUOUS: dict[str, tuple[Any, ...]] = {
    "minLength": (0,),
    "minItems": (0,),
    "minProperties": (0,),
    "minContains": (1,),
    "uniqueItems": (False,),
    "required": ([],),
    "dependentRequired": ({},),
    "dependentSchemas": ({},),
    "dependencies": ({},),
    "exclusiveMinimum": (False,),
    "exclusiveMaximum": (False,),
}


class Place:
    """A schema that instances meet, and how they get to it.

    Attributes:
        pointer: JSON Pointer of the schema.
        schema: the schema, a part of the judge's document.
        parent: the place before it on its route; None for the root.
        step: from there to here.
        other: another parent and step, of a definition that is referred to twice; None for none.
    """

    __slots__ = ("other", "parent", "pointer", "schema", "step")

    def __init__(
        self, pointer: str, schema: Any, parent: Place | None = None, step: Step = ("", None)
    ) -> None:
        self.pointer = pointer
        self.schema = schema
        self.parent = parent
        self.step = step
        self.other: tuple[Place, Step] | None = None

    def route(self, *, other: bool = False) -> list[Step]:
        """The steps from the root to here.

        Args:
            other: by another reference to the definition that it is in; see `has_other`.
        """
        steps = []
        way: tuple[Place | None, Step] = (self, self.step)
        while True:
            place = way[0]
            if place is None or place.parent is None:
                break
            if other and place.other is not None:
                way = place.other
                other = False
            else:
                way = (place.parent, place.step)
            steps.append(way[1])
        steps.reverse()
        return steps

    def has_other(self) -> bool:
        """Whether there is a second route."""
        return any(place.other is not None for place in self.way())

    def way(self) -> Iterator[Place]:
        """This place, and those before it on its route."""
        place: Place | None = self
        while place is not None:
            yield place
            place = place.parent


class Constraint:
    """A keyword at a place.

    Attributes:
        place: where it is.
        keyword: its name; "false" for the schema `false` itself.
        value: its value.
        holder: the map that it is taken out of.
    """

    __slots__ = ("_key", "holder", "keyword", "place", "value")

    def __init__(self, place: Place, keyword: str, holder: Any, key: Any) -> None:
        self.place = place
        self.keyword = keyword
        self.value = holder[key]
        self.holder = holder
        self._key = key

    def is_in(self, broken: set[tuple[int, str]]) -> bool:
        """Whether it is among what `Judge.broken` returned."""
        # The judge reports what is counted by `contains` under that name.
        reported = "contains" if self.keyword.endswith("Contains") else self.keyword
        return (id(self.place.schema), reported) in broken

    def removed(self) -> AbstractContextManager[None]:
        """The judge's document without the constraint, for the time of the block."""
        return without(self.holder, self._key, True if self.keyword == "false" else None)


def places(judge: Judge) -> tuple[list[Place], bool]:
    """The places that instances of the judge's schema can reach, and whether those are all."""
    found: dict[str, Place] = {}
    waiting = {"": Place("", judge.schema)}
    queue = deque(waiting)
    while queue:
        place = waiting.pop(queue.popleft())
        if len(found) == MAX_PLACES:
            return list(found.values()), False
        found[place.pointer] = place
        for pointer, schema, step in _children(place, judge):
            known = found.get(pointer) or waiting.get(pointer)
            if known is None:
                waiting[pointer] = Place(pointer, schema, place, step)
                queue.append(pointer)
            elif known.other is None and known not in place.way():
                known.other = (place, step)
    return list(found.values()), True


def constraints(found: list[Place], judge: Judge) -> list[Constraint]:
    """The constraints of the places, in their order."""
    return [constraint for place in found for constraint in _of(place, judge)]


def target(root: Any, reference: Any) -> tuple[str, Any] | None:
    """The pointer and the schema that a local reference leads to, or None."""
    found = resolve(root, reference)
    return None if found is None else (pointer_of(None, found[1]), found[0])


def overridden(schema: dict[str, Any], judge: Judge) -> bool:
    """Whether a `$ref` makes the other keywords of the schema void."""
    return judge.ref_overrides and "$ref" in schema


def _children(place: Place, judge: Judge) -> Iterator[tuple[str, Any, Step]]:
    schema, here = place.schema, place.pointer
    if not isinstance(schema, dict):
        return
    if "$ref" in schema:
        found = target(judge.schema, schema["$ref"])
        if found is not None:
            yield *found, ("$ref", None)
        if overridden(schema, judge):
            return
    types = declared_types(schema)
    for keyword in schema:
        if keyword not in judge.knows and keyword not in {"then", "else"}:
            continue
        value = schema[keyword]
        below = f"{here}/{keyword}"
        if keyword in {"properties", "patternProperties"} and isinstance(value, dict):
            if types is None or "object" in types:
                for name, member in value.items():
                    yield f"{below}/{escape(name)}", member, (keyword, name)
        elif keyword == "additionalProperties" and isinstance(value, dict):
            if types is None or "object" in types:
                yield below, value, (keyword, None)
        elif keyword in {"items", "additionalItems"} and isinstance(value, dict):
            if types is None or "array" in types:
                yield below, value, (keyword, None)
        elif keyword in {"prefixItems", "items"} and isinstance(value, list):
            if types is None or "array" in types:
                for index, member in enumerate(value):
                    yield f"{below}/{index}", member, ("prefixItems", index)
        elif keyword in {"allOf", "anyOf", "oneOf"} and isinstance(value, list):
            if keyword == "anyOf" and _allows_all(value, judge):
                continue
            for index, member in enumerate(value):
                yield f"{below}/{index}", member, (keyword, index)
        elif keyword in {"then", "else"} and isinstance(value, dict) and "if" in schema:
            yield below, value, (keyword, None)


def _of(place: Place, judge: Judge) -> Iterator[Constraint]:
    schema = place.schema
    if schema is False and place.parent is not None:
        holder = place.parent.schema
        keyword, key = place.step
        if isinstance(holder.get(keyword), dict) and key in holder[keyword]:
            yield Constraint(place, "false", holder[keyword], key)
    if not isinstance(schema, dict) or overridden(schema, judge):
        return
    types = declared_types(schema)
    for keyword, value in schema.items():
        if keyword not in SPEAKS_OF or keyword not in judge.knows:
            continue
        if any(
            value == vacuous and type(value) is type(vacuous)
            for vacuous in _VACUOUS.get(keyword, ())
        ):
            continue
        spoken = SPEAKS_OF[keyword]
        if spoken is not None and types is not None and not spoken & types:
            continue
        if _restricts(keyword, value, schema, judge):
            yield Constraint(place, keyword, schema, keyword)


def _restricts(keyword: str, value: Any, schema: dict[str, Any], judge: Judge) -> bool:
    if keyword == "format":
        return isinstance(value, str) and (value in STANDARD_FORMATS or value in judge.formats)
    if keyword in {"items", "additionalItems", "additionalProperties"}:
        return value is False
    if keyword == "propertyNames" and isinstance(value, dict):
        # A name is a string.
        return bool(judge.knows.intersection(value) - {"type"}) or "string" not in _types(value)
    if keyword in {"unevaluatedProperties", "unevaluatedItems", "propertyNames"}:
        return value is not True and value != {}
    if keyword in {"minContains", "maxContains"}:
        return "contains" in schema
    if keyword == "if":
        return any(schema.get(branch, True) not in (True, {}) for branch in ("then", "else"))
    if keyword == "anyOf":
        return isinstance(value, list) and not _allows_all(value, judge)
    if keyword == "type" and isinstance(value, list):
        return len({"number", *value}) < 7
    return True


def _allows_all(branches: list[Any], judge: Judge) -> bool:
    """Whether a branch takes any instance, so that the others do not matter."""
    return any(
        branch is True or (isinstance(branch, dict) and judge.knows.isdisjoint(branch))
        for branch in branches
    )


def _types(schema: dict[str, Any]) -> frozenset[str]:
    declared = declared_types(schema)
    return frozenset({"string"}) if declared is None else declared


def declared_types(schema: dict[str, Any]) -> frozenset[str] | None:
    """The types that a schema's own `type` allows; None when it allows all."""
    declared = schema.get("type")
    if isinstance(declared, str):
        return frozenset((declared,))
    if isinstance(declared, list):
        return frozenset(name for name in declared if isinstance(name, str))
    return None

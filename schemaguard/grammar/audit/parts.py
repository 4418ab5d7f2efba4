"""What parts of a schema say about one value: see `maker`.

A part is a schema without the keywords that put other schemas beside it. All parts hold at once.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from schemaguard.grammar.audit import regexes

if TYPE_CHECKING:
    from schemaguard.grammar.audit.constraints import Step

TYPES = ("string", "integer", "number", "boolean", "array", "object", "null")

Part = dict[str, Any]


class NoInstance(Exception):  # noqa: N818 - a branch that cannot be taken, not an error
    """Nothing can be made here."""


def is_number(value: Any) -> bool:
    """Whether a value is a number and no bool."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def count(part: Part, keyword: str, default: float) -> float:
    """A keyword's value where it is a count, else the default."""
    value = part.get(keyword)
    return value if is_number(value) and value >= 0 else default  # type: ignore[return-value,operator]


def kinds_of(value: Any) -> frozenset[str]:
    """The types that a value is of."""
    if isinstance(value, bool):
        return frozenset({"boolean"})
    if isinstance(value, (int, float)):
        whole = isinstance(value, int) or value.is_integer()
        return frozenset({"number", "integer"} if whole else {"number"})
    names = {str: "string", list: "array", dict: "object", type(None): "null"}
    return frozenset({names[type(value)]})


def kinds(parts: list[Part]) -> frozenset[str]:
    """The types that all parts allow; a whole number is a number, too."""
    kinds = frozenset(TYPES)
    for part in parts:
        declared = part.get("type")
        if declared is not None:
            names = {declared} if isinstance(declared, str) else set(declared)
            if "number" in names:
                names.add("integer")
            kinds &= names
    return kinds - {"integer"} if {"number", "integer"} <= kinds else kinds


def listed(parts: list[Part]) -> list[Any] | None:
    """The values that `const` or `enum` leave, or None when there is neither."""
    for part in parts:
        if "const" in part:
            return [part["const"]]
    lists = [part["enum"] for part in parts if isinstance(part.get("enum"), list)]
    if not lists:
        return None
    first, *others = sorted(lists, key=len)
    return [value for value in first if all(value in other for other in others)]


def implied(parts: list[Part]) -> list[str]:
    """The types that parts without `type` speak of."""
    implied = []
    for kind, keywords in _TELLING:
        if any(keyword in part for part in parts for keyword in keywords):
            implied.append(kind)
    return implied


_TELLING = (
    ("object", ("properties", "required", "additionalProperties", "patternProperties",
                "minProperties", "maxProperties", "propertyNames", "dependentRequired",
                "dependentSchemas", "unevaluatedProperties", "dependencies")),
    ("array", ("items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains",
               "unevaluatedItems", "additionalItems")),
    ("string", ("minLength", "maxLength", "pattern", "format")),
    ("integer", ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")),
)  # fmt: skip


def bounds(parts: list[Part]) -> tuple[float, float, bool, bool]:
    """Least and most number, and whether each is itself excluded.

    Raises:
        NoInstance: nothing is between them.
    """
    low, high, low_open, high_open = -math.inf, math.inf, False, False
    for part in parts:
        for keyword, opened in (("minimum", False), ("exclusiveMinimum", True)):
            bound: Any = part.get(keyword)
            if is_number(bound) and (bound > low or (bound == low and opened)):
                low, low_open = bound, opened or part.get("exclusiveMinimum") is True
        for keyword, opened in (("maximum", False), ("exclusiveMaximum", True)):
            bound = part.get(keyword)
            if is_number(bound) and (bound < high or (bound == high and opened)):
                high, high_open = bound, opened or part.get("exclusiveMaximum") is True
    if low > high:
        raise NoInstance
    return low, high, low_open, high_open


def declared(parts: list[Part]) -> dict[str, None]:
    """The names of `properties`, in their order."""
    names: dict[str, None] = {}
    for part in parts:
        if isinstance(part.get("properties"), dict):
            names.update(dict.fromkeys(part["properties"]))
    return names


def in_order(declared: dict[str, None], wanted: dict[str, None]) -> list[str]:
    """Declared names first, in their order, since that is how engines write them."""
    return [*(n for n in declared if n in wanted), *(n for n in wanted if n not in declared)]


def is_required(parts: list[Part], name: str) -> bool:
    """Whether a part requires a property."""
    return any(name in (part.get("required") or ()) for part in parts)


def members(parts: list[Part], name: str) -> list[Any]:
    """The schemas that hold for a property."""
    found = []
    for part in parts:
        own = []
        properties = part.get("properties")
        if isinstance(properties, dict) and name in properties:
            own.append(properties[name])
        own.extend(
            member
            for pattern, member in (part.get("patternProperties") or {}).items()
            if regexes.search(pattern, name)
        )
        if not own:
            own.append(part.get("additionalProperties", part.get("unevaluatedProperties", True)))
        found.extend(own)
    return found


def member_of(guide: Part, step: Step) -> Any:
    """The schema that a step goes to."""
    keyword, key = step
    if keyword == "prefixItems":
        # A schema may have both, of which its draft knows one.
        lists = (guide.get(name) for name in ("prefixItems", "items"))
        return next(of[key] for of in lists if isinstance(of, list) and key < len(of))
    return guide[keyword] if key is None else guide[keyword][key]


def prefix(part: Part) -> list[Any]:
    """The schemas of the first items, one each."""
    schemas = part.get("prefixItems", part.get("items"))
    return schemas if isinstance(schemas, list) else []


def item(part: Part, index: int) -> Any:
    """The schema that holds for an item."""
    first = prefix(part)
    if index < len(first):
        return first[index]
    rest = part.get("items", part.get("unevaluatedItems", True))
    return part.get("additionalItems", True) if isinstance(rest, list) else rest


def weight(schema: Any) -> int:
    """How much a branch still asks for: references and members most."""
    if not isinstance(schema, dict):
        return 0
    weight = 100 * ("$ref" in schema) + 10 * len(schema.get("required") or ())
    return weight + sum(keyword in schema for keyword in ("properties", "items", "anyOf", "oneOf"))

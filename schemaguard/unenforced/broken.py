"""What xgrammar refuses to compile, or compiles into what never ends well, told of one schema.

Each of these is an error wherever the engine reads the schema, also where an instance need not have
the value: one of them, and there is no grammar for the whole document; or there is one that writes
what is no JSON.
"""

from __future__ import annotations

from schemaguard.unenforced.choices import bounds
from schemaguard.unenforced.leaves import winner_of
from schemaguard.unenforced.members import declared, is_open, least_items
from schemaguard.unenforced.syntax import fault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from schemaguard.unenforced.facts import Facts
    from schemaguard.unenforced.scalars import Loss

_LEAST, _MOST = -(1 << 63), (1 << 63) - 1
#: The largest count that is kept in 32 bits.
MOST_COUNT = (1 << 31) - 1
#: Digits after the point that are written.
_DECIMALS = 6


def of_string(schema: dict[str, Any], _: Facts) -> Iterator[Loss]:
    """Of a schema of strings."""
    yield from _counts(schema, "maxLength", "minLength")
    pattern = schema.get("pattern")
    if isinstance(pattern, str):
        yield from of_pattern(pattern, ("pattern",))


def of_pattern(pattern: str, tokens: tuple[str, ...]) -> Iterator[Loss]:
    """Of a pattern, also of names."""
    found = fault(pattern)
    if found is None:
        return
    why, offset = found
    if why == "nothing":
        yield "impossible-pattern", tokens, {"offset": offset}
    else:
        yield "unreadable-pattern", tokens, {"why": why, "offset": offset}


def _counts(schema: dict[str, Any], most: str, *least: str) -> Iterator[Loss]:
    for keyword in (*least, most):
        value = schema.get(keyword)
        if value.__class__ is float or (
            value.__class__ is int and value > MOST_COUNT and keyword not in _UNLIMITED
        ):
            yield "unreadable-number", (keyword,), {"keyword": keyword, "why": _WHY[keyword]}
    high = schema.get(most)
    for keyword in least if high is not None else ():
        if schema.get(keyword, 0) > high:
            yield "contradictory-bounds", (keyword,), {"low": keyword, "high": most}
            return


#: Counts that may be as large as they like.
_UNLIMITED = frozenset({"maxLength", "maxItems"})
_WHY = {
    **dict.fromkeys(("maxLength", "maxItems"), "a count without a decimal point"),
    **dict.fromkeys(
        ("minLength", "minItems", "minContains", "minProperties", "maxProperties"),
        "a count up to 2147483647, without a decimal point",
    ),
}


def of_number(schema: dict[str, Any], kind: str, facts: Facts) -> Iterator[Loss]:
    """Of a schema of numbers or integers."""
    low, high = bounds(schema)
    if kind == "integer":
        unreadable = _unreadable_bounds(schema)
        yield from unreadable
        if not unreadable and low is not None and high is not None:
            least = low[0] + 1 if low[1] else low[0]
            most = high[0] - 1 if high[1] else high[0]
            if least > most:
                yield _contradiction(schema)
        return
    if low is None or high is None:
        return
    if low[0] > high[0] or (low[0] == high[0] and (low[1] or high[1])):
        yield _contradiction(schema)
    elif facts.narrowest and not _has_decimal(low, high):
        yield "unprintable-range", (), {"decimals": _DECIMALS}


def _contradiction(schema: dict[str, Any]) -> Loss:
    low = "exclusiveMinimum" if "exclusiveMinimum" in schema else "minimum"
    high = "exclusiveMaximum" if "exclusiveMaximum" in schema else "maximum"
    return "contradictory-bounds", (low,), {"low": low, "high": high}


def _unreadable_bounds(schema: dict[str, Any]) -> list[Loss]:
    """Bounds that are no 64-bit integers, or leave no such integer."""
    found: list[Loss] = []
    for keyword, (least, most) in _READABLE.items():
        value = schema.get(keyword)
        if value is not None and (value % 1 != 0 or not least <= value <= most):
            data = {"keyword": keyword, "why": "a whole number of 64 bits"}
            found.append(("unreadable-number", (keyword,), data))
    return found


_READABLE = {
    "minimum": (_LEAST, _MOST),
    "maximum": (_LEAST, _MOST),
    "exclusiveMinimum": (_LEAST, _MOST - 1),
    "exclusiveMaximum": (_LEAST + 1, _MOST),
}


def _has_decimal(low: tuple[float, bool], high: tuple[float, bool]) -> bool:
    """Whether a number with six decimals lies between two bounds."""
    if high[0] - low[0] > 3 * 10**-_DECIMALS:
        return True
    from fractions import Fraction  # noqa: PLC0415  (hardly ever needed)
    from math import ceil, floor  # noqa: PLC0415  (same)

    scale = 10**_DECIMALS
    # As they are written: 0.1 is a tenth, not the nearest binary fraction.
    least, most = (Fraction(repr(bound[0])) * scale for bound in (low, high))
    first = floor(least) + 1 if low[1] else ceil(least)
    last = ceil(most) - 1 if high[1] else floor(most)
    return bool(first <= last)


def of_array(schema: dict[str, Any], _: Facts) -> Iterator[Loss]:
    """Of a schema of arrays."""
    yield from _counts(schema, "maxItems", "minItems", "minContains")
    items = schema.get("items")
    if items.__class__ is list:
        yield "unreadable-form", ("items",), {"keyword": "items", "why": "one schema"}
        return
    prefix = schema.get("prefixItems")
    prefix = prefix if prefix.__class__ is list else ()
    if any(member is True for member in prefix):
        why = "schemas that are objects"
        yield "unreadable-form", ("prefixItems",), {"keyword": "prefixItems", "why": why}
    rest = schema.get("items", schema.get("unevaluatedItems", False))
    least, most = least_items(schema), schema.get("maxItems")
    if rest is False and len(prefix) < least <= MOST_COUNT:
        keyword = "minItems" if schema.get("minItems") == least else "minContains"
        data = {"keyword": keyword, "number": len(prefix), "what": "items"}
        yield "unreachable-count", (keyword,), data
    if most is not None and most < len(prefix):
        data = {"keyword": "maxItems", "number": len(prefix), "what": "items"}
        yield "unreachable-count", ("maxItems",), data


def of_object(schema: dict[str, Any], facts: Facts) -> Iterator[Loss]:
    """Of a schema of objects."""
    if "minProperties" in schema or "maxProperties" in schema:
        yield from _counts(schema, "maxProperties", "minProperties")
        names = declared(schema)
        least, most = schema.get("minProperties", 0), schema.get("maxProperties")
        named = schema.get("patternProperties")
        if not is_open(schema) and not named and len(names) < least <= MOST_COUNT:
            data = {"keyword": "minProperties", "number": len(names), "what": "properties"}
            yield "unreachable-count", ("minProperties",), data
        required = schema.get("required") or ()
        if most is not None and most < len(required):
            data = {"keyword": "maxProperties", "number": len(required), "what": "properties"}
            yield "unreachable-count", ("maxProperties",), data
    if "propertyNames" in schema:
        yield from _of_names(schema, facts)
    for pattern in schema.get("patternProperties") or ():
        if isinstance(pattern, str):
            yield from of_pattern(pattern, ("patternProperties", pattern))


def _of_names(schema: dict[str, Any], facts: Facts) -> Iterator[Loss]:
    """Of `propertyNames`."""
    rule = schema["propertyNames"]
    if rule.__class__ is not dict:
        why = "a schema that is an object"
        yield "unreadable-form", ("propertyNames",), {"keyword": "propertyNames", "why": why}
        return
    if rule.get("type", "string") != "string" and isinstance(rule["type"], str):
        data = {"keyword": "propertyNames", "why": "a schema of strings"}
        yield "unreadable-form", ("propertyNames",), data
        return
    # It is compiled where names are written by it.
    written = is_open(schema) or not declared(schema)
    if schema.get("patternProperties") or schema.get("maxProperties") == 0 or not written:
        return
    pattern = rule.get("pattern")
    if isinstance(pattern, str) and winner_of(rule, facts) is None:
        yield from of_pattern(pattern, ("propertyNames", "pattern"))

"""Valid values near the boundary of a constraint, by keyword: see `witnesses`."""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING, Any

from schemaguard.grammar.audit import regexes, samples
from schemaguard.grammar.audit.maker import MAX_ITEMS
from schemaguard.grammar.audit.making import PLAIN, Making, tidy
from schemaguard.grammar.audit.scalars import MAX_CHARS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schemaguard.grammar.audit.constraints import Constraint

#: Strings that writers of JSON have trouble with, and lengths that are not bytes.
STRINGS = (
    "",
    "a",
    "Zürich 日本 😀",
    '"',
    "\n",
    'say "hi"',
    "back\\slash",
    "two\nlines\tand a tab",
    "a/b </tag> \u2028",
    "null",
    "\x00\x1f\x7f",
)

NUMBERS = (0, -1, 7, 123456789012, 0.1234567, -2.5, 1e-7, 1e5, 1.5e300, 2**53 + 1)

INTEGERS = (0, -1, 7, 100, 123456789012, 2**53 + 1, -(2**63), 2**64)


def _keep_type(value: Any, made: Making, _: Constraint) -> Iterator[Any]:
    names = [value] if isinstance(value, str) else value
    for name in names:
        yield from made.some({"type": name}, count=2)
        yield from _USUAL.get(name, ())


_USUAL: dict[str, tuple[Any, ...]] = {
    "string": STRINGS,
    "number": NUMBERS,
    "integer": INTEGERS,
    "boolean": (True, False),
    "null": (None,),
    "array": ([], [1, "a"], [[[]]]),
    "object": ({}, {"a": 1}, {"a b": {"c": [None]}, "ü": "é"}),
}


def _keep_enum(value: Any, _: Making, __: Constraint) -> Iterator[Any]:
    yield from value[:12]
    yield from value[-3:]


def _keep_const(value: Any, _: Making, __: Constraint) -> Iterator[Any]:
    yield value


def _keep_bound(value: Any, made: Making, constraint: Constraint) -> Iterator[Any]:
    schema = constraint.place.schema
    low = constraint.keyword in {"minimum", "exclusiveMinimum"}
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        value = schema.get("minimum" if low else "maximum", 0)
    sign = 1 if low else -1
    if not isinstance(value, (int, float)) or not math.isfinite(value):
        return
    yield value
    for distance in (1, 2, 0.5, 0.25, 0.1234567, 1e-7, 100, 100_000, 123456789012, 10**22):
        yield tidy(value + sign * distance)
    yield from made.some({"type": "integer"})
    yield from made.some({"type": "number"}, count=2)


def _keep_multiple(value: Any, made: Making, _: Constraint) -> Iterator[Any]:
    for times in (0, 1, 2, -1, 3, 10, 1000):
        yield tidy(value * times)
    yield from made.some({"type": "number"}, count=3)


def _keep_length(value: Any, made: Making, _: Constraint) -> Iterator[Any]:
    size = int(value)
    if size <= MAX_CHARS:
        yield from ("a" * size, "😀" * size, "é" * size, '"' + "a" * (size - 1), "\n" * size)
        yield from made.some({"type": "string", "minLength": size, "maxLength": size})
    yield from STRINGS
    yield from made.some({"type": "string"}, count=2)


def _keep_pattern(value: Any, made: Making, _: Constraint) -> Iterator[Any]:
    yield from made.some({"type": "string"}, count=4)
    rng = random.Random(f"keep {value}")  # noqa: S311 - reproducible
    for _attempt in range(4):
        try:
            text = regexes.match(value, rng)
        except (regexes.NoMatch, TypeError):
            break
        yield from (text, f"{text}x", f"x{text}", f"x{text}x")
    yield from STRINGS


def _keep_format(value: Any, _: Making, __: Constraint) -> Iterator[Any]:
    yield from samples.VALID.get(value, ())


def _keep_count(value: Any, made: Making, constraint: Constraint) -> Iterator[Any]:
    kind, least, most = (
        ("array", "minItems", "maxItems")
        if constraint.keyword.endswith("Items")
        else ("object", "minProperties", "maxProperties")
    )
    if value <= MAX_ITEMS:
        yield from made.some({"type": kind, least: value, most: value}, count=2)
    yield from made.some({"type": kind, least: value + 1})
    yield from made.some({"type": kind, most: max(value - 1, 0)})


def _keep_unique(_: Any, made: Making, __: Constraint) -> Iterator[Any]:
    for size in (0, 1, 2, 3):
        yield from made.some({"type": "array", "minItems": size, "maxItems": size})


def _keep_contains(value: Any, made: Making, constraint: Constraint) -> Iterator[Any]:
    wanted = constraint.place.schema.get("contains", value)
    for size in (1, 2, 3):
        yield from made.some({"type": "array", "minItems": size, "contains": wanted}, count=2)


def _keep_object(_: Any, made: Making, __: Constraint) -> Iterator[Any]:
    yield from made.some({"type": "object"}, count=2)


def _keep_names(value: Any, made: Making, _: Constraint) -> Iterator[Any]:
    for size in (1, 2):
        yield from made.some({"type": "object", "minProperties": size}, count=2)
    if isinstance(value, dict) and isinstance(value.get("enum"), list):
        for instance in made.some({"type": "object"}):
            for name in value["enum"][:3]:
                yield from ({**instance, name: member} for member in (1, "x"))


def _keep_branches(value: Any, made: Making, _: Constraint) -> Iterator[Any]:
    own = {k: v for k, v in made.schema().items() if k not in {"anyOf", "oneOf"}}
    for branch in value[:20]:
        for parts in ((own, branch), (branch,)):
            yield from made.some(*parts, count=2)


def _keep_not(_: Any, made: Making, __: Constraint) -> Iterator[Any]:
    yield from made.some({}, count=4)
    yield from PLAIN


def _keep_if(value: Any, made: Making, constraint: Constraint) -> Iterator[Any]:
    schema = constraint.place.schema
    yield from made.some(value, schema.get("then", True), count=2)
    yield from made.some(schema.get("else", True), count=2)


KEEPING: dict[str, Any] = {
    "type": _keep_type,
    "enum": _keep_enum,
    "const": _keep_const,
    "minimum": _keep_bound,
    "exclusiveMinimum": _keep_bound,
    "maximum": _keep_bound,
    "exclusiveMaximum": _keep_bound,
    "multipleOf": _keep_multiple,
    "minLength": _keep_length,
    "maxLength": _keep_length,
    "pattern": _keep_pattern,
    "format": _keep_format,
    "minItems": _keep_count,
    "maxItems": _keep_count,
    "uniqueItems": _keep_unique,
    "contains": _keep_contains,
    "minContains": _keep_contains,
    "maxContains": _keep_contains,
    "required": _keep_object,
    "additionalProperties": _keep_object,
    "unevaluatedProperties": _keep_object,
    "minProperties": _keep_count,
    "maxProperties": _keep_count,
    "propertyNames": _keep_names,
    "dependentRequired": _keep_object,
    "dependentSchemas": _keep_object,
    "dependencies": _keep_object,
    "anyOf": _keep_branches,
    "oneOf": _keep_branches,
    "not": _keep_not,
    "if": _keep_if,
}

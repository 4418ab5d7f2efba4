"""Values that break a constraint, by keyword: see `witnesses`."""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING, Any

from schemaguard.grammar.audit import regexes, samples
from schemaguard.grammar.audit.maker import MAX_ITEMS
from schemaguard.grammar.audit.making import PLAIN, Making, tidy
from schemaguard.grammar.audit.parts import is_number
from schemaguard.grammar.audit.scalars import MAX_CHARS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schemaguard.grammar.audit.constraints import Constraint


def _break_type(value: Any, made: Making, _: Constraint) -> Iterator[Any]:
    names = {value} if isinstance(value, str) else set(value)
    if "integer" in names and "number" not in names:
        yield from (1.5, -0.5)
    for name in ("null", "string", "boolean", "array", "object", "number", "integer"):
        if name not in names:
            yield from made.some({"type": name})
    yield from ("1", "true", "null")


def _break_enum(value: Any, made: Making, _: Constraint) -> Iterator[Any]:
    values = value if isinstance(value, list) else [value]
    for member in values[:3]:
        if isinstance(member, str):
            yield from (
                member[:-1],
                member + "a",
                member.upper(),
                member.capitalize(),
                f" {member}",
            )
        elif isinstance(member, bool):
            yield not member
        elif isinstance(member, int):
            yield from (member + 1, str(member), float(member) if abs(member) > 2**53 else member)
        elif isinstance(member, float):
            yield from (member + 1, -member)
        elif isinstance(member, list):
            yield from ([*member, 0], member[:-1])
        elif isinstance(member, dict):
            yield {**member, "extra": 0}
    yield from made.some({}, count=2)


def _break_const(value: Any, made: Making, constraint: Constraint) -> Iterator[Any]:
    yield from _break_enum([value], made, constraint)


def _break_low(value: Any, made: Making, constraint: Constraint) -> Iterator[Any]:
    excluded = _excluded(constraint, "exclusiveMinimum")
    yield from _past(value, -1, made, at_bound=excluded)


def _break_high(value: Any, made: Making, constraint: Constraint) -> Iterator[Any]:
    excluded = _excluded(constraint, "exclusiveMaximum")
    yield from _past(value, 1, made, at_bound=excluded)


def _excluded(constraint: Constraint, keyword: str) -> bool:
    schema = constraint.place.schema
    return constraint.keyword == keyword or schema.get(keyword) is True


def _past(value: Any, sign: int, made: Making, *, at_bound: bool) -> Iterator[Any]:
    """Numbers beyond a bound: at it, next to it, between, far away."""
    if isinstance(value, bool):  # draft 4: the flag beside the bound
        schema = made.schema()
        value = schema.get("minimum" if sign < 0 else "maximum", 0)
    if not isinstance(value, (int, float)) or not math.isfinite(value):
        return
    if at_bound:
        yield value
    opposite = "exclusiveMaximum" if sign < 0 else "exclusiveMinimum"
    yield from made.some({opposite: value, "type": ["integer", "number"]})
    for distance in (1, 0.5, 0.000001, 1000, 10**9, abs(value) + 1):
        yield tidy(value + sign * distance)


def _break_multiple(value: Any, _: Making, constraint: Constraint) -> Iterator[Any]:
    if not isinstance(value, (int, float)) or value <= 0:
        return
    schema = constraint.place.schema
    low = next((schema[k] for k in ("minimum", "exclusiveMinimum") if is_number(schema.get(k))), 0)
    base = math.ceil(low / value) * value if abs(low) < 1e15 else 0
    for start in (base, base + value, base + 10 * value):
        for part in (1, value / 2, value + 1, 0.5, value / 4, 0.1):
            yield tidy(start + part)


def _break_min_length(value: Any, made: Making, _: Constraint) -> Iterator[Any]:
    if value > 0:
        yield from made.some({"type": "string", "maxLength": value - 1}, count=2)
        if value <= MAX_CHARS:
            yield "a" * (int(value) - 1)
            # Fewer characters than bytes.
            yield "😀" * (int(value) - 1)


def _break_max_length(value: Any, made: Making, _: Constraint) -> Iterator[Any]:
    if value < MAX_CHARS:
        yield from made.some({"type": "string", "minLength": value + 1}, count=2)
        yield from ("a" * (int(value) + 1), "é" * (int(value) + 1), "a" * (2 * int(value) + 10))


def _break_pattern(value: Any, made: Making, _: Constraint) -> Iterator[Any]:
    yield from made.some({"type": "string"}, count=2)
    rng = random.Random(str(value))  # noqa: S311 - reproducible
    for _attempt in range(3):
        try:
            text = regexes.match(value, rng)
        except (regexes.NoMatch, TypeError):
            break
        yield from (text[:-1], f"{text}!", f"!{text}", f"{text}\n", text.swapcase(), text * 2)
        yield from (text.replace(c, "~", 1) for c in text[:2])
    yield from ("a", "0", "-", "~", "abc", "123", "A1", "é", " ", "aa", "ab", "a b")


def _break_format(value: Any, _: Making, __: Constraint) -> Iterator[Any]:
    yield from samples.INVALID.get(value, ())
    yield from ("x", " ")


def _break_min_items(value: Any, made: Making, _: Constraint) -> Iterator[Any]:
    yield from made.some({"type": "array", "maxItems": value - 1}, count=2)


def _break_max_items(value: Any, made: Making, _: Constraint) -> Iterator[Any]:
    if value < MAX_ITEMS:
        for array in made.some({"type": "array", "minItems": min(value + 1, 20)}, count=2):
            yield [*array, *array[-1:] * (int(value) + 1 - len(array))]


def _break_unique(_: Any, made: Making, __: Constraint) -> Iterator[Any]:
    for value in made.some({"type": "array", "minItems": 1}, count=2):
        yield [*value, *value[:1]]  # one of an `enum` may be empty all the same
    for value in made.some({"type": "array", "minItems": 2}):
        yield value[:1] * len(value)
    yield from ([0, 0], ["a", "a"])


def _break_contains(value: Any, made: Making, _: Constraint) -> Iterator[Any]:
    yield []
    for least in (1, 2):
        yield from made.some({"type": "array", "minItems": least}, count=2)
    yield from ([1], ["a"], [None], [value])


def _break_contains_count(value: Any, made: Making, constraint: Constraint) -> Iterator[Any]:
    wanted = constraint.place.schema.get("contains", True)
    count = value + 1 if constraint.keyword == "maxContains" else value - 1
    if 0 <= count <= MAX_ITEMS:
        items = made.some({"type": "array", "minItems": 1, "items": wanted})
        for value_ in items:
            yield (value_ * (int(count) + 1))[: int(count)]
        for least in (value, value + 1):
            yield from made.some(
                {"type": "array", "minItems": least, "contains": wanted, "minContains": count}
            )


def _break_items(rule: Any, made: Making, constraint: Constraint) -> Iterator[Any]:
    prefix = constraint.place.schema.get("prefixItems") or ()
    for value in made.some({"type": "array", "minItems": len(prefix)}, count=2):
        yield from ([*value, 0], [*value, "extra"], [*value, None])
        if isinstance(rule, dict):  # which some of them may satisfy
            yield from ([*value, item] for item in PLAIN)


def _break_required(value: Any, made: Making, constraint: Constraint) -> Iterator[Any]:
    for name in value[:40]:
        yield from made.some({"type": "object", "required": [n for n in value if n != name],
                              "properties": {name: False}})  # fmt: skip
    yield {}
    properties = constraint.place.schema.get("properties") or {}
    if len(value) > 1:
        yield from made.some({"type": "object", "properties": dict.fromkeys(value, False)})
    for value_ in made.some({"type": "object", "required": value}):
        for name in value[:5]:
            if name in properties and name:
                # Almost the name.
                renamed = {k: v for k, v in value_.items() if k != name}
                yield {**renamed, name + "_": 0}


def _break_additional(rule: Any, made: Making, constraint: Constraint) -> Iterator[Any]:
    names = list(constraint.place.schema.get("properties") or ())
    for value in made.some({"type": "object"}, count=2):
        close = [c for name in names[:2] for c in (name.upper(), f"{name}_", name[:-1])]
        for name in ("extra", "", "a", *close):
            if name not in value and name not in names:
                yield from ({**value, name: 0}, {name: "x", **value})
    if isinstance(rule, dict):  # which some of them may satisfy
        for value in made.some({"type": "object"}):
            yield from ({**value, "extra": member} for member in PLAIN)


def _break_min_properties(value: Any, made: Making, constraint: Constraint) -> Iterator[Any]:
    yield from made.some({"type": "object", "maxProperties": value - 1}, count=2)
    for full in made.some({"type": "object"}, count=2):
        yield dict(list(full.items())[: int(value) - 1])
    yield from ({}, {constraint.keyword: 0} if value > 1 else {})


def _break_max_properties(value: Any, made: Making, _: Constraint) -> Iterator[Any]:
    if value < MAX_ITEMS:
        yield from made.some({"type": "object", "minProperties": value + 1}, count=2)


def _break_names(value: Any, made: Making, constraint: Constraint) -> Iterator[Any]:
    names = ["", "a", "A", "0", "extra", "a b", "a-b", "ünï", "x" * 70, "$", "_"]
    listed = value.get("enum") if isinstance(value, dict) else None
    if isinstance(listed, list):
        names += [f"{name}_" for name in listed[:2] if isinstance(name, str)]
    declared = constraint.place.schema.get("properties") or {}
    for name in list(declared)[:10]:
        yield from made.some({"type": "object", "required": [name]})
    for instance in made.some({"type": "object"}, count=2):
        for name in names:
            if name not in instance:
                yield from ({**instance, name: member} for member in PLAIN[:6])


def _break_dependent(value: Any, made: Making, _: Constraint) -> Iterator[Any]:
    for trigger, needed in list(value.items())[:10]:
        names = needed if isinstance(needed, list) else []
        for name in names[:5]:
            yield from made.some({"type": "object", "required": [trigger],
                                  "properties": {name: False}})  # fmt: skip
        for instance in made.some({"type": "object", "required": [trigger]}, count=2):
            yield instance
            yield {key: member for key, member in instance.items() if key not in names}
            if trigger in instance:  # not where a constant leaves it out
                yield {trigger: instance[trigger]}
            yield {**instance, "extra": 0}


def _break_any_of(value: Any, made: Making, _: Constraint) -> Iterator[Any]:
    yield from made.some({}, count=4)
    for branch in value[:5]:
        for instance in made.some(branch):
            if isinstance(instance, dict):
                yield from ({k: v for k, v in instance.items() if k != name} for name in instance)
                yield {**instance, "extra": 0}
            elif isinstance(instance, str):
                yield from (f"{instance}~", instance[:-1])
    for kind in ("object", "array", "string", "integer", "number", "boolean", "null"):
        yield from made.some({"type": kind})


def _break_one_of(value: Any, made: Making, constraint: Constraint) -> Iterator[Any]:
    branches = value[:12]
    pairs = [(a, b) for i, a in enumerate(branches) for b in branches[i + 1 :]]
    for one, other in pairs[:30]:
        yield from made.some(one, other, count=2)
    for branch in branches:
        yield from made.some(branch, count=2)
    yield from _break_any_of(value, made, constraint)


def _break_not(value: Any, made: Making, _: Constraint) -> Iterator[Any]:
    yield from made.some(value, count=4)
    if isinstance(value, dict):
        for keyword in ("anyOf", "oneOf"):
            for branch in (value.get(keyword) or ())[:5]:
                yield from made.some(branch)
        required = value.get("required")
        if isinstance(required, list):
            yield {name: 0 for name in required if isinstance(name, str)}


def _break_if(value: Any, made: Making, constraint: Constraint) -> Iterator[Any]:
    plain = {k: v for k, v in made.schema().items() if k not in {"then", "else"}}
    for condition in (value, {}, {"not": value}):
        for part in (condition, {**plain, "type": plain.get("type", "object")}):
            for instance in made.some(part, condition, count=2):
                yield instance
                if isinstance(instance, dict):
                    for name in instance:
                        yield {k: v for k, v in instance.items() if k != name}
    for branch in ("then", "else"):
        inner = constraint.place.schema.get(branch)
        names = inner.get("required") if isinstance(inner, dict) else None
        if isinstance(names, list):
            absent = {"properties": {n: False for n in names if isinstance(n, str)}}
            yield from made.some(absent, value if branch == "then" else {}, count=2)
            yield from made.some(absent)


BREAKING: dict[str, Any] = {
    "type": _break_type,
    "enum": _break_enum,
    "const": _break_const,
    "minimum": _break_low,
    "exclusiveMinimum": _break_low,
    "maximum": _break_high,
    "exclusiveMaximum": _break_high,
    "multipleOf": _break_multiple,
    "minLength": _break_min_length,
    "maxLength": _break_max_length,
    "pattern": _break_pattern,
    "format": _break_format,
    "minItems": _break_min_items,
    "maxItems": _break_max_items,
    "uniqueItems": _break_unique,
    "contains": _break_contains,
    "minContains": _break_contains_count,
    "maxContains": _break_contains_count,
    "items": _break_items,
    "additionalItems": _break_items,
    "unevaluatedItems": _break_items,
    "required": _break_required,
    "additionalProperties": _break_additional,
    "unevaluatedProperties": _break_additional,
    "minProperties": _break_min_properties,
    "maxProperties": _break_max_properties,
    "propertyNames": _break_names,
    "dependentRequired": _break_dependent,
    "dependentSchemas": _break_dependent,
    "dependencies": _break_dependent,
    "anyOf": _break_any_of,
    "oneOf": _break_one_of,
    "not": _break_not,
    "if": _break_if,
}

"""The catalogue: small schemas that ask an engine one question each.

Made from tables: every keyword on every type that it restricts, every two keywords on one node,
every keyword beside every one that may win over it, and the values that matter (divisors, widths,
formats, alternatives that do or do not overlap).

A key says which question: words with blanks between, a family first::

    single number multipleOf
    pair string format pattern
    beside anyOf integer minimum
    win $ref anyOf
    format date-time
    multipleOf integer 1024
    shape oneOf disjoint types

Keys are stable: what has been audited is stored under them. Values are chosen so that each of two
keywords can be broken alone wherever that is possible.
"""

from __future__ import annotations

from schemaguard.capabilities.shapes import FORMATS, PATTERNS, SHAPES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

#: The types, and "" for a schema that names none.
TYPES = ("string", "number", "integer", "boolean", "null", "array", "object")

#: Keywords of which a node has one winner, the strongest first where xgrammar is asked.
WINNERS = ("$ref", "const", "enum", "anyOf", "oneOf", "allOf")

#: The draft in which these have a meaning.
_DRAFT_7 = "http://json-schema.org/draft-07/schema#"

_INTEGER: dict[str, Any] = {"type": "integer"}
_STRING: dict[str, Any] = {"type": "string"}

#: Type → keyword → members of a schema that has it (some keywords need another one).
KEYWORDS: dict[str, dict[str, dict[str, Any]]] = {
    "string": {
        "minLength": {"minLength": 4},
        "maxLength": {"maxLength": 8},
        "pattern": {"pattern": "^P[0-9DM]+$"},
        "format": {"format": "duration"},
    },
    "number": {
        "minimum": {"minimum": 1},
        "maximum": {"maximum": 20},
        "exclusiveMinimum": {"exclusiveMinimum": 0.5},
        "exclusiveMaximum": {"exclusiveMaximum": 20.5},
        "multipleOf": {"multipleOf": 0.25},
    },
    "integer": {
        "minimum": {"minimum": 1},
        "maximum": {"maximum": 20},
        "exclusiveMinimum": {"exclusiveMinimum": 2},
        "exclusiveMaximum": {"exclusiveMaximum": 19},
        "multipleOf": {"multipleOf": 4},
    },
    "boolean": {},
    "null": {},
    "array": {
        "items": {"items": _INTEGER},
        "prefixItems": {"prefixItems": [_INTEGER, _INTEGER]},
        "minItems": {"minItems": 2},
        "maxItems": {"maxItems": 4},
        "uniqueItems": {"uniqueItems": True},
        "contains": {"contains": {"const": 7}},
        "minContains": {"contains": {"const": 7}, "minContains": 2},
        "maxContains": {"contains": {"const": 7}, "maxContains": 2},
        "additionalItems": {
            "$schema": _DRAFT_7,
            "items": [_INTEGER, _INTEGER],
            "additionalItems": False,
        },
        "unevaluatedItems": {"prefixItems": [_INTEGER], "unevaluatedItems": False},
    },
    "object": {
        "properties": {"properties": {"a": _INTEGER, "b": _STRING}},
        "required": {"required": ["a"]},
        "additionalProperties": {"additionalProperties": False},
        "patternProperties": {"patternProperties": {"^x": _INTEGER}},
        "propertyNames": {"propertyNames": {"maxLength": 2}},
        "minProperties": {"minProperties": 1},
        "maxProperties": {"maxProperties": 1},
        "dependentRequired": {"dependentRequired": {"a": ["b"]}},
        "dependentSchemas": {"dependentSchemas": {"a": {"required": ["b"]}}},
        "dependencies": {"$schema": _DRAFT_7, "dependencies": {"a": ["b"]}},
        "unevaluatedProperties": {
            "properties": {"a": _INTEGER, "b": _STRING},
            "unevaluatedProperties": False,
        },
    },
}

#: Type → what a schema of it usually has, without which xgrammar allows only `[]` or `{}`.
BODIES: dict[str, dict[str, Any]] = {
    "array": {"items": _INTEGER},
    "object": {"properties": {"a": _INTEGER, "b": _STRING}},
}

#: Keywords that are asked about without a body: they say themselves what the members are.
_OWN_BODY = frozenset(
    {
        "items", "prefixItems", "additionalItems", "unevaluatedItems",
        "properties", "patternProperties", "propertyNames",
    }
)  # fmt: skip

#: Type → two instances that keep most of the keywords above, and two that break many.
_INSTANCES: dict[str, tuple[Any, ...]] = {
    "string": ("P10D", "P2M", "a", "P1Y2M3DT4H5M"),
    "number": (4, 4.5, 0.3, 100.1),
    "integer": (4, 8, 0, 101),
    "boolean": (True, False),
    "null": (None,),
    "array": ([7, 8], [7, 7], ["a"], [1, "a", 1, 1, 1]),
    "object": ({"a": 1, "b": "b"}, {"a": 1}, {"long": 1}, {"a": "a", "b": 1, "c": 1}),
}

#: Keyword → an instance that breaks what `KEYWORDS` says with it.
BROKEN: dict[str, Any] = {
    "type": None,
    "minLength": "P1D",
    "maxLength": "P1000000D",
    "pattern": "P10Y",
    "format": "P100",
    "minimum": 0,
    "maximum": 104,
    "exclusiveMinimum": 0,
    "exclusiveMaximum": 104,
    "multipleOf": 4.1,
    "items": ["a"],
    "prefixItems": ["a"],
    "minItems": [7],
    "maxItems": [7, 7, 7, 7, 7],
    "uniqueItems": [7, 7],
    "contains": [8],
    "minContains": [7],
    "maxContains": [7, 7, 7],
    "additionalItems": [7, 7, 7],
    "unevaluatedItems": [7, 7],
    "properties": {"a": "a"},
    "required": {"b": "b"},
    "additionalProperties": {"z": 1},
    "patternProperties": {"x": "a"},
    "propertyNames": {"long": 1},
    "minProperties": {},
    "maxProperties": {"a": 1, "b": "b"},
    "dependentRequired": {"a": 1},
    "dependentSchemas": {"a": 1},
    "dependencies": {"a": 1},
    "unevaluatedProperties": {"z": 1},
}

#: Divisors for integers without bounds; widths of a range for the divisor 5.
DIVISORS = (
    *(2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 16, 20, 25, 30, 50, 60, 64, 100, 125, 128, 200),
    *(250, 256, 300, 365, 500, 512, 600, 750, 900, 999, 1000, 1023, 1024, 1025, 1440, 2000),
    *(2048, 3600, 5000, 10000, 86400, 1000000),
)
WIDTHS = (
    0,
    5,
    10,
    50,
    100,
    500,
    1000,
    5000,
    9990,
    9999,
    10000,
    10001,
    20000,
    50000,
    100000,
    1000000,
)

#: Widths of a range of numbers that begins between two of six decimals.
NUMBER_WIDTHS = ("1", "0.1", "0.01", "0.001", "0.0001", "0.00001", "0.000001", "0.0000005")


def cases() -> dict[str, Any]:
    """Key → schema, in a fixed order."""
    made: dict[str, Any] = {}
    for family in (_singles, _pairs, _beside, _wins, _values, _shapes):
        for key, schema in family():
            if key in made:
                raise ValueError(f"two cases have the key {key!r}")
            made[key] = schema
    return made


def generic(of: str) -> dict[str, dict[str, Any]]:
    """The keywords that restrict any type, with values for one."""
    some = list(_INSTANCES[of])
    other = "null" if of != "null" else "boolean"
    return {
        "enum": {"enum": [*some, *_INSTANCES[other]]},
        "const": {"const": some[0]},
        "anyOf": {"anyOf": [{"type": of}, {"type": other}]},
        "oneOf": {"oneOf": [{"type": of}, {"type": other}]},
        "allOf": {"allOf": [{"type": [of, other]}]},
        "$ref": {"$ref": "#/$defs/d", "$defs": {"d": {"type": [of, other]}}},
        "not": {"not": {"const": some[0]}},
        "if": {"if": {"const": some[0]}, "then": False},
    }


def _singles() -> Iterator[tuple[str, Any]]:
    for of in TYPES:
        yield f"single {of} type", {"type": of}
        for keyword, members in {**KEYWORDS[of], **generic(of)}.items():
            whole = _with_body(of, members, keyword)
            yield f"single {of} {keyword}", {"type": of, **whole}
            if keyword in KEYWORDS[of]:
                yield f"nullable {of} {keyword}", {"type": [of, "null"], **whole}
            if whole != members:
                yield f"bare {of} {keyword}", {"type": of, **members}
    untyped: dict[str, dict[str, Any]] = {}
    for of in ("object", "array", "integer", "number", "string"):
        for keyword, members in KEYWORDS[of].items():
            untyped[keyword] = _with_body(of, members, keyword)
            if untyped[keyword] != members:
                yield f"bare - {keyword}", members
    for keyword, members in {**untyped, **generic("string")}.items():
        yield f"single - {keyword}", members


def _with_body(of: str, members: dict[str, Any], *keywords: str) -> dict[str, Any]:
    """The members of a schema, and what schemas of their type usually have."""
    if not _OWN_BODY.isdisjoint(keywords) or not set(WINNERS).isdisjoint(keywords):
        return members
    return {**BODIES.get(of, {}), **members}


def _pairs() -> Iterator[tuple[str, Any]]:
    for of in TYPES:
        own, both = KEYWORDS[of], {**KEYWORDS[of], **generic(of)}
        names = list(both)
        for index, first in enumerate(names):
            for second in names[index + 1 :]:
                if first not in own and {first, second} <= set(WINNERS):
                    continue  # see `_wins`
                members = _merged(both[first], both[second])
                if members is not None:
                    whole = _with_body(of, members, first, second)
                    yield f"pair {of} {first} {second}", {"type": of, **whole}


def _merged(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any] | None:
    """Both, or None where they want different values of one keyword."""
    if any(first[name] != second[name] for name in first.keys() & second.keys()):
        return None
    return {**first, **second}


def _beside() -> Iterator[tuple[str, Any]]:
    """Keywords beside a winner that leaves room to break them."""
    for of in TYPES:
        for keyword, members in {"type": {"type": of}, **KEYWORDS[of]}.items():
            broken = BROKEN[keyword]
            if keyword == "type" and of == "null":
                broken = True
            for winner in WINNERS:
                own = generic(of)[winner]
                # Listed values leave no room but what is listed.
                if winner == "const":
                    own = {"const": broken}
                elif winner == "enum":
                    own = {"enum": [*own["enum"], broken]}
                merged = _merged(own, members)
                if merged is not None:
                    yield f"beside {winner} {of} {keyword}", merged


#: For two winners on one node: each allows "a", and something that no other one does.
_APART: dict[str, dict[str, Any]] = {
    "$ref": {"$ref": "#/$defs/d", "$defs": {"d": {"enum": ["a", 1.5]}}},
    "const": {"const": "a"},
    "enum": {"enum": ["a", None]},
    "anyOf": {"anyOf": [_STRING, {"type": "boolean"}]},
    "oneOf": {"oneOf": [_STRING, {"type": "array"}]},
    "allOf": {"allOf": [{"type": ["string", "object"]}]},
    "type": {"type": ["string", "integer"]},
}


def _wins() -> Iterator[tuple[str, Any]]:
    names = list(_APART)
    for index, first in enumerate(names):
        for second in names[index + 1 :]:
            members = {**_APART[first], **_APART[second]}
            if "const" in members:
                # One constant allows nothing else, so it has to be what the other one does not.
                members["const"] = 2.5
            yield f"win {first} {second}", members


def _values() -> Iterator[tuple[str, Any]]:
    for name in FORMATS:
        yield f"format {name}", {"type": "string", "format": name}
    for name in ("date", "email", "color"):
        yield f"format {name} maxLength", {"type": "string", "format": name, "maxLength": 8}
        yield f"format {name} pattern", {"type": "string", "format": name, "pattern": "^2.*"}
    for divisor in DIVISORS:
        yield f"multipleOf integer {divisor}", {"type": "integer", "multipleOf": divisor}
    for part in (1.5, 0.5, 2.0):
        yield f"multipleOf integer {part}", {"type": "integer", "multipleOf": part}
    for part in (1, 2, 10, 0.01, 0.1, 0.5, 1.5):
        yield f"multipleOf number {part}", {"type": "number", "multipleOf": part}
    for width in WIDTHS:
        yield (
            f"multipleOf range {width}",
            {"type": "integer", "multipleOf": 5, "minimum": 0, "maximum": width},
        )
    for divisor in (2000, 5000):
        yield (
            f"multipleOf bounded {divisor}",
            {"type": "integer", "multipleOf": divisor, "minimum": 0, "maximum": 9000},
        )
    for text in NUMBER_WIDTHS:
        yield (
            f"width number {text}",
            {"type": "number", "minimum": 1e-7, "maximum": round(1e-7 + float(text), 9)},
        )
    for name, pattern in PATTERNS.items():
        yield f"pattern {name}", {"type": "string", "pattern": pattern}


def _shapes() -> Iterator[tuple[str, Any]]:
    for key, schema in SHAPES.items():
        yield f"shape {key}", schema

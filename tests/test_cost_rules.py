"""The rules about cost: just inside and just beyond each budget; known bombs, and their small kin."""

from __future__ import annotations

import json

import pytest
from documents import closed

import schemaguard
from schemaguard import prices
from schemaguard.profiles import load

STRING = {"type": "string"}
INTEGER = {"type": "integer"}
LIMITS = load("xgrammar").budgets


def codes(schema):
    return {error.code for error in schemaguard.check(schema, profile="xgrammar").errors}


def many(count, schema=None):
    return {f"p{i}": schema or INTEGER for i in range(count)}


def nested(levels, wrap):
    schema = STRING
    for _ in range(levels):
        schema = wrap(schema)
    return schema


# At the border of each budget ---------------------------------------------------------------------


def at(name, make):
    limit = LIMITS[name]
    return make(limit), make(limit + 1)


def optional(count):
    return {**closed(many(count, STRING)), "required": []}


def named(count):
    return {
        "type": "object",
        "patternProperties": {f"^p{i}$": INTEGER for i in range(count)},
        "additionalProperties": False,
    }


def divided(total):
    parts = [1_000] * (total // 1_000) + [total % 1_000] * bool(total % 1_000)
    return closed({f"p{i}": {"type": "integer", "multipleOf": n} for i, n in enumerate(parts)})


@pytest.mark.parametrize(
    ("name", "code", "make"),
    [
        ("optional-properties", "SG813", optional),
        ("name-patterns", "SG815", named),
        ("divisors", "SG816", divided),
        ("name-length", "SG820", lambda n: closed({"x" * n: INTEGER})),
        ("alternatives", "SG809", lambda n: {"anyOf": [{"const": i} for i in range(n)]}),
    ],
)
def test_a_budget_speaks_just_beyond_its_limit(name, code, make):
    inside, beyond = at(name, make)
    assert code not in codes(inside)
    assert code in codes(beyond)


def test_findings_stand_where_most_of_the_budget_is_used():
    schema = closed({"a": INTEGER, "b": optional(301)})
    report = schemaguard.check(schema, profile="xgrammar")
    assert [(d.code, d.pointer) for d in report.errors] == [("SG813", "/properties/b")]


def test_the_uses_of_all_work_budgets_are_reported():
    found = {use.name: use for use in schemaguard.check(optional(7), profile="xgrammar").budgets}
    assert found["optional-properties"].used == 7
    assert found["optional-properties"].limit == LIMITS["optional-properties"]
    assert found["grammar-rules"].used > 0
    assert "optional-properties" not in {u.name for u in schemaguard.check(optional(7)).budgets}


def test_every_format_whose_masks_are_dear_is_refused():
    assert prices.FORMAT_MASKS
    for form in prices.FORMATS:
        assert ("SG819" in codes({"type": "string", "format": form})) == (
            form in prices.FORMAT_MASKS
        )


def test_an_address_is_a_warning_because_only_quoted_parts_are_dear():
    (found,) = [
        d
        for d in schemaguard.check(
            {"type": "string", "format": "email"}, profile="xgrammar"
        ).diagnostics
        if d.code.startswith("SG8")
    ]
    assert (found.code, found.data["cost"]) == ("SG824", 250)
    assert found.message.startswith("`format: email` slows down every request")
    assert not prices.RARE_FORMAT_MASKS.keys() & prices.FORMAT_MASKS.keys()
    for profile in ("xgrammar", "xgrammar-2026-11-30"):  # what servers and the compiler go by
        assert schemaguard.check({"type": "string", "format": "email"}, profile=profile).ok


# What was measured to be too dear -----------------------------------------------------------------


def inlined(levels):
    schema = STRING
    for _ in range(levels):
        schema = closed({"a": schema, "b": json.loads(json.dumps(schema))})
    return schema


def any_of(count, make):
    return {"anyOf": [make(i) for i in range(count)]}


def before_optional(count, others):
    choice = any_of(count, lambda i: {"type": "string", "maxLength": 10 + i})
    return {**closed({"a": choice, **{f"o{i}": STRING for i in range(others)}}), "required": []}


def begin_alike(count, others):
    def make(i):
        return {
            **closed({"a": STRING, **{f"o{i}_{j}": STRING for j in range(others)}}),
            "required": ["a"],
        }

    return any_of(count, make)


def references(count, make):
    here = [{"$ref": f"#/$defs/d{i}"} for i in range(count)]
    return {"$ref": "#/$defs/d0", "$defs": {f"d{i}": make(here) for i in range(count)}}


#: Shapes that take over 1 s or 512 MB to compile, or have masks over 20 ms (docs/compile-cost.md).
DEAR = {
    "5,000 properties": lambda: closed(many(5_000, STRING)),
    "800 optional strings": lambda: optional(800),
    "ten of 120 properties at least": lambda: {**optional(120), "minProperties": 10},
    "ten of 320 properties at most": lambda: {**optional(320), "maxProperties": 10},
    "3,200 names by pattern": lambda: named(3_200),
    "16 divisors near 1,000": lambda: divided(16_000),
    "12 divisors that are floats": lambda: closed(
        {f"p{i}": {"type": "integer", "multipleOf": 997.0 - i} for i in range(12)}
    ),
    "80 ranges of huge numbers": lambda: closed(
        {f"p{i}": {"type": "number", "minimum": i - 1e300, "maximum": 1e300} for i in range(80)}
    ),
    "a constant of 64,000 characters": lambda: {"const": "The quick brown fox. " * 3_200},
    "15,000 words in 50 enumerations": lambda: any_of(
        50, lambda i: {"enum": [f"{i:x}{j:x}g" for j in range(300)]}
    ),
    "a name of 64,000 characters": lambda: closed({"x" * 64_000: STRING}),
    "a definition with such a name": lambda: {
        "$ref": "#/$defs/" + "x" * 60_000,
        "$defs": {"x" * 60_000: closed(many(800, {"type": "array", "items": INTEGER}))},
    },
    "the same object 4,096 times": lambda: inlined(12),
    "ten names of an open object": lambda: {
        "type": "object",
        "properties": dict.fromkeys(
            (
                *("street_address", "postal_code", "country", "given_name", "surname"),
                *("telephone", "birthday", "language", "employer", "department"),
            ),
            STRING,
        ),
        "additionalProperties": {"type": "integer"},
    },
    "400 bounded arrays": lambda: closed(
        {f"p{i}": {"type": "array", "items": STRING, "maxItems": 100 + i} for i in range(400)}
    ),
    "400 arrays that begin alike": lambda: any_of(
        400, lambda i: {"type": "array", "items": STRING, "minItems": i}
    ),
    "20 objects that begin alike, with 40 optional properties": lambda: begin_alike(20, 40),
    "100 strings before 150 optional properties": lambda: before_optional(100, 150),
    "ten definitions that are arrays of all": lambda: references(
        10, lambda here: {"anyOf": [{"type": "array", "items": dict(r)} for r in here]}
    ),
    "80 definitions that are any of all": lambda: references(
        80, lambda here: {"anyOf": [{"type": "null"}, *map(dict, here)]}
    ),
    "60 definitions that hold all": lambda: references(
        60, lambda here: {**closed({f"k{i}": dict(r) for i, r in enumerate(here)}), "required": []}
    ),
    "an unknown keyword nested 2,000 deep": lambda: {"x": nested(2_000, lambda s: [s])},
    "620 places with a format that is kept": lambda: closed(
        many(620, {"type": "string", "format": "uri-reference"})
    ),
}


@pytest.mark.parametrize("name", DEAR)
def test_what_is_known_to_be_too_dear_is_refused(name):
    assert any(code.startswith("SG8") for code in codes(DEAR[name]()))


#: The same, small: of these the profile has nothing to say.
CHEAP = {
    "500 properties": lambda: closed(many(500, STRING)),
    "100 optional strings": lambda: optional(100),
    "two of 20 properties at least": lambda: {**optional(20), "minProperties": 2},
    "100 names by pattern": lambda: named(100),
    "two divisors": lambda: divided(1_100),
    "an enumeration of 2,000 words": lambda: {"enum": [f"word{i}" for i in range(2_000)]},
    "a constant of 8,000 characters": lambda: {"const": "The quick brown fox. " * 400},
    "the same object 64 times": lambda: inlined(6),
    "two short names of an open object": lambda: {
        "type": "object",
        "properties": {"id": INTEGER, "name": STRING},
        "additionalProperties": True,
    },
    "100 objects that a constant tells apart": lambda: any_of(
        100, lambda i: closed({"kind": {"const": f"k{i}"}, "value": STRING})
    ),
    "500 references to 50 definitions": lambda: {
        **closed({f"p{i}": {"$ref": f"#/$defs/d{i % 50}"} for i in range(500)}),
        "$defs": {f"d{i}": closed({"a": STRING, "b": INTEGER}) for i in range(50)},
    },
    "a long description": lambda: closed({"a": {**STRING, "description": "x" * 1_000_000}}),
    "every format but two": lambda: closed(
        {f: {"type": "string", "format": f} for f in prices.FORMATS if f not in prices.FORMAT_MASKS}
    ),
}


@pytest.mark.parametrize("name", CHEAP)
def test_what_is_cheap_is_accepted(name):
    assert codes(CHEAP[name]()) == set()

"""What xgrammar will not enforce, told without it: held against jsonschema and, where it is, the engine."""

from __future__ import annotations

import json
import time

import jsonschema
import pytest

import schemaguard
from schemaguard import unenforced
from schemaguard.handlers.merging import with_severities
from schemaguard.unenforced.syntax import fault

INTEGER = {"type": "integer"}
STRING = {"type": "string"}


def closed(schema):
    return {
        "type": "object",
        "properties": {"a": schema},
        "required": ["a"],
        "additionalProperties": False,
    }


def said(schema, profile="xgrammar"):
    """(code, pointer) of what is said."""
    report = schemaguard.check(schema, profile=profile)
    return {(d.code, d.pointer) for d in report.diagnostics}


def codes(schema):
    return {code for code, _ in said(closed(schema))}


# --------------------------------------------------------------------------------------- what is lost


def test_the_winner_and_what_it_beats_are_named():
    (found,) = schemaguard.check(
        closed({"anyOf": [STRING, {"type": "null"}], "minLength": 2}), profile="xgrammar"
    ).diagnostics
    assert (found.code, found.severity) == ("SG701", "warning")
    assert found.pointer == "/properties/a/minLength"
    assert "`anyOf` wins" in found.message
    assert "`minLength`" in found.message
    assert "0.2.9" in found.message


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "enum": ["a", "b"]},
        {"type": "string", "anyOf": [{"const": "a"}, {"enum": ["b"]}]},
        {"type": ["object", "null"], "anyOf": [closed(INTEGER), {"type": "null"}]},
        {"type": "number", "minimum": 0, "enum": [1, 2.5]},
        {"pattern": "^[ab]$", "enum": ["a", "b"], "type": "string"},
    ],
)
def test_what_the_winner_keeps_anyway_is_not_lost(schema):
    assert codes(schema) == set()


def test_all_that_an_all_of_of_two_says_is_lost_with_its_siblings():
    schema = {"type": "integer", "allOf": [{"minimum": 3}, {"maximum": 9}]}
    (found,) = schemaguard.check(closed(schema), profile="xgrammar").diagnostics
    assert found.code == "SG703"
    assert "`type`" in found.message


def test_alternatives_that_no_value_fits_together_are_kept_apart():
    apart = [closed({"const": "x"}), closed({"const": "y"})]
    together = [closed({"type": "string"}), closed({"const": "y"})]
    assert codes({"oneOf": apart}) == set()
    assert codes({"oneOf": together}) == {"SG704"}


def test_the_same_definition_is_looked_at_once():
    schema = {
        "type": "object",
        "properties": {name: {"$ref": "#/$defs/d"} for name in "ab"},
        "additionalProperties": False,
        "$defs": {"d": {"type": "array", "items": INTEGER, "uniqueItems": True}},
    }
    found = schemaguard.check(schema, profile="xgrammar").diagnostics
    assert [(d.code, d.pointer) for d in found] == [("SG702", "/$defs/d/uniqueItems")]


def test_a_definition_that_nothing_refers_to_is_not_spoken_of():
    schema = {**closed(INTEGER), "$defs": {"d": {"type": "number", "multipleOf": 0.5}}}
    assert said(schema) == set()


def test_siblings_of_a_reference_mean_nothing_in_draft_7():
    schema = closed({"$ref": "#/definitions/d", "minimum": 3})
    schema["definitions"] = {"d": INTEGER}
    assert {code for code, _ in said(schema)} == {"SG701"}
    schema["$schema"] = "http://json-schema.org/draft-07/schema#"
    assert said(schema) == set()


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "string", "pattern": "^[a-z]{1,8}$", "maxLength": 8}, set()),
        ({"type": "string", "pattern": "^[a-z]{1,9}$", "maxLength": 8}, {"SG706"}),
        ({"type": "integer", "multipleOf": 5}, set()),
        ({"type": "integer", "multipleOf": 5, "minimum": 0}, {"SG705"}),
        ({"type": "integer", "multipleOf": 5, "minimum": 0, "maximum": 50}, set()),
        ({"type": "string", "format": "color-of-my-own"}, set()),
        ({"minimum": 3}, {"SG710"}),
    ],
)
def test_values_decide_where_they_matter(schema, expected):
    assert codes(schema) == expected


def test_remarks_do_not_refuse_and_the_pass_is_given():
    report = schemaguard.check(closed({"type": "number", "multipleOf": 0.5}), profile="xgrammar")
    assert report.ok
    assert report.total == 1
    assert report.accepted is not None


def test_what_other_rules_refuse_is_not_spoken_of():
    assert said(closed({"type": "strin", "multipleOf": 0.5})) == {("SG212", "/properties/a/type")}


def test_handlers_hear_errors_alone():
    profile = with_severities("xgrammar", {})
    assert said(closed({"type": "number", "multipleOf": 0.5}), profile) == set()
    assert {c for c, _ in said(closed({"enum": []}), profile)} == {"SG755"}


# ----------------------------------------------------------------------- what cannot be met or ends

BROKEN = {
    "SG751": {"type": "integer", "exclusiveMinimum": 3, "exclusiveMaximum": 4},
    "SG752": {"type": "number", "minimum": 1e-8, "maximum": 2e-8},
    "SG753": {"type": "array", "minItems": 1},
    "SG754": {"anyOf": [INTEGER, False]},
    "SG755": {"anyOf": [INTEGER, {"enum": []}]},
    "SG756": {"type": "integer", "maximum": 1 << 63},
    "SG757": {"type": "array", "prefixItems": [True]},
    "SG758": {"type": "string", "pattern": "["},
    "SG759": {"type": "string", "pattern": r"^a[^\s\S]$"},
}
#: What the engine reads, and refuses, in places of which it writes nothing.
READ = [
    ("SG753", {"type": "array", "contains": INTEGER, "minContains": 1}),
    ("SG753", {"type": "array", "prefixItems": [INTEGER], "minContains": 2}),
    ("SG751", {"type": "array", "items": INTEGER, "minContains": 2, "maxItems": 1}),
    ("SG756", {"type": "array", "items": INTEGER, "minContains": 1 << 33}),
    ("SG756", {"allOf": [INTEGER, {"type": "integer", "minimum": 0.5}]}),
    ("SG755", {"allOf": [{"anyOf": [INTEGER, {"enum": []}]}, INTEGER]}),
    ("SG754", {"allOf": [False, INTEGER]}),
    ("SG754", {"allOf": [INTEGER, closed(False)]}),
    ("SG757", {"allOf": [closed({"allOf": [{"type": "array", "items": [INTEGER]}, STRING]}), {}]}),
    ("SG757", {"type": "object", "propertyNames": INTEGER}),
    ("SG751", {"type": "object", "propertyNames": {"minLength": 3, "maxLength": 2}}),
    ("SG758", {"type": "object", "propertyNames": {"pattern": "^[a-z"}}),
    ("SG758", {**closed(INTEGER), "propertyNames": {"pattern": "["}, "additionalProperties": {}}),
    ("SG756", {**closed(INTEGER), "propertyNames": {"type": "string", "minLength": 1.0}}),
]
SOUND = [
    {"items": INTEGER, "unevaluatedItems": {"type": "integer", "minimum": 0.5}},
    {"type": "array", "items": INTEGER, "minContains": 1, "maxItems": 1},
    {"allOf": [INTEGER, {"type": "string", "pattern": "["}]},
    {
        "allOf": [INTEGER, {"$ref": "#/properties/a/$defs/x"}],
        "$defs": {"x": {"type": "integer", "minimum": 0.5}},
    },
    {"type": "integer", "exclusiveMinimum": 3, "exclusiveMaximum": 5},
    {"type": "number", "minimum": 0.1, "maximum": 0.1},
    {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1e-5},
    {"type": "array", "items": INTEGER, "minItems": 1},
    {"type": "integer", "minimum": -(1 << 63), "maximum": (1 << 63) - 1},
    {"type": "string", "pattern": r"^(a|[^\s\S])$"},
    {"type": "string", "pattern": r"^a[^\s\S]?$"},
    {"type": "string", "minimum": 5, "maximum": 3},
]


def engine_on(schema):
    """ "refused", or what a grammar over bytes lets be finished: "ends", "broken" or "stuck"."""
    xgrammar = pytest.importorskip("xgrammar")
    vocabulary = [bytes([i]) for i in range(256)] + [b""]
    info = xgrammar.TokenizerInfo(vocabulary, stop_token_ids=[256])
    try:
        grammar = xgrammar.GrammarCompiler(info).compile_json_schema(json.dumps(schema))
    except RuntimeError:
        return "refused"
    for value in ("", "4", "0.1", "0.000001", "[1]", '"a"'):
        matcher = xgrammar.GrammarMatcher(grammar)
        if matcher.accept_string(f'{{"a":{value}}}') and matcher.is_completed():
            return "ends" if value else "broken"
    return "stuck"


@pytest.mark.parametrize("code", BROKEN)
def test_what_is_refused_has_no_sound_grammar(code):
    schema = closed(BROKEN[code])
    assert code in {found for found, _ in said(schema)}
    assert not schemaguard.check(schema, profile="xgrammar").ok
    assert engine_on(schema) in {"refused", "broken", "stuck"}


@pytest.mark.parametrize(("code", "schema"), READ, ids=json.dumps)
def test_what_is_read_alone_is_refused_as_well(code, schema):
    assert code in {found for found, _ in said(closed(schema))}
    assert engine_on(closed(schema)) == "refused"


def test_of_two_keywords_about_other_names_the_first_is_read():
    wrong = {"type": "integer", "minimum": 0.5}
    schema = {**closed(INTEGER), "unevaluatedProperties": wrong}
    assert schemaguard.check(schema, profile="xgrammar").ok
    assert engine_on(schema) == "ends"
    del schema["additionalProperties"]
    assert "SG756" in {code for code, _ in said(schema)}
    assert engine_on(schema) == "refused"


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        # `not` and `if` about other types than are written.
        ({"type": "integer", "not": {"type": "object"}}, set()),
        ({"type": "integer", "not": {"enum": ["a", None]}}, set()),
        ({"type": "integer", "not": {"type": "number", "minimum": 3}}, {"SG702"}),
        ({"type": "integer", "not": True}, {"SG702"}),
        # A pattern beside it keeps out what is listed.
        ({"type": "string", "pattern": "^b*$", "not": {"const": "a"}}, set()),
        ({"type": "string", "pattern": "^b*$", "not": {"const": "bb"}}, {"SG702"}),
        ({"type": "string", "pattern": "^b*$", "not": {"enum": ["a", "c", 1]}}, set()),
        ({"type": "string", "pattern": "^b*$", "not": {"enum": ["a", "b"]}}, {"SG702"}),
        (
            {"type": "string", "pattern": "^(?!a)[ab]$", "not": {"const": "a"}},
            {"SG702", "SG709"},
        ),
        # `minContains` is taken for `minItems`; beside `contains`, that is what is said of.
        ({"type": "array", "items": INTEGER, "minContains": 1}, {"SG728"}),
        ({"type": "array", "items": INTEGER, "minContains": 1, "minItems": 1}, set()),
        ({"type": "array", "items": INTEGER, "minContains": 0}, set()),
        (
            {"type": "array", "items": STRING, "contains": {"const": "a"}, "minContains": 1},
            {"SG702"},
        ),
        ({"type": "integer", "if": {"type": "string"}, "then": {"minLength": 1}}, set()),
        ({"type": "integer", "if": STRING, "else": {"minimum": 1}}, {"SG702"}),
        ({"not": {"type": "object"}, "anyOf": [INTEGER, STRING]}, set()),
        ({"not": {"type": "string"}, "anyOf": [INTEGER, STRING]}, {"SG701"}),
        # Bounds and divisors that the alternatives keep.
        ({"exclusiveMinimum": 0, "anyOf": [{"type": "integer", "minimum": 1}]}, set()),
        ({"exclusiveMinimum": 1, "anyOf": [{"type": "integer", "minimum": 1}]}, {"SG701"}),
        ({"exclusiveMaximum": 9, "anyOf": [{"type": "integer", "maximum": 8}]}, set()),
        ({"multipleOf": 0.5, "anyOf": [INTEGER]}, set()),
        ({"multipleOf": 2, "anyOf": [INTEGER]}, {"SG701"}),
        # One item is not repeated.
        ({"type": "array", "prefixItems": [INTEGER], "items": False, "uniqueItems": True}, set()),
        (
            {"type": "array", "prefixItems": [INTEGER], "items": INTEGER, "uniqueItems": True},
            {"SG702"},
        ),
        # Names open what is closed, where none is declared.
        (
            {"type": "object", "propertyNames": {"maxLength": 2}, "additionalProperties": False},
            {"SG701"},
        ),
        (
            {"type": "object", "propertyNames": {"maxLength": 2}, "unevaluatedProperties": False},
            {"SG701"},
        ),
        ({**closed(INTEGER), "propertyNames": {"maxLength": 2}}, set()),
        # A declared name is held to what is declared for it.
        ({**closed(INTEGER), "patternProperties": {"^[ab]$": INTEGER}}, set()),
        ({**closed(INTEGER), "patternProperties": {"^b$": STRING}}, set()),
        (
            {**closed(True), "patternProperties": {"^[ab]$": STRING}},
            {"SG713"},
        ),
    ],
)
def test_what_cannot_be_broken_is_not_lost(schema, expected):
    assert codes(schema) == expected


@pytest.mark.parametrize("schema", SOUND, ids=json.dumps)
def test_what_only_looks_so_is_accepted(schema):
    assert schemaguard.check(closed(schema), profile="xgrammar").ok
    assert engine_on(closed(schema)) == "ends"


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#/$defs/n", "$defs": {"n": closed({"$ref": "#/$defs/n"})}},
        closed({"type": "array", "items": {"$ref": "#"}, "minItems": 1}),
        {"anyOf": [INTEGER, {"$ref": "#/$defs/x"}], "$defs": {"x": closed({"$ref": "#/$defs/x"})}},
        {
            "$ref": "#/$defs/a",
            "$defs": {"a": closed({"$ref": "#/$defs/b"}), "b": {"anyOf": [{"$ref": "#/$defs/a"}]}},
        },
    ],
    ids=["a property", "items", "an alternative", "each other"],
)
def test_recursion_without_a_base_case_is_refused(schema):
    assert "SG761" in {code for code, _ in said(schema)}


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#/$defs/n", "$defs": {"n": {**closed({"$ref": "#/$defs/n"}), "required": []}}},
        closed({"type": "array", "items": {"$ref": "#"}}),
        closed({"anyOf": [{"$ref": "#"}, {"type": "null"}]}),
        closed({"type": "array", "prefixItems": [INTEGER], "items": {"$ref": "#"}, "minItems": 1}),
    ],
)
def test_recursion_that_can_end_is_accepted(schema):
    assert schemaguard.check(schema, profile="xgrammar").ok


IMPOSSIBLE = [
    {"type": "string", "enum": [1, 2]},
    {"type": "string", "const": 1},
    {"type": "integer", "minimum": 5, "enum": [1, 2]},
    {"type": "string", "anyOf": [INTEGER, {"type": "null"}]},
    {"type": "object", "properties": {}, "required": ["b"], "additionalProperties": False},
]
VALUES = [None, True, 1, 2, 7, 1.5, "", "a", [], [1], {}, {"b": 1}, {"a": 1}]


@pytest.mark.parametrize("schema", IMPOSSIBLE, ids=json.dumps)
def test_what_nothing_satisfies_is_an_error_where_it_is_needed_and_a_warning_elsewhere(schema):
    validator = jsonschema.Draft202012Validator(schema)
    assert not any(map(validator.is_valid, VALUES))
    needed = closed(schema)
    assert "SG762" in {code for code, _ in said(needed)}
    assert not schemaguard.check(needed, profile="xgrammar").ok
    optional = {**needed, "required": []}
    assert jsonschema.Draft202012Validator(optional).is_valid({})
    assert "SG763" in {code for code, _ in said(optional)}
    assert schemaguard.check(optional, profile="xgrammar").ok


def test_an_alternative_that_nothing_satisfies_does_not_make_the_whole_impossible():
    schema = closed({"anyOf": [INTEGER, {"type": "string", "enum": [1]}]})
    assert jsonschema.Draft202012Validator(schema).is_valid({"a": 1})
    assert schemaguard.check(schema, profile="xgrammar").ok


# ------------------------------------------------------------------------------------------ patterns


@pytest.mark.parametrize(
    ("pattern", "offset"),
    [("[", 0), ("a(b", 1), ("ab)", 2), ("*a", 0), ("a{2,1}", 1), (r"a\bc", 1), ("x[z-a]", 3)],
)
def test_a_pattern_that_is_none_is_refused_with_its_place(pattern, offset):
    found = fault(pattern)
    assert found is not None
    assert found[1] == offset
    assert engine_on(closed({"type": "string", "pattern": pattern})) == "refused"


@pytest.mark.parametrize(
    "pattern",
    ["", "a|", "(?:a)*", "[]a]"[1:], "[a-]", r"[\d-z]", "(?<n>a)", "a{1, 2}", "}", r"\x41"],
)
def test_a_pattern_that_is_one_is_not(pattern):
    assert fault(pattern) is None


# ------------------------------------------------------------------------------------------- bounds


@pytest.mark.parametrize(
    "make",
    [
        lambda n: {"anyOf": [{"enum": list(range(n))}, {"enum": list(range(n))}], "type": "string"},
        lambda n: {"oneOf": [{"enum": [i, -i - 1]} for i in range(n)]},
        lambda n: (
            {"$defs": {f"d{i}": closed({"$ref": f"#/$defs/d{i + 1}"}) for i in range(n)}}
            | {"$ref": "#/$defs/d0"}
        ),
        lambda n: {"$defs": {"d": {"anyOf": [{"$ref": "#/$defs/d"}] * n}}, "$ref": "#/$defs/d"},
        lambda n: {"type": "string", "pattern": "(" * n},
        lambda n: {"type": "string", "pattern": "(a|b)*" * n, "maxLength": 3},
        lambda n: {"type": "object", "patternProperties": {f"a{i}.*": {} for i in range(n)}},
    ],
)
def test_hostile_schemas_take_time_that_grows_with_their_size(make):
    took = []
    for size in (1_000, 4_000):
        schema = make(size)
        began = time.thread_time()
        unenforced.losses(schema)
        took.append(time.thread_time() - began)
    assert took[1] < max(12 * took[0], 2.0)


@pytest.mark.parametrize("value", [None, 1, "x", [], [1], {}, True, {"a": 1}, 1.5])
def test_malformed_keywords_are_no_traceback(value):
    for keyword in ("enum", "anyOf", "properties", "items", "pattern", "$ref", "required", "allOf"):
        schema = {"type": "object", keyword: value}
        assert schemaguard.check(schema, profile="xgrammar").total >= 0

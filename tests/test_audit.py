"""Audits: what the engine drops, narrows and enforces is told, with witnesses that hold."""

from __future__ import annotations

import json

import pytest

import schemaguard
from schemaguard.errors import SchemaguardError

pytest.importorskip("xgrammar")

import recheck

from schemaguard.grammar import audit


def closed(schema, **more):
    return {
        "type": "object",
        "properties": {"a": schema},
        "required": ["a"],
        "additionalProperties": False,
        **more,
    }


def audited(schema, **options):
    """The result, after a second opinion on every witness."""
    result = audit.audit(schema, **options)
    assert recheck.faults(schema, result.as_dict()) == []
    return result


def verdict(result, pointer, keyword):
    (row,) = [r for r in result.constraints if (r.pointer, r.keyword) == (pointer, keyword)]
    return row.verdict


# What xgrammar 0.2.9 makes of one keyword, as measured by hand: contract of the engines, section 4.
DROPPED = {
    "multipleOf of a number": ({"type": "number", "multipleOf": 0.25}, "multipleOf"),
    "multipleOf beside one bound": (
        {"type": "integer", "multipleOf": 4, "minimum": 0},
        "multipleOf",
    ),
    "uniqueItems": (
        {"type": "array", "items": {"type": "integer"}, "uniqueItems": True},
        "uniqueItems",
    ),
    "contains": (
        {"type": "array", "items": {"type": "integer"}, "contains": {"const": 7}},
        "contains",
    ),
    "not": ({"type": "integer", "not": {"const": 0}}, "not"),
    "overlapping oneOf": (
        {"oneOf": [{"type": "integer", "minimum": 0}, {"type": "integer", "maximum": 10}]},
        "oneOf",
    ),
    "maxLength beside pattern": (
        {"type": "string", "pattern": "^[a-z]+$", "maxLength": 3},
        "maxLength",
    ),
    "maxLength beside format": ({"type": "string", "format": "ipv4", "maxLength": 8}, "maxLength"),
    "minimum without a type": ({"minimum": 3}, "minimum"),
    "lookahead": ({"type": "string", "pattern": "^(?=.*[0-9])[a-z0-9]+$"}, "pattern"),
    "type beside enum": ({"type": "string", "enum": ["a", 1]}, "type"),
    "type beside anyOf": ({"type": "integer", "anyOf": [{"minimum": 5}, {"maximum": 0}]}, "type"),
    "dependentRequired": (
        {
            "type": "object",
            "properties": {"x": {"type": "integer"}, "y": {"type": "integer"}},
            "dependentRequired": {"x": ["y"]},
            "additionalProperties": False,
        },
        "dependentRequired",
    ),
    "if": ({"type": "integer", "if": {"minimum": 10}, "then": {"maximum": 20}}, "if"),
    "required of what is not declared": (
        {"type": "object", "properties": {}, "additionalProperties": True, "required": ["z"]},
        "required",
    ),
    "an integer that is rounded": ({"const": 12345678901234567890}, "const"),
    "a date that does not exist": ({"type": "string", "format": "date"}, "format"),
}


@pytest.mark.parametrize("name", DROPPED)
def test_what_the_engine_drops_is_dropped_with_an_instance_that_gets_through(name):
    schema, keyword = DROPPED[name]

    result = audited(closed(schema))

    assert verdict(result, "/properties/a", keyword) == "dropped"
    assert result.verdict in {"leaks", "broken-json"}


def witness_of(result, pointer, keyword):
    """The witness of a dropped constraint, as a value."""
    (row,) = [r for r in result.constraints if (r.pointer, r.keyword) == (pointer, keyword)]
    assert row.verdict == "dropped", row.reason
    return json.loads(row.witness)


def test_a_pattern_that_a_declared_name_matches_is_tried_under_that_name():
    schema = {
        "properties": {"a": {"type": "array"}},
        "patternProperties": {"^[a-b]+$": {"const": "k"}},
        "additionalProperties": False,
    }
    below = "/patternProperties/^[a-b]+$"
    assert witness_of(audited(schema), below, "const") == {"a": []}

    # Deeper in the instance, and deeper below the pattern.
    assert witness_of(audited(closed(schema)), f"/properties/a{below}", "const") == {"a": {"a": []}}
    text = {"type": "object", "additionalProperties": False}
    schema = {
        **text,
        "properties": {"ax": {**text, "properties": {"n": {"type": "string"}}}},
        "patternProperties": {
            "^a.*$": {**text, "properties": {"n": {"type": "string", "enum": ["p", "q"]}}}
        },
    }
    witness = witness_of(audited(schema), "/patternProperties/^a.*$/properties/n", "enum")
    assert list(witness) == ["ax"]
    assert witness["ax"]["n"] not in ("p", "q")


def test_patterns_that_share_a_name_are_tried_under_it():
    schema = {
        "type": "object",
        "patternProperties": {"^a.*$": {"type": "integer"}, "^.*b$": {"type": "string"}},
        "additionalProperties": False,
    }
    result = audited(schema)
    for pattern in schema["patternProperties"]:
        ((name, _value),) = witness_of(result, f"/patternProperties/{pattern}", "type").items()
        assert (name[0], name[-1]) == ("a", "b")


def test_a_pattern_that_matches_no_other_name_is_enforced():
    schema = {
        "type": "object",
        "properties": {"b": {"type": "integer"}},
        "patternProperties": {"^a$": {"type": "integer"}},
        "additionalProperties": False,
    }
    assert verdict(audited(schema), "/patternProperties/^a$", "type") == "enforced"


NARROW = {
    "a minContains without contains": (
        {"type": "array", "items": {}, "minContains": 1},
        "minContains",
    ),
    "digits of a bounded number": ({"type": "number", "minimum": 0}, "minimum"),
    "a pattern without anchors": ({"type": "string", "pattern": "bar"}, "pattern"),
    "quotes in a string of bounded length": ({"type": "string", "maxLength": 9}, "maxLength"),
    "capitals of an address": ({"type": "string", "format": "ipv6"}, "format"),
    "further properties": ({"type": "object", "properties": {"x": {}}}, "properties"),
    "further items": ({"type": "array", "prefixItems": [{"type": "integer"}]}, "prefixItems"),
    "names with more than the pattern": (
        {
            "type": "object",
            "patternProperties": {"^x_": {"type": "integer"}},
            "additionalProperties": False,
        },
        "patternProperties",
    ),
    "other types beside properties": ({"properties": {"x": {"type": "integer"}}}, "properties"),
}


@pytest.mark.parametrize("name", NARROW)
def test_what_the_engine_narrows_is_over_constrained_with_an_instance_that_it_refuses(name):
    schema, keyword = NARROW[name]

    result = audited(closed(schema))

    assert verdict(result, "/properties/a", keyword) == "over-constrained"


EXACT = {
    "types": {"type": ["string", "integer", "null"]},
    "integer bounds": {"type": "integer", "minimum": -3, "maximum": 12},
    "integer multiples": {"type": "integer", "multipleOf": 5},
    "listed values": {"enum": ["a", 1, None, True, [1], {"x": "y"}]},
    "anyOf of types": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
    "a pattern with anchors": {"type": "string", "pattern": "^[a-f]{2,3}$"},
    "items": {"type": "array", "items": {"type": "boolean"}, "minItems": 1, "maxItems": 3},
    "an identifier": {"type": "string", "format": "uuid"},
}


@pytest.mark.parametrize("name", EXACT)
def test_what_the_engine_enforces_is_exact_and_nothing_is_left_untested(name):
    result = audited(closed(EXACT[name]))

    assert result.verdict == "exact", result.reason
    assert {row.verdict for row in result.constraints} == {"enforced"}
    assert result.complete


def test_keywords_beside_a_reference_are_dropped_and_the_definition_is_not():
    schema = closed(
        {"$ref": "#/$defs/s", "enum": ["p", "q"]}, **{"$defs": {"s": {"type": "string"}}}
    )

    result = audited(schema)

    assert verdict(result, "/properties/a", "enum") == "dropped"
    assert verdict(result, "/$defs/s", "type") == "enforced"


def test_a_definition_is_dropped_where_one_of_its_references_is():
    schema = {
        "$defs": {"s": {"type": "string", "pattern": "^[a-z]+$"}},
        "type": "object",
        "properties": {
            "x": {"$ref": "#/$defs/s"},
            "y": {"allOf": [{"$ref": "#/$defs/s"}, {"minLength": 2}]},
        },
        "additionalProperties": False,
    }

    result = audited(schema)

    assert verdict(result, "/$defs/s", "pattern") == "dropped"


def test_a_name_spelt_with_an_escape_gets_past_an_open_object():
    schema = {
        "type": "object",
        "properties": {"a": {"type": "integer"}},
        "required": ["a"],
        "additionalProperties": True,
    }

    result = audited(schema)

    (row,) = [r for r in result.constraints if r.verdict == "dropped"]
    assert (row.pointer, row.keyword) == ("/properties/a", "type")
    assert "\\u0061" in row.witness
    assert type(json.loads(row.witness)["a"]) is not int


def test_a_hidden_name_gets_past_with_a_value_that_other_names_may_have():
    schema = {
        "type": "object",
        "properties": {"path": {"type": "string"}},
        "additionalProperties": {"type": "boolean"},
    }

    result = audited(schema)

    (row,) = [r for r in result.constraints if r.verdict == "dropped"]
    assert (row.pointer, row.keyword) == ("/properties/path", "type")
    assert type(json.loads(row.witness)["path"]) is bool


@pytest.mark.parametrize(
    "forbidden",
    [{"type": "integer"}, closed({"type": "array", "items": {"type": "integer"}})],
    ids=["small", "larger than forty other names"],
)
def test_a_declared_name_that_is_forbidden_is_written_all_the_same(forbidden):
    schema = {
        "type": "object",
        "properties": {"b": {"type": "integer"}, "x-1": forbidden},
        "propertyNames": {"pattern": "^[a-c]+$"},
        "additionalProperties": False,
    }

    result = audited(schema)

    assert verdict(result, "", "propertyNames") == "dropped"


@pytest.mark.parametrize("keyword", ["unevaluatedItems", "unevaluatedProperties"])
def test_members_beyond_are_of_all_types(keyword):
    # The engine looks at nothing without a `type`: an empty string gets through, and breaks it.
    result = audited({keyword: {"minLength": 1}})

    assert verdict(result, "", keyword) == "dropped"
    assert "" in (json.loads(result.witness), *_members(json.loads(result.witness)))


def _members(value):
    return value.values() if isinstance(value, dict) else value


def test_names_alone_open_a_closed_object():
    schema = {"type": "object", "additionalProperties": False, "propertyNames": {"minLength": 2}}

    result = audited(schema)

    assert verdict(result, "", "additionalProperties") == "dropped"


@pytest.mark.parametrize("values", [[[], "a"], [[]], [[], [1]]])
def test_an_empty_array_among_the_values_breaks_nothing_and_no_audit(values):
    schema = {"type": "array", "items": {"type": "integer"}, "uniqueItems": True, "enum": values}

    assert audited(schema).verdict in {"leaks", "exact"}


def test_witnesses_are_the_smallest_that_were_found():
    result = audited(closed({"type": "array", "items": {"type": "integer"}, "uniqueItems": True}))

    (row,) = [r for r in result.constraints if r.keyword == "uniqueItems"]
    assert row.witness == '{"a":[0,0]}'


DEAD_ENDS = {
    "a property that needs itself": {
        "$defs": {"n": closed({"$ref": "#/$defs/n"})},
        "$ref": "#/$defs/n",
    },
    "an array that needs itself": {
        "$defs": {"n": {"type": "array", "items": {"$ref": "#/$defs/n"}, "minItems": 1}},
        "$ref": "#/$defs/n",
    },
    "an optional property that needs itself": {
        "$defs": {"n": closed({"$ref": "#/$defs/n"})},
        "type": "object",
        "properties": {"ok": {"type": "string"}, "bad": {"$ref": "#/$defs/n"}},
        "additionalProperties": False,
    },
    "a pattern that matches nothing": closed({"type": "string", "pattern": r"^[^\s\S]$"}),
    "a branch of a pattern that matches nothing": closed(
        {"type": "string", "pattern": r"^(a[^\s\S]|b)$"}
    ),
}


@pytest.mark.parametrize("name", DEAD_ENDS)
def test_dead_ends_are_found(name):
    result = audited(DEAD_ENDS[name])

    assert result.verdict == "dead-end"


ENDING = {
    "recursion with a way out": {
        "$defs": {
            "n": {
                "type": "object",
                "properties": {"next": {"anyOf": [{"$ref": "#/$defs/n"}, {"type": "null"}]}},
                "required": ["next"],
                "additionalProperties": False,
            }
        },
        "$ref": "#/$defs/n",
    },
    "long strings": closed({"type": "string", "pattern": "^[0-9a-f]{120}$"}),
    "many items": closed({"type": "array", "items": {"type": "integer"}, "minItems": 150}),
    "a million items": closed({"type": "array", "items": {"type": "null"}, "minItems": 10**6}),
    "a long number": closed({"const": 1234512345123451}),
    "values that end alike": closed({"enum": ["abab", "cbab", "abcbab", "babbab"]}),
}


@pytest.mark.parametrize("name", ENDING)
def test_what_takes_long_to_end_is_no_dead_end(name):
    assert audited(ENDING[name]).verdict != "dead-end"


def test_text_that_is_not_json_is_found():
    empty_value = audited(closed({"type": "number", "minimum": 1e-7, "maximum": 2e-7}))
    control_character = audited(closed({"type": "string", "minLength": 1}))

    assert empty_value.verdict == "broken-json"
    assert empty_value.witness == '{"a":}'
    assert control_character.verdict == "broken-json"


def test_refused_schemas_are_refused_with_the_reason():
    by_profile = audit.audit({"$ref": "https://example.com/x"})
    by_engine = audit.audit({"type": "string", "pattern": r"\bword\b"})
    no_schema = audit.audit("{")

    assert [r.verdict for r in (by_profile, by_engine, no_schema)] == ["refused"] * 3
    assert "SG301" in by_profile.reason
    assert "Word boundary" in by_engine.reason
    assert by_profile.constraints == no_schema.constraints == ()


def test_the_same_seed_gives_the_same_result():
    schema = closed(
        {"type": "array", "items": {"type": "string", "pattern": "^a+b?$"}}, minProperties=1
    )

    first, again = audit.audit(schema, seed=3), audit.audit(schema, seed=3)

    assert first == again
    assert hash(first) == hash(again)
    assert audit.audit(schema, seed=4).verdict == first.verdict


def test_results_are_frozen():
    result = audit.audit(closed({"type": "string"}))

    with pytest.raises(AttributeError):
        result.verdict = "leaks"
    with pytest.raises(AttributeError):
        result.constraints[0].verdict = "dropped"


def test_a_schema_may_be_text_or_a_report_or_accepted_and_is_not_changed():
    schema = closed({"type": "number", "multipleOf": 0.5})
    before = json.dumps(schema)
    report = schemaguard.check(schema, profile="xgrammar")

    results = {
        audit.audit(given) for given in (schema, before, before.encode(), report, report.accepted)
    }

    assert len(results) == 1
    assert json.dumps(schema) == before


def test_unknown_engines_and_styles_are_errors():
    for options in ({"engine": "none"}, {"style": "none"}, {"samples": -1}, {"samples": True}):
        with pytest.raises(ValueError):
            audit.audit({"type": "string"}, **options)
    assert not issubclass(ValueError, SchemaguardError)


def test_the_freedoms_of_spelling_that_are_taken_away_are_no_constraints():
    schema = {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
        "required": ["a", "b"],
        "additionalProperties": False,
    }

    result = audited(schema)

    assert result.verdict == "exact"
    assert {row.freedom for row in result.spelling} == {"key-order", "number", "escape"}


OLD = {
    "draft 7: a reference makes its siblings void": {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "definitions": {"s": {"type": "string"}},
        "type": "object",
        "properties": {"a": {"$ref": "#/definitions/s", "maxLength": 3}},
        "additionalProperties": False,
    },
    "draft 4: const is no keyword": {
        "$schema": "http://json-schema.org/draft-04/schema#",
        "type": "object",
        "properties": {"a": {"type": "integer", "minimum": 1, "const": 5}},
        "additionalProperties": False,
    },
}


def test_a_reference_makes_its_siblings_void_in_draft_7():
    result = audited(OLD["draft 7: a reference makes its siblings void"])

    assert [row for row in result.constraints if row.pointer == "/properties/a"] == []


def test_a_keyword_that_the_draft_does_not_have_is_told_where_the_engine_reads_it():
    result = audited(OLD["draft 4: const is no keyword"])

    assert verdict(result, "/properties/a", "const") == "over-constrained"


def test_what_restricts_nothing_is_no_constraint():
    result = audited(
        {
            "type": "object",
            "properties": {
                "a": {"type": "string", "minimum": 3, "format": "int32", "minLength": 0},
                "b": {"anyOf": [{}, {"type": "null"}]},
                "c": {"title": "anything"},
            },
            "required": [],
            "propertyNames": {"type": "string"},
            "additionalProperties": False,
        }
    )

    assert {(row.pointer, row.keyword) for row in result.constraints} == {
        ("", "type"),
        ("", "additionalProperties"),
        ("/properties/a", "type"),
    }


def test_without_a_checker_a_format_is_untested_and_the_rest_is_not(monkeypatch):
    import jsonschema

    # Which ones jsonschema has depends on what else is installed.
    checkers = jsonschema.Draft202012Validator.FORMAT_CHECKER.checkers
    monkeypatch.delitem(checkers, "json-pointer", raising=False)
    schema = closed({"type": "string", "format": "json-pointer"})

    result = audited(schema)

    rows = {row.keyword: row for row in result.constraints if row.pointer == "/properties/a"}
    assert rows["format"].verdict == "untested"
    assert rows["format"].reason == "the judge has no checker for the format json-pointer"
    assert rows["type"].verdict == "enforced"


def test_an_unsatisfiable_schema_is_not_called_enforced():
    result = audited(
        {
            "type": "object",
            "properties": {"a": {"type": "string"}},
            "required": ["b"],
            "additionalProperties": False,
        }
    )

    assert verdict(result, "", "required") == "dropped"
    assert verdict(result, "", "type") == "untested"


def test_a_closed_object_is_blamed_on_properties_and_a_missing_name_on_required():
    too_many = audited({"type": "object", "properties": {"x": {}}, "required": []})
    too_few = audited({"type": "object", "required": ["z"], "additionalProperties": True})

    assert {r.keyword for r in too_many.constraints if r.verdict == "over-constrained"} == {
        "properties"
    }
    assert verdict(too_few, "", "required") == "dropped"
    (row,) = [r for r in too_few.constraints if r.keyword == "required"]
    assert json.loads(row.witness) == {}

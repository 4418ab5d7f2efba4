"""Gemini's schemas in the spelling of Protocol Buffers: checked as what they mean."""

from __future__ import annotations

import json
import pickle

import pytest

from schemaguard import envelopes, lint
from schemaguard.envelopes.protobuf import spelled, translated
from schemaguard.profiles import load

SPELLED = {
    "type": "OBJECT",
    "properties": {
        "tags": {"type": "ARRAY", "items": {"type": "STRING"}, "max_items": "3"},
        "any_of": {"any_of": [{"type": "INTEGER"}, {"type": "OBJECT", "min_properties": 1}]},
        "type": {"type": "STRING", "enum": ["OBJECT", "STRING"]},
    },
    "required": ["type"],
    "property_ordering": ["type", "tags", "any_of"],
}
PLAIN = {
    "type": "object",
    "properties": {
        "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
        "any_of": {"anyOf": [{"type": "integer"}, {"type": "object", "minProperties": 1}]},
        "type": {"type": "string", "enum": ["OBJECT", "STRING"]},
    },
    "required": ["type"],
    "propertyOrdering": ["type", "tags", "any_of"],
}


def declared(schema, key="parameters"):
    return {"tools": [{"functionDeclarations": [{"name": "f", key: schema}]}]}


def test_the_spelling_is_translated_where_schemas_are_and_nowhere_else():
    before = json.dumps(SPELLED)
    assert translated(SPELLED) == PLAIN
    assert list(translated(SPELLED)) == list(PLAIN)
    assert json.dumps(SPELLED) == before
    assert translated(PLAIN) is PLAIN
    assert translated(True) is True


def test_a_field_in_both_spellings_and_words_that_are_no_types_are_left_for_the_profile():
    odd = {"any_of": [], "anyOf": [], "type": "Object", "minItems": "many", "maxItems": "9" * 30}
    assert translated(odd) is odd


def test_places_are_said_as_the_text_has_them():
    assert spelled(SPELLED, ("properties", "any_of", "anyOf", "1", "minProperties")) == [
        "properties",
        "any_of",
        "any_of",
        "1",
        "min_properties",
    ]
    assert spelled(SPELLED, ("not", "there")) == ["not", "there"]


@pytest.mark.parametrize("key", ["parameters", "responseSchema", "response_schema"])
def test_a_request_of_googles_own_library_is_checked_as_what_it_means(key):
    schema = {**SPELLED, "additional_properties": False}
    body = declared(schema) if key == "parameters" else {"generationConfig": {key: schema}}
    report = lint.check_text("x.json", json.dumps(body, indent=1), "gemini-openapi")
    ((tool),) = report.tools
    (finding,) = (f for f in tool.findings if f.severity == "error")
    assert finding.code == "SG231"
    assert finding.pointer.endswith("/additional_properties")
    line = json.dumps(body, indent=1).splitlines()[finding.line - 1]
    assert line.strip().startswith('"additional_properties"')


def test_json_schema_fields_are_not_translated():
    report = lint.check_value("x", declared(SPELLED, "parametersJsonSchema"), "gemini-json")
    assert "SG212" in {f.code for tool in report.tools for f in tool.findings}


def test_a_tool_keeps_its_schema_as_it_was_written():
    (tool,) = envelopes.unpack(declared(SPELLED)).tools
    assert tool.schema is not None
    assert tool.schema == SPELLED
    assert tool.standalone()[0] == PLAIN
    assert pickle.loads(pickle.dumps(tool)).standalone()[0] == PLAIN  # noqa: S301  (our own)


def test_values_that_contain_themselves_or_nest_without_end_are_no_trouble():
    loop = {"type": "OBJECT", "properties": {}}
    loop["properties"]["again"] = loop
    report = lint.check_value("x", declared(loop), "gemini-openapi")
    assert not report.ok
    deep = {"type": "STRING"}
    for _ in range(100_000):
        deep = {"type": "ARRAY", "items": deep}
    assert lint.check_value("x", declared(deep), "gemini-openapi").tools


def test_a_fix_leaves_such_a_text_alone_and_says_so():
    from schemaguard.fix.files import fix_text

    made = fix_text("x.json", json.dumps(declared(SPELLED)), [load("openai-strict")])
    assert not made.changed
    ((pointer, reason),) = made.problems
    assert pointer == "/tools/0/functionDeclarations/0/parameters"
    assert "Gemini's type names (`STRING`)" in reason

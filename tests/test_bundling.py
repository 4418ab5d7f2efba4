"""Schemas of an OpenAPI document are checked with what they refer to elsewhere in it."""

from __future__ import annotations

import json
import pickle
import time

from schemaguard import envelopes, lint
from schemaguard.envelopes import bundling
from schemaguard.report import tokens_of

CLOSED = {"type": "object", "additionalProperties": False}


def api(schema, components, count=1):
    """A document with some operations that take one schema."""
    body = {"content": {"application/json": {"schema": schema}}}
    paths = {
        f"/p{n}": {"post": {"operationId": f"op{n}", "requestBody": body}} for n in range(count)
    }
    return {"openapi": "3.1.0", "paths": paths, "components": {"schemas": components}}


def to(name):
    return {"$ref": f"#/components/schemas/{name}"}


def closed(**properties):
    return {**CLOSED, "properties": properties, "required": list(properties)}


def found(document):
    """(code, value at the pointer) of the findings of all tools; each has a place in the text."""
    report = lint.check_text("api.json", json.dumps(document, indent=1))
    rows = []
    for finding in (f for tool in report.tools for f in tool.findings):
        value = document
        for token in tokens_of(finding.pointer):
            value = value[int(token)] if isinstance(value, list) else value[token]
        assert finding.line is not None
        rows.append((finding.code, finding.pointer, value))
    assert report.findings == ()
    return rows


def test_what_references_lead_to_is_checked_at_its_own_place():
    document = api(
        closed(a=to("A")), {"A": closed(b=to("B")), "B": {"type": "object"}, "C": {"not": {}}}
    )
    assert found(document) == [("SG401", "/components/schemas/B", {"type": "object"})]


def test_a_document_without_fault_has_no_finding():
    assert found(api(closed(a=to("A")), {"A": closed(b=to("B")), "B": {"type": "string"}})) == []


def test_a_reference_to_nothing_is_a_finding_where_it_stands():
    rows = found(api(closed(a=to("A")), {"A": closed(b=to("Gone"))}))
    assert rows == [
        ("SG308", "/components/schemas/A/properties/b/$ref", "#/components/schemas/Gone")
    ]


def test_a_circle_is_a_finding_and_recursion_through_properties_is_none():
    assert found(api(to("Tree"), {"Tree": closed(left=to("Tree"), right=to("Tree"))})) == []
    rows = found(api(closed(a=to("A")), {"A": to("B"), "B": to("A")}))
    assert {code for code, *_ in rows} == {"SG310"}


def test_a_recursive_schema_says_each_thing_once():
    tree = {"type": "object", "properties": {"left": to("Tree")}, "required": ["left"]}
    assert [row[:2] for row in found(api(to("Tree"), {"Tree": tree}))] == [
        ("SG401", "/components/schemas/Tree")
    ]


def test_references_to_other_places_than_components_and_with_escapes_are_followed():
    document = api(closed(a={"$ref": "#/paths/~1p1/x-schema"}, b={"$ref": "#/x-more/a%20b/1"}), {})
    document["paths"]["/p1"] = {"x-schema": {"type": "object"}}
    document["x-more"] = {"a b": [1, {"type": "dict"}]}
    assert {row[:2] for row in found(document)} == {
        ("SG401", "/paths/~1p1/x-schema"),
        ("SG212", "/x-more/a b/1/type"),
    }


def test_names_that_are_alike_and_names_that_need_escapes_stay_apart():
    document = api(
        closed(a=to("T"), b={"$ref": "#/x/T"}, c=to("a~1b"), d=to("%C3%BC")),
        {"T": closed(), "a/b": {"type": "object"}, "\xfc": {"type": "integer"}},
    )
    document["x"] = {"T": {"type": "object", "title": "the other"}}
    assert {row[1] for row in found(document)} == {"/x/T", "/components/schemas/a~1b"}


def test_data_that_looks_like_a_reference_stays_as_it_is():
    schema = closed(a={"type": "object", "enum": [to("A")], **CLOSED})
    (tool,) = envelopes.unpack(api(schema, {"A": {}})).tools
    assert tool.standalone() == (schema, {})
    assert tool.standalone()[0] is tool.schema


def test_the_document_is_not_changed_and_a_tool_can_be_sent():
    document = api(closed(a=to("A")), {"A": {**closed(b=to("B")), "title": "A"}, "B": {}})
    before = json.dumps(document)
    (tool,) = envelopes.unpack(document).tools
    schema, moved = tool.standalone()
    assert json.dumps(document) == before
    assert schema["properties"]["a"]["$ref"].startswith("#/$defs/")
    assert len(schema["$defs"]) == len(moved) == 2
    assert pickle.loads(pickle.dumps(tool)).standalone()[0] == schema  # noqa: S301  (our own)


def test_schemas_that_multiply_are_said_and_take_no_time(monkeypatch):
    monkeypatch.setattr(bundling, "MAX_VALUES", 20_000)
    large = closed(**{f"p{n}": {"type": "string"} for n in range(1_000)})
    document = api(closed(a=to("Large")), {"Large": large}, count=500)
    began = time.process_time()
    report = lint.check_text("api.json", json.dumps(document))
    assert time.process_time() - began < 5
    assert not report.ok
    assert {finding.name for finding in report.findings} == {"unreadable-tool"}
    assert 0 < len(report.tools) < 20
    assert len(report.tools) + len(report.findings) == 500


def test_a_deep_component_is_no_recursion():
    deep = {}
    for _ in range(20_000):
        deep = {"items": deep}
    document = api(closed(a=to("Deep")), {"Deep": deep})
    (tool,) = envelopes.unpack(document).tools
    schema, _ = tool.standalone()
    assert "Deep" in schema["$defs"]


def test_a_value_that_contains_itself_is_left_to_the_check():
    loop = closed()
    loop["properties"]["a"] = loop
    (tool,) = envelopes.unpack(api(loop, {})).tools
    assert tool.standalone()[0] is loop
    report = lint.check_value("api", api(closed(a=to("A")), {"A": loop}))
    assert not report.ok

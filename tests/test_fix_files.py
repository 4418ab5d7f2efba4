"""What is left of a file: what is read only, errors about tools; and that the check agrees."""

from __future__ import annotations

import json

import pytest
from conftest import shared

from schemaguard.fix.files import fix_text
from schemaguard.lint import check_text

OPEN = {"type": "object", "properties": {"a": {"type": "string"}}}
CLOSED = {**OPEN, "required": ["a"], "additionalProperties": False}


def openapi(schema, version="3.0.3"):
    content = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/A"}}}}
    operation = {
        "operationId": "makeA",
        "requestBody": content,
        "responses": {"200": {"description": "made", **content}},
    }
    return {
        "openapi": version,
        "info": {"title": "t", "version": "1"},
        "paths": {"/a": {"post": operation}},
        "components": {"schemas": {"A": schema}},
    }


def test_an_openapi_document_is_read_only_and_each_refused_schema_is_said():
    for version in ("3.0.3", "3.1.0"):
        document = openapi(OPEN, version)
        inline = {"content": {"application/json": {"schema": OPEN}}}
        document["paths"]["/b"] = {"post": {"operationId": "makeB", "requestBody": inline}}

        made = fix_text("api.json", json.dumps(document), "openai-strict", lossy=True)

        assert not made.changed
        assert not made.tools
        assert [pointer for pointer, _ in made.problems] == [
            "/components/schemas/A",
            "/paths/~1b/post/requestBody/content/application~1json/schema",
        ]
        for _, reason in made.problems:
            assert reason.startswith("an OpenAPI document is a contract of HTTP")
            assert "openai-strict-" in reason
            assert "SG4" in reason


def test_nothing_is_left_of_an_openapi_document_that_is_accepted():
    made = fix_text("api.json", json.dumps(openapi(CLOSED)), ["dynamo", "openai-strict"])

    assert made.ok
    assert not made.changed


def test_nothing_is_left_of_what_is_accepted_and_could_not_be_edited():
    spelled = {"type": "OBJECT", "properties": {"a": {"type": "STRING"}}, "required": ["a"]}
    gemini = {"tools": [{"functionDeclarations": [{"name": "f", "parameters": spelled}]}]}
    toml = "type = 'object'\nadditionalProperties = false\n[properties]\n"

    assert fix_text("g.json", json.dumps(gemini), "gemini-openapi").ok
    assert fix_text("t.toml", toml, "dynamo").ok
    made = fix_text("g.json", json.dumps(gemini), ["gemini-openapi", "dynamo"])
    ((pointer, reason),) = made.problems
    assert pointer == "/tools/0/functionDeclarations/0/parameters"
    assert "dynamo-" in reason
    assert "gemini-openapi-" not in reason


def test_errors_about_tools_are_left_with_their_place_in_the_file():
    tool = {"name": "get weather!", "inputSchema": OPEN}

    made = fix_text("t.json", json.dumps({"tools": [tool]}), ["openai-strict", "dynamo"])

    assert made.changed
    assert not made.ok
    assert all(tool.result.ok for tool in made.tools)
    (left,) = made.about
    assert (left.code, left.pointer) == ("SG622", "/tools/0/name")
    assert left.profile.startswith("openai-strict")
    assert "only schemas are edited" in left.reason


def test_the_prefix_of_a_client_counts_for_names():
    text = json.dumps({"name": "a" * 60, "inputSchema": CLOSED})

    assert fix_text("t.json", text, "openai-strict").ok
    made = fix_text("t.json", text, "openai-strict", prefix="mcp__x__")
    assert [left.code for left in made.about] == ["SG621"]


def test_sums_over_a_request_are_those_of_the_fixed_schemas():
    # Properties that may be left out are unions with null once they are fixed, and those are counted.
    properties = {f"p{i}": {"type": "string"} for i in range(8)}
    schema = {"type": "object", "properties": properties}
    tools = [{"name": f"t{i}", "input_schema": schema, "strict": True} for i in range(20)]
    text = json.dumps({"tools": tools})

    for profile in ("openai-strict", "anthropic-strict"):
        made = fix_text("t.json", text, profile)
        report = check_text("t.json", made.after, profile)
        assert sorted(left.code for left in made.about) == sorted(
            found.code for found in report.findings if found.severity == "error"
        )


def agree(path, text, profile):
    """Whether the check of what was written says what the fix says; and what that is."""
    made = fix_text(path, text, profile)
    report = check_text(path, made.after if made.changed else text, profile)
    return made.ok == report.ok, made.ok


TOOL = {"name": "f", "inputSchema": OPEN}
BEDROCK = {
    "outputConfig": {
        "textFormat": {
            "type": "json_schema",
            "structure": {"jsonSchema": {"name": "x", "schema": json.dumps(OPEN)}},
        }
    }
}


@pytest.mark.parametrize("profile", ["dynamo", "openai-strict", "gemini-openapi", "mcp", "basic"])
@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("t.json", json.dumps(TOOL)),
        ("t.json", json.dumps({**TOOL, "name": "get weather!"})),
        ("t.json", json.dumps([TOOL] * 200)),
        ("t.json", json.dumps(openapi(OPEN))),
        ("t.json", json.dumps(openapi({**OPEN, "$ref": "#/nowhere"}))),
        ("t.json", json.dumps(BEDROCK)),
        ("t.json", json.dumps({"swagger": "2.0", "paths": {}})),
        ("t.json", json.dumps({**TOOL, "input_schema": OPEN})),
        ("t.json", '{"messages": []}'),
        ("t.json", '{"a": 1}'),
        ("t.json", "[]"),
        ("t.json", ""),
        ("t.json", '{"type": "object", "type": "object"}'),
        ("t.jsonl", json.dumps(TOOL) + '\n{"a": 1}\n'),
        ("t.jsonl", json.dumps(TOOL) + '\n{"messages": []}\n'),
        ("t.jsonl", json.dumps(TOOL) + "\n[]\n3\n"),
        ("t.yaml", json.dumps(TOOL) + "\n---\na: 1\n"),
        ("t.yaml", "--- \n"),
        ("t.toml", 'type = "object"\n'),
        ("t.toml", "a = 1\n"),
        ("t.json5", "{}"),
        ("t.py", "x = 1"),
    ],
)
def test_the_check_says_of_the_file_what_the_fix_said(path, text, profile):
    assert agree(path, text, profile)[0]


@pytest.mark.parametrize("profile", ["openai-strict", "gemini-openapi"])
def test_the_check_says_of_real_files_what_the_fix_said(profile):
    files = sorted(shared("corpora", "mcp-tools-list").glob("*.json"))
    found = [agree(path.name, path.read_text(encoding="utf-8"), profile) for path in files]

    assert all(same for same, _ in found)
    assert {ok for _, ok in found} == {True, False}

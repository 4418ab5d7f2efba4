"""`envelopes.unpack`: what it recognises, where it finds schemas, and what it says of the rest."""

from __future__ import annotations

import gzip
import json
import pickle
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schemaguard import envelopes
from schemaguard.envelopes.reading import MAX_NOTES
from schemaguard.envelopes.unpacking import FAMILIES, TELLING_OF_REQUESTS, TELLING_OF_TOOLS

SHARED = Path(__file__).resolve().parents[1].parent / "shared"
needs_shared = pytest.mark.skipif(
    not SHARED.is_dir(), reason="the corpora in ../shared are not there"
)

# Two schemas that can be told apart.
S: dict[str, Any] = {"type": "object", "properties": {"city": {"type": "string"}}}
R: dict[str, Any] = {"type": "object", "properties": {"answer": {"type": "integer"}}}


def _words(text: str) -> list[str]:
    return text.split()


def resolved(value: Any, pointer: str) -> Any:
    """The value that a JSON Pointer names, by RFC 6901 and nothing else."""
    if pointer:
        assert pointer.startswith("/")
    for token in pointer.split("/")[1:]:
        name = token.replace("~1", "/").replace("~0", "~")
        value = value[int(name)] if isinstance(value, list) else value[name]
    return value


def assert_sound(value: Any, found: envelopes.Unpacked) -> None:
    """What holds of every result, whatever the value is."""
    assert found.kind in (None, envelopes.MIXED, *envelopes.KINDS)
    assert found.readings == (() if found.kind is None else (found.kind, *found.readings[1:]))
    assert len(set(found.readings)) == len(found.readings)
    for tool in found.tools:
        assert tool.api in envelopes.KINDS
        assert tool.role in envelopes.ROLES
        assert tool.strict in (None, True, False)
        assert resolved(value, tool.schema_pointer) is tool.schema
        assert isinstance(tool.schema, str) == tool.encoded
        resolved(value, tool.pointer)
    for pointer, text in (*found.problems, *found.skipped):
        assert text
        assert text.isprintable()
        assert isinstance(pointer, str)
    if found.kind is None:  # never a silence
        assert not found.tools
        assert found.problems


def places(found: envelopes.Unpacked) -> list[tuple[str | None, str, str]]:
    return [(tool.name, tool.role, tool.schema_pointer) for tool in found.tools]


# ------------------------------------------------------------------------------------------------
# Each form, by itself
# ------------------------------------------------------------------------------------------------

CHAT_TOOL = {"type": "function", "function": {"name": "f", "parameters": S, "strict": True}}
FLAT_TOOL = {"type": "function", "name": "f", "parameters": S, "strict": False}
LEGACY = {"name": "f", "description": "d", "parameters": S}
ANTHROPIC_TOOL = {"name": "f", "input_schema": S, "strict": True}
GEMINI_TOOL = {"functionDeclarations": [{"name": "f", "parameters": S}]}
BEDROCK_TOOL = {"toolSpec": {"name": "f", "inputSchema": {"json": S}, "strict": True}}
MCP_TOOL = {"name": "f", "title": "F", "inputSchema": S, "annotations": {"readOnlyHint": True}}

TOOLS = [
    (CHAT_TOOL, "openai-chat", "/function/parameters", True),
    ({"function": {"name": "f", "parameters": S}}, "openai-chat", "/function/parameters", None),
    (LEGACY, "openai-chat", "/parameters", None),
    (FLAT_TOOL, "openai-responses", "/parameters", False),
    ({**FLAT_TOOL, "strict": None}, "openai-responses", "/parameters", None),
    (ANTHROPIC_TOOL, "anthropic", "/input_schema", True),
    ({"type": "custom", **ANTHROPIC_TOOL}, "anthropic", "/input_schema", True),
    ({"name": "f", "parametersJsonSchema": S}, "gemini", "/parametersJsonSchema", None),
    ({"name": "f", "parameters_json_schema": S}, "gemini", "/parameters_json_schema", None),
    (
        {"name": "f", "parameters": {"type": "OBJECT", "properties": {}}},
        "gemini",
        "/parameters",
        None,
    ),
    (BEDROCK_TOOL, "bedrock", "/toolSpec/inputSchema/json", True),
    ({"name": "f", "inputSchema": {"json": S}}, "bedrock", "/inputSchema/json", None),
    (MCP_TOOL, "mcp", "/inputSchema", None),
    ({"name": "f", "parameters": True}, "openai-chat", "/parameters", None),
    ({"type": "function", "name": "f", "inputSchema": S}, "mcp", "/inputSchema", None),
]


@pytest.mark.parametrize(("tool", "kind", "pointer", "strict"), TOOLS)
def test_a_tool_definition_is_recognised_by_itself(
    tool: dict[str, Any], kind: str, pointer: str, strict: bool | None
) -> None:
    found = envelopes.unpack(tool)

    assert_sound(tool, found)
    assert found.readings == (kind,)
    assert places(found) == [("f", "parameters", pointer)]
    assert [(t.pointer, t.strict, t.api) for t in found.tools] == [("", strict, kind)]
    assert not found.problems
    assert not found.skipped


@pytest.mark.parametrize(
    ("wrap", "at"),
    [
        (lambda tool: [tool], "/0"),
        (lambda tool: {"tools": [tool]}, "/tools/0"),
        (lambda tool: {"tools": [tool], "package": "p", "serverInfo": {"name": "s"}}, "/tools/0"),
        (lambda tool: {"a/b": tool}, "/a~1b"),
        (lambda tool: {"tools": {"x": tool}}, "/tools/x"),
        (lambda tool: {"production": [tool], "version": 2}, "/production/0"),
        (lambda tool: {"servers": {"one": {"tools": [tool]}}}, "/servers/one/tools/0"),
    ],
)
def test_a_tool_definition_is_recognised_in_lists_and_objects(wrap: Any, at: str) -> None:
    for tool, kind, pointer, strict in TOOLS:
        value = wrap(tool)

        found = envelopes.unpack(value)

        assert_sound(value, found)
        assert found.readings == (kind,)
        assert places(found) == [("f", "parameters", at + pointer)]
        assert [t.strict for t in found.tools] == [strict]
        assert not found.problems


@pytest.mark.parametrize(("tool", "kind", "pointer", "strict"), TOOLS)
@pytest.mark.parametrize("wrap", [lambda t: t, lambda t: [t], lambda t: {"tools": [t]}])
def test_a_tool_reads_the_same_when_its_kind_is_said(
    tool: dict[str, Any], kind: str, pointer: str, strict: bool | None, wrap: Any
) -> None:
    del pointer, strict
    value = wrap(tool)

    assert envelopes.unpack(value, kind) == envelopes.unpack(value)


@pytest.mark.parametrize("kind", ["cohere", "ollama"])
def test_tools_of_openais_form_are_those_of_others_when_their_kind_is_said(kind: str) -> None:
    value = [CHAT_TOOL]

    found = envelopes.unpack(value, kind)

    assert found.kind == kind
    assert [(t.api, t.schema_pointer) for t in found.tools] == [(kind, "/0/function/parameters")]
    assert not found.problems


BARE = [
    S,
    True,
    False,
    {"$ref": "#/$defs/a", "$defs": {"a": {}}},
    {"enum": [1, 2]},
    {"$ref": "#", "unknown": 1},
    {"patternProperties": {"^x": True}, "unknown": 1},
    {"allOf": [{}], "unknown": 1},
    {"additionalProperties": False, "unknown": 1},
    {"anyOf": [{"type": "string"}, True]},
    {"$schema": "https://json-schema.org/draft/2020-12/schema", "unknown": 1},
    {"type": "OBJECT", "nullable": True},
    {"type": ["string", "null"]},
    {"type": "strnig"},
    {"minimum": 3},
    {"const": None, "description": "c"},
    {"dependencies": {"a": ["b"]}, "x-note": 1},
    {"items": {"type": "string"}},
    {"format": "email"},
    {"type": "object", "properties": {}, "name": "n", "messages": {}, "contents": 1},
    {"type": "object", "properties": {"tools": {"type": "array"}, "input_schema": S, "name": {}}},
    {"definitions": {"tool": S}, "title": "t"},
]


@pytest.mark.parametrize("schema", BARE)
def test_a_bare_schema_is_nothing_but_a_schema(schema: Any) -> None:
    found = envelopes.unpack(schema)

    assert_sound(schema, found)
    assert found.readings == ("schema",)
    assert [(t.name, t.role, t.pointer, t.schema_pointer) for t in found.tools] == [
        (None, "schema", "", "")
    ]
    assert not found.problems


PROOFS = [
    {"$schema": "http://json-schema.org/draft-07/schema#"},
    {"type": "string"},
    {"type": ["integer", "null"]},
    {"properties": {}},
    {"patternProperties": {"^x": True}},
    {"$defs": {"a": {}}},
    {"definitions": {"a": {}}},
    {"anyOf": [{}]},
    {"oneOf": [False]},
    {"allOf": [{}]},
    {"prefixItems": [{}]},
    {"additionalProperties": False},
    {"unevaluatedProperties": {}},
    {"propertyNames": {"maxLength": 3}},
    {"$ref": "#"},
    {"$dynamicRef": "#a"},
    {"$recursiveRef": "#"},
    {"enum": ["a"]},
]


@pytest.mark.parametrize("proof", PROOFS)
def test_one_keyword_with_a_value_of_its_own_makes_a_schema(proof: dict[str, Any]) -> None:
    assert envelopes.unpack({"anything": 1, **proof}).readings == ("schema",)
    assert envelopes.unpack([{"anything": 1, **proof}]).readings == ("schema",)


@pytest.mark.parametrize(
    "word",
    _words(
        "$id $anchor $vocabulary contentEncoding contentMediaType dependentRequired disallow nullable "
        "divisibleBy uniqueItems discriminator extends externalDocs propertyOrdering xml maxContains "
        "pattern required if not contains multipleOf minItems"
    ),
)
def test_words_of_json_schema_make_a_schema_when_nothing_else_is_there(word: str) -> None:
    others = {"title": "t", "description": "d", "default": 1, "examples": [], "x-ours": True}

    assert envelopes.unpack({word: {}, **others}).readings == ("schema",)
    assert envelopes.unpack({word: {}, **others, "ours": True}).readings == ()
    assert envelopes.unpack(others).readings == ()


def test_lists_and_objects_of_schemas_are_read_with_their_keys_as_names() -> None:
    value = {"weather": S, "answers": [R, S]}

    found = envelopes.unpack(value)

    assert found.kind == "schema"
    assert places(found) == [
        ("weather", "schema", "/weather"),
        (None, "schema", "/answers/0"),
        (None, "schema", "/answers/1"),
    ]


NOTHING = [
    {},
    [],
    None,
    7,
    "text",
    {"key": "value"},
    {"name": "pkg", "version": "1.0.0", "dependencies": {"a": "^1.0"}},
    {"$schema": "https://json.schemastore.org/tsconfig", "compilerOptions": {"strict": True}},
    {"type": "FeatureCollection", "features": [{"type": "Feature", "properties": {"name": "HQ"}}]},
    {"mcpServers": {"github": {"command": "npx", "args": ["-y"]}}},
    {"title": "a page", "description": "words"},
    {"name": "agent", "tools": ["bash", "edit"]},
    {"tools": []},
    [1, 2, 3],
    {"messages": [{"id": "greeting", "text": "hello"}]},
    {"contents": [{"file": "a"}]},
    {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}},
    [[[[[CHAT_TOOL]]]]],
]


@pytest.mark.parametrize("value", NOTHING)
def test_what_is_not_recognised_is_no_success(value: Any) -> None:
    found = envelopes.unpack(value)

    assert_sound(value, found)
    assert found.kind is None
    assert found.readings == ()
    assert (
        "",
        "no schema, tool, request, tools/list answer or OpenAPI document is recognised",
    ) in [tuple(note) for note in found.problems]


# ------------------------------------------------------------------------------------------------
# Requests and answers
# ------------------------------------------------------------------------------------------------

USER = {"role": "user", "content": "hello"}

REQUESTS: list[tuple[str, Any, str, list[tuple[str | None, str, str]]]] = [
    (
        "chat",
        {"model": "m", "messages": [USER], "tools": [CHAT_TOOL, {"function": LEGACY}]},
        "openai-chat",
        [
            ("f", "parameters", "/tools/0/function/parameters"),
            ("f", "parameters", "/tools/1/function/parameters"),
        ],
    ),
    (
        "functions of old",
        {"messages": [USER], "model": "m", "functions": [LEGACY], "function_call": "auto"},
        "openai-chat",
        [("f", "parameters", "/functions/0/parameters")],
    ),
    (
        "tools on messages come after those of the request",
        {"messages": [USER, {"role": "system", "tools": [CHAT_TOOL]}], "tools": [CHAT_TOOL]},
        "openai-chat",
        [
            ("f", "parameters", "/tools/0/function/parameters"),
            ("f", "parameters", "/messages/1/tools/0/function/parameters"),
        ],
    ),
    (
        "tools on messages only",
        {"messages": [{"role": "system", "tools": [CHAT_TOOL]}, USER]},
        "openai-chat",
        [("f", "parameters", "/messages/0/tools/0/function/parameters")],
    ),
    (
        "chat with a response format",
        {
            "messages": [USER],
            "model": "m",
            "tools": [CHAT_TOOL],
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "a", "schema": R, "strict": True},
            },
        },
        "openai-chat",
        [
            ("f", "parameters", "/tools/0/function/parameters"),
            ("a", "response-format", "/response_format/json_schema/schema"),
        ],
    ),
    (
        "a response format with the schema at once",
        {"messages": [USER], "response_format": {"type": "json_object", "schema": R}},
        "openai-chat",
        [(None, "response-format", "/response_format/schema")],
    ),
    (
        "a response format alone",
        {"type": "json_schema", "json_schema": {"name": "a", "schema": R}},
        "openai-chat",
        [("a", "response-format", "/json_schema/schema")],
    ),
    (
        "what a response format holds, alone",
        {"name": "a", "schema": R, "strict": True},
        "openai-chat",
        [("a", "response-format", "/schema")],
    ),
    (
        "guided decoding of vLLM",
        {"messages": [USER], "model": "m", "guided_json": R},
        "openai-chat",
        [(None, "response-format", "/guided_json")],
    ),
    (
        "the schema of an answer for SGLang",
        {"messages": [USER], "model": "m", "json_schema": json.dumps(R)},
        "openai-chat",
        [(None, "response-format", "/json_schema")],
    ),
    (
        "guided decoding of Dynamo",
        {"messages": [USER], "model": "m", "nvext": {"guided_json": R}},
        "openai-chat",
        [(None, "response-format", "/nvext/guided_json")],
    ),
    (
        "structured outputs of vLLM",
        {"messages": [USER], "model": "m", "structured_outputs": {"json": json.dumps(R)}},
        "openai-chat",
        [(None, "response-format", "/structured_outputs/json")],
    ),
    (
        "responses",
        {
            "model": "m",
            "input": "hello",
            "tools": [
                FLAT_TOOL,
                {
                    "type": "namespace",
                    "name": "crm",
                    "tools": [{**FLAT_TOOL, "name": "g", "output_schema": R}],
                },
                {"type": "tool_search", "execution": "client", "parameters": S},
            ],
            "text": {"format": {"type": "json_schema", "name": "a", "schema": R, "strict": True}},
        },
        "openai-responses",
        [
            ("f", "parameters", "/tools/0/parameters"),
            ("g", "parameters", "/tools/1/tools/0/parameters"),
            ("g", "output", "/tools/1/tools/0/output_schema"),
            ("tool_search", "parameters", "/tools/2/parameters"),
            ("a", "response-format", "/text/format/schema"),
        ],
    ),
    (
        "responses with tools that a search found",
        {
            "model": "m",
            "input": [
                {"role": "user", "content": "x"},
                {"type": "tool_search_output", "tools": [FLAT_TOOL]},
            ],
        },
        "openai-responses",
        [("f", "parameters", "/input/1/tools/0/parameters")],
    ),
    (
        "a text format alone",
        {"type": "json_schema", "name": "a", "schema": R},
        "openai-responses",
        [("a", "response-format", "/schema")],
    ),
    (
        "anthropic",
        {
            "model": "m",
            "max_tokens": 10,
            "messages": [USER],
            "tools": [ANTHROPIC_TOOL],
            "output_config": {"format": {"type": "json_schema", "schema": R}},
        },
        "anthropic",
        [
            ("f", "parameters", "/tools/0/input_schema"),
            (None, "response-format", "/output_config/format/schema"),
        ],
    ),
    (
        "anthropic with the older output format",
        {"messages": [USER], "output_format": {"type": "json_schema", "schema": R}},
        "anthropic",
        [(None, "response-format", "/output_format/schema")],
    ),
    (
        "anthropic on Bedrock",
        {"anthropic_version": "bedrock-2023-05-31", "messages": [USER], "tools": [ANTHROPIC_TOOL]},
        "anthropic",
        [("f", "parameters", "/tools/0/input_schema")],
    ),
    (
        "gemini",
        {
            "contents": [{"parts": [{"text": "hello"}]}],
            "tools": [
                {
                    "functionDeclarations": [
                        {"name": "f", "parameters": S, "response": R},
                        {"name": "g", "parametersJsonSchema": S, "responseJsonSchema": R},
                    ],
                },
            ],
            "generationConfig": {"responseSchema": R, "responseMimeType": "application/json"},
        },
        "gemini",
        [
            ("f", "parameters", "/tools/0/functionDeclarations/0/parameters"),
            ("f", "output", "/tools/0/functionDeclarations/0/response"),
            ("g", "parameters", "/tools/0/functionDeclarations/1/parametersJsonSchema"),
            ("g", "output", "/tools/0/functionDeclarations/1/responseJsonSchema"),
            (None, "response-format", "/generationConfig/responseSchema"),
        ],
    ),
    (
        "gemini in snake case",
        {
            "contents": "hello",
            "tools": {"function_declarations": [{"name": "f", "parameters": S}]},
            "generation_config": {"response_json_schema": R},
        },
        "gemini",
        [
            ("f", "parameters", "/tools/function_declarations/0/parameters"),
            (None, "response-format", "/generation_config/response_json_schema"),
        ],
    ),
    (
        "gemini with the newer response format",
        {"generationConfig": {"responseFormat": {"text": {"schema": R}}}},
        "gemini",
        [(None, "response-format", "/generationConfig/responseFormat/text/schema")],
    ),
    (
        "bedrock",
        {
            "messages": [USER],
            "toolConfig": {"tools": [BEDROCK_TOOL], "toolChoice": {"auto": {}}},
            "outputConfig": {
                "textFormat": {
                    "type": "json_schema",
                    "structure": {"jsonSchema": {"name": "a", "schema": json.dumps(R)}},
                }
            },
        },
        "bedrock",
        [
            ("f", "parameters", "/toolConfig/tools/0/toolSpec/inputSchema/json"),
            ("a", "response-format", "/outputConfig/textFormat/structure/jsonSchema/schema"),
        ],
    ),
    (
        "cohere",
        {
            "messages": [USER],
            "strict_tools": True,
            "tools": [{"type": "function", "function": {"name": "f", "parameters": S}}],
            "response_format": {"type": "json_object", "json_schema": R},
        },
        "cohere",
        [
            ("f", "parameters", "/tools/0/function/parameters"),
            (None, "response-format", "/response_format/json_schema"),
        ],
    ),
    (
        "cohere with nothing but its response format",
        {"messages": [USER], "response_format": {"type": "json_object", "json_schema": R}},
        "cohere",
        [(None, "response-format", "/response_format/json_schema")],
    ),
    (
        "cohere with a choice in capitals",
        {"messages": [USER], "tool_choice": "NONE", "tools": [CHAT_TOOL]},
        "cohere",
        [("f", "parameters", "/tools/0/function/parameters")],
    ),
    (
        "a response format in its place, without messages",
        {"response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": R}}},
        "openai-chat",
        [("a", "response-format", "/response_format/json_schema/schema")],
    ),
    (
        "ollama",
        {"model": "m", "messages": [USER], "options": {}, "tools": [CHAT_TOOL], "format": R},
        "ollama",
        [
            ("f", "parameters", "/tools/0/function/parameters"),
            (None, "response-format", "/format"),
        ],
    ),
    (
        "ollama without messages",
        {"model": "m", "prompt": "hello", "format": R},
        "ollama",
        [(None, "response-format", "/format")],
    ),
    (
        "an answer to tools/list",
        {"tools": [{**MCP_TOOL, "outputSchema": R}], "nextCursor": "more"},
        "mcp",
        [
            ("f", "parameters", "/tools/0/inputSchema"),
            ("f", "output", "/tools/0/outputSchema"),
        ],
    ),
    (
        "an answer to tools/list in JSON-RPC",
        {"jsonrpc": "2.0", "id": 1, "result": {"tools": [MCP_TOOL]}},
        "mcp",
        [("f", "parameters", "/result/tools/0/inputSchema")],
    ),
    (
        "functions of old, without a request",
        {"functions": [LEGACY]},
        "openai-chat",
        [("f", "parameters", "/functions/0/parameters")],
    ),
    (
        "several requests",
        [{"messages": [USER], "tools": [CHAT_TOOL]}, {"messages": [USER], "tools": [CHAT_TOOL]}],
        "openai-chat",
        [
            ("f", "parameters", "/0/tools/0/function/parameters"),
            ("f", "parameters", "/1/tools/0/function/parameters"),
        ],
    ),
    (
        "a request in a line of a batch file",
        {"custom_id": "1", "method": "POST", "body": {"messages": [USER], "tools": [CHAT_TOOL]}},
        "openai-chat",
        [("f", "parameters", "/body/tools/0/function/parameters")],
    ),
]


@pytest.mark.parametrize(
    ("value", "kind", "expected"), [r[1:] for r in REQUESTS], ids=[r[0] for r in REQUESTS]
)
def test_a_request_is_recognised_and_its_schemas_found_in_order(
    value: Any, kind: str, expected: list[tuple[str | None, str, str]]
) -> None:
    found = envelopes.unpack(value)

    assert_sound(value, found)
    assert found.readings == (kind,)
    assert places(found) == expected
    assert {tool.api for tool in found.tools} == {kind}
    assert not found.problems


@pytest.mark.parametrize(
    ("value", "kind"), [r[1:3] for r in REQUESTS], ids=[r[0] for r in REQUESTS]
)
def test_a_request_reads_the_same_when_its_kind_is_said(value: Any, kind: str) -> None:
    assert envelopes.unpack(value, kind) == envelopes.unpack(value)


def test_the_schema_of_bedrocks_output_is_text() -> None:
    value = next(r[1] for r in REQUESTS if r[0] == "bedrock")

    encoded = [t for t in envelopes.unpack(value).tools if t.encoded]

    assert [(t.role, json.loads(t.schema)) for t in encoded] == [("response-format", R)]


def test_strict_tools_of_a_cohere_request_hold_for_tools_that_say_nothing() -> None:
    tools = [
        {"type": "function", "function": {"name": "f", "parameters": S}},
        {"type": "function", "function": {"name": "g", "parameters": S, "strict": False}},
    ]

    found = envelopes.unpack({"messages": [USER], "strict_tools": True, "tools": tools})

    assert [tool.strict for tool in found.tools] == [True, False]


@pytest.mark.parametrize(
    "value",
    [
        {"messages": [USER], "model": "m"},
        {"messages": [USER], "model": "m", "tools": [], "response_format": {"type": "text"}},
        {"model": "m", "input": "hello", "text": {"format": {"type": "text"}}},
        {"contents": [{"parts": []}], "generationConfig": {"temperature": 0}},
    ],
)
def test_a_request_without_schemas_is_recognised_all_the_same(value: Any) -> None:
    found = envelopes.unpack(value)

    assert found.kind is not None
    assert not found.tools
    assert not found.problems


BARE_CHAT: dict[str, Any] = {"messages": [USER], "tools": [CHAT_TOOL]}


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ({"model": "m", "max_tokens": 3, "temperature": 0, "tool_choice": "auto"}, "openai-chat"),
        ({"strict_tools": False}, "cohere"),
        ({"citation_options": {}}, "cohere"),
        ({"safety_mode": "OFF"}, "cohere"),
        ({"tool_choice": "REQUIRED"}, "cohere"),
        ({"options": {"seed": 1}}, "ollama"),
        ({"keep_alive": "5m"}, "ollama"),
        ({"format": "json"}, "ollama"),
        ({"tools": [], "system": "s", "max_tokens": 3}, "anthropic"),
        ({"tools": [], "stop_sequences": []}, "anthropic"),
        ({"tools": [], "mcp_servers": []}, "anthropic"),
        ({"tools": [], "inferenceConfig": {}}, "bedrock"),
        ({"tools": None, "input": "x"}, "openai-responses"),
        ({"tools": None, "contents": [], "systemInstruction": {}}, "gemini"),
        ({"tools": None, "contents": [], "tool_config": {}}, "gemini"),
    ],
)
def test_words_that_only_one_api_has_tell_its_requests(words: dict[str, Any], kind: str) -> None:
    found = envelopes.unpack({**BARE_CHAT, **words})

    assert found.readings == (kind,)
    assert {tool.api for tool in found.tools} <= {kind}
    assert not found.problems


@pytest.mark.parametrize("word", ["chat_history", "preamble", "connectors", "tool_results"])
def test_words_of_coheres_first_api_tell_its_requests(word: str) -> None:
    body = {"message": "hello", word: [], "response_format": {"type": "json_object", "schema": R}}

    assert places(envelopes.unpack(body)) == [(None, "response-format", "/response_format/schema")]
    assert envelopes.unpack(body).readings == ("cohere",)


# ------------------------------------------------------------------------------------------------
# OpenAPI
# ------------------------------------------------------------------------------------------------

PETS = {
    "openapi": "3.1.0",
    "info": {"title": "pets", "version": "1"},
    "paths": {
        "/pets/{id}": {
            "parameters": [{"name": "id", "in": "path", "schema": {"type": "string"}}],
            "get": {
                "operationId": "getPet",
                "parameters": [
                    {"$ref": "#/components/parameters/Limit"},
                    {"name": "q", "in": "query", "content": {"application/json": {"schema": S}}},
                ],
            },
            "post": {"requestBody": {"$ref": "#/components/requestBodies/Pet"}},
        },
        "/more": {
            "post": {
                "parameters": [{"$ref": "#/components/parameters/Limit"}],
                "requestBody": {
                    "content": {
                        "application/json": {"schema": {"$ref": "#/components/schemas/a~1b%20c"}},
                        "text/plain": {},
                    }
                },
            }
        },
    },
    "components": {
        "parameters": {"Limit": {"name": "limit", "in": "query", "schema": {"type": "integer"}}},
        "requestBodies": {"Pet": {"content": {"application/json": {"schema": R}}}},
        "schemas": {"a/b c": S},
    },
}


def test_the_operations_of_an_openapi_document_are_tools() -> None:
    found = envelopes.unpack(PETS)

    assert_sound(PETS, found)
    assert found.readings == ("openapi",)
    assert [(t.name, t.role, t.pointer, t.schema_pointer) for t in found.tools] == [
        (
            "getPet",
            "parameter",
            "/paths/~1pets~1{id}/get",
            "/components/parameters/Limit/schema",
        ),
        (
            "getPet",
            "parameter",
            "/paths/~1pets~1{id}/get",
            "/paths/~1pets~1{id}/get/parameters/1/content/application~1json/schema",
        ),
        (
            "getPet",
            "parameter",
            "/paths/~1pets~1{id}/get",
            "/paths/~1pets~1{id}/parameters/0/schema",
        ),
        (
            "POST /pets/{id}",
            "request-body",
            "/paths/~1pets~1{id}/post",
            "/components/requestBodies/Pet/content/application~1json/schema",
        ),
        ("POST /more", "request-body", "/paths/~1more/post", "/components/schemas/a~1b c"),
    ]
    assert not found.problems
    assert [pointer for pointer, _ in found.skipped] == [
        "/paths/~1more/post/requestBody/content/text~1plain"
    ]


@pytest.mark.parametrize(
    "method", ["get", "put", "post", "delete", "options", "head", "patch", "trace", "query"]
)
def test_every_method_makes_a_tool(method: str) -> None:
    operation = {"parameters": [{"name": "q", "in": "query", "schema": S}]}

    found = envelopes.unpack({"openapi": "3.0.0", "paths": {"/a": {method: operation}, "x-b": 3}})

    assert [(t.name, t.schema) for t in found.tools] == [(f"{method.upper()} /a", S)]
    assert not found.problems


def _with_body(body: Any) -> dict[str, Any]:
    good = {"content": {"application/json": {"schema": S}}}
    return {
        "openapi": "3.0.3",
        "servers": [good],
        "paths": {"/a": {"put": {"requestBody": body}}},
    }


@pytest.mark.parametrize(
    ("document", "pointer"),
    [
        (
            _with_body({"$ref": "#/components/requestBodies/None"}),
            "/paths/~1a/put/requestBody/$ref",
        ),
        (_with_body({"$ref": "https://example.com/a"}), "/paths/~1a/put/requestBody/$ref"),
        (
            _with_body({"$ref": "#/paths/~1a/put/requestBody"}),
            "/paths/~1a/put/requestBody/$ref",
        ),
        (_with_body({"$ref": "#/paths/~1a/put/%zz"}), "/paths/~1a/put/requestBody/$ref"),
        (_with_body([]), "/paths/~1a/put/requestBody"),
        (_with_body({}), "/paths/~1a/put/requestBody/content"),
        (_with_body({"content": {"a": 3}}), "/paths/~1a/put/requestBody/content/a"),
        (_with_body({"$ref": "#/list/2"}), "/paths/~1a/put/requestBody/$ref"),
        (_with_body({"$ref": "#/servers/1"}), "/paths/~1a/put/requestBody/$ref"),
        (_with_body({"$ref": "#/servers/٠"}), "/paths/~1a/put/requestBody/$ref"),
        (_with_body({"$ref": "#/servers/-1"}), "/paths/~1a/put/requestBody/$ref"),
        (_with_body({"$ref": "#/list/x"}), "/paths/~1a/put/requestBody/$ref"),
        (
            _with_body({"content": {"a": {"schema": 3}}}),
            "/paths/~1a/put/requestBody/content/a/schema",
        ),
        ({"openapi": "3.1.0", "paths": {"/a": {"get": []}}}, "/paths/~1a/get"),
        ({"openapi": "3.1.0", "paths": []}, "/paths"),
        (
            {"openapi": "3.1.0", "paths": {"/a": {"get": {"parameters": [{"name": "p"}]}}}},
            "/paths/~1a/get/parameters/0",
        ),
        ({"swagger": "2.0", "paths": {}, "definitions": {"A": S}}, ""),
    ],
)
def test_what_an_openapi_document_lacks_is_a_problem(document: Any, pointer: str) -> None:
    found = envelopes.unpack(document)

    assert found.readings == ("openapi",)
    assert [p for p, _ in found.problems] == [pointer]
    assert not found.tools


def test_references_lead_through_lists_and_other_references() -> None:
    document = {
        "openapi": "3.1.0",
        "paths": {
            "/a": {"put": {"requestBody": {"$ref": "#/bodies/1"}}},
            "/b": {"$ref": "#/paths/~1a", "summary": "the same"},
        },
        "bodies": [{}, {"$ref": "#/bodies/2"}, {"content": {"a": {"schema": {"$ref": "#/s"}}}}],
        "s": {"$ref": "#/t", "description": "read with what stands beside it"},
        "t": S,
    }

    found = envelopes.unpack(document)

    assert_sound(document, found)
    assert [(t.name, t.schema_pointer) for t in found.tools] == [("PUT /a", "/s")]
    assert not found.problems


def test_a_schema_that_refers_beyond_the_document_is_left_to_the_check() -> None:
    document = _with_body({"content": {"a": {"schema": {"$ref": "other.json#/x"}}}})

    found = envelopes.unpack(document)

    assert [t.schema for t in found.tools] == [{"$ref": "other.json#/x"}]
    assert not found.problems


# ------------------------------------------------------------------------------------------------
# Two readings
# ------------------------------------------------------------------------------------------------

AMBIGUOUS = [
    # (value, readings, pointer of the schema in each)
    (
        {"type": "object", "properties": {"weather": MCP_TOOL}},
        ("schema", "mcp"),
        ("", "/properties/weather/inputSchema"),
    ),
    (
        {"type": "array", "items": [CHAT_TOOL]},
        ("schema", "openai-chat"),
        ("", "/items/0/function/parameters"),
    ),
    ({**S, "tools": [MCP_TOOL]}, ("schema", "mcp"), ("", "/tools/0/inputSchema")),
    ({**S, "input_schema": R, "name": "f"}, ("schema", "anthropic"), ("", "/input_schema")),
    (
        {"name": "f", "parameters": S, "inputSchema": R},
        ("mcp", "openai-chat"),
        ("/inputSchema", "/parameters"),
    ),
    (
        {"tools": [{"name": "f", "input_schema": S, "inputSchema": R}]},
        ("mcp", "anthropic"),
        ("/tools/0/inputSchema", "/tools/0/input_schema"),
    ),
    (
        {
            "contents": [],
            "tools": [GEMINI_TOOL],
            "toolConfig": {"tools": [BEDROCK_TOOL]},
        },
        ("bedrock", "gemini"),
        (
            "/toolConfig/tools/0/toolSpec/inputSchema/json",
            "/tools/0/functionDeclarations/0/parameters",
        ),
    ),
]


@pytest.mark.parametrize(("value", "readings", "pointers"), AMBIGUOUS)
def test_readings_that_find_different_schemas_are_all_named(
    value: Any, readings: tuple[str, ...], pointers: tuple[str, ...]
) -> None:
    found = envelopes.unpack(value)

    assert_sound(value, found)
    assert found.readings == readings
    assert [t.schema_pointer for t in found.tools] == [pointers[0]]


@pytest.mark.parametrize(("value", "readings", "pointers"), AMBIGUOUS)
def test_saying_the_kind_ends_the_doubt(
    value: Any, readings: tuple[str, ...], pointers: tuple[str, ...]
) -> None:
    for kind, pointer in zip(readings, pointers, strict=True):
        found = envelopes.unpack(value, kind)

        assert found.readings == (kind,)
        assert [t.schema_pointer for t in found.tools] == [pointer]


@pytest.mark.parametrize(
    "value",
    [
        LEGACY,  # Chat's of old, Responses without its type, a declaration of Gemini
        {"tools": [MCP_TOOL]},
        {"messages": [USER], "options": {}, "tool_choice": "REQUIRED", "tools": [CHAT_TOOL]},
        {"model": "m", "messages": [USER], "input": "x", "tools": [FLAT_TOOL]},
    ],
)
def test_readings_that_find_the_same_schemas_are_no_doubt(value: Any) -> None:
    assert len(envelopes.unpack(value).readings) == 1


def test_a_list_of_tools_of_several_apis_is_mixed() -> None:
    value = [CHAT_TOOL, MCP_TOOL, S]

    found = envelopes.unpack(value)

    assert_sound(value, found)
    assert found.readings == ("mixed",)
    assert [t.api for t in found.tools] == ["openai-chat", "mcp", "schema"]
    assert not found.problems


def test_a_kind_that_does_not_exist_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(ValueError, match="openai-chat"):
        envelopes.unpack(S, "openai")


@pytest.mark.parametrize("kind", envelopes.KINDS)
def test_a_value_that_is_not_of_the_said_kind_is_a_problem(kind: str) -> None:
    found = envelopes.unpack({"key": "value"} if kind != "schema" else 3, kind)

    assert found.readings == (kind,)
    assert not found.tools
    assert [pointer for pointer, _ in found.problems] == [""]


def test_a_request_of_the_said_kind_may_have_nothing_to_read() -> None:
    found = envelopes.unpack({"messages": [USER], "model": "m"}, "openai-chat")

    assert found.readings == ("openai-chat",)
    assert not found.problems


def test_tools_of_an_unknown_type_alone_are_told_but_recognised_as_nothing() -> None:
    found = envelopes.unpack({"tools": [{"type": "novelty"}]})

    assert found.kind is None
    assert [tuple(note) for note in found.skipped] == [
        ("/tools/0", "`novelty`, which has no schema")
    ]


def test_tools_of_other_apis_are_problems_when_the_kind_is_said() -> None:
    value = {"tools": [MCP_TOOL, CHAT_TOOL, LEGACY]}

    found = envelopes.unpack(value, "mcp")

    assert [t.schema_pointer for t in found.tools] == ["/tools/0/inputSchema"]
    assert [pointer for pointer, _ in found.problems] == ["/tools/1", "/tools/2"]


@pytest.mark.parametrize("kind", ["openai-chat", "openai-responses", "gemini", "cohere", "ollama"])
def test_a_plain_function_is_a_tool_of_whichever_api_is_said(kind: str) -> None:
    value = {"functions": [LEGACY]} if kind == "openai-chat" else [{**LEGACY}]
    if kind == "openai-responses":
        value[0]["type"] = "function"

    found = envelopes.unpack(value, kind)

    assert [(t.name, t.api, t.schema) for t in found.tools] == [("f", kind, S)]
    assert not found.problems


def test_any_object_and_any_list_of_objects_can_be_said_to_be_schemas() -> None:
    assert places(envelopes.unpack({}, "schema")) == [(None, "schema", "")]
    assert places(envelopes.unpack([{}, MCP_TOOL], "schema")) == [
        (None, "schema", "/0"),
        (None, "schema", "/1"),
    ]


# ------------------------------------------------------------------------------------------------
# Problems and what is skipped
# ------------------------------------------------------------------------------------------------


def _chat(*tools: Any) -> dict[str, Any]:
    return {"messages": [USER], "tools": list(tools)}


def _function(**members: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": "f", **members}}


PROBLEMS = [
    # (value, pointer of the problem, how many schemas are found in spite of it)
    (_chat(3), "/tools/0", 0),
    (_chat(None), "/tools/0", 0),
    ({"messages": [USER], "tools": "[]"}, "/tools", 0),
    (_chat({"type": "function"}), "/tools/0", 0),
    (_chat({"type": "function", "function": 3}), "/tools/0/function", 0),
    (_chat({"type": "functoin", "function": LEGACY}), "/tools/0/type", 1),
    (_chat({"type": "functoin", "name": "f", "parameters": S}), "/tools/0", 0),
    (_chat(_function(parameters=[])), "/tools/0/function/parameters", 0),
    (_chat(_function(parameters=json.dumps(S))), "/tools/0/function/parameters", 0),
    *[
        (_chat(_function(**{key: S})), "/tools/0/function", 0)
        for key in (
            "input_schema",
            "inputSchema",
            "parametersJsonSchema",
            "parameters_json_schema",
            "parameter_definitions",
            "schema",
        )
    ],
    (_chat({"type": "function", "function": {"name": "f", "arguments": "{}"}}), "/tools/0", 0),
    (
        {"model": "m", "input": "x", "tools": [{**ANTHROPIC_TOOL, "type": "custom"}]},
        "/tools/0",
        1,
    ),
    (_chat(_function(parameters=S, strict="yes")), "/tools/0/function/strict", 1),
    (_chat({"type": "function", "function": {"parameters": S}}), "/tools/0/function", 1),
    (
        _chat({"type": "function", "function": {"name": 3, "parameters": S}}),
        "/tools/0/function/name",
        1,
    ),
    (_chat(CHAT_TOOL, MCP_TOOL), "/tools/1", 2),
    (_chat(FLAT_TOOL, CHAT_TOOL), "/tools/0", 2),
    (_chat({"name": "f", "description": "d"}), "/tools/0", 0),
    ({"messages": [{"role": "system", "tools": 3}]}, "/messages/0/tools", 0),
    (
        {"messages": [USER], "response_format": {"type": "json_schema", "json_schema": {}}},
        "/response_format/json_schema",
        0,
    ),
    ({"messages": [USER], "response_format": {"type": "json_schema"}}, "/response_format", 0),
    (
        {"messages": [USER], "response_format": {"type": "json_object", "schema": []}},
        "/response_format/schema",
        0,
    ),
    ({"messages": [USER], "model": "m", "functions": [{"parameters": S}]}, "/functions/0", 1),
    ({"messages": [USER], "model": "m", "functions": [3]}, "/functions/0", 0),
    ({"messages": [USER], "response_format": {}}, "/response_format", 0),
    ({"messages": [USER], "model": "m", "guided_json": []}, "/guided_json", 0),
    (
        {"model": "m", "input": "x", "tools": [{"type": "namespace", "name": "n", "tools": 3}]},
        "/tools/0/tools",
        0,
    ),
    (
        {
            "model": "m",
            "input": "x",
            "tools": [{"type": "namespace", "tools": [{"type": "namespace", "tools": [FLAT_TOOL]}]}],
        },
        "/tools/0/tools/0",
        0,
    ),
    (
        {"model": "m", "input": "x", "text": {"format": {"type": "json_schema", "name": "a"}}},
        "/text/format",
        0,
    ),
    ({"messages": [USER], "output_config": {"format": {"type": "json_schema"}}}, "/output_config/format", 0),
    ({"name": "f", "input_schema": None}, "", 0),
    ({"input_schema": S}, "", 1),
    ({"name": "f", "outputSchema": R}, "", 1),
    ({"name": "f", "inputSchema": []}, "/inputSchema", 0),
    ({"tools": [MCP_TOOL, {"name": "g", "annotations": {"title": "G"}}]}, "/tools/1", 1),
    ([MCP_TOOL, {"name": "g", "description": "d"}], "/1", 1),
    ({"f": MCP_TOOL, "g": {"name": "g"}}, "/g", 1),
    ([S, 3], "/1", 1),
    ({"functionDeclarations": 3}, "/functionDeclarations", 0),
    ({"functionDeclarations": [3]}, "/functionDeclarations/0", 0),
    (
        {"functionDeclarations": [{"name": "f", "parameters": S, "parametersJsonSchema": R}]},
        "/functionDeclarations/0",
        2,
    ),
    ({"toolSpec": 3}, "/toolSpec", 0),
    ({"toolSpec": {"name": "f"}}, "/toolSpec", 0),
    ({"toolSpec": {"name": "f", "inputSchema": 3}}, "/toolSpec/inputSchema", 0),
    ({"toolSpec": {"name": "f", "inputSchema": S}}, "/toolSpec/inputSchema", 0),
    ({"outputConfig": {"textFormat": {"type": "json_schema"}}}, "/outputConfig/textFormat", 0),
    (
        {"outputConfig": {"textFormat": {"structure": {"jsonSchema": {"schema": R}}}}},
        "/outputConfig/textFormat/structure/jsonSchema/schema",
        0,
    ),
    (
        {"message": "hello", "tools": [{"name": "f", "parameter_definitions": {"a": {"type": "str"}}}]},
        "/tools/0/parameter_definitions",
        0,
    ),
    ({"name": "f", "parameter_definitions": {}}, "/parameter_definitions", 0),
    ({"model": "m", "prompt": "x", "options": {}, "format": 3}, "/format", 0),
    ({"jsonrpc": "2.0", "id": 1, "error": {"code": -32601}}, "/error", 0),
    ({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, "", 0),
    ({"jsonrpc": "2.0", "id": 1, "result": {"content": []}}, "", 0),
]  # fmt: skip


@pytest.mark.parametrize(("value", "pointer", "schemas"), PROBLEMS)
def test_what_is_not_as_it_should_be_is_a_problem(value: Any, pointer: str, schemas: int) -> None:
    found = envelopes.unpack(value)

    assert_sound(value, found)
    assert found.kind is not None
    assert [p for p, _ in found.problems] == [pointer]
    assert len(found.tools) == schemas


SKIPPED = [
    # (value, kind, pointers of what is skipped)
    (_chat({"type": "web_search"}, CHAT_TOOL), "openai-chat", ["/tools/0"]),
    (_chat({"type": "custom", "custom": {"name": "f"}}), "openai-chat", ["/tools/0"]),
    (
        _chat({"type": "openrouter:web_search", "parameters": {"max_uses": 1}}),
        "openai-chat",
        ["/tools/0"],
    ),
    (_chat({"type": "function", "function": {"name": "f"}}), "openai-chat", ["/tools/0"]),
    (_chat(_function(parameters=None)), "openai-chat", ["/tools/0"]),
    (
        {"messages": [USER], "model": "m", "functions": [{"name": "f"}]},
        "openai-chat",
        ["/functions/0"],
    ),
    (
        {
            "model": "m",
            "input": [{"type": "mcp_list_tools", "tools": [ANTHROPIC_TOOL]}],
            "tools": [
                {"type": "code_interpreter", "container": {"type": "auto"}},
                {"type": "custom", "name": "g", "format": {"type": "grammar"}},
                {"type": "function", "name": "f", "parameters": None},
                {"type": "namespace", "name": "n", "tools": [{"type": "custom", "name": "h"}]},
            ],
        },
        "openai-responses",
        ["/tools/0", "/tools/1", "/tools/2", "/tools/3/tools/0", "/input/0/tools"],
    ),
    ({"model": "m", "name": "a", "tools": [{"type": "code_interpreter"}]}, "openai-responses", ["/tools/0"]),
    *[
        ({"tools": [{"type": kind}]}, "openai-responses", ["/tools/0"])
        for kind in (
            "apply_patch",
            "computer",
            "computer_use_preview",
            "custom",
            "file_search",
            "image_generation",
            "local_shell",
            "mcp",
            "programmatic_tool_calling",
            "shell",
            "tool_search",
            "web_search",
            "web_search_preview",
        )
    ],
    *[
        ([{word: {}}], "gemini", ["/0"])
        for word in (
            "codeExecution",
            "code_execution",
            "computerUse",
            "enterpriseWebSearch",
            "fileSearch",
            "googleMaps",
            "googleSearchRetrieval",
            "google_search_retrieval",
            "mcpServers",
            "mcp_servers",
            "urlContext",
            "url_context",
        )
    ],
    (_chat(_function(parameters=S, arguments="{}"), {"type": "x"}), "openai-chat", ["/tools/1"]),
    ({"type": "web_search"}, "openai-responses", [""]),
    ({"tools": [{"type": "function", "name": "f"}]}, "openai-responses", ["/tools/0"]),
    ([{"type": "file_search"}, FLAT_TOOL], "openai-responses", ["/0"]),
    (
        {
            "messages": [USER],
            "max_tokens": 9,
            "tools": [
                {"type": "computer_20250124", "name": "computer", "display_width_px": 9},
                {"type": "mcp_toolset", "mcp_server_name": "s"},
            ],
        },
        "anthropic",
        ["/tools/0", "/tools/1"],
    ),
    (
        {
            "contents": [],
            "tools": [{"googleSearch": {}}, {"functionDeclarations": [{"name": "f"}], "urlContext": {}}],
        },
        "gemini",
        ["/tools/0", "/tools/1/functionDeclarations/0", "/tools/1/urlContext"],
    ),
    ([{"google_search": {}}], "gemini", ["/0"]),
    (
        {
            "messages": [USER],
            "toolConfig": {"tools": [BEDROCK_TOOL, {"cachePoint": {}}, {"systemTool": {"name": "x"}}]},
        },
        "bedrock",
        ["/toolConfig/tools/1", "/toolConfig/tools/2"],
    ),
    ({"message": "hello", "tools": [{"name": "f", "description": "d"}]}, "cohere", ["/tools/0"]),
    ({"model": "m", "prompt": "x", "format": "json"}, "ollama", ["/format"]),
    ({"messages": [USER], "response_format": "json"}, "openai-chat", ["/response_format"]),
    (
        {"messages": [USER], "response_format": {"type": "structural_tag", "structures": []}},
        "openai-chat",
        ["/response_format"],
    ),
    ({"openapi": "3.1.0", "webhooks": {"a": {"post": {}}}}, "openapi", ["/webhooks"]),
    ({"jsonrpc": "2.0", "result": {"tools": [{**MCP_TOOL, "parameters": R}]}}, "mcp", ["/result/tools/0/parameters"]),
]  # fmt: skip


@pytest.mark.parametrize(("value", "kind", "pointers"), SKIPPED)
def test_what_has_no_schema_by_design_is_skipped_with_a_reason(
    value: Any, kind: str, pointers: list[str]
) -> None:
    found = envelopes.unpack(value)

    assert_sound(value, found)
    assert found.readings == (kind,)
    assert [pointer for pointer, _ in found.skipped] == pointers
    assert not found.problems


# ------------------------------------------------------------------------------------------------
# Results as values
# ------------------------------------------------------------------------------------------------


def test_results_are_frozen_comparable_and_picklable() -> None:
    value = {"tools": [MCP_TOOL, {"type": "web_search"}, 3]}
    found = envelopes.unpack(value)

    assert found == envelopes.unpack(value)
    assert hash(found) == hash(envelopes.unpack(value))
    assert found != envelopes.unpack({"tools": [dict(MCP_TOOL, inputSchema=dict(S))]})
    for part in (found, *found.tools, *found.problems, *found.skipped):
        with pytest.raises(AttributeError):
            part.text = "other"  # type: ignore[misc,union-attr]
    copy = pickle.loads(pickle.dumps(found))  # noqa: S301  (our own bytes)
    assert [list(note) for note in copy.problems] == [list(note) for note in found.problems]
    assert [(t.name, t.pointer, t.schema) for t in copy.tools] == [
        (t.name, t.pointer, t.schema) for t in found.tools
    ]


def test_tools_of_different_values_are_different() -> None:
    ours, theirs = envelopes.unpack(dict(S)).tools, envelopes.unpack(dict(S)).tools

    assert ours != theirs
    assert ours[0] != "schema"


def test_reprs_are_short_whatever_the_names() -> None:
    name = "n" * 1_000_000
    value = {name: {"name": name, "inputSchema": S}, "b": {"name": "\x1b[31m"}}

    found = envelopes.unpack(value)

    for part in (found, *found.tools, *found.problems):
        assert len(repr(part)) < 400
    assert all(text.isprintable() for _, text in found.problems)


def test_importing_loads_nothing_beyond_the_package() -> None:
    code = (
        "import sys, schemaguard; before = set(sys.modules)\n"
        "import schemaguard.envelopes\n"
        "print([m for m in set(sys.modules) - before if not m.startswith('schemaguard')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )

    assert done.stdout.strip() == "[]"


# ------------------------------------------------------------------------------------------------
# Hostile values
# ------------------------------------------------------------------------------------------------


def _nested(levels: int, wrap: Any, core: Any = None) -> Any:
    value = core
    for _ in range(levels):
        value = wrap(value)
    return value


@pytest.mark.parametrize(
    "wrap",
    [
        lambda v: [v],
        lambda v: {"a": v},
        lambda v: {"tools": v},
        lambda v: {"tools": [v]},
        lambda v: {"type": "namespace", "name": "n", "tools": [v]},
        lambda v: {"functionDeclarations": [v]},
        lambda v: {"toolSpec": v},
        lambda v: {"result": v},
        lambda v: {"properties": v},
        lambda v: {"properties": {"a": v}},
        lambda v: {"function": v},
        lambda v: {"messages": [v], "tools": [v]},
        lambda v: {"openapi": "3.1.0", "paths": {"/a": v}},
    ],
)
def test_depth_makes_no_difference(wrap: Any) -> None:
    value = _nested(100_000, wrap)

    for kind in (None, *envelopes.KINDS):
        found = envelopes.unpack(value, kind)

        assert kind is None or found.kind == kind
        for note in (*found.problems, *found.skipped):
            assert len(note.pointer) < 200
        for tool in found.tools:
            assert len(tool.schema_pointer) < 200


def test_a_schema_may_be_deep() -> None:
    deep = _nested(100_000, lambda v: {"type": "object", "properties": {"a": v}}, True)
    value = _chat(_function(parameters=deep))

    found = envelopes.unpack(value)

    assert [t.schema for t in found.tools] == [deep]
    assert found.tools == envelopes.unpack(value).tools


def test_long_keys_over_many_tools_cost_no_product() -> None:
    # Pointers made in advance would take 20 GB.
    key = "k" * 1_000_000
    value = {key: [dict(MCP_TOOL) for _ in range(20_000)]}

    found = envelopes.unpack(value)

    assert len(found.tools) == 20_000
    assert found.tools[-1].schema_pointer == f"/{key}/19999/inputSchema"


def test_notes_are_counted_beyond_those_that_are_kept() -> None:
    bad = MAX_NOTES + 7
    value = _chat(*range(bad), *[{"type": "web_search"}] * bad)

    found = envelopes.unpack(value)

    assert len(found.problems) == len(found.skipped) == MAX_NOTES + 1
    assert found.problems[-1].text.startswith("7 more")
    assert found.skipped[-1].text.startswith("7 more")


def test_the_entries_of_a_list_that_are_not_recognised_are_counted_too() -> None:
    value = [S, *[3] * (MAX_NOTES + 5)]

    found = envelopes.unpack(value)

    assert len(found.tools) == 1
    assert len(found.problems) == MAX_NOTES + 1
    assert found.problems[-1].text.startswith("5 more")
    both = {"list": value, "tools and more": {"tools": [*range(3), MCP_TOOL]}}
    assert envelopes.unpack(both).problems[-1].text.startswith("8 more")


def test_what_many_operations_share_is_read_once() -> None:
    # 2,000 operations that each refer to the same 2,000 media types.
    content = {f"application/{i}": {"schema": dict(S)} for i in range(2_000)}
    body = {"$ref": "#/components/requestBodies/B"}
    document = {
        "openapi": "3.1.0",
        "paths": {f"/{i}": {"post": {"requestBody": body}} for i in range(2_000)},
        "components": {"requestBodies": {"B": {"content": content}}},
    }

    found = envelopes.unpack(document)

    assert len(found.tools) == 2_000
    assert {t.name for t in found.tools} == {"POST /0"}


def test_a_long_reference_into_a_deep_document_is_not_followed() -> None:
    deep = _nested(50_000, lambda v: {"a": v}, {"content": {}})
    document = {
        "openapi": "3.1.0",
        "paths": {"/a": {"get": {"requestBody": {"$ref": "#/deep" + "/a" * 50_000}}}},
        "deep": deep,
    }

    found = envelopes.unpack(document)

    assert [p for p, _ in found.problems] == ["/paths/~1a/get/requestBody/$ref"]


# ------------------------------------------------------------------------------------------------
# Any value
# ------------------------------------------------------------------------------------------------

WORDS = st.sampled_from(
    _words(
        "tools functions function name type parameters strict input_schema inputSchema outputSchema json "
        "toolSpec toolConfig functionDeclarations parametersJsonSchema parameter_definitions messages role "
        "input text format schema json_schema response_format output_config outputConfig textFormat "
        "structure jsonSchema generationConfig responseSchema contents parts options prompt message result "
        "jsonrpc error openapi paths get requestBody content components $ref properties items anyOf enum "
        "namespace googleSearch cachePoint strict_tools guided_json anthropic_version mcp_servers swagger "
        "function_declarations tool_choice system_instruction keep_alive output_format response /a~b"
    )
)
TEXTS = st.one_of(
    WORDS,
    st.sampled_from(
        _words(
            "function namespace web_search custom object string json_schema json_object json "
            "computer_20250124 3.1.0 2.0 #/paths #/components/a REQUIRED"
        )
    ),
    st.text(max_size=3),
)
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), TEXTS, st.just(S)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(WORDS, inner, min_size=1, max_size=5)
    ),
    max_leaves=25,
)


@settings(max_examples=600, deadline=None, suppress_health_check=list(HealthCheck))
@given(VALUES, st.sampled_from([None, None, *envelopes.KINDS]))
def test_any_value_is_read_without_an_error_and_every_pointer_resolves(
    value: Any, kind: str | None
) -> None:
    before = json.dumps(value)

    found = envelopes.unpack(value, kind)

    assert_sound(value, found)
    assert kind is None or found.kind == kind
    assert json.dumps(value) == before


@settings(max_examples=600, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.dictionaries(WORDS, VALUES, min_size=1, max_size=6))
def test_no_form_lacks_the_names_by_which_forms_are_told(value: dict[str, Any]) -> None:
    if any(family.is_request(value) for family in FAMILIES):
        assert not TELLING_OF_REQUESTS.isdisjoint(value)
    if any(family.claims(value) for family in FAMILIES):
        assert not TELLING_OF_TOOLS.isdisjoint(value)


FORMS = st.sampled_from(
    [
        *[tool for tool, *_ in TOOLS],
        *[value for _, value, *_ in REQUESTS],
        *BARE,
        *[value for value, *_ in PROBLEMS],
        *[value for value, *_ in SKIPPED],
        PETS,
    ]
)


@settings(max_examples=600, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_a_form_with_any_of_its_parts_replaced_is_read_without_an_error(
    data: st.DataObject,
) -> None:
    value = json.loads(json.dumps(data.draw(FORMS)))
    spots: list[tuple[Any, Any]] = []
    queue = [value] if isinstance(value, (dict, list)) else []
    while queue:
        holder = queue.pop()
        for key in list(holder) if isinstance(holder, dict) else range(len(holder)):
            member = holder[key]
            spots.append((holder, key))
            if isinstance(member, (dict, list)):
                queue.append(member)
    if spots:
        holder, key = data.draw(st.sampled_from(spots))
        holder[key] = data.draw(VALUES)

    assert_sound(
        value, envelopes.unpack(value, data.draw(st.sampled_from([None, *envelopes.KINDS])))
    )


# ------------------------------------------------------------------------------------------------
# Real schemas, requests and lists
# ------------------------------------------------------------------------------------------------


def _records(name: str) -> list[dict[str, Any]]:
    with gzip.open(SHARED / "corpora" / name, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


# Not schemas by anything that they say: an empty object, made-up data, and two GeoJSON features.
UNTOLD = [
    {},
    {"key": "value"},
    {"type": "Feature", "geometry": None, "properties": {"name": "HQ"}},
    {
        "type": "Feature",
        "geometry": None,
        "properties": {"name": "HQ"},
        "patternProperties": {"^x": "y"},
    },
]


@needs_shared
@pytest.mark.parametrize(
    ("name", "count"), [("tools.jsonl.gz", 10_665), ("schemas.jsonl.gz", 4_273)]
)
def test_real_schemas_are_read_as_schemas_and_as_nothing_else(name: str, count: int) -> None:
    records = _records(name)
    assert len(records) == count

    for record in records:
        schema = record["schema"]
        found = envelopes.unpack(schema)
        if found.readings != ("schema",):
            assert schema in UNTOLD, record["id"]
            assert found.kind is None
        else:
            assert [(t.schema_pointer, t.schema) for t in found.tools] == [("", schema)]
            assert not found.problems
            assert not found.skipped


# The kinds that the corpus' own names of APIs may stand for.
APIS = {
    "openai-chat": {"openai-chat"},
    "openai-responses": {"openai-responses"},
    "anthropic-messages": {"anthropic"},
    "gemini": {"gemini"},
    "bedrock-converse": {"bedrock"},
    "bedrock-invoke": {"bedrock", "anthropic"},
    "ollama": {"ollama"},
    "cohere-or-other-chat": {"cohere", "openai-chat"},
    "chat": {"openai-chat", "anthropic"},
    "other": {"openai-responses"},  # an assistant with nothing but a code interpreter
}


def _counted(body: dict[str, Any]) -> Counter[str]:
    """How many schemas a request has in each role, by the plainest of means."""
    counts: Counter[str] = Counter()
    lists = [body.get("tools"), body.get("toolConfig", {}).get("tools"), body.get("functions")]
    for tool in (tool for tools in lists for tool in tools or ()):
        declarations = tool.get("functionDeclarations") or []
        for one in [tool, tool.get("function") or {}, tool.get("toolSpec") or {}, *declarations]:
            if "type" in one and one["type"] not in ("function", "custom"):
                continue
            counts["parameters"] += sum(
                key in one
                for key in (
                    "parameters",
                    "input_schema",
                    "inputSchema",
                    "parametersJsonSchema",
                    "parameters_json_schema",
                )
            )
            counts["output"] += sum(key in one for key in ("response", "responseJsonSchema"))
    texts = json.dumps({k: v for k, v in body.items() if k not in ("tools", "toolConfig")})
    counts["response-format"] += sum(
        texts.count(json.dumps(key) + ": {")
        for key in ("schema", "responseSchema", "responseJsonSchema")
    )
    counts["response-format"] += texts.count('"schema": "{')  # Bedrock's is text
    return +counts


@needs_shared
def test_real_requests_are_recognised_and_all_their_schemas_found() -> None:
    records = _records("requests.jsonl.gz")
    assert len(records) == 505

    for record in records:
        body = record["body"]
        found = envelopes.unpack(body)

        assert_sound(body, found)
        assert found.kind in APIS[record["api"]], record["id"]
        assert len(found.readings) == 1
        assert not found.problems, record["id"]
        assert Counter(tool.role for tool in found.tools) == _counted(body), record["id"]
        assert envelopes.unpack(body, found.kind) == found


@needs_shared
def test_real_tools_lists_are_read_with_and_without_json_rpc() -> None:
    paths = sorted((SHARED / "corpora" / "mcp-tools-list").glob("*.json"))
    assert len(paths) == 20

    for path in paths:
        value = json.loads(path.read_text(encoding="utf-8"))
        expected = [
            (tool["name"], f"/tools/{index}/{key}")
            for index, tool in enumerate(value["tools"])
            for key in ("inputSchema", "outputSchema")
            if key in tool
        ]
        answer = {"jsonrpc": "2.0", "id": 1, "result": {"tools": value["tools"]}}

        for whole, prefix in ((value, ""), (answer, "/result")):
            found = envelopes.unpack(whole)

            assert_sound(whole, found)
            assert found.readings == ("mcp",)
            assert [(t.name, t.schema_pointer) for t in found.tools] == [
                (name, prefix + pointer) for name, pointer in expected
            ]
            assert not found.problems
            assert not found.skipped


@needs_shared
def test_tools_and_requests_of_public_reports_are_unpacked() -> None:
    lines = (SHARED / "cases" / "providers.jsonl").read_text(encoding="utf-8").splitlines()
    cases = [case for case in map(json.loads, lines) if case["input"] != "schema"]
    assert cases

    for case in cases:
        value = case["schema"]
        found = envelopes.unpack(value)
        entries = value["tools"] if case["input"] == "request" else [value]

        assert_sound(value, found)
        assert len(found.readings) == 1
        assert [t.name for t in found.tools] == [
            entry.get("function", entry)["name"] for entry in entries
        ]
        assert not found.problems

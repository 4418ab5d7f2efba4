"""What the profiles accept, sent by the client libraries of the providers themselves.

No network: the libraries talk to a server on loopback that keeps the bodies of their requests, and
the MCP SDK to a server of its own. What arrives has to be the schema that was given, in the order
that was given, and has to pass the check of the profile of whoever would have received it.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
from functools import cache, partial

import pytest
from conftest import corpus
from library_schemas import BESIDE, CLOSED, CLOSED_SIMPLE, OPENAPI, ROOTS
from loopback import Server

from schemaguard import check, fix, lint

ANSWERS = {
    "/chat/completions": {
        "id": "c",
        "object": "chat.completion",
        "created": 0,
        "model": "m",
        "choices": [],
    },
    "/responses": {
        "id": "r",
        "object": "response",
        "created_at": 0,
        "model": "m",
        "output": [],
        "parallel_tool_calls": False,
        "tool_choice": "auto",
        "tools": [],
    },
    "/v1/messages": {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    },
}


class Api:
    """An API that keeps the last body that it was sent, and the URL that it is found at."""

    def __init__(self) -> None:
        self.url = ""
        self.body = ""

    async def __call__(self, scope, receive, send) -> None:
        body, more = b"", True
        while more:
            event = await receive()
            body += event.get("body", b"")
            more = event.get("more_body", False)
        self.body = body.decode()
        answer = json.dumps(ANSWERS.get(scope["path"], {"candidates": []})).encode()
        headers = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": answer})


@pytest.fixture(scope="module")
def api():
    app = Api()
    with Server(app) as server:
        app.url = server.url
        yield app


def named(schemas) -> dict:
    """Tool name → schema."""
    return {f"tool_{index}": schema for index, schema in enumerate(schemas)}


@cache
def client_of(library: str, url: str):
    """A client of a provider's library that talks to an address of loopback."""
    module = pytest.importorskip(library)
    if library == "google.genai":
        return module.Client(api_key="-", http_options={"base_url": url})
    make = module.OpenAI if library == "openai" else module.Anthropic
    return make(base_url=url, api_key="-", max_retries=0)


def send_chat(api: Api, tools: dict, *, strict: bool) -> dict:
    client = client_of("openai", api.url)
    client.chat.completions.create(
        model="m",
        messages=[{"role": "user", "content": "?"}],
        tools=[
            {
                "type": "function",
                "function": {"name": name, "parameters": schema, "strict": strict},
            }
            for name, schema in tools.items()
        ],
    )
    sent = [tool["function"] for tool in json.loads(api.body)["tools"]]
    assert all(function["strict"] is strict for function in sent)
    return {function["name"]: function["parameters"] for function in sent}


def send_responses(api: Api, tools: dict, *, strict: bool) -> dict:
    client = client_of("openai", api.url)
    client.responses.create(
        model="m",
        input="?",
        tools=[
            {"type": "function", "name": name, "parameters": schema, "strict": strict}
            for name, schema in tools.items()
        ],
    )
    sent = json.loads(api.body)["tools"]
    assert all(tool["strict"] is strict for tool in sent)
    return {tool["name"]: tool["parameters"] for tool in sent}


def send_messages(api: Api, tools: dict, *, strict: bool) -> dict:
    client = client_of("anthropic", api.url)
    client.messages.create(
        model="m",
        max_tokens=9,
        messages=[{"role": "user", "content": "?"}],
        tools=[
            {"name": name, "input_schema": schema, "strict": strict}
            for name, schema in tools.items()
        ],
    )
    sent = json.loads(api.body)["tools"]
    assert all(tool["strict"] is strict for tool in sent)
    return {tool["name"]: tool["input_schema"] for tool in sent}


def send_gemini(api: Api, tools: dict, field: str) -> dict:
    types = pytest.importorskip("google.genai").types
    client = client_of("google.genai", api.url)
    declarations = [
        types.FunctionDeclaration(name=name, description="?", **{field: schema})
        for name, schema in tools.items()
    ]
    config = types.GenerateContentConfig(tools=[types.Tool(function_declarations=declarations)])
    client.models.generate_content(model="m", contents="?", config=config)
    (tool,) = json.loads(api.body)["tools"]
    return {sent["name"]: sent[field] for sent in tool["functionDeclarations"]}


def as_text(schema) -> str:
    """JSON text: equal when keys are in the same order and numbers are of the same kind."""
    return json.dumps(schema)


def assert_arrived(arrived: dict, tools: dict) -> None:
    assert arrived.keys() == tools.keys()
    for name, schema in tools.items():
        assert as_text(arrived[name]) == as_text(schema)


def assert_accepted(body: str, profile: str, count: int) -> None:
    """The check of a body as it arrived, which must find all its tools and nothing wrong."""
    report = lint.check_text("body.json", body, profile)
    found = [*report.findings, *(f for tool in report.tools for f in tool.findings)]
    assert report.ok, [str(finding) for finding in found]
    assert len(report.tools) == count


@pytest.mark.parametrize("name", CLOSED)
@pytest.mark.parametrize("send", [send_chat, send_responses])
def test_openai_sends_strict_tools_as_they_are(api, send, name):
    tools = named([CLOSED[name]])
    assert_arrived(send(api, tools, strict=True), tools)
    assert_accepted(api.body, "openai-strict", 1)


@pytest.mark.parametrize("name", CLOSED_SIMPLE)
def test_anthropic_sends_strict_tools_as_they_are(api, name):
    tools = named([CLOSED_SIMPLE[name]])
    assert_arrived(send_messages(api, tools, strict=True), tools)
    assert_accepted(api.body, "anthropic-strict", 1)


@pytest.mark.parametrize("name", CLOSED_SIMPLE)
def test_gemini_sends_json_schemas_as_they_are(api, name):
    tools = named([CLOSED_SIMPLE[name]])
    assert_arrived(send_gemini(api, tools, "parameters_json_schema"), tools)
    assert_accepted(api.body, "gemini-json", 1)


#: A field of Gemini's own dialect → as its library writes it.
WIRE_WORDS = {
    "anyOf": "any_of",
    "maxItems": "max_items",
    "maxLength": "max_length",
    "maxProperties": "max_properties",
    "minItems": "min_items",
    "minLength": "min_length",
    "minProperties": "min_properties",
    "propertyOrdering": "property_ordering",
}


def in_wire_words(schema: dict) -> dict:
    """A schema of Gemini's own dialect as its library writes it: snake case, types in capitals.

    It leaves out what is null, such as a default.
    """
    sent = {WIRE_WORDS.get(key, key): value for key, value in schema.items() if value is not None}
    if "type" in sent:
        sent["type"] = sent["type"].upper()
    if "items" in sent:
        sent["items"] = in_wire_words(sent["items"])
    if "properties" in sent:
        sent["properties"] = {k: in_wire_words(v) for k, v in sent["properties"].items()}
    if "any_of" in sent:
        sent["any_of"] = [in_wire_words(branch) for branch in sent["any_of"]]
    return sent


def assert_arrived_in_wire_words(arrived: dict, tools: dict) -> None:
    """As `assert_arrived`, in the library's words and its order of fields, not of properties."""
    assert arrived.keys() == tools.keys()
    for name, schema in tools.items():
        assert arrived[name] == in_wire_words(schema)
        assert list(arrived[name]["properties"]) == list(schema["properties"])


@pytest.mark.parametrize("name", OPENAPI)
def test_gemini_takes_schemas_of_its_own_dialect(api, name):
    tools = named([OPENAPI[name]])
    assert_arrived_in_wire_words(send_gemini(api, tools, "parameters"), tools)
    assert check(OPENAPI[name], "gemini-openapi").ok


@pytest.mark.parametrize("name", OPENAPI)
def test_gemini_is_checked_in_the_words_of_its_own_library(api, name):
    send_gemini(api, named([OPENAPI[name]]), "parameters")
    assert_accepted(api.body, "gemini-openapi", 1)


MCP_SERVER = """\
import asyncio, json, sys
import mcp_types
from mcp.server import Server
from mcp.server.stdio import stdio_server

async def tools(context, params):
    with open(sys.argv[1], encoding="utf-8") as file:
        found = json.load(file)
    return mcp_types.ListToolsResult(
        tools=[mcp_types.Tool(name=name, input_schema=schema) for name, schema in found.items()]
    )

async def main():
    server = Server("shop", on_list_tools=tools)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())

asyncio.run(main())
"""


@pytest.fixture
def mcp_server(tmp_path):
    """Writes a server of the SDK that lists some tools; gives its command line."""
    pytest.importorskip("mcp")

    def write(tools: dict) -> list[str]:
        script, listed = tmp_path / "server.py", tmp_path / "tools.json"
        script.write_text(MCP_SERVER)
        listed.write_text(json.dumps(tools))
        return [sys.executable, str(script), str(listed)]

    return write


async def listed_by(command: list[str], mode: str) -> dict:
    import mcp

    parameters = mcp.StdioServerParameters(command=command[0], args=command[1:])
    async with mcp.Client(parameters, mode=mode, read_timeout_seconds=30) as client:
        return {tool.name: tool.input_schema for tool in (await client.list_tools()).tools}


def assert_listed(arrived: dict, tools: dict) -> None:
    """As `assert_arrived`, but the SDK has its own order for the keywords of the root."""
    assert arrived.keys() == tools.keys()
    for name, schema in tools.items():
        assert arrived[name] == schema
        for keyword, value in schema.items():
            assert as_text(arrived[name][keyword]) == as_text(value)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_mcp_lists_tools_as_they_are(mcp_server, mode):
    tools = named(CLOSED.values())
    assert_listed(asyncio.run(listed_by(mcp_server(tools), mode)), tools)


def test_what_an_mcp_server_lists_is_what_is_checked(mcp_server):
    from schemaguard.sources import mcp

    tools = named(CLOSED.values())
    source = mcp.list_tools(mcp_server(tools), timeout=30)
    (part,) = source.parts
    assert_listed({tool["name"]: tool["inputSchema"] for tool in part.value["tools"]}, tools)
    assert_accepted(json.dumps(part.value), "openai-strict", len(tools))
    assert_accepted(json.dumps(part.value), "mcp", len(tools))


async def is_listed(schema) -> bool:
    """Whether server and client of the SDK let a tool through; if not, they let none through."""
    import mcp
    import mcp_types
    from mcp.server import Server

    async def tools(_context, _params):
        return mcp_types.ListToolsResult(tools=[mcp_types.Tool(name="f", input_schema=schema)])

    # The protocol of 2025: of 2026's, the SDK checks no more than the type of the root.
    async with mcp.Client(Server("shop", on_list_tools=tools), mode="legacy") as client:
        try:
            await client.list_tools()
        except mcp.MCPError:
            return False
        return True


@pytest.mark.parametrize("name", ROOTS)
def test_roots_that_the_mcp_sdk_refuses_are_spoken_of_and_no_others_are_refused(name):
    pytest.importorskip("mcp")
    report = check(ROOTS[name], "mcp")
    if asyncio.run(is_listed(ROOTS[name])):
        assert report.ok
    else:
        assert report.diagnostics


def with_property(schema, **others) -> dict:
    return {"type": "object", "properties": {"p": schema}, "required": ["p"], **others}


@pytest.mark.parametrize("name", BESIDE)
def test_gemini_parameters_that_the_library_refuses_are_refused(name):
    types = pytest.importorskip("google.genai").types
    schema = with_property(BESIDE[name])
    try:
        types.FunctionDeclaration(name="f", parameters=schema)
    except (ValueError, AttributeError):  # the latter for a list of types
        report = check(schema, "gemini-openapi")
        assert not report.ok
        assert any(d.pointer.startswith("/properties/p") for d in report.diagnostics)


@pytest.mark.parametrize("name", BESIDE)
def test_what_the_helper_of_anthropic_makes_is_accepted(name):
    anthropic = pytest.importorskip("anthropic")
    schema = with_property(BESIDE[name], additionalProperties=False)
    try:
        made = anthropic.transform_schema(schema)
    except (ValueError, TypeError, AssertionError):
        # It knows neither schemas that are true nor lists of types, and takes enums for their types.
        assert name in ("boolean schema", "type list")
        return
    report = check(made, "anthropic-strict")
    assert report.ok, [str(d) for d in report.diagnostics]


def test_what_the_helper_of_openai_makes_is_accepted():
    openai = pytest.importorskip("openai")
    import pydantic

    class Place(pydantic.BaseModel):
        city: str = pydantic.Field(pattern="^[A-Z]")
        floor: int | None = None

    class Search(pydantic.BaseModel):
        near: Place
        also: list[Place]

    tool = openai.pydantic_function_tool(Search, name="search")
    assert tool["function"]["strict"] is True
    report = check(tool["function"]["parameters"], "openai-strict")
    assert report.ok, [str(d) for d in report.diagnostics]


def test_what_the_helper_of_openai_leaves_open_is_refused():
    openai = pytest.importorskip("openai")
    import pydantic

    class Labels(pydantic.BaseModel):
        labels: dict[str, str]

    tool = openai.pydantic_function_tool(Labels)
    assert tool["function"]["strict"] is True
    report = check(tool["function"]["parameters"], "openai-strict")
    assert not report.ok
    assert {d.pointer.split("/")[2] for d in report.diagnostics} == {"labels"}


#: What each profile is about: name → how the library of that provider sends a tool.
SENDERS = {
    "openai-strict": [partial(send_chat, strict=True), partial(send_responses, strict=True)],
    "openai": [partial(send_chat, strict=False), partial(send_responses, strict=False)],
    "anthropic-strict": [partial(send_messages, strict=True)],
    "anthropic": [partial(send_messages, strict=False)],
    "gemini-json": [partial(send_gemini, field="parameters_json_schema")],
    "gemini-openapi": [partial(send_gemini, field="parameters")],
}
#: Sources of tools that were written for benchmarks or by a program.
SYNTHETIC = ("bench_", "bfcl_", "engine_", "jsb_")
SAMPLE = 40


def real_tools() -> list[dict]:
    """A sample of real tools' schemas, always the same."""
    schemas = [
        record["schema"]
        for record in corpus("tools.jsonl.gz")
        if not record["source"].startswith(SYNTHETIC)
    ]
    return random.Random(7).sample(schemas, SAMPLE)


def assert_go_through(api: Api, profile: str, schemas: list[dict]) -> None:
    """Each of them, in a request of its own: some budgets are for a whole request."""
    for schema in schemas:
        tools = named([schema])
        for send in SENDERS[profile]:
            arrived = send(api, tools)
            if profile == "gemini-openapi":
                assert_arrived_in_wire_words(arrived, tools)
            else:
                assert_arrived(arrived, tools)
                assert_accepted(api.body, profile, 1)


@pytest.mark.parametrize("profile", SENDERS)
def test_real_tools_that_a_profile_accepts_go_through(api, profile):
    accepted = [schema for schema in real_tools() if check(schema, profile).ok]
    print(f"{profile}: {len(accepted)} of {SAMPLE} as they are")
    assert accepted
    assert_go_through(api, profile, accepted)


@pytest.mark.parametrize("profile", SENDERS)
def test_real_tools_that_were_fixed_go_through(api, profile):
    results = [fix.to_profile(schema, profile) for schema in real_tools()]
    fixed = [result.schema for result in results if not result.remaining]
    print(f"{profile}: {len(fixed)} of {SAMPLE} after fixing")
    assert len(fixed) >= SAMPLE // 2
    assert_go_through(api, profile, fixed)


@pytest.mark.parametrize("profile", ["anthropic", "gemini-json"])
def test_what_was_fixed_for_openai_still_goes_to_the_others(api, profile):
    accepted = [schema for schema in real_tools() if check(schema, profile).ok]
    fixed = [fix.to_profile(schema, "openai-strict").schema for schema in accepted]
    assert_go_through(api, profile, fixed)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_real_tools_that_were_fixed_are_listed_by_mcp(mcp_server, mode):
    tools = named(fix.to_profile(schema, "openai-strict").schema for schema in real_tools())
    assert_listed(asyncio.run(listed_by(mcp_server(tools), mode)), tools)

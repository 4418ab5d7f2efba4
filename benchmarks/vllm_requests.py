"""Requests for a served model: 40 that no server should be sent, and 40 of every day.

All of them are made here. The hostile ones are shapes that public reports and documentation of
serving engines speak of: unknown types, nesting, long repeats, references that lead nowhere, large
sets of values, divisors, texts that are no JSON. The others ask for little, always with a seed and
at temperature 0, so that two servers have to give the same answer.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

CHAT, RESPONSES = "/v1/chat/completions", "/v1/responses"
MESSAGES, COMPLETIONS = "/v1/messages", "/v1/completions"
MAX_TOKENS = 24

Schema = dict[str, Any]


class Request(NamedTuple):
    """A request: what it is called, where it goes, and the bytes of its body."""

    name: str
    path: str
    body: bytes


# ----------------------------------------------------------------------------------------- bodies


def tool(parameters: Any, name: str = "f", **more: Any) -> dict[str, Any]:
    """A tool of Chat; strict unless it says otherwise, and `strict=None` leaves it out."""
    said = {
        "name": name,
        "description": "A tool.",
        "parameters": parameters,
        "strict": True,
        **more,
    }
    function = {key: value for key, value in said.items() if value is not None}
    return {"type": "function", "function": function}


def chat(name: str, *tools: dict[str, Any], **more: Any) -> Request:
    """A request for Chat."""
    body: dict[str, Any] = {
        "model": "tiny",
        "messages": [{"role": "user", "content": "What is the weather in Paris?"}],
        "max_tokens": MAX_TOKENS,
        "temperature": 0,
        "seed": 0,
    }
    if tools:
        body["tools"] = tools
    return Request(name, CHAT, json.dumps(body | more).encode())


def form(schema: Any, **more: Any) -> dict[str, Any]:
    """A `response_format`."""
    return {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema, **more}}


def responses(name: str, **more: Any) -> Request:
    """A request for Responses."""
    body = {"model": "tiny", "input": "Hello", "max_output_tokens": MAX_TOKENS, "temperature": 0}
    return Request(name, RESPONSES, json.dumps(body | {"store": False} | more).encode())


def messages(name: str, **more: Any) -> Request:
    """A request for Anthropic's Messages."""
    said = [{"role": "user", "content": "Hello"}]
    body = {"model": "tiny", "messages": said, "max_tokens": MAX_TOKENS, "temperature": 0}
    return Request(name, MESSAGES, json.dumps(body | more).encode())


def completions(name: str, **more: Any) -> Request:
    """A request for Completions."""
    body = {"model": "tiny", "prompt": "Hello", "max_tokens": MAX_TOKENS, "temperature": 0}
    return Request(name, COMPLETIONS, json.dumps(body | {"seed": 0} | more).encode())


# ---------------------------------------------------------------------------------------- schemas


def closed(**properties: Any) -> Schema:
    """An object of exactly these properties."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


STRING: Schema = {"type": "string"}
INTEGER: Schema = {"type": "integer"}
PLACE = closed(city=STRING)


def pattern(text: str) -> Schema:
    """An object with a string of a pattern."""
    return closed(p={"type": "string", "pattern": text})


def nested(depth: int, kind: str) -> Schema:
    """Arrays, objects, or branches in one another."""
    schema: Schema = {"type": "string"}
    for _ in range(depth):
        if kind == "arrays":
            schema = {"type": "array", "items": schema}
        elif kind == "objects":
            schema = closed(p=schema)
        else:
            schema = {kind: [schema, {"type": "null"}]}
    return closed(p=schema)


def tree(depth: int) -> Schema:
    """Branches of two that each have two."""
    if depth == 0:
        return STRING
    return {"oneOf": [tree(depth - 1), {"type": "array", "items": tree(depth - 1)}]}


def words(count: int, length: int) -> list[str]:
    """Different strings of one length."""
    return [f"{number:0{length}}" for number in range(count)]


def multiples(count: int) -> Schema:
    """Integers with different divisors."""
    return closed(**{f"p{i}": {"type": "integer", "multipleOf": 997 + i} for i in range(count)})


def refers(target: str, **definitions: Any) -> Schema:
    """An object with a reference, and definitions."""
    return {**closed(p={"$ref": target}), "$defs": definitions}


# ---------------------------------------------------------------------------------------- hostile


def hostile() -> list[Request]:
    """Forty requests that should be refused, or answered at once."""
    return [*_hostile_schemas(), *_hostile_places(), *_hostile_texts()]


def _hostile_schemas() -> Iterator[Request]:
    """Schemas of a strict tool."""
    itself = {"$ref": "#/$defs/A"}
    schemas = {
        "unknown type": closed(p={"type": "strng"}),
        "unknown type in a list": closed(p={"type": ["string", "nil"]}),
        "type is a number": closed(p={"type": 7}),
        "arrays nested 50": nested(50, "arrays"),
        "arrays nested 200": nested(200, "arrays"),
        "objects nested 28": nested(28, "objects"),
        "objects nested 200": nested(200, "objects"),
        "anyOf nested 28": nested(28, "anyOf"),
        "anyOf nested 300": nested(300, "anyOf"),
        "oneOf tree of depth 9": closed(p=tree(9)),
        "pattern ^.{0,1000}$": pattern("^.{0,1000}$"),
        "pattern ^.{0,3000}$": pattern("^.{0,3000}$"),
        "pattern ^.{0,5000}$": pattern("^.{0,5000}$"),
        "pattern ^.{1,129}$": pattern("^.{1,129}$"),
        "pattern ^[\\s\\S]{1,4096}$": pattern(r"^[\s\S]{1,4096}$"),
        "pattern (a{1,100}){1,100}": pattern("(a{1,100}){1,100}"),
        "pattern with look-ahead": pattern(r"^(?=.*\d).+$"),
        "pattern with back reference": pattern(r"^(a|b)\1$"),
        "pattern that does not compile": pattern("["),
        "reference to itself": refers("#/$defs/A", A=itself),
        "references in a circle": refers("#/$defs/B", A={"$ref": "#/$defs/B"}, B=itself),
        "only itself in anyOf": refers("#/$defs/A", A={"anyOf": [itself, itself]}),
        "reference to another host": refers("https://schemas.invalid/a.json"),
        "enum of 10,000": closed(p={"enum": words(10_000, 6)}),
        "enum of 1,000 x 120 characters": closed(p={"enum": words(1_000, 120)}),
        "empty enum": closed(p={"enum": []}),
        "empty anyOf": closed(p={"anyOf": []}),
        "60 integers with multipleOf": multiples(60),
        "const of 100,000 characters": closed(p={"const": "x" * 100_000}),
        "10,000 properties": closed(**{f"p{i}": STRING for i in range(10_000)}),
    }
    for name, schema in schemas.items():
        yield chat(name, tool(schema))


def _hostile_places() -> Iterator[Request]:
    """Other places of a schema that a server compiles."""
    bad = pattern("^.{0,3000}$")
    yield chat("response_format: pattern ^.{0,3000}$", response_format=form(bad))
    yield chat("response_format: enum of 10,000", response_format=form({"enum": words(10_000, 6)}))
    yield chat("structured_outputs: pattern", structured_outputs={"json": json.dumps(bad)})
    yield completions("Completions: response_format", response_format=form(bad))
    flat = {"type": "function", "name": "f", "parameters": bad, "strict": True}
    yield responses("Responses: strict tool", tools=[flat], tool_choice="required")
    named = {"name": "f", "input_schema": bad, "strict": True}
    yield messages("Messages: strict tool", tools=[named])


def _hostile_texts() -> Iterator[Request]:
    """Bodies that are no JSON, or not what a request is."""
    good = chat("", tool(PLACE)).body
    yield Request("body cut off", CHAT, good[:-7])
    yield Request("body is not UTF-8", CHAT, good.replace(b"Paris", b"Par\xff\xfe"))
    yield Request("body of 100,000 brackets", CHAT, b"[" * 100_000)
    yield chat("parameters are a list", tool(["city"]))


# ------------------------------------------------------------------------------------------- good


def good() -> list[Request]:
    """Forty requests that should be answered as if nothing stood in front of the server."""
    return [*_without_tools(), *_with_tools(), *_with_choices(), *_with_forms(), *_elsewhere()]


def _without_tools() -> Iterator[Request]:
    turns = [
        {"role": "system", "content": "Be short."},
        {"role": "user", "content": "Zürich, 東京, 🙂?"},
        {"role": "assistant", "content": "Yes."},
        {"role": "user", "content": 'And "quotes"\n\ttoo?'},
    ]
    yield chat("no tools")
    yield chat("several turns, Unicode", messages=turns)
    yield chat("streamed", stream=True)
    yield chat("streamed with usage", stream=True, stream_options={"include_usage": True})
    yield chat("log probabilities", logprobs=True, top_logprobs=2)


def _with_tools() -> Iterator[Request]:
    """Tools that the model may call."""
    strict = {
        "strict: string": PLACE,
        "strict: bounded integer": closed(n={"type": "integer", "minimum": 1, "maximum": 99}),
        "strict: number, boolean, null": closed(
            x={"type": "number"}, y={"type": "boolean"}, z={"type": ["string", "null"]}
        ),
        "strict: enum and const": closed(unit={"enum": ["C", "F"]}, kind={"const": "now"}),
        "strict: object in object": closed(a=closed(b=closed(c=STRING))),
        "strict: array": closed(a={"type": "array", "items": STRING, "maxItems": 3}),
        "strict: anyOf": closed(a={"anyOf": [STRING, INTEGER, {"type": "null"}]}),
        "strict: shared definition": refers("#/$defs/A", A=PLACE),
        "strict: recursive list": refers(
            "#/$defs/A",
            A=closed(v=INTEGER, next={"anyOf": [{"$ref": "#/$defs/A"}, {"type": "null"}]}),
        ),
        "strict: short pattern": pattern("^[A-Z]{2,3}-[0-9]{1,6}$"),
        "strict: format": closed(day={"type": "string", "format": "date"}),
        "strict: 20 properties": closed(**{f"p{i}": STRING for i in range(20)}),
        "strict: optional properties": {**closed(a=STRING, b=INTEGER), "required": ["a"]},
        "strict: no parameters": closed(),
    }
    for name, schema in strict.items():
        yield chat(name, tool(schema), tool_choice="required")
    yield chat("strict, left to the model", tool(PLACE))
    yield chat("strict, streamed", tool(PLACE), tool_choice="required", stream=True)
    yield chat("not strict", tool(PLACE, strict=None))
    yield chat("strict: false, with a look-ahead", tool(pattern(r"^(?=.*\d).+$"), strict=False))
    yield chat("ten tools, one strict", tool(PLACE), *_several(9))
    yield chat("without parameters", tool(None, strict=None))


def _several(count: int) -> list[dict[str, Any]]:
    return [tool(closed(a=INTEGER), name=f"g{i}", strict=None) for i in range(count)]


def _with_choices() -> Iterator[Request]:
    """The choice among tools."""
    named = {"type": "function", "function": {"name": "f"}}
    yield chat("tool_choice: auto", tool(PLACE), tool_choice="auto")
    yield chat("tool_choice: none", tool(PLACE), tool_choice="none")
    yield chat(
        "tool_choice: required, not strict", tool(PLACE, strict=None), tool_choice="required"
    )
    yield chat("tool_choice: named", tool(PLACE), *_several(2), tool_choice=named)
    yield chat("no parallel calls", tool(PLACE), tool_choice="required", parallel_tool_calls=False)


def _with_forms() -> Iterator[Request]:
    """Answers of a certain form."""
    yield chat("response_format: json_object", response_format={"type": "json_object"})
    yield chat("response_format: schema", response_format=form(PLACE, strict=True))
    listed = closed(items={"type": "array", "items": closed(n=INTEGER), "maxItems": 2})
    yield chat("response_format: list, streamed", response_format=form(listed), stream=True)
    yield chat("structured_outputs: choice", structured_outputs={"choice": ["yes", "no"]})
    yield chat("structured_outputs: JSON text", structured_outputs={"json": json.dumps(PLACE)})


def _elsewhere() -> Iterator[Request]:
    """The other APIs."""
    flat = {"type": "function", "name": "f", "parameters": PLACE, "strict": True}
    text = {"format": {"type": "json_schema", "name": "answer", "schema": PLACE, "strict": True}}
    yield responses("Responses: plain")
    yield responses("Responses: strict tool", tools=[flat], tool_choice="required")
    yield responses("Responses: text.format", text=text)
    yield messages("Messages: plain")
    yield messages("Messages: tool", tools=[{"name": "f", "input_schema": PLACE}])

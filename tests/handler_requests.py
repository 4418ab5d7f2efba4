"""Tools and requests of the three APIs, for the tests of the handlers."""

from __future__ import annotations

import json

CLOSED = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
OPEN = {"type": "object", "properties": {}}
APIS = ("chat", "responses", "messages")


def chat_tool(name="f", parameters=CLOSED, strict=True, **more):
    function = {"name": name, "strict": strict, "parameters": parameters, **more}
    return {"type": "function", "function": without_gaps(function)}


def responses_tool(name="f", parameters=CLOSED, strict=True, **more):
    return without_gaps(
        {"type": "function", "name": name, "strict": strict, "parameters": parameters, **more}
    )


def messages_tool(name="f", parameters=CLOSED, strict=True, **more):
    return without_gaps({"name": name, "strict": strict, "input_schema": parameters, **more})


def without_gaps(members):
    """`...` leaves a member out."""
    return {key: value for key, value in members.items() if value is not ...}


TOOLS = {"chat": chat_tool, "responses": responses_tool, "messages": messages_tool}


def body(api, *tools, **more):
    """A body of an API as bytes; tools are (name, parameters, strict) or whole."""
    made = [tool if isinstance(tool, dict) else TOOLS[api](*tool) for tool in tools]
    rest = (
        {"input": "hi"} if api == "responses" else {"messages": [{"role": "user", "content": "hi"}]}
    )
    return json.dumps({"model": "m", **rest, "tools": made, **more}).encode()

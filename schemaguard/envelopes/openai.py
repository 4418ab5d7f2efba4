"""OpenAI: Chat Completions (with legacy `functions`) and Responses.

The Chat form is also what most others take: Azure, Mistral, Groq, xAI, Together, Fireworks, vLLM,
SGLang, Dynamo, and as families of their own Cohere and Ollama.

Sources: types of the `openai` package 3.57 (`FunctionTool`, `NamespaceTool`, `ToolSearchTool`,
`ResponseFormatTextJSONSchemaConfig`); tools on messages: Moonshot's Kimi, as Dynamo reads them.
"""

from __future__ import annotations

from schemaguard.envelopes.bare import is_schema_value, is_strong
from schemaguard.envelopes.reading import (
    SCHEMA_KEYS,
    Family,
    described,
    listed,
    part,
    text,
)
from schemaguard.envelopes.result import (
    OPENAI_CHAT,
    OPENAI_RESPONSES,
    OUTPUT,
    RESPONSE_FORMAT,
    quoted,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from schemaguard.envelopes.reading import Reader
    from schemaguard.envelopes.result import Place


# ------------------------------------------------------------------------------------------------
# Chat Completions: {"type": "function", "function": {"name", "parameters", "strict"}} and, in the
# `functions` of old, the inner object by itself.
# ------------------------------------------------------------------------------------------------


def is_nested_function(entry: dict[str, Any]) -> bool:
    """A tool with its function in `function`, of any or no type; not the call of one."""
    function = entry.get("function")
    if function.__class__ is dict:
        return "arguments" not in function or "parameters" in function
    return "function" in entry and text(entry, "type") == "function"


def _is_flat_function(entry: dict[str, Any]) -> bool:
    """`name` and `parameters` side by side, without the `type` that Responses wants."""
    return (
        is_schema_value(entry.get("parameters"))
        and entry.get("name").__class__ is str
        and "type" not in entry
    )


def _is_chat_tool(entry: dict[str, Any]) -> bool:
    return is_nested_function(entry) or _is_flat_function(entry)


def read_chat_tool(
    reader: Reader,
    place: Place,
    entry: dict[str, Any],
    name: str | None,
    *,
    api: str = OPENAI_CHAT,
    strict: bool | None = None,
) -> None:
    """Read a tool of the Chat form, or a function by itself.

    Args:
        reader: takes what is found.
        place: of the tool.
        entry: the tool.
        name: that an object of tools gives it.
        api: whose request it is in.
        strict: what the request says about strict mode where the function says nothing.
    """
    holder, function = place, entry
    if "function" in entry:
        holder, function = (place, "function"), entry["function"]
        if function.__class__ is not dict:
            reader.problem(holder, f"the function is {described(function)}")
            return
        if entry.get("type") not in (None, "function"):
            reader.problem((place, "type"), 'the type of a function is not "function"')
    name = reader.name_of(holder, function, name)
    own = reader.strict_of(holder, function)
    strict = strict if own is None else own
    reader.arguments(
        api, place, holder, function, "parameters", name=name, strict=strict, optional=True
    )


def _is_chat(body: dict[str, Any]) -> bool:
    """Messages, or the form of an answer, in its place or kept by itself."""
    messages = body.get("messages")
    if messages.__class__ is list:
        first = messages[0] if messages else None
        return "tools" in body or "model" in body or (first.__class__ is dict and "role" in first)
    form = part(body, "response_format")
    if form is not None and ("type" in form or "json_schema" in form):
        return True
    return _is_chat_format(body) or _is_named_format(body)


def _is_chat_format(body: dict[str, Any]) -> bool:
    return text(body, "type") == "json_schema" and part(body, "json_schema") is not None


def read_chat(
    reader: Reader, place: Place, body: dict[str, Any], family: Family | None = None
) -> None:
    """Read a request with messages: its tools, those of its messages, the form of its answer."""
    family = family or CHAT
    reader.tools_of(family, (place, "tools"), body.get("tools"))
    for index, function in enumerate(listed(body, "functions")):
        there = ((place, "functions"), index)
        if function.__class__ is dict and "function" not in function:
            read_chat_tool(reader, there, function, None, api=family.kind)
        else:
            reader.tool(family, there, function)
    for index, message in enumerate(listed(body, "messages")):
        if message.__class__ is dict and "tools" in message:
            reader.tools_of(family, (((place, "messages"), index), "tools"), message["tools"])
    read_response_format(reader, place, body, family.kind)
    if _is_chat_format(body):
        _read_format(reader, place, body, family.kind)
        return
    for keys in _GUIDES:
        _read_guide(reader, place, body, keys, family.kind)
    if _is_named_format(body):
        _read_named_format(reader, place, body, family.kind)


#: Where vLLM, SGLang and Dynamo take the schema of an answer, besides `response_format`: an object,
#: or JSON text.
_GUIDES = (
    ("guided_json",),
    ("structured_outputs", "json"),
    ("json_schema",),
    ("sampling_params", "json_schema"),
    ("nvext", "guided_json"),
)


def _read_guide(
    reader: Reader, place: Place, body: dict[str, Any], keys: tuple[str, ...], api: str
) -> None:
    holder = part(body, *keys[:-1])
    schema = None if holder is None else holder.get(keys[-1])
    for key in keys:
        place = (place, key)
    if schema.__class__ is str:
        reader.add_text(api, RESPONSE_FORMAT, place, place, schema)
    elif schema is not None:
        reader.add(api, RESPONSE_FORMAT, place, place, schema)


def read_response_format(reader: Reader, place: Place, body: dict[str, Any], api: str) -> None:
    """Read the `response_format` of a request."""
    form = body.get("response_format")
    place = (place, "response_format")
    if form.__class__ is dict:
        _read_format(reader, place, form, api)
    elif form is not None:
        reader.skip(place, f"a response format that is {described(form)}, without a schema")


def _read_format(reader: Reader, place: Place, form: dict[str, Any], api: str) -> None:
    """Read a response format in OpenAI's form, or in one of those that others made of it.

    OpenAI wraps the schema in `json_schema.schema`; Cohere has it in `json_schema` itself;
    Together, Fireworks and llama.cpp have it in `schema`.
    """
    kind = text(form, "type")
    wrapper = form.get("json_schema")
    inner = (place, "json_schema")
    if wrapper.__class__ is not dict:
        _read_named_format(reader, place, form, api)
    elif kind == "json_object" and "schema" not in wrapper:
        reader.add(api, RESPONSE_FORMAT, place, inner, wrapper)
    else:
        _read_named_format(reader, inner, wrapper, api)


def _read_named_format(reader: Reader, place: Place, form: dict[str, Any], api: str) -> None:
    """Read `{"name", "schema", "strict"}`, with or without a `type`."""
    kind = text(form, "type")
    if form.get("schema") is not None:
        name = text(form, "name")
        strict = reader.strict_of(place, form)
        there = (place, "schema")
        reader.add(api, RESPONSE_FORMAT, place, there, form["schema"], name=name, strict=strict)
    elif kind is None or kind == "json_schema":
        reader.problem(place, "a response format without a schema")
    else:
        reader.skip(place, f"a response format of type {quoted(kind)}, which has no schema")


def _is_named_format(body: dict[str, Any]) -> bool:
    """What OpenAI's `json_schema` holds, kept by itself."""
    schema = body.get("schema")
    return (
        schema.__class__ is dict
        and text(body, "name") is not None
        and all(key in ("name", "description", "schema", "strict") for key in body)
        and is_strong(schema)
    )


# ------------------------------------------------------------------------------------------------
# Responses: {"type": "function", "name", "parameters", "strict"}, or a namespace of such.
# ------------------------------------------------------------------------------------------------

_BUILT_IN = frozenset(
    {
        "apply_patch",
        "code_interpreter",
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
    }
)


def _is_responses_tool(entry: dict[str, Any]) -> bool:
    kind = text(entry, "type")
    if kind == "function":
        if "function" in entry:
            return False
        return "parameters" in entry or (
            "name" in entry and not any(key in entry for key in SCHEMA_KEYS)
        )
    if kind == "namespace":
        return "tools" in entry
    return kind == "tool_search" and entry.get("parameters") is not None


def _is_responses_built_in(entry: dict[str, Any]) -> bool:
    return text(entry, "type") in _BUILT_IN and "input_schema" not in entry


def _read_responses_tool(
    reader: Reader, place: Place, entry: dict[str, Any], name: str | None
) -> None:
    kind = entry["type"]
    if kind == "namespace":
        members = (place, "tools")
        if entry["tools"].__class__ is not list:
            reader.problem(members, f"the tools of a namespace are {described(entry['tools'])}")
        for index, member in enumerate(listed(entry, "tools")):
            if member.__class__ is dict and text(member, "type") == "namespace":
                reader.problem((members, index), "a namespace inside a namespace")
            else:
                reader.tool(RESPONSES, (members, index), member)
        return
    if kind == "tool_search":  # one that the client runs; it is called by its type
        name = text(entry, "name") or name or "tool_search"
    else:
        name = reader.name_of(place, entry, name)
    strict = reader.strict_of(place, entry)
    reader.arguments(
        OPENAI_RESPONSES,
        place,
        place,
        entry,
        "parameters",
        name=name,
        strict=strict,
        optional=True,
    )
    if entry.get("output_schema") is not None:
        there = (place, "output_schema")
        reader.add(OPENAI_RESPONSES, OUTPUT, place, there, entry["output_schema"], name=name)


def _is_responses(body: dict[str, Any]) -> bool:
    if part(body, "text", "format") is not None or _is_responses_format(body):
        return True
    return ("tools" in body or "model" in body) and (
        body.get("input").__class__ is str or body.get("input").__class__ is list
    )


def _read_responses(reader: Reader, place: Place, body: dict[str, Any]) -> None:
    reader.tools_of(RESPONSES, (place, "tools"), body.get("tools"))
    for index, item in enumerate(listed(body, "input")):
        if item.__class__ is not dict or "tools" not in item:
            continue
        tools: Place = (((place, "input"), index), "tools")
        if text(item, "type") == "mcp_list_tools":
            reader.skip(tools, "tools that the provider listed from an MCP server")
        else:  # what a tool search found
            reader.tools_of(RESPONSES, tools, item["tools"])
    form = part(body, "text", "format")
    if form is not None:
        there = ((place, "text"), "format")
        _read_named_format(reader, there, form, OPENAI_RESPONSES)
    elif _is_responses_format(body):
        _read_named_format(reader, place, body, OPENAI_RESPONSES)


def _is_responses_format(body: dict[str, Any]) -> bool:
    """A text format, kept by itself."""
    return text(body, "type") == "json_schema" and "schema" in body


CHAT = Family(
    OPENAI_CHAT,
    is_tool=_is_chat_tool,
    read_tool=read_chat_tool,
    is_request=_is_chat,
    read_request=read_chat,
)

RESPONSES = Family(
    OPENAI_RESPONSES,
    is_tool=_is_responses_tool,
    read_tool=_read_responses_tool,
    is_built_in=_is_responses_built_in,
    is_request=_is_responses,
    read_request=_read_responses,
)

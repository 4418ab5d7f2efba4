"""Gemini and Vertex AI: function declarations, and the response schemas of `generationConfig`.

Sources: the generateContent reference and the types of the `google-genai` package 3.6. The API
reads names in camel case and in snake case. `parameters`, `response` and `responseSchema` are in
OpenAPI's dialect, the others in JSON Schema; which one is a matter of profiles. The spelling of the
first is translated (`protobuf`).
"""

from __future__ import annotations

from schemaguard.envelopes.bare import is_schema_value
from schemaguard.envelopes.reading import Family, described, part, text
from schemaguard.envelopes.result import (
    GEMINI,
    OUTPUT,
    PARAMETERS,
    RESPONSE_FORMAT,
    quoted,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from schemaguard.envelopes.reading import Reader
    from schemaguard.envelopes.result import Place

_DECLARATIONS = ("functionDeclarations", "function_declarations")
_JSON_PARAMETERS = ("parametersJsonSchema", "parameters_json_schema")
_OUTPUTS = ("response", "responseJsonSchema", "response_json_schema")
_CONFIGS = ("generationConfig", "generation_config")
_RESPONSES = (
    "responseSchema",
    "response_schema",
    "responseJsonSchema",
    "response_json_schema",
    "_responseJsonSchema",
)
#: Where a schema is a message of Protocol Buffers, which may be spelled in its own way.
_MESSAGES = frozenset({"parameters", "response", "responseSchema", "response_schema"})
_FORMATS = ("responseFormat", "response_format")
_BUILT_IN = frozenset(
    {
        "codeExecution",
        "code_execution",
        "computerUse",
        "computer_use",
        "enterpriseWebSearch",
        "enterprise_web_search",
        "fileSearch",
        "file_search",
        "googleMaps",
        "google_maps",
        "googleSearch",
        "google_search",
        "googleSearchRetrieval",
        "google_search_retrieval",
        "mcpServers",
        "mcp_servers",
        "retrieval",
        "urlContext",
        "url_context",
    }
)


def _is_tool(entry: dict[str, Any]) -> bool:
    """An object with declarations, or a declaration that no other API would read."""
    return any(key in entry for key in _DECLARATIONS) or (
        entry.get("name").__class__ is str
        and (any(key in entry for key in _JSON_PARAMETERS) or _has_capitals(entry))
    )


def _has_capitals(entry: dict[str, Any]) -> bool:
    """A type name in capitals: a plain function, but in Gemini's own dialect."""
    parameters = part(entry, "parameters")
    return parameters is not None and text(parameters, "type") == "OBJECT"


def _is_built_in(entry: dict[str, Any]) -> bool:
    return bool(entry) and all(key in _BUILT_IN for key in entry)


def _read_tool(reader: Reader, place: Place, entry: dict[str, Any], name: str | None) -> None:
    if not any(key in entry for key in _DECLARATIONS):
        _read_declaration(reader, place, entry, name)
        return
    for key, value in entry.items():
        there = (place, key)
        if key in _DECLARATIONS:
            if value.__class__ is not list:
                reader.problem(there, f"the declarations are {described(value)}")
                continue
            for index, declaration in enumerate(value):
                _read_declaration(reader, (there, index), declaration, None)
        elif key in _BUILT_IN:
            reader.skip(there, f"{quoted(key)}, which the provider defines")


def _read_declaration(reader: Reader, place: Place, entry: Any, name: str | None) -> None:
    if entry.__class__ is not dict:
        reader.problem(place, f"{described(entry)} is no function declaration")
        return
    name = reader.name_of(place, entry, name)
    given = [k for k in ("parameters", *_JSON_PARAMETERS) if entry.get(k) is not None]
    if len(given) > 1:
        reader.problem(place, f"both `{given[0]}` and `{given[1]}`: the API takes one")
    if not given:
        reader.arguments(GEMINI, place, place, entry, "parameters", name=name, optional=True)
    for key in given:
        there, is_message = (place, key), key in _MESSAGES
        reader.add(GEMINI, PARAMETERS, place, there, entry[key], name=name, protobuf=is_message)
    for key in _OUTPUTS:
        if entry.get(key) is not None:
            there, is_message = (place, key), key in _MESSAGES
            reader.add(GEMINI, OUTPUT, place, there, entry[key], name=name, protobuf=is_message)


def _is_request(body: dict[str, Any]) -> bool:
    if any(part(body, key) is not None for key in _CONFIGS):
        return True
    contents = body.get("contents")
    if contents is None:
        return False
    if any(key in body for key in ("tools", "toolConfig", "tool_config", "systemInstruction")):
        return True
    first = contents[0] if contents.__class__ is list and contents else contents
    return first.__class__ is dict and "parts" in first


def _read_request(reader: Reader, place: Place, body: dict[str, Any]) -> None:
    tools = body.get("tools")
    there = (place, "tools")
    if tools.__class__ is dict and (_is_tool(tools) or _is_built_in(tools)):
        reader.tool(FAMILY, there, tools)  # a list of one may be written as that one
    else:
        reader.tools_of(FAMILY, there, tools)
    for key in _CONFIGS:
        config = part(body, key)
        if config is not None:
            _read_config(reader, (place, key), config)


def _read_config(reader: Reader, place: Place, config: dict[str, Any]) -> None:
    for key in _RESPONSES:
        if config.get(key) is not None:
            there = (place, key)
            is_message = key in _MESSAGES
            reader.add(GEMINI, RESPONSE_FORMAT, there, there, config[key], protobuf=is_message)
    for key in _FORMATS:
        form = part(config, key, "text")
        if form is not None and is_schema_value(form.get("schema")):
            there = ((place, key), "text")
            reader.add(GEMINI, RESPONSE_FORMAT, there, (there, "schema"), form["schema"])


def _read_one(reader: Reader, place: Place, entry: dict[str, Any], name: str | None) -> None:
    if _is_tool(entry):
        _read_tool(reader, place, entry, name)
    else:
        _read_declaration(reader, place, entry, name)


def _is_any_tool(entry: dict[str, Any]) -> bool:
    return _is_tool(entry) or (
        entry.get("name").__class__ is str and is_schema_value(entry.get("parameters"))
    )


FAMILY = Family(
    GEMINI,
    is_tool=_is_any_tool,
    read_tool=_read_one,
    claims=_is_tool,
    is_built_in=_is_built_in,
    is_request=_is_request,
    read_request=_read_request,
)

"""Cohere and Ollama: OpenAI's tools, with their own words around them.

Sources: the API references of Cohere (v1 and v2) and Ollama. Cohere's v1 tools describe each
argument in `parameter_definitions`, with Python type names: no JSON Schema, so nothing to check.
"""

from __future__ import annotations

from schemaguard.envelopes.openai import (
    CHAT,
    is_nested_function,
    read_chat,
    read_chat_tool,
    read_response_format,
)
from schemaguard.envelopes.reading import Family, described, listed, never, text
from schemaguard.envelopes.result import COHERE, OLLAMA, RESPONSE_FORMAT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from schemaguard.envelopes.reading import Reader
    from schemaguard.envelopes.result import Place


# ------------------------------------------------------------------------------------------------
# Cohere
# ------------------------------------------------------------------------------------------------


def _has_definitions(entry: dict[str, Any]) -> bool:
    return "parameter_definitions" in entry and not is_nested_function(entry)


def _is_cohere_tool(entry: dict[str, Any]) -> bool:
    return _has_definitions(entry) or CHAT.is_tool(entry)


def _read_cohere_tool(
    reader: Reader,
    place: Place,
    entry: dict[str, Any],
    name: str | None,
    *,
    strict: bool | None = None,
) -> None:
    if _has_definitions(entry):
        reader.problem(
            (place, "parameter_definitions"),
            "parameter definitions of Cohere's v1 API are no JSON Schema",
        )
    else:
        read_chat_tool(reader, place, entry, name, api=COHERE, strict=strict)


def _read_strict_tool(
    reader: Reader, place: Place, entry: dict[str, Any], name: str | None
) -> None:
    _read_cohere_tool(reader, place, entry, name, strict=True)


def _is_cohere(body: dict[str, Any]) -> bool:
    if body.get("messages").__class__ is list:
        form = body.get("response_format")
        return (
            body.get("tool_choice") in ("REQUIRED", "NONE")
            or "strict_tools" in body
            or "citation_options" in body
            or "safety_mode" in body
            or (form.__class__ is dict and _is_cohere_format(form))
            or any(t.__class__ is dict and _has_definitions(t) for t in listed(body, "tools"))
        )
    return body.get("message").__class__ is str and any(
        key in body for key in ("chat_history", "preamble", "connectors", "tools", "tool_results")
    )


def _is_cohere_format(form: dict[str, Any]) -> bool:
    wrapper = form.get("json_schema")
    return (
        text(form, "type") == "json_object"
        and wrapper.__class__ is dict
        and "schema" not in wrapper
    )


def _read_cohere(reader: Reader, place: Place, body: dict[str, Any]) -> None:
    if "message" not in body:
        family = _STRICT if body.get("strict_tools") is True else COHERE_FAMILY
        read_chat(reader, place, body, family)
        return
    for index, entry in enumerate(listed(body, "tools")):
        there = ((place, "tools"), index)
        if entry.__class__ is dict and "name" in entry and not _is_cohere_tool(entry):
            reader.skip(there, "a tool without `parameter_definitions`: it takes no arguments")
        else:
            reader.tool(COHERE_FAMILY, there, entry)
    read_response_format(reader, place, body, COHERE)


COHERE_FAMILY = Family(
    COHERE,
    is_tool=_is_cohere_tool,
    read_tool=_read_cohere_tool,
    claims=_has_definitions,
    is_request=_is_cohere,
    read_request=_read_cohere,
)
_STRICT = Family(
    COHERE,
    is_tool=_is_cohere_tool,
    read_tool=_read_strict_tool,
    is_request=_is_cohere,
    read_request=_read_cohere,
)


# ------------------------------------------------------------------------------------------------
# Ollama
# ------------------------------------------------------------------------------------------------


def _read_ollama_tool(
    reader: Reader, place: Place, entry: dict[str, Any], name: str | None
) -> None:
    read_chat_tool(reader, place, entry, name, api=OLLAMA)


def _is_ollama(body: dict[str, Any]) -> bool:
    if body.get("messages").__class__ is not list and body.get("prompt").__class__ is not str:
        return False
    form = body.get("format")
    return (
        body.get("options").__class__ is dict
        or "keep_alive" in body
        or form.__class__ is dict
        or form == "json"
    )


def _read_ollama(reader: Reader, place: Place, body: dict[str, Any]) -> None:
    read_chat(reader, place, body, OLLAMA_FAMILY)
    form = body.get("format")
    there = (place, "format")
    if form.__class__ is dict:
        reader.add(OLLAMA, RESPONSE_FORMAT, there, there, form)
    elif form == "json":
        reader.skip(there, "any JSON, without a schema")
    elif form is not None and form != "":
        reader.problem(there, f"the format is {described(form)}")


OLLAMA_FAMILY = Family(
    OLLAMA,
    is_tool=CHAT.is_tool,
    read_tool=_read_ollama_tool,
    claims=never,
    is_request=_is_ollama,
    read_request=_read_ollama,
)

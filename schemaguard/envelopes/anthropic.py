"""Anthropic Messages: tools with `input_schema`, answers with `output_config.format`.

Sources: the Messages API reference and the types of the `anthropic` package 2.14. Tools that
Anthropic defines have a dated type, like `computer_20250124`, and no schema.
"""

from __future__ import annotations

from schemaguard.envelopes.openai import is_nested_function
from schemaguard.envelopes.reading import Family, listed, part, text
from schemaguard.envelopes.result import ANTHROPIC, RESPONSE_FORMAT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from schemaguard.envelopes.reading import Reader
    from schemaguard.envelopes.result import Place

_DATE = len("_20250124")


def _is_tool(entry: dict[str, Any]) -> bool:
    return "input_schema" in entry


def _is_built_in(entry: dict[str, Any]) -> bool:
    kind = text(entry, "type") or ""
    date = kind[-_DATE:]
    return kind == "mcp_toolset" or (date[:1] == "_" and date[1:].isdecimal() and len(kind) > _DATE)


def _read_tool(reader: Reader, place: Place, entry: dict[str, Any], name: str | None) -> None:
    name = reader.name_of(place, entry, name)
    strict = reader.strict_of(place, entry)
    reader.arguments(ANTHROPIC, place, place, entry, "input_schema", name=name, strict=strict)


def _is_request(body: dict[str, Any]) -> bool:
    if "anthropic_version" in body or part(body, "output_config", "format") is not None:
        return True
    if body.get("messages").__class__ is not list:
        return False
    if part(body, "output_format") is not None:
        return True
    tools = [tool for tool in listed(body, "tools") if tool.__class__ is dict]
    if any(map(is_nested_function, tools)):
        return False
    return (
        any(_is_tool(tool) or _is_built_in(tool) for tool in tools)
        or ("system" in body and "max_tokens" in body)
        or "stop_sequences" in body
        or "mcp_servers" in body
    )


def _read_request(reader: Reader, place: Place, body: dict[str, Any]) -> None:
    reader.tools_of(FAMILY, (place, "tools"), body.get("tools"))
    config: Place = (place, "output_config")
    _read_format(reader, (config, "format"), part(body, "output_config", "format"))
    _read_format(reader, (place, "output_format"), part(body, "output_format"))


def _read_format(reader: Reader, place: Place, form: dict[str, Any] | None) -> None:
    if form is None:
        return
    if form.get("schema") is not None:
        reader.add(ANTHROPIC, RESPONSE_FORMAT, place, (place, "schema"), form["schema"])
    else:
        reader.problem(place, "an output format without a schema")


FAMILY = Family(
    ANTHROPIC,
    is_tool=_is_tool,
    read_tool=_read_tool,
    is_built_in=_is_built_in,
    is_request=_is_request,
    read_request=_read_request,
)

"""Model Context Protocol: tools with `inputSchema` and `outputSchema`, and answers to `tools/list`.

Source: the specification of 2025-11-25 (Tool, ListToolsResult) and JSON-RPC 2.0.
"""

from __future__ import annotations

from schemaguard.envelopes.bedrock import has_wrapped_schema
from schemaguard.envelopes.reading import Family, part
from schemaguard.envelopes.result import MCP, OUTPUT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from schemaguard.envelopes.reading import Reader
    from schemaguard.envelopes.result import Place


def _claims(entry: dict[str, Any]) -> bool:
    return ("inputSchema" in entry or "outputSchema" in entry) and not has_wrapped_schema(entry)


def _is_tool(entry: dict[str, Any]) -> bool:
    return "inputSchema" in entry or "outputSchema" in entry


def _read_tool(reader: Reader, place: Place, entry: dict[str, Any], name: str | None) -> None:
    name = reader.name_of(place, entry, name)
    reader.arguments(MCP, place, place, entry, "inputSchema", name=name)
    if entry.get("outputSchema") is not None:
        reader.add(MCP, OUTPUT, place, (place, "outputSchema"), entry["outputSchema"], name=name)


def _is_answer(body: dict[str, Any]) -> bool:
    result = part(body, "result")
    return "jsonrpc" in body or (result is not None and "tools" in result)


def _read_answer(reader: Reader, place: Place, body: dict[str, Any]) -> None:
    result = part(body, "result")
    if result is not None and "tools" in result:
        reader.tools_of(FAMILY, ((place, "result"), "tools"), result["tools"])
    elif "error" in body:
        reader.problem((place, "error"), "the server answered with an error")
    elif "jsonrpc" in body:
        reader.problem(place, "a message of JSON-RPC that is no answer to tools/list")
    else:
        reader.tools_of(FAMILY, (place, "tools"), body.get("tools"))


FAMILY = Family(
    MCP,
    is_tool=_is_tool,
    read_tool=_read_tool,
    claims=_claims,
    is_request=_is_answer,
    read_request=_read_answer,
)

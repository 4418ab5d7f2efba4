"""Amazon Bedrock Converse: `toolConfig`, and `outputConfig`, whose schema is JSON text in a string.

Source: the Bedrock runtime API reference (ToolSpecification, JsonSchemaDefinition).
"""

from __future__ import annotations

from schemaguard.envelopes.reading import Family, described, part, text
from schemaguard.envelopes.result import BEDROCK, RESPONSE_FORMAT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from schemaguard.envelopes.reading import Reader
    from schemaguard.envelopes.result import Place


def has_wrapped_schema(entry: dict[str, Any]) -> bool:
    """An `inputSchema` that is nothing but `{"json": …}`: Bedrock's, not MCP's."""
    schema = entry.get("inputSchema")
    return schema.__class__ is dict and len(schema) == 1 and "json" in schema


def _is_tool(entry: dict[str, Any]) -> bool:
    return "toolSpec" in entry or has_wrapped_schema(entry)


def _is_built_in(entry: dict[str, Any]) -> bool:
    return len(entry) == 1 and ("cachePoint" in entry or "systemTool" in entry)


def _read_tool(reader: Reader, place: Place, entry: dict[str, Any], name: str | None) -> None:
    holder, spec = place, entry
    if "toolSpec" in entry:
        holder, spec = (place, "toolSpec"), entry["toolSpec"]
        if spec.__class__ is not dict:
            reader.problem(holder, f"the specification is {described(spec)}")
            return
    name = reader.name_of(holder, spec, name)
    strict = reader.strict_of(holder, spec)
    schema = spec.get("inputSchema")
    there = (holder, "inputSchema")
    if schema is None:
        reader.problem(holder, "no `inputSchema`")
    elif schema.__class__ is not dict:
        reader.problem(there, f"the input schema is {described(schema)}")
    else:
        reader.arguments(BEDROCK, place, there, schema, "json", name=name, strict=strict)


def _is_request(body: dict[str, Any]) -> bool:
    config = part(body, "toolConfig")
    return (
        (config is not None and "tools" in config)
        or part(body, "outputConfig", "textFormat") is not None
        or (body.get("messages").__class__ is list and part(body, "inferenceConfig") is not None)
    )


def _read_request(reader: Reader, place: Place, body: dict[str, Any]) -> None:
    config = part(body, "toolConfig")
    if config is not None:
        reader.tools_of(FAMILY, ((place, "toolConfig"), "tools"), config.get("tools"))
    elif "toolConfig" not in body:
        reader.tools_of(FAMILY, (place, "tools"), body.get("tools"))
    form = part(body, "outputConfig", "textFormat")
    if form is None:
        return
    there: Place = ((place, "outputConfig"), "textFormat")
    definition = part(form, "structure", "jsonSchema")
    if definition is None:
        reader.problem(there, "no `structure.jsonSchema`")
        return
    there = ((there, "structure"), "jsonSchema")
    schema = definition.get("schema")
    name = text(definition, "name")
    inner = (there, "schema")
    if schema.__class__ is str:
        reader.add_text(BEDROCK, RESPONSE_FORMAT, there, inner, schema, name=name)
    else:
        reader.problem(inner, f"the schema is {described(schema)}: the API takes JSON text")


FAMILY = Family(
    BEDROCK,
    is_tool=_is_tool,
    read_tool=_read_tool,
    is_built_in=_is_built_in,
    is_request=_is_request,
    read_request=_read_request,
)

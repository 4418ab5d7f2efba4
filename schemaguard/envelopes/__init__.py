"""Where schemas live: in requests, tool definitions, `tools/list` answers, OpenAPI, plain files.

::

    from schemaguard import envelopes

    found = envelopes.unpack(json.load(file))
    for tool in found.tools:
        report = schemaguard.check(tool.schema, profile="dynamo")

The kinds (`KINDS`), each with the forms that it stands for:

`schema`
    a JSON Schema by itself
`openai-chat`
    `{"type": "function", "function": {"name", "parameters"}}`, and the inner object by itself; a
    body with `messages` and `tools` (of messages, too) or `functions`, and `response_format`, or
    vLLM's `guided_json` and `structured_outputs.json`
`openai-responses`
    `{"type": "function", "name", "parameters"}`, a `namespace` of such, a `tool_search` with
    `parameters`; a body with `input` and `tools`, and `text.format`
`anthropic`
    `{"name", "input_schema"}`; a body with `messages`, and `output_config.format` or
    `output_format`
`gemini`
    `{"functionDeclarations": [...]}`, and a declaration by itself; a body with `contents`, and in
    its `generationConfig` `responseSchema`, `responseJsonSchema` or `responseFormat.text`
`bedrock`
    `{"toolSpec": {"name", "inputSchema": {"json"}}}`, and the inner object by itself; a body with
    `toolConfig`, and `outputConfig.textFormat`
`cohere`
    tools as `openai-chat` in a body with words of Cohere, like `strict_tools`; the
    `parameter_definitions` of its v1 API are no JSON Schema, and a problem
`ollama`
    tools as `openai-chat` in a body with `options`, `keep_alive` or `format`
`mcp`
    `{"name", "inputSchema", "outputSchema"}`; an answer to `tools/list`, in JSON-RPC
`openapi`
    an OpenAPI 3 document

A list or an object with several of them is `mixed`. What several APIs read alike, like
`{"name", "parameters"}`, is taken for the first of them here. Importing this package loads nothing
beyond `schemaguard` itself.
"""

from __future__ import annotations

from schemaguard.envelopes.result import KINDS, MIXED, ROLES, Note, ToolSchema, Unpacked
from schemaguard.envelopes.unpacking import unpack

__all__ = ["KINDS", "MIXED", "ROLES", "Note", "ToolSchema", "Unpacked", "unpack"]

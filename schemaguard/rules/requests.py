"""SG6xx: tools and requests.

`schemaguard.request` says where; the words are ours, since the contract fixes only the verdict.
The second argument of `on` is the API of the examples, which are request bodies. They hold in every
profile: one that does not list a rule of this family has it as an error.

Source of the limits and of the order: Request Validation in NVIDIA Dynamo's Structural Tag
documentation, ai-dynamo/dynamo#15153; what is inferred says so.
"""

from __future__ import annotations

from schemaguard.rules import REQUEST, rule


def _tool(function: str) -> str:
    return '{"tools": [{"type": "function", "function": {' + function + "}}]}"


@rule(
    "SG601",
    "malformed-request",
    REQUEST,
    "chat",
    message="{what} must be {expected}",
    fix="Send the request in the shape that the API documents.",
    bad=_tool('"parameters": {}'),
    good=_tool('"name": "a", "parameters": {}'),
)
def malformed_request() -> None:
    """A request is read into typed fields; a field of another type ends it before any check."""


@rule(
    "SG602",
    "non-boolean-strict",
    REQUEST,
    "chat",
    message="`strict` must be true, false or null",
    fix='Write `"strict": true`, without quotes, or leave it out.',
    bad=_tool('"name": "a", "strict": "true"'),
    good=_tool('"name": "a", "strict": true'),
)
def non_boolean_strict() -> None:
    """Only the literal `true` switches strict mode on.

    Any other type is an error of reading the request (inferred).
    """


@rule(
    "SG603",
    "unsupported-tool-kind",
    REQUEST,
    "responses",
    message="tools of type '{kind}' are not supported",
    fix="Declare a function, or send the request to a server that hosts this tool.",
    bad='{"tools": [{"type": "web_search"}]}',
    good='{"tools": [{"type": "function", "name": "search"}]}',
)
def unsupported_tool_kind() -> None:
    """A server of open models has no hosted tools: all that it can call is a function.

    On Responses the first such tool ends the request before any schema is looked at.
    """


@rule(
    "SG604",
    "too-many-tools",
    REQUEST,
    "chat",
    message="{count} tools; at most {limit} are allowed",
    fix="Offer only the tools that the conversation can need.",
    bad="@too-many-tools",
    good=_tool('"name": "a"'),
)
def too_many_tools() -> None:
    """Each tool is part of the prompt and of the grammar."""


@rule(
    "SG605",
    "long-tool-name",
    REQUEST,
    "chat",
    message="tool name '{name}' is longer than {limit} bytes",
    fix="Use a name of at most {limit} bytes in UTF-8.",
    bad=_tool('"name": "' + "a" * 129 + '"'),
    good=_tool('"name": "' + "a" * 128 + '"'),
)
def long_tool_name() -> None:
    """The model has to repeat the name token by token to call the tool."""


@rule(
    "SG606",
    "blank-tool-name",
    REQUEST,
    "chat",
    message="tool name is blank",
    fix="Give the tool a name.",
    bad=_tool('"name": " "'),
    good=_tool('"name": "a"'),
)
def blank_tool_name() -> None:
    """A tool without a name cannot be called."""


@rule(
    "SG607",
    "illegal-tool-name",
    REQUEST,
    "chat",
    message="tool name '{name}' has characters other than A-Z, a-z, 0-9, _ and -",
    fix="Use only A-Z, a-z, 0-9, _ and - in the name.",
    bad=_tool('"name": "files.read"'),
    good=_tool('"name": "files_read"'),
)
def illegal_tool_name() -> None:
    """Names are part of the markup of a tool call, where other characters have a meaning."""


@rule(
    "SG608",
    "non-object-parameters",
    REQUEST,
    "chat",
    message="parameters must be a JSON object",
    fix='Write a schema of an object: `{{"type": "object", "properties": {{}}}}`.',
    bad=_tool('"name": "a", "parameters": true'),
    good=_tool('"name": "a", "parameters": {}'),
)
def non_object_parameters() -> None:
    """Whether or not the tool is strict; a boolean schema is refused by this, too."""


@rule(
    "SG609",
    "malformed-tool-choice",
    REQUEST,
    "responses",
    message="`tool_choice` must be none, auto, required, or name declared tools",
    fix="Use one of the three words, or the object that the API documents.",
    bad='{"tool_choice": "any"}',
    good='{"tool_choice": "auto"}',
)
def malformed_tool_choice() -> None:
    """A choice that is not understood cannot be held to (inferred).

    An error on Responses; on Chat, where the contract does not say that it is looked at, a warning.
    """


@rule(
    "SG610",
    "undeclared-tool-choice",
    REQUEST,
    "responses",
    message="`tool_choice` names '{name}', which is not among the tools",
    fix="Declare the tool, or choose one that is declared.",
    bad='{"tool_choice": {"type": "function", "name": "a"}}',
    good='{"tool_choice": {"type": "function", "name": "a"}, '
    '"tools": [{"type": "function", "name": "a"}]}',
)
def undeclared_tool_choice() -> None:
    """The model would be forced to call what it has not been told about (inferred).

    An error on Responses; on Chat, where the contract does not say that it is looked at, a warning.
    """


@rule(
    "SG611",
    "unnamed-format",
    REQUEST,
    "chat",
    message="a response format of type json_schema must have a name",
    fix="Give the format a name.",
    bad='{"response_format": {"type": "json_schema", "json_schema": {"name": "", "schema": {}}}}',
    good='{"response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": {}}}}',
)
def unnamed_format() -> None:
    """The name and the type of the schema are all that is checked of a response format."""


@rule(
    "SG612",
    "non-object-format",
    REQUEST,
    "chat",
    message="the schema of a response format must be a JSON object",
    fix="Write the schema as an object.",
    bad='{"response_format": {"type": "json_schema", "json_schema": '
    '{"name": "a", "schema": true}}}',
    good='{"response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": {}}}}',
)
def non_object_format() -> None:
    """The name and the type of the schema are all that is checked of a response format."""

"""SG65x: advice about a request as a whole, which request handlers alone give.

A request that breaks one is served, unless a policy makes it an error
(`Policy(severities={"SG651": "error"})`). `schemaguard.check_request` does not speak of them,
because the `dynamo` contract does not. `schemaguard.handlers.advice` says where and how severe.

The second argument of `on` is the API of the examples, which are request bodies.
"""

from __future__ import annotations

from schemaguard.rules import ADVICE, rule


def _body(*functions: str, more: str = "") -> str:
    tools = ", ".join(f'{{"type": "function", "function": {{{inner}}}}}' for inner in functions)
    return f'{{"tools": [{tools}]{more}}}'


@rule(
    "SG651",
    "duplicate-tool-name",
    ADVICE,
    "chat",
    message="two tools are called '{name}'; the first is at {first}",
    fix="Give each tool a name of its own.",
    bad=_body('"name": "a"', '"name": "a"'),
    good=_body('"name": "a"', '"name": "b"'),
)
def duplicate_tool_name() -> None:
    """The model's call names the tool; nobody can tell which of the two it meant."""


@rule(
    "SG652",
    "clashing-definitions",
    ADVICE,
    "chat",
    message="definition '{name}' differs from the one of tool '{other}'",
    fix="Rename one of the two definitions, or make them the same.",
    bad=_body(
        '"name": "a", "parameters": {"$defs": {"d": {"type": "string"}}}',
        '"name": "b", "parameters": {"$defs": {"d": {"type": "number"}}}',
    ),
    good=_body(
        '"name": "a", "parameters": {"$defs": {"d": {"type": "string"}}}',
        '"name": "b", "parameters": {"$defs": {"e": {"type": "number"}}}',
    ),
)
def clashing_definitions() -> None:
    """A server that builds one grammar for all tools merges their definitions.

    SGLang fails open when two of one name differ: it logs an error and generates without any
    constraint.
    """


@rule(
    "SG653",
    "format-with-tools",
    ADVICE,
    "chat",
    message="the request has tools and a format for the answer; most servers hold to one of them",
    fix="Ask for tool calls or for a formatted answer, not for both in one request.",
    bad=_body('"name": "a"', more=', "response_format": {"type": "json_object"}'),
    good=_body('"name": "a"'),
)
def format_with_tools() -> None:
    """One grammar constrains an output.

    Dynamo composes the two only with `allow_tool_calls_with_structured_output`; SGLang refuses,
    Groq and Cerebras too.
    """


@rule(
    "SG654",
    "uncallable-tools",
    ADVICE,
    "chat",
    message="`tool_choice` is none, but {count} tools are sent",
    fix="Leave the tools out, unless a shared prefix of the prompt is worth more.",
    bad=_body('"name": "a"', more=', "tool_choice": "none"'),
    good=_body('"name": "a"', more=', "tool_choice": "auto"'),
)
def uncallable_tools() -> None:
    """With the tools in the prompt the model sees what it cannot call, and answers may suffer.

    Without them the prefix changes, and the cache of earlier turns is lost.
    """


@rule(
    "SG655",
    "unenforced-strict-tool",
    ADVICE,
    "chat",
    message="tool '{name}' says `strict: true`, but the server does not enforce it: {why}",
    fix="Switch structural tags on in the server, or validate the arguments after the call.",
    bad=_body('"name": "a", "strict": true, "parameters": {}'),
    good=_body('"name": "a", "strict": false, "parameters": {}'),
)
def unenforced_strict_tool() -> None:
    """A client that asks for strict mode does not validate.

    Speaks when the deployment of the policy builds no structural tags.
    """

"""SG621 to SG639: what providers want of tools, and of all tools of one request together.

The check of a TOOL rule gets the tool (`schemaguard.toolsets.Tool`) and yields `(tokens, data)`
below the object that has its name. That of a TOOLSET rule gets the tools of one request
(`schemaguard.toolsets.ToolSet`) and returns data, or None; the finding is where the tools are.
Limits and patterns are the profile's.

`schemaguard.toolsets` says which tools count, and applies them.
"""

from __future__ import annotations

from schemaguard.rules import TOOL, TOOLSET, rule
from schemaguard.rules.roots import matches, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from schemaguard.toolsets import Tool, ToolSet

    Finding = tuple[tuple[str, ...], dict[str, Any]]

#: The datum of a finding that is a warning, whatever its rule's severity is.
UNSETTLED = "unsettled"

_OBJECT = '"parameters": {"type": "object", "properties": {}}'


def _tool(inner: str) -> str:
    return f'{{"name": {inner}, {_OBJECT}}}'


def _request(*names: str) -> str:
    tools = (f'{{"type": "function", "function": {_tool(name)}}}' for name in names)
    return f'{{"tools": [{", ".join(tools)}]}}'


@rule(
    "SG621",
    "overlong-tool-name",
    TOOL,
    message="tool name of {length} characters is over {subject}'s {limit}{prefixed}",
    fix="Use a name of at most {limit} characters; what clients put in front of it counts, too.",
    bad=_tool(f'"{"a" * 300}"'),
    good=_tool('"a"'),
    settings={"limit": "count"},
)
def overlong_tool_name(tool: Tool, setting: Mapping[str, Any]) -> Sequence[Finding]:
    """Names are short where providers keep them in databases and in the prompt.

    Clients put the name of a server in front: `mcp__server__tool` of Claude Code leaves less.
    """
    limit = setting["limit"]
    if tool.name is None or len(tool.name) <= limit:
        return ()
    prefixed = f", with the prefix {tool.prefix}" if tool.prefix else ""
    return ((("name",), {"length": len(tool.name), "limit": limit, "prefixed": prefixed}),)


@rule(
    "SG622",
    "mismatched-tool-name",
    TOOL,
    message="tool name '{name}' does not match {subject}'s {pattern}",
    fix="Write the name with the characters that the expression allows.",
    bad=_tool('"Run Task!"'),
    good=_tool('"run_task"'),
    settings={"pattern": "pattern"},
)
def mismatched_tool_name(tool: Tool, setting: Mapping[str, Any]) -> Sequence[Finding]:
    """A name goes into the markup of a call, and some characters end it there."""
    pattern = setting["pattern"]
    name = tool.name
    if name is None or matches(whole(pattern), name):
        return ()
    return ((("name",), {"name": name, "pattern": pattern}),)


@rule(
    "SG623",
    "overlong-tool-description",
    TOOL,
    message="description of {length} characters is over {subject}'s {limit}",
    fix="Shorten the description; say the rest in those of the properties.",
    bad=_tool(f'"a", "description": "{"d" * 1_025}"'),
    good=_tool('"a", "description": "does it"'),
    settings={"limit": "count"},
)
def overlong_tool_description(tool: Tool, setting: Mapping[str, Any]) -> Sequence[Finding]:
    """Descriptions are part of every prompt; some APIs refuse a long one."""
    text = tool.description
    limit = setting["limit"]
    if text is None or len(text) <= limit:
        return ()
    return ((("description",), {"length": len(text), "limit": limit}),)


@rule(
    "SG624",
    "tools-over-limit",
    TOOLSET,
    message="{count} tools; {subject} takes at most {limit} in a request",
    fix="Offer only the tools that the conversation can need.",
    bad="@tools-over-limit",
    good=_request('"a"'),
    settings={"limit": "count"},
)
def tools_over_limit(all_: ToolSet, setting: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Each tool is part of the prompt; providers bound how many a request has."""
    count, limit = len(all_.tools), setting["limit"]
    return {"count": count, "limit": limit} if count > limit else None


@rule(
    "SG625",
    "strict-tools-over-limit",
    TOOLSET,
    message="{count} strict tools; {subject} takes at most {limit} in a request",
    fix="Say `strict` only for the tools whose arguments must not be wrong.",
    bad="@tools-over-limit",
    good=_request('"a"'),
    settings={"limit": "count"},
)
def strict_tools_over_limit(all_: ToolSet, setting: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """All strict schemas of a request are compiled into one grammar.

    Where no tool says whether it is strict, all count: that is how they are checked.
    """
    count, limit = len(all_.strict), setting["limit"]
    return {"count": count, "limit": limit} if count > limit else None


@rule(
    "SG626",
    "partly-strict-tools",
    TOOLSET,
    message="{count} of {all} tools are strict; {subject} wants all of a request or none",
    fix="Say `strict` the same in all tools of a request.",
    bad='{"tools": [{"type": "function", "function": {"name": "a", "strict": true, '
    + _OBJECT
    + '}}, {"type": "function", "function": '
    + _tool('"b"')
    + "}]}",
    good=_request('"a"', '"b"'),
)
def partly_strict_tools(all_: ToolSet, _setting: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Strict mode is a mode of the request there, not of a tool."""
    count = len(all_.strict)
    return {"count": count, "all": len(all_.tools)} if 0 < count < len(all_.tools) else None


def _sum(code: str, name: str, what: str, fix: str, why: str) -> None:
    """Declare a rule about a sum over the strict tools of a request.

    It speaks when the sum is over the limit in each reading; when it is in one and not in all, what
    it says is a warning.
    """

    def check(all_: ToolSet, setting: Mapping[str, Any]) -> Mapping[str, Any] | None:
        limit = setting["limit"]
        sums = {reading: sum(all_.amounts(reading)) for reading in setting["readings"]}
        least, most = min(sums.values()), max(sums.values())
        if most <= limit:
            return None
        unsettled = least <= limit
        reading = max(sums, key=sums.__getitem__) if unsettled else min(sums, key=sums.__getitem__)
        return {
            "count": sums[reading],
            "limit": limit,
            "doubt": ", if it counts definitions, too" if unsettled else "",
            "most": all_.largest(reading),
            UNSETTLED: unsettled,
        }

    check.__doc__ = why
    rule(
        code,
        name,
        TOOLSET,
        message=f"{{count}} {what} in all strict tools; {{subject}} takes at most {{limit}} in a "
        "request{doubt}; most are in {most}",
        fix=fix,
        bad=f"@{name}",
        good=_request('"a"'),
        settings={"limit": "count", "readings": "readings"},
    )(check)


_sum(
    "SG627",
    "optional-parameters-over-limit",
    "optional parameters",
    "Make parameters required, leave `strict` out of some tools, or offer fewer.",
    "What may be left out doubles the ways to write an object, and one grammar has all tools.",
)
_sum(
    "SG628",
    "union-parameters-over-limit",
    "parameters with a union type",
    "Give parameters one type each, leave `strict` out of some tools, or offer fewer.",
    "Each union is a branch of the grammar, and one grammar has all tools. A parameter that is "
    "optional by a union with null, as OpenAI wants it, counts.",
)
_sum(
    "SG629",
    "properties-over-limit",
    "properties",
    "Offer fewer tools, or tools with fewer properties.",
    "The declared names of all tools together are what the grammar of a request is made of.",
)

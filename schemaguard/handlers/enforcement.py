"""Which of the submitted argument schemas a server would hold the model to.

Whether a structural tag is built for a request, and whose arguments it pins, is decided by the
choice of tool, the `strict` flags and the deployment (`schemaguard.servers`).

A pinned schema is one that the server *asks* its engine to enforce; which keywords the engine then
drops is another question.
"""

from __future__ import annotations

from schemaguard import servers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from schemaguard.handlers.policy import Policy
    from schemaguard.handlers.tools import Choice, Tool

    Verdict = tuple[bool, str]

NO_TAGS = "the server builds no structural tags"
NO_PARAMETERS = "it declares no parameters"
NO_CALLS = "`tool_choice` is none"
NOT_CHOSEN = "`tool_choice` leaves it out"


def enforced(policy: Policy, tools: Iterable[Tool], choice: Choice) -> list[Verdict]:
    """For each tool, whether its argument schema is pinned, and why.

    Args:
        policy: says which server, and how it is set up.
        tools: of one request.
        choice: what the request says about calls.
    """
    tools = list(tools)
    wanted = _is_tagged(policy, tools, choice)
    return [_of_tool(policy, tool, choice, wanted) for tool in tools]


def _is_tagged(policy: Policy, tools: list[Tool], choice: Choice) -> Verdict:
    """Whether a tag is built for the request."""
    if not policy.tags:
        return False, NO_TAGS
    if choice.mode == "none":
        return False, NO_CALLS
    if choice.mode != "auto":
        return True, f"`tool_choice` is {choice.mode}"
    strict = any(tool.strict is True for tool in tools)
    if policy.server == "dynamo":
        parallel = choice.parallel is not False
        return servers.dynamo_tags(policy.scope, has_strict=strict, parallel=parallel)
    return servers.level_tags(policy.server_level, has_strict=strict)


def _of_tool(policy: Policy, tool: Tool, choice: Choice, tagged: Verdict) -> Verdict:
    if not tagged[0]:
        return tagged
    if not choice.allows(tool):
        return False, NOT_CHOSEN
    if tool.parameters is None:
        return False, NO_PARAMETERS
    if policy.server == "dynamo":
        return servers.dynamo_pins(policy.schema, tool.strict)
    return servers.level_pins(policy.server_level, tool.strict)

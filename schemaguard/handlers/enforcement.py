"""Which of the submitted argument schemas a server would hold the model to.

Whether a structural tag is built for a request, and whose arguments it pins, is decided by the
choice of tool, the `strict` flags and the deployment. Sources: NVIDIA Dynamo's Structural Tag
documentation (`--dyn-structural-tag`: `scope`, `schema`); vLLM's `--tool-strict-level`
(vllm-project/vllm#56268); SGLang's `SGLANG_TOOL_STRICT_LEVEL`, the same levels by number.

A pinned schema is one that the server *asks* its engine to enforce; which keywords the engine then
drops is another question.
"""

from __future__ import annotations

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
        if policy.scope == "always":
            return True, "scope `always`"
        if strict or choice.parallel is False:
            return True, "scope `auto`, and a tool is strict or calls are not parallel"
        return False, "scope `auto`, no tool is strict and calls may be parallel"
    if policy.server_level == "auto":
        return strict, f"level `auto`, and {'a' if strict else 'no'} tool is strict"
    return True, f"level `{policy.server_level}`"


def _of_tool(policy: Policy, tool: Tool, choice: Choice, tagged: Verdict) -> Verdict:
    if not tagged[0]:
        return tagged
    if choice.names is not None and not tool.names & choice.names:
        return False, NOT_CHOSEN
    if tool.parameters is None:
        return False, NO_PARAMETERS
    if policy.server == "dynamo":
        if policy.schema == "strict":
            return True, "schema mode `strict`"
        if tool.strict is False:
            return False, "schema mode `auto`, and it says `strict: false`"
        return True, "schema mode `auto`, and it does not say `strict: false`"
    if policy.server_level == "parameter":
        return True, "level `parameter` pins every tool"
    if tool.strict is True:
        return True, "it says `strict: true`"
    return False, f"level `{policy.server_level}`, and it does not say `strict: true`"

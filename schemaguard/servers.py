"""What serving engines constrain: when a tag is built, and whose arguments it pins.

Sources: NVIDIA Dynamo's Structural Tag documentation (`--dyn-structural-tag`: `scope`, `schema`);
vLLM's `--tool-strict-level` (vllm-project/vllm#56268); SGLang's `SGLANG_TOOL_STRICT_LEVEL`, the
same levels by number. Each answer comes with its reason.
"""

from __future__ import annotations

#: Levels of vLLM by their numbers in SGLang.
LEVELS = ("auto", "function", "parameter")


def dynamo_tags(scope: str, *, has_strict: bool, parallel: bool) -> tuple[bool, str]:
    """Whether Dynamo builds a tag for a request that leaves the choice to the model.

    Args:
        scope: "always" or "auto".
        has_strict: a tool says `strict: true`.
        parallel: there may be several calls.
    """
    if scope == "always":
        return True, "scope always: every request with tools"
    if has_strict:
        return True, "scope auto: a tool has `strict: true`"
    if not parallel:
        return True, "scope auto: parallel_tool_calls is false"
    return False, "scope auto: no tool has `strict: true`, and calls may be parallel"


def dynamo_pins(schema: str, strict: bool | None) -> tuple[bool, str]:
    """Whether Dynamo pins the arguments of a tool.

    Args:
        schema: "auto" or "strict".
        strict: of the tool; None when omitted.
    """
    if schema == "strict":
        return True, "schema mode strict: every tool"
    if strict is False:
        return False, "schema mode auto: the tool has `strict: false`"
    return True, f"schema mode auto: `strict` is {'true' if strict else 'omitted'}"


def level_tags(level: str, *, has_strict: bool) -> tuple[bool, str]:
    """As `dynamo_tags`, at one of `LEVELS` of vLLM or SGLang."""
    if level != "auto":
        return True, f"level {level}: every request with tools"
    if has_strict:
        return True, "level auto: a tool has `strict: true`"
    return False, "level auto: no tool has `strict: true`"


def level_pins(level: str, strict: bool | None) -> tuple[bool, str]:
    """As `dynamo_pins`, at one of `LEVELS` of vLLM or SGLang."""
    if level == "parameter":
        return True, "level parameter: every tool, as if it were strict"
    if strict is True:
        return True, f"level {level}: the tool has `strict: true`"
    return False, f"level {level}: the tool has no `strict: true`"

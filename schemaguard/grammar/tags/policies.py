"""The policies by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schemaguard.grammar.tags.dynamo import DynamoPolicy
from schemaguard.grammar.tags.levels import SglangPolicy, VllmPolicy
from schemaguard.grammar.tags.policy import Policy, PolicyError, cut_value

if TYPE_CHECKING:
    from collections.abc import Mapping

POLICIES: dict[str, type[DynamoPolicy | VllmPolicy | SglangPolicy]] = {
    "dynamo": DynamoPolicy,
    "vllm": VllmPolicy,
    "sglang": SglangPolicy,
}


def policy_of(text: str, environ: Mapping[str, str] | None = None) -> Policy:
    """The policy of `NAME` or `NAME:SETTING`, such as `vllm:parameter` or `dynamo:{"scope":…}`.

    Args:
        text: name and setting.
        environ: read what the setting does not say from these variables.

    Raises:
        PolicyError: there is no such policy, or it does not take the setting or a variable.
    """
    name, colon, setting = text.partition(":")
    if name not in POLICIES:
        raise PolicyError(f"no policy {cut_value(name)}: {', '.join(POLICIES)}")
    kind = POLICIES[name]
    if environ is None:
        return kind.parse(setting) if colon else kind()
    if not colon:
        return kind.from_env(environ)
    if kind is VllmPolicy:  # its level has no variable
        return VllmPolicy.from_env(environ, level=setting)
    return kind.parse(setting)

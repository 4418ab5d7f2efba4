"""Structural tags: a whole tool-calling output as one grammar.

::

    from schemaguard.grammar.tags import DynamoPolicy, plan

    made = plan(body, parser="hermes", policy=DynamoPolicy(scope="auto"))
    made.raise_if_refused()
    for tool in made.tools:
        print(tool.name, tool.state, tool.why)
    made.text  # for xgrammar, or None: `made.reason` says why

Importing this package does not import xgrammar; building a tag does.
"""

from __future__ import annotations

from schemaguard.grammar.tags.dynamo import DynamoPolicy
from schemaguard.grammar.tags.findings import Finding, style_findings
from schemaguard.grammar.tags.levels import SglangPolicy, VllmPolicy
from schemaguard.grammar.tags.planning import REASONING, plan
from schemaguard.grammar.tags.plans import (
    ABSENT,
    PINNED,
    RELAXED,
    Note,
    TagPlan,
    TagRefused,
    ToolPlan,
)
from schemaguard.grammar.tags.policies import policy_of
from schemaguard.grammar.tags.policy import Policy, PolicyError
from schemaguard.grammar.tags.styles import PARSERS, STYLES, Style

__all__ = [
    "ABSENT",
    "PARSERS",
    "PINNED",
    "REASONING",
    "RELAXED",
    "STYLES",
    "DynamoPolicy",
    "Finding",
    "Note",
    "Policy",
    "PolicyError",
    "SglangPolicy",
    "Style",
    "TagPlan",
    "TagRefused",
    "ToolPlan",
    "VllmPolicy",
    "plan",
    "policy_of",
    "style_findings",
]

"""SG241 to SG299, SG421 to SG499, SG521 to SG599: what providers want, one rule a demand.

A PART rule looks at one schema at a time and a TOP rule at the root; what they look for is set by
the profile, so that a new provider is a new file and no new code.
"""

from __future__ import annotations

from schemaguard.rules import PART, rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    Finding = tuple[tuple[str | int, ...], dict[str, Any]]


@rule(
    "SG421",
    "array-without-items",
    PART,
    "type",
    message="an array needs `items` that say what is in it",
    fix="Add `items` with the schema of a member.",
    bad='{"type": "object", "properties": {"a": {"type": "array"}}, "required": ["a"], '
    '"additionalProperties": false}',
    good='{"type": "object", "properties": {"a": {"type": "array", "items": {"type": "string"}}}, '
    '"required": ["a"], "additionalProperties": false}',
)
def array_without_items(schema: dict[str, Any], _: Mapping[str, Any]) -> Sequence[Finding]:
    """Without `items` a model does not know what to put into the array; several APIs refuse it."""
    kind = schema.get("type")
    is_array = kind == "array" or (kind.__class__ is list and "array" in kind)
    return (((), {}),) if is_array and "items" not in schema else ()

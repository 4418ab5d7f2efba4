"""SG231 to SG233: what a profile says of single keywords.

The three tables of a profile are data: see `schemaguard.profiles.Remark`.
"""

from __future__ import annotations

from schemaguard.keywords import TYPE_NAMES
from schemaguard.rules import KEYWORD, rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from schemaguard.profiles import Remark

    Finding = tuple[tuple[str, ...], dict[str, Any]]


def _meant(schema: dict[str, Any], remark: Remark) -> Sequence[Finding]:
    """The finding at the keyword, when the remark is meant for this schema."""
    keyword = remark.keyword
    if schema.__class__ is not dict or keyword not in schema:
        return ()
    if remark.unless and _is_one_of(schema[keyword], remark.unless):
        return ()
    if remark.beside and not any(name in schema for name in remark.beside):
        return ()
    if remark.types and remark.types.isdisjoint(_types(schema)):
        return ()
    why = f": {remark.why}" if remark.why else ""
    return (((keyword,), {"keyword": keyword, "why": why}),)


def _is_one_of(value: object, allowed: tuple[Any, ...]) -> bool:
    """Equal as JSON has it: true is not 1."""
    return any(
        value == other and (value.__class__ is bool) == (other.__class__ is bool)
        for other in allowed
    )


def _types(schema: dict[str, Any]) -> frozenset[str]:
    """The types that a schema says it has; without any, it may have all."""
    kind = schema.get("type")
    if isinstance(kind, str):
        return frozenset((kind,))
    if kind.__class__ is list:
        return frozenset(name for name in kind if isinstance(name, str))
    return TYPE_NAMES


@rule(
    "SG231",
    "refused-keyword",
    KEYWORD,
    "refused",
    message="{subject} refuses `{keyword}` here{why}",
    fix="Remove `{keyword}`, or say the same with other keywords.",
    bad='{"type": "object", "properties": {"a": {"oneOf": [{"type": "string"}, '
    '{"type": "null"}]}}, "required": ["a"], "additionalProperties": false}',
    good='{"type": "object", "properties": {"a": {"anyOf": [{"type": "string"}, '
    '{"type": "null"}]}}, "required": ["a"], "additionalProperties": false}',
)
def refused_keyword(schema: dict[str, Any], remark: Remark) -> Sequence[Finding]:
    """A request with such a schema is answered with an error, for all of its tools."""
    return _meant(schema, remark)


@rule(
    "SG232",
    "ignored-keyword",
    KEYWORD,
    "ignored",
    message="{subject} accepts `{keyword}` here and does not enforce it{why}",
    fix="Check the arguments in the tool, or say the same with keywords that are enforced.",
    bad='{"type": "object", "properties": {"a": {"type": "integer", "exclusiveMinimum": 0}}, '
    '"required": ["a"]}',
    good='{"type": "object", "properties": {"a": {"type": "integer", "minimum": 1}}, '
    '"required": ["a"]}',
)
def ignored_keyword(schema: dict[str, Any], remark: Remark) -> Sequence[Finding]:
    """What is dropped in silence is missed only when the model sends what it forbade."""
    return _meant(schema, remark)


@rule(
    "SG233",
    "doubtful-keyword",
    KEYWORD,
    "doubtful",
    message="whether {subject} accepts `{keyword}` here is not settled{why}",
    fix="Leave `{keyword}` out, or try it before you rely on it.",
    bad='{"type": "object", "properties": {"a": {"type": "string", "default": "x"}}, '
    '"required": ["a"], "additionalProperties": false}',
    good='{"type": "object", "properties": {"a": {"type": "string"}}, '
    '"required": ["a"], "additionalProperties": false}',
)
def doubtful_keyword(schema: dict[str, Any], remark: Remark) -> Sequence[Finding]:
    """The provider's pages are silent, or reports contradict each other."""
    return _meant(schema, remark)

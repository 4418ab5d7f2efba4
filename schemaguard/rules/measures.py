"""SG521 to SG540: what providers count over one schema. `schemaguard.measured` counts.

Where it is not settled how a provider counts, a rule is given several readings: it speaks when the
schema is over the limit in each of them. SG540 speaks when it is in one, and not in all.
"""

from __future__ import annotations

from schemaguard.rules import MEASURE, rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from schemaguard.measured import Finding, Measured

#: Reading (`measured.READINGS`) → what a message says that there are so many of.
COUNTED = {
    "levels-below-root": "levels of objects below the root",
    "levels-of-parts": "levels of objects in the root or in one definition",
    "properties": "declared properties",
    "properties-of-part": "declared properties in the root or in one definition",
    "enum-values": "values in all `enum`s",
    "enum-characters": "characters in all `enum`s",
    "optional-parameters": "optional parameters",
    "optional-parameters-of-root": "optional parameters outside definitions",
    "union-parameters": "parameters with a union type",
    "union-parameters-of-root": "parameters with a union type outside definitions",
    "max-items": "items by the sum of all `maxItems`",
    "any-of-branches": "branches of the largest `anyOf`",
}

_GOOD = (
    '{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], '
    '"additionalProperties": false}'
)


def _counts(measured: Measured, setting: Mapping[str, Any]) -> list[int]:
    """What each reading counts."""
    values = measured.values
    return [values[reading] for reading in setting.get("readings", ())]


def _budget(code: str, name: str, what: str, fix: str, why: str, *, in_enum: bool = False) -> None:
    """Declare a rule about one count; its finding is at the root or at the largest `enum`."""

    def check(measured: Measured, setting: Mapping[str, Any]) -> Sequence[Finding]:
        count = min(_counts(measured, setting), default=0)
        limit = setting.get("limit", 0)
        if count <= limit:
            return ()
        filled = {"limit": limit, "count": count}
        if in_enum:
            return ((measured.largest_enum, ("enum",), filled),)
        return ((None, (), filled),)

    check.__doc__ = why
    message = f"{what}: {{count}}; {{subject}} takes at most {{limit}}"
    rule(
        code,
        name,
        MEASURE,
        message=message,
        fix=fix,
        bad=f"@{name}",
        good=_GOOD,
        settings={"limit": "count", "readings": "readings"},
    )(check)


_budget(
    "SG521",
    "too-many-levels",
    "levels of objects in objects",
    "Flatten the schema.",
    "Each level costs the model and the grammar; providers stop at five, eight or ten.",
)
_budget(
    "SG522",
    "too-many-declared-names",
    "declared properties",
    "Split the tool, or accept a list of name and value pairs.",
    "Providers count declared names over the whole schema, or over each part of it.",
)
_budget(
    "SG523",
    "too-many-values",
    "values in all `enum`s",
    "Accept a string and validate it in the tool, or split the tool.",
    "Each value is a branch of the grammar; they are counted over the whole schema.",
    in_enum=True,
)
_budget(
    "SG524",
    "too-many-optional-parameters",
    "optional parameters",
    "Make parameters required, or join some into one object.",
    "What may be left out doubles the ways to write an object; they are counted over all strict "
    "schemas of a request, so one schema alone can be too much.",
)
_budget(
    "SG525",
    "too-many-union-parameters",
    "parameters with a union type",
    "Give parameters one type each.",
    "Unions are counted over all strict schemas of a request, so one schema alone can be too much.",
)
_budget(
    "SG526",
    "large-sum-of-max-items",
    "the sum of all `maxItems`",
    "Use smaller bounds, or none.",
    "Bounded repetitions are written out, and there is a limit on what they become together.",
)


@rule(
    "SG527",
    "long-schema",
    MEASURE,
    message="{subject} takes at most {limit} characters in a schema",
    fix="Shorten descriptions, names and values, or split the tool.",
    bad="@long-schema",
    good=_GOOD,
    settings={"limit": "count"},
)
def long_schema(measured: Measured, setting: Mapping[str, Any]) -> Sequence[Finding]:
    """What a schema says is compiled, or is part of the prompt, and some providers bound it.

    It is counted without blanks between its parts, descriptions included.
    """
    limit = setting.get("limit", 0)
    return ((None, (), {"limit": limit}),) if measured.is_longer_than(limit) else ()


@rule(
    "SG528",
    "long-values",
    MEASURE,
    message="{subject} takes at most {limit} characters in the {count} values of all `enum`s",
    fix="Shorten the values, use fewer, or accept a string and validate it in the tool.",
    bad="@long-values",
    good=_GOOD,
    settings={"entries": "count", "limit": "count"},
)
def long_values(measured: Measured, setting: Mapping[str, Any]) -> Sequence[Finding]:
    """Many values together are held to fewer characters than few."""
    limit = setting.get("limit", 0)
    count = measured.values["enum-values"]
    if count <= setting.get("entries", 0) or measured.values["enum-characters"] <= limit:
        return ()
    return ((measured.largest_enum, ("enum",), {"limit": limit, "count": count}),)


@rule(
    "SG540",
    "unsettled-budget",
    MEASURE,
    message="{count}; whether {subject} takes over {limit}, or counts otherwise, is not settled",
    fix="Stay below the limit in every reading, or try it before you rely on it.",
    bad="@unsettled-budget",
    good=_GOOD,
    settings={"limit": "count", "readings": "readings", "upper": "count?"},
)
def unsettled_budget(measured: Measured, setting: Mapping[str, Any]) -> Sequence[Finding]:
    """Pages and reports disagree on the limit, or on what is counted: one of them refuses it.

    `upper` is the limit above which every source refuses it, when that is another number: then
    another rule speaks.
    """
    readings = setting.get("readings", ())
    counts = _counts(measured, setting)
    limit = setting.get("limit", 0)
    most = max(counts, default=0)
    if most <= limit or min(counts) > setting.get("upper", limit):
        return ()
    counted = f"{most} {COUNTED[readings[counts.index(most)]]}"
    return ((None, (), {"count": counted, "limit": limit}),)

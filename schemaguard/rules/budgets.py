"""SG5xx: running totals. The walk counts, the profile has the limits."""

from __future__ import annotations

from schemaguard.rules import BUDGET, rule


@rule(
    "SG501",
    "deep-objects",
    BUDGET,
    "object-depth",
    message="exceeds {limit} levels of object nesting",
    fix="Flatten the schema, or move a part under `$defs` and refer to it.",
    bad="@deep-objects",
    good='{"type": "object", "additionalProperties": false}',
)
def deep_objects() -> None:
    """Objects in objects: each level costs the model and the grammar; providers stop at ten."""


@rule(
    "SG502",
    "too-many-properties",
    BUDGET,
    "properties",
    message="exceeds {limit} declared properties",
    fix="Split the tool, or accept a list of name and value pairs.",
    bad="@too-many-properties",
    good='{"type": "object", "additionalProperties": false}',
)
def too_many_properties() -> None:
    """Declared names are counted over the whole document, unused definitions included."""


@rule(
    "SG503",
    "too-many-enum-entries",
    BUDGET,
    "enum-entries",
    message="exceeds {limit} enum entries",
    fix="Accept a string and validate it in the tool, or split the tool.",
    bad="@too-many-enum-entries",
    good='{"type": "object", "additionalProperties": false}',
)
def too_many_enum_entries() -> None:
    """Each entry is a branch of the grammar; they are counted over the whole document."""


@rule(
    "SG504",
    "too-many-characters",
    BUDGET,
    "characters",
    message="exceeds {limit} name and value characters",
    fix="Shorten names and enum values, or split the tool.",
    bad="@too-many-characters",
    good='{"type": "object", "additionalProperties": false}',
)
def too_many_characters() -> None:
    """Names of properties and definitions, string enum entries and constants, in code points.

    Descriptions are free.
    """


@rule(
    "SG505",
    "long-enum",
    BUDGET,
    "long-enum-characters",
    message="exceeds {limit} characters in an all-string enum with more than {entries} entries",
    fix="Shorten the entries, use fewer, or accept a string and validate it in the tool.",
    bad="@long-enum",
    good='{"type": "object", "additionalProperties": false}',
)
def long_enum() -> None:
    """A long list of strings is held to fewer characters than a short one."""

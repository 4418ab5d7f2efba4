"""SG8xx: what a schema costs the engine that compiles it."""

from __future__ import annotations

from schemaguard.rules import BUDGET, rule


@rule(
    "SG801",
    "deep-nesting",
    BUDGET,
    "nesting",
    message="exceeds {limit} levels of nesting",
    fix="Flatten the schema, or move a part under `$defs` and refer to it.",
    bad="@deep-nesting",
    good='{"type": "object", "additionalProperties": false}',
)
def deep_nesting() -> None:
    """Every keyword that holds a schema counts, and so does data in `enum`, `const` and `default`.

    The time to compile nested `items`, `anyOf` or `properties` grows with the cube of the depth:
    400 levels, under 10 kB, cost seconds.
    """

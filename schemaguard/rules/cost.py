"""SG801 to SG810, SG824: what a schema costs an engine, said of single keywords.

The rules about what all of it comes to are in `schemaguard.rules.work`.
"""

from __future__ import annotations

from schemaguard import patterns, prices
from schemaguard.keywords import characters
from schemaguard.rules import BUDGET, ENGINE, VALUE, rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    Finding = tuple[tuple[str, ...], dict[str, Any]]


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
    [Curves](../compile-cost.md#nesting).
    """


def _patterns(value: object) -> list[tuple[tuple[str, ...], str]]:
    """The patterns of a `pattern` or `patternProperties`, and where below it they are."""
    if isinstance(value, str):
        return [((), value)]
    if value.__class__ is dict:
        return [((name,), name) for name in value if isinstance(name, str)]
    return []


def _dear(value: object, limit: int, measured: str) -> Sequence[Finding]:
    """The patterns whose cost is over a limit; a too long one is another rule's to say."""
    found = []
    for tokens, pattern in _patterns(value):
        if len(pattern) <= patterns.MAX_MEASURED:
            cost = getattr(patterns.cost(pattern), measured)
            if cost > limit:
                found.append((tokens, {"limit": limit, "cost": cost}))
    return found


@rule(
    "SG802",
    "long-pattern",
    VALUE,
    "pattern-length",
    "pattern",
    "patternProperties",
    message="pattern of {length} characters exceeds {limit}",
    fix="Use `enum` for a list of words, `format` or `maxLength` for a form; validate the rest in "
    "the tool.",
    bad="@long-pattern",
    good='{"type": "string", "pattern": "^[a-z]+$"}',
)
def long_pattern(value: object, limit: int) -> Sequence[Finding]:
    """The longest pattern of 14,938 real schemas has 1,239 characters; a longer one is an attack.

    What nobody writes, nobody has tried; compilers recurse on what they read.
    [Curves](../compile-cost.md#patterns).
    """
    return [
        (tokens, {"limit": limit, "length": len(pattern)})
        for tokens, pattern in _patterns(value)
        if len(pattern) > limit
    ]


@rule(
    "SG803",
    "deep-pattern-groups",
    VALUE,
    "pattern-group-depth",
    "pattern",
    "patternProperties",
    message="pattern nests groups {cost} deep, over {limit}",
    fix="Remove groups that only wrap another group.",
    bad='{"type": "string", "pattern": "' + "(" * 33 + "a" + ")" * 33 + '"}',
    good='{"type": "string", "pattern": "^(a(b)?)+$"}',
)
def deep_pattern_groups(value: object, limit: int) -> Sequence[Finding]:
    """Pattern compilers recurse on groups; seven levels are the most in 14,938 real schemas.

    [Curves](../compile-cost.md#patterns).
    """
    return _dear(value, limit, "group_depth")


@rule(
    "SG804",
    "large-repeat",
    VALUE,
    "pattern-repeat",
    "pattern",
    "patternProperties",
    message="pattern repeats up to {cost} times, over {limit}",
    fix="Bound the length with `maxLength` instead of `{{m,n}}`; a class that may repeat for ever "
    "(`+`, `*`) is cheap.",
    bad='{"type": "string", "pattern": "^.{1,129}$"}',
    good='{"type": "string", "maxLength": 129}',
)
def large_repeat(value: object, limit: int) -> Sequence[Finding]:
    """Past 128, xgrammar stops writing a repetition out: the compile is cheap, every mask is dear.

    Over a vocabulary of 151,643 tokens `.{1,128}` has masks of 0.05 ms, `.{1,129}` of 80 ms: for
    each token, for every request in the batch.
    [Curves](../compile-cost.md#patterns).
    """
    return _dear(value, limit, "max_bound")


@rule(
    "SG805",
    "dear-pattern",
    VALUE,
    "pattern-cost",
    "pattern",
    "patternProperties",
    message="pattern costs {cost} units, over {limit}",
    fix="Narrow the repeated classes, bound the length with `maxLength` instead of `{{m,n}}`, do "
    "not repeat a group that repeats; write characters beyond ASCII as `\\u00e9`.",
    bad='{"type": "string", "pattern": "^(.{1,10}){1,10}$"}',
    good='{"type": "string", "maxLength": 100}',
)
def dear_pattern(value: object, limit: int) -> Sequence[Finding]:
    """Bounded repetition is written out state by state, and nested repetition multiplies.

    A unit is up to 0.7 ms of compile time; wide classes such as `.` weigh more than narrow ones.
    `schemaguard.patterns` says how it is counted.
    [Curves](../compile-cost.md#patterns).
    """
    return _dear(value, limit, "repeats")


@rule(
    "SG806",
    "dear-patterns",
    BUDGET,
    "patterns-cost",
    message="the patterns of the document together cost over {limit} units",
    fix="Bound lengths with `maxLength` instead of `{{m,n}}`, or reuse one pattern.",
    bad='{"anyOf": [{"type": "string", "pattern": "^.{1,30}$"}, '
    '{"type": "string", "pattern": "^.{2,30}$"}]}',
    good='{"anyOf": [{"type": "string", "pattern": "^.{1,30}$"}, '
    '{"type": "string", "pattern": "^.{1,30}$"}]}',
)
def dear_patterns() -> None:
    """Each pattern is paid for once, equal ones together: what counts is the sum of the others.

    Literals in them count as nothing.

    [Curves](../compile-cost.md#patterns).
    """


@rule(
    "SG807",
    "deep-references",
    BUDGET,
    "reference-levels",
    message="references can nest schemas more than {limit} levels",
    fix="Use fewer definitions, or flatten them; write small ones where they are used.",
    bad="@deep-references",
    good='{"$ref": "#/$defs/a", "$defs": {"a": {"type": "string"}}}',
)
def deep_references() -> None:
    """The compiler follows references one inside the other, on the stack of its thread.

    What counts is the longest path: the levels down to a reference, those of its target, and so on;
    definitions that refer to each other in a circle count with all their levels. Within 200 a
    thread with a stack of 512 KiB survives what was tried.
    [Curves](../compile-cost.md#references).
    """


@rule(
    "SG808",
    "uncompilable",
    ENGINE,
    message="the engine refuses it: {detail}",
    fix="Say the same with keywords and values that the engine takes.",
    bad='{"type": "array", "items": [{"type": "string"}]}',
    good='{"type": "array", "prefixItems": [{"type": "string"}], "items": false}',
)
def uncompilable() -> None:
    """The engine that is installed was asked to compile the schema, and did not.

    `schemaguard check --compile` asks it; no other check does.
    """


@rule(
    "SG809",
    "many-alternatives",
    VALUE,
    "alternatives",
    "anyOf",
    "oneOf",
    message="{count} alternatives, over {limit}",
    fix="Use `enum` for a choice of values; merge alternatives that differ in one member.",
    bad="@many-alternatives",
    good='{"anyOf": [{"type": "string"}, {"type": "null"}]}',
)
def many_alternatives(value: object, limit: int) -> Sequence[Finding]:
    """Time and memory to compile alternatives grow with their square: 8,000 took 6 s and 0.7 GiB.

    While the output could still be any of them, each step of decoding follows them all.
    [Curves](../compile-cost.md#ambiguous-alternatives).
    """
    count = len(value) if isinstance(value, list) else 0
    return [((), {"limit": limit, "count": count})] if count > limit else []


@rule(
    "SG810",
    "long-data",
    VALUE,
    "data-characters",
    "enum",
    "const",
    message="over {limit} characters of data",
    fix="Accept a string and validate it in the tool.",
    bad="@long-data",
    good='{"enum": ["a", "b"]}',
)
def long_data(value: object, limit: int) -> Sequence[Finding]:
    """What `enum` and `const` hold is spelt out in the grammar, character by character.

    A constant of 64,000 characters takes 1.1 s to compile, of 32,000 beyond ASCII 1.7 s.
    [Curves](../compile-cost.md#literals).
    """
    return [((), {"limit": limit})] if characters(value, limit) > limit else []


@rule(
    "SG824",
    "rarely-dear-format",
    VALUE,
    "mask-milliseconds",
    "format",
    message="`format: {format}` slows down every request that is served together with it, by up to "
    "{cost} ms for each token (over {limit}), while a model writes a quoted part as in "
    '`"a b"@example.com`; other values are cheap',
    fix="Where strangers may ask for such a value, use a `pattern` that has no quoted part, such "
    "as `^[A-Za-z0-9._+-]+@[A-Za-z0-9.-]+$`.",
    bad='{"type": "string", "format": "email"}',
    good='{"type": "string", "pattern": "^[A-Za-z0-9._+-]+@[A-Za-z0-9.-]+$"}',
)
def rarely_dear_format(value: object, limit: int) -> Sequence[Finding]:
    """A usual address costs 1 ms a token at most; inside a quoted local part each takes 50 to 250.

    Over a vocabulary of 151,643 tokens, the first time and every other: nothing of it is kept. It
    does not grow with the length, and several such formats that are alive together do not add up.
    Few addresses have a quoted part, but whoever writes the prompt can ask for one.
    [Table](../compile-cost.md#formats).
    """
    cost = prices.RARE_FORMAT_MASKS.get(value, 0) if isinstance(value, str) else 0
    return [((), {"limit": limit, "cost": cost, "format": value})] if cost > limit else []

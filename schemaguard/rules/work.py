"""SG811 to SG823: what compiling a schema comes to, all of it together.

Most of these budgets are counted by `schemaguard.estimate` over the whole document, and the finding
stands where most of it is used. The measurements are in docs/compile-cost.md.
"""

from __future__ import annotations

from schemaguard import prices
from schemaguard.rules import BUDGET, VALUE, rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    Finding = tuple[tuple[str, ...], dict[str, Any]]

_SMALL = (
    '{"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": false}'
)


@rule(
    "SG811",
    "dear-schema",
    BUDGET,
    "compile-milliseconds",
    message="compiling it takes about {cost:,} ms, over {limit:,}",
    fix="Split the tool, or make the part that costs most (`schemaguard cost` names it) smaller.",
    bad="@dear-schema",
    good=_SMALL,
)
def dear_schema() -> None:
    """No single keyword is at fault, but the sum of them keeps the compiler busy for too long.

    The time is estimated from what the compiler has to make: states of an automaton (about one a
    character of names and constants), whose price grows with their number, and what the other
    rules of this family name. Estimate against measurement:
    [compile cost](../compile-cost.md#the-estimate).
    """


@rule(
    "SG812",
    "large-grammar",
    BUDGET,
    "compile-megabytes",
    message="compiling it takes about {cost:,} MB, over {limit:,}",
    fix="Check formats in the tool: each place with `uri` keeps 0.6 MB.",
    bad="@large-grammar",
    good='{"type": "string", "format": "uri"}',
)
def large_grammar() -> None:
    """Token masks are kept for each place, equal ones too; time is not always what runs out first.

    Curves: [memory](../compile-cost.md#memory).
    """


@rule(
    "SG813",
    "many-optional-properties",
    BUDGET,
    "optional-properties",
    message="optional properties in a row weigh {cost:,}, over {limit:,}",
    fix="List more of them in `required` (a type may include null), or group them in objects.",
    bad="@many-optional-properties",
    good='{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], '
    '"additionalProperties": false}',
)
def many_optional_properties() -> None:
    """Wherever a value ends, any later optional property may follow, and every mask tries them all.

    400 of them: masks of 17 ms, 0.5 s to compile; twice as many: 44 ms, 3 to 5 s. A property weighs
    1; less when its value is a number or a constant, 2 or 3 with the formats `uri` and
    `json-pointer`, more when it is a choice of many.
    [Curve](../compile-cost.md#optional-properties).
    """


@rule(
    "SG814",
    "counted-properties",
    BUDGET,
    "counted-properties",
    message="`minProperties` or `maxProperties` over declared properties makes {cost:,} rules, "
    "over {limit:,}",
    fix="Leave the number of properties to the tool.",
    bad="@counted-properties",
    good='{"type": "object", "additionalProperties": {"type": "string"}, "minProperties": 1}',
)
def counted_properties() -> None:
    """The grammar gets a rule for each property and each number of properties before it.

    100 properties with `minProperties` 10 are 5,000 rules and take 1 s; 160 take 8 s.
    [Curve](../compile-cost.md#counted-properties).
    """


@rule(
    "SG815",
    "many-name-patterns",
    BUDGET,
    "name-patterns",
    message="{cost:,} `patternProperties`, over {limit:,}",
    fix="Use one pattern for names whose values have the same schema.",
    bad="@many-name-patterns",
    good='{"type": "object", "patternProperties": {"^p[0-9]+$": {"type": "string"}}, '
    '"additionalProperties": false}',
)
def many_name_patterns() -> None:
    """At each name every pattern is tried: 1,600 of them make masks of 17 ms, 3,200 of 43 ms.

    [Curve](../compile-cost.md#name-patterns).
    """


@rule(
    "SG816",
    "large-divisors",
    BUDGET,
    "divisors",
    message="integer `multipleOf` add up to {cost:,}, over {limit:,}",
    fix="Check divisors in the tool; round numbers such as 1,000 cost as much as others.",
    bad="@large-divisors",
    good='{"type": "integer", "multipleOf": 5}',
)
def large_divisors() -> None:
    """A `multipleOf` up to 1,024 becomes an automaton with a state for each remainder.

    Eight integers with divisors near 1,000 take 0.9 s, sixteen 2.2 s.
    [Curve](../compile-cost.md#divisors).
    """


@rule(
    "SG817",
    "open-names",
    BUDGET,
    "open-names",
    message="open objects declare names of {cost:,} different characters, over {limit:,}",
    fix="Set `additionalProperties` to false, or move the open part into a property of its own.",
    bad='{"type": "object", "properties": {"destination_address": {"type": "string"}, '
    '"preferred_language": {"type": "string"}}, "additionalProperties": true}',
    good='{"type": "object", "properties": {"destination_address": {"type": "string"}, '
    '"preferred_language": {"type": "string"}}, "additionalProperties": false}',
)
def open_names() -> None:
    """An extra property may have any name but the declared ones.

    So the grammar follows each declared name character by character, and at each nearly every token
    is possible: 25 ms a character. Ten names of twelve characters take 2 s. Beginnings that names
    share count once, and so do ends.
    [Curve](../compile-cost.md#open-names).
    """


@rule(
    "SG818",
    "ambiguous-alternatives",
    BUDGET,
    "live-alternatives",
    message="an output can leave alternatives of weight {cost:,} open at once, over {limit:,}",
    fix="Give each alternative a required first property with a constant of its own; merge arrays.",
    bad="@ambiguous-alternatives",
    good='{"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]}',
)
def ambiguous_alternatives() -> None:
    """While an output could still be any of several arrays or objects, each mask tries them all.

    An array weighs 5, a string 2 (12 with some formats), an object 1 and 1 more for each optional
    property; objects that may hold themselves weigh twice. 100 arrays of strings make masks of
    8 ms, 200 of 42 ms; 20 objects with 40 optional properties 64 ms; ten definitions of arrays that
    all refer to each other 45 ms.
    [Curve](../compile-cost.md#ambiguous-alternatives).
    """


@rule(
    "SG819",
    "dear-format",
    VALUE,
    "mask-milliseconds",
    "format",
    message="`format: {format}` would slow down every request that is served together with it: up "
    "to {cost} ms for each token, over {limit}",
    fix="Use a `pattern` instead, such as `^https://[^ ]+$`, or leave the format out and check it "
    "in the tool.",
    bad='{"type": "string", "format": "uri-template"}',
    good='{"type": "string", "format": "uri"}',
)
def dear_format(value: object, limit: int) -> Sequence[Finding]:
    """The engine's expression for a format may match in many ways, and each mask tries them all.

    Of fourteen formats it is `uri-template`, with 30 to 230 ms a token, in any value. `email` is
    dear in few values: [SG824](SG824.md). [Table](../compile-cost.md#formats).
    """
    cost = prices.FORMAT_MASKS.get(value, 0) if isinstance(value, str) else 0
    return [((), {"limit": limit, "cost": cost, "format": value})] if cost > limit else []


@rule(
    "SG820",
    "long-property-name",
    VALUE,
    "name-length",
    "properties",
    message="property name of {length:,} characters exceeds {limit:,}",
    fix="Shorten it; a description says what a property is for.",
    bad="@long-property-name",
    good=_SMALL,
)
def long_property_name(value: object, limit: int) -> Sequence[Finding]:
    """A name is a state a character: 16,000 take 0.2 s, 64,000 take 1.3 s.

    No name in 14,938 real schemas comes near it. [Curve](../compile-cost.md#literals).
    """
    names = value if isinstance(value, dict) else {}
    lengths = [len(name) for name in names if isinstance(name, str)]
    longest = max(lengths, default=0)
    return [((), {"limit": limit, "length": longest})] if longest > limit else []


@rule(
    "SG821",
    "much-data",
    BUDGET,
    "all-data-characters",
    message="`enum` and `const` hold {cost:,} characters in all, over {limit:,}",
    fix="Accept a string and validate it in the tool; share a list by `$ref`.",
    bad="@much-data",
    good='{"enum": ["a", "b"]}',
)
def much_data() -> None:
    """What they hold is spelt out in the grammar; a list in two places is spelt out twice.

    Up to about 100,000 characters of one choice the engine makes an automaton of it that is as
    small as can be, in 0.1 s; beyond it does not, and 15,000 short words take 2 s, in whatever
    number of enumerations they come.
    [Curve](../compile-cost.md#literals).
    """


@rule(
    "SG822",
    "many-grammar-rules",
    BUDGET,
    "grammar-rules",
    message="its grammar has about {cost:,} rules, over {limit:,}",
    fix="Write what is the same once, under `$defs`, and refer to it.",
    bad="@many-grammar-rules",
    good='{"type": "object", "properties": {"a": {"$ref": "#/$defs/p"}, "b": {"$ref": '
    '"#/$defs/p"}}, "additionalProperties": false, "$defs": {"p": {"type": "array", "items": '
    '{"type": "string"}}}}',
)
def many_grammar_rules() -> None:
    """An array makes seven rules, an object four, a property one; each is compared with all others.

    [Curve](../compile-cost.md#rules).
    """


@rule(
    "SG823",
    "linked-alternatives",
    BUDGET,
    "linked-alternatives",
    message="{cost:,} alternatives are alternatives again, over {limit:,}",
    fix="List what can be chosen once, in one `anyOf`.",
    bad="@linked-alternatives",
    good='{"anyOf": [{"type": "string"}, {"type": "null"}]}',
)
def linked_alternatives() -> None:
    """Choices that lead to choices are followed through to their ends, from each of them.

    60 definitions that are an `anyOf` of all others, 3,500 links, take 1 s; 80 take 4.5 s; 120
    take gigabytes. [Curve](../compile-cost.md#linked-alternatives).
    """

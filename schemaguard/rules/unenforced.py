"""SG701 to SG763: what xgrammar will drop, narrow or never end, said without asking it.

SG701 to SG719 are about what is dropped, SG721 to SG729 about what is narrowed: valid arguments
that cannot be written, SG751 to SG769 about what cannot be satisfied, or has no end or no grammar.
`schemaguard.unenforced` finds them; docs/enforcement.md has how often it is
right, and `schemaguard audit` shows a witness.
"""

from __future__ import annotations

from schemaguard.rules import ENFORCEMENT, rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from schemaguard.rules import Rule

_CHECKED = "Check it in the tool, or say it with keywords that are enforced."

#: The version of the engine that is meant; the newest that was audited where none is given.
_SETTINGS = {"version": "text?"}


def _closed(schema: str) -> str:
    return (
        f'{{"type": "object", "properties": {{"a": {schema}}}, "required": ["a"], '
        '"additionalProperties": false}'
    )


def _declared(code: str, name: str, **words: Any) -> Callable[[Callable[..., Any]], Rule]:
    return rule(code, name, ENFORCEMENT, settings=_SETTINGS, **words)


# ------------------------------------------------------------------------------------- what is lost


@_declared(
    "SG701",
    "lost-sibling",
    message="`{winner}` wins here, and {lost} beside it is dropped by {subject} {version}",
    fix="Move it into what `{winner}` holds, or take one of the two out.",
    bad=_closed('{"type": "string", "minLength": 2, "enum": ["", "ab"]}'),
    good=_closed('{"enum": ["ab"]}'),
)
def lost_sibling() -> None:
    """A schema is compiled by the first of `$ref`, `const`, `enum`, `anyOf`, `oneOf`, `allOf`.

    All that stands beside it is passed over without a word. Where nothing that the winner allows
    can break it, nothing is said here either. `propertyNames` in an object that declares no names
    opens it in the same way, `additionalProperties: false` or not.
    """


@_declared(
    "SG702",
    "unenforced-keyword",
    message="`{keyword}` is not enforced by {subject} {version}",
    fix=_CHECKED,
    bad=_closed('{"type": "array", "items": {"type": "integer"}, "uniqueItems": true}'),
    good=_closed('{"type": "array", "items": {"type": "integer"}, "maxItems": 1}'),
)
def unenforced_keyword() -> None:
    """A model can write arguments as if the keyword were not there."""


@_declared(
    "SG703",
    "unmerged-all-of",
    message="`allOf` of {number} schemas{also} is any JSON value to {subject} {version}",
    fix="Merge the schemas of `allOf` into one.",
    bad=_closed('{"allOf": [{"type": "integer"}, {"minimum": 3}]}'),
    good=_closed('{"type": "integer", "minimum": 3}'),
)
def unmerged_all_of() -> None:
    """Schemas are not intersected: with two or more of them, nothing at all is enforced there."""


@_declared(
    "SG704",
    "overlapping-one-of",
    message="{subject} {version} makes `anyOf` of this `oneOf`: alternatives {first} and {second} "
    "can both hold",
    fix="Tell the alternatives apart: different types, or a required property with a `const` of "
    "its own in each. Or say `anyOf`.",
    bad=_closed(
        '{"oneOf": [{"type": "integer", "maximum": 7}, {"type": "integer", "minimum": 3}]}'
    ),
    good=_closed(
        '{"oneOf": [{"type": "integer", "maximum": 2}, {"type": "integer", "minimum": 3}]}'
    ),
)
def overlapping_one_of() -> None:
    """A value that two alternatives allow is invalid, and can be written."""


@_declared(
    "SG705",
    "unenforced-multiple-of",
    message="`multipleOf` {why} is not enforced by {subject} {version}",
    fix="Count in a unit that makes the number an integer, with both bounds or none.",
    bad=_closed('{"type": "number", "multipleOf": 0.25}'),
    good=_closed('{"type": "integer", "multipleOf": 25}'),
)
def unenforced_multiple_of() -> None:
    """Divisors are enforced of integers alone, up to a size, with no bounds or two near ones."""


@_declared(
    "SG706",
    "lost-string-keyword",
    message="`{winner}` wins here, and {lost} beside it is dropped by {subject} {version}",
    fix="Say the length in the pattern, as in `^[a-z]{{1,8}}$`, or keep one of the two.",
    bad=_closed('{"type": "string", "pattern": "^[a-z]+$", "maxLength": 8}'),
    good=_closed('{"type": "string", "pattern": "^[a-z]{1,8}$"}'),
)
def lost_string_keyword() -> None:
    """Of `format`, `pattern` and lengths, the first decides alone.

    A pattern whose texts are all of an allowed length loses nothing.
    """


@_declared(
    "SG707",
    "unenforced-format",
    message="format `{format}` is not enforced by {subject} {version}",
    fix="Use a `pattern`, or check it in the tool.",
    bad=_closed('{"type": "string", "format": "regex"}'),
    good=_closed('{"type": "string", "format": "uuid"}'),
)
def unenforced_format() -> None:
    """The engine has expressions for some formats and takes any string for the others."""


@_declared(
    "SG708",
    "approximate-format",
    message="format `{format}` is enforced in part by {subject} {version}",
    fix="Check the value in the tool: it may look right and be none.",
    bad=_closed('{"type": "string", "format": "date"}'),
    good=_closed('{"type": "string", "format": "uuid"}'),
)
def approximate_format() -> None:
    """An expression tells the look of a text: 2024-02-30 looks like a date."""


@_declared(
    "SG709",
    "dropped-pattern-part",
    message="a {part} in a `pattern` is left out by {subject} {version}",
    fix="Write the pattern without it.",
    bad=_closed('{"type": "string", "pattern": "^(?!a)[a-z]+$"}'),
    good=_closed('{"type": "string", "pattern": "^[b-z][a-z]*$"}'),
)
def dropped_pattern_part() -> None:
    """What remains of the pattern is enforced, and allows what the part was there to forbid."""


@_declared(
    "SG710",
    "untyped-keyword",
    message="without `type`, {keywords} is not enforced by {subject} {version}: any value goes",
    fix="Say the type.",
    bad=_closed('{"minimum": 3}'),
    good=_closed('{"type": "integer", "minimum": 3}'),
)
def untyped_keyword() -> None:
    """What a schema without `type` says of numbers or strings is passed over altogether."""


@_declared(
    "SG711",
    "hidden-name",
    message="{subject} {version} compares names as they are spelt: a second spelling of a declared "
    "one takes any value that other names may have",
    fix='Close the object with "additionalProperties": false.',
    bad='{"type": "object", "properties": {"a": {"type": "integer"}}, '
    '"additionalProperties": {"type": "string"}}',
    good=_closed('{"type": "integer"}'),
)
def hidden_name() -> None:
    r"""`{"\u0061": "x"}` is a string where an integer is due, once it is parsed."""


@_declared(
    "SG712",
    "open-name-patterns",
    message="beside `patternProperties` in an open object, {subject} {version} enforces no value",
    fix='Close the object with "additionalProperties": false.',
    bad='{"type": "object", "properties": {"a": {"type": "integer"}}, '
    '"patternProperties": {"^x.*$": {"type": "integer"}}, "additionalProperties": true}',
    good='{"type": "object", "properties": {"a": {"type": "integer"}}, '
    '"patternProperties": {"^x.*$": {"type": "integer"}}, "additionalProperties": false}',
)
def open_name_patterns() -> None:
    """Declared properties and those of a pattern can be written as if they were others."""


@_declared(
    "SG713",
    "overlapping-name-patterns",
    message="`{one}` and `{other}` have names in common, which {subject} {version} holds to one of "
    "them",
    fix="Write patterns that have no name in common, and that match no declared name.",
    bad='{"type": "object", "patternProperties": {"^a.*$": {"type": "integer"}, '
    '"^.*b$": {"type": "string"}}, "additionalProperties": false}',
    good='{"type": "object", "patternProperties": {"^a.*$": {"type": "integer"}, '
    '"^b.*$": {"type": "string"}}, "additionalProperties": false}',
)
def overlapping_name_patterns() -> None:
    """The value of such a name has to be valid under both, and is not.

    A declared name is held to what is declared for it alone, whatever patterns it matches.
    """


@_declared(
    "SG714",
    "unchecked-declared-name",
    message="`propertyNames` forbids the declared name `{name}`; {subject} {version} writes it",
    fix="Rename the property, or take it out.",
    bad='{"type": "object", "properties": {"abc": {"type": "integer"}}, '
    '"propertyNames": {"pattern": "^[a-b]+$"}, "additionalProperties": false}',
    good='{"type": "object", "properties": {"abc": {"type": "integer"}}, '
    '"propertyNames": {"pattern": "^[a-c]+$"}, "additionalProperties": false}',
)
def unchecked_declared_name() -> None:
    """Names that are declared are not held against `propertyNames`."""


@_declared(
    "SG715",
    "lost-required",
    message="{names} is required and not declared: {subject} {version} leaves it out",
    fix="Declare it under `properties`.",
    bad='{"type": "object", "properties": {"a": true}, "required": ["a", "b"], '
    '"additionalProperties": true}',
    good='{"type": "object", "properties": {"a": {"type": "integer"}, "b": true}, '
    '"required": ["a", "b"], "additionalProperties": false}',
)
def lost_required() -> None:
    """Only declared properties are made to appear; what is closed cannot even have the name."""


@_declared(
    "SG716",
    "rounded-integer",
    message="`{keyword}` has an integer beyond 64 bits, which {subject} {version} rounds",
    fix="Give it as a string.",
    bad=_closed('{"const": 12345678901234567890}'),
    good=_closed('{"const": "12345678901234567890"}'),
)
def rounded_integer() -> None:
    """1.2345678901234567e+19 can be written, and is another number."""


# --------------------------------------------------------------------------------- what is narrowed


@_declared(
    "SG721",
    "closed-object",
    message="{subject} {version} closes this object: it says nothing of other names",
    fix='Say what you mean: "additionalProperties": false, or a schema for other names.',
    bad='{"type": "object", "properties": {"a": {"type": "integer"}}}',
    good=_closed('{"type": "integer"}'),
)
def closed_object() -> None:
    """JSON Schema leaves such an object open. The engine lets no other name be written."""


@_declared(
    "SG722",
    "closed-array",
    message="{subject} {version} allows no more items here: nothing is said of them",
    fix="Give `items`.",
    bad=_closed('{"type": "array", "maxItems": 3}'),
    good=_closed('{"type": "array", "items": {"type": "integer"}, "maxItems": 3}'),
)
def closed_array() -> None:
    """Without `items` any item is valid. The engine lets none be written."""


@_declared(
    "SG723",
    "unanchored-pattern",
    message="{subject} {version} has the pattern match the whole text: it does not begin with `^` "
    "and end with `$`",
    fix="Write `^` and `$`, with `.*` where more may follow.",
    bad=_closed('{"type": "string", "pattern": "^ab"}'),
    good=_closed('{"type": "string", "pattern": "^ab[a-z]*$"}'),
)
def unanchored_pattern() -> None:
    """A pattern is searched for anywhere in the text; the engine writes nothing around it."""


@_declared(
    "SG724",
    "unescaped-string",
    message="with {keywords}, {subject} {version} writes no escapes: no quote, backslash or line "
    "feed",
    fix="Leave the bound out where texts are free, and check it in the tool.",
    bad=_closed('{"type": "string", "maxLength": 8}'),
    good=_closed('{"type": "string"}'),
)
def unescaped_string() -> None:
    """Such a string is a run of plain characters to the engine."""


@_declared(
    "SG725",
    "bounded-number",
    message="with {keywords}, {subject} {version} writes six decimals at most and no exponent",
    fix="Take an integer, or check the bound in the tool.",
    bad=_closed('{"type": "number", "minimum": 0}'),
    good=_closed('{"type": "integer", "minimum": 0}'),
)
def bounded_number() -> None:
    """1.0000001 and 1e300 are numbers above 0 that cannot be written."""


@_declared(
    "SG726",
    "narrow-format",
    message="format `{format}` does not take {why} with {subject} {version}",
    fix="Leave the format out where such values are wanted.",
    bad=_closed('{"type": "string", "format": "uri"}'),
    good=_closed('{"type": "string", "format": "uuid"}'),
)
def narrow_format() -> None:
    """The engine's expression for the format is narrower than the format."""


@_declared(
    "SG727",
    "implied-type",
    message="without `type`, `{keyword}` makes this an {kind} to {subject} {version}",
    fix="Say the type.",
    bad=_closed('{"items": {"type": "integer"}}'),
    good=_closed('{"type": "array", "items": {"type": "integer"}}'),
)
def implied_type() -> None:
    """A value of another type is valid, and cannot be written."""


@_declared(
    "SG728",
    "counted-without-contains",
    message="{subject} {version} writes no array of fewer than {count} items: it takes "
    "`minContains` for `minItems`, though there is no `contains`",
    fix="Say `minItems` where that is meant, or take `minContains` out.",
    bad=_closed('{"type": "array", "items": {"type": "integer"}, "minContains": 2}'),
    good=_closed('{"type": "array", "items": {"type": "integer"}, "minItems": 2}'),
)
def counted_without_contains() -> None:
    """Without `contains`, `minContains` says nothing, and shorter arrays are valid."""


# ----------------------------------------------------------------------- what cannot be met or ends


@_declared(
    "SG751",
    "contradictory-bounds",
    message="`{low}` and `{high}` leave nothing between them",
    fix="Correct one of the two.",
    bad=_closed('{"type": "integer", "minimum": 5, "maximum": 3}'),
    good=_closed('{"type": "integer", "minimum": 3, "maximum": 5}'),
)
def contradictory_bounds() -> None:
    """The engine refuses the whole schema, wherever in it the bounds stand."""


@_declared(
    "SG752",
    "unprintable-range",
    message="no number with {decimals} decimals is in this range, and {subject} {version} writes "
    "no others",
    fix="Widen the range, or count in a smaller unit.",
    bad=_closed('{"type": "number", "minimum": 1e-8, "maximum": 2e-8}'),
    good=_closed('{"type": "integer", "minimum": 10, "maximum": 20}'),
)
def unprintable_range() -> None:
    """What is written then is `{"a": }`, which is no JSON."""


@_declared(
    "SG753",
    "unreachable-count",
    message="`{keyword}` does not fit the {number} {what} that {subject} {version} goes by",
    fix="Correct the count, or declare what it counts.",
    bad=_closed('{"type": "array", "minItems": 1}'),
    good=_closed('{"type": "array", "items": {"type": "string"}, "minItems": 1}'),
)
def unreachable_count() -> None:
    """The engine refuses the whole schema.

    It knows the items of an array by `items` and `prefixItems`, and the properties of an object by
    their names: where they are closed, it does not count on others.
    """


@_declared(
    "SG754",
    "false-schema",
    message="{subject} {version} refuses the schema `false` in `{keyword}`",
    fix='Take it out. What is not declared is forbidden by "additionalProperties": false.',
    bad=_closed("false"),
    good=_closed('{"type": "null"}'),
)
def false_schema() -> None:
    """Nothing satisfies `false`, and the engine has no grammar for nothing.

    It takes it as a value of `additionalProperties`, `items` and their like alone.
    """


@_declared(
    "SG755",
    "enum-of-nothing",
    message="an empty `enum` allows nothing",
    fix="List the values, or take the keyword out.",
    bad=_closed('{"enum": []}'),
    good=_closed('{"enum": ["x"]}'),
)
def enum_of_nothing() -> None:
    """The engine refuses the whole schema."""


@_declared(
    "SG756",
    "unreadable-number",
    message="{subject} {version} takes as `{keyword}` {why}",
    fix="Write the number so.",
    bad=_closed('{"type": "integer", "minimum": 1.5}'),
    good=_closed('{"type": "integer", "minimum": 2}'),
)
def unreadable_number() -> None:
    """The engine refuses the whole schema, or cuts the number off."""


@_declared(
    "SG757",
    "unreadable-form",
    message="{subject} {version} takes as `{keyword}` {why}",
    fix="Write it so.",
    bad=_closed('{"type": "array", "items": [{"type": "string"}]}'),
    good=_closed('{"type": "array", "prefixItems": [{"type": "string"}], "items": false}'),
)
def unreadable_form() -> None:
    """Valid JSON Schema, or was in an older draft; the engine refuses the whole schema for it."""


@_declared(
    "SG758",
    "unreadable-pattern",
    message="{subject} {version} refuses the pattern: {why}, at its character {offset}",
    fix="Write it with groups, classes and counts alone.",
    bad=_closed('{"type": "string", "pattern": "^[a-z"}'),
    good=_closed('{"type": "string", "pattern": "^[a-z]$"}'),
)
def unreadable_pattern() -> None:
    """No regular expression, or one with what the engine does not know; it refuses the schema."""


@_declared(
    "SG759",
    "impossible-pattern",
    message="no text matches the pattern: the class at its character {offset} is empty",
    fix="Correct the class.",
    bad=_closed('{"type": "string", "pattern": "^[^\\\\s\\\\S]$"}'),
    good=_closed('{"type": "string", "pattern": "^[a-z]$"}'),
)
def impossible_pattern() -> None:
    """A model that has begun such a string cannot go on, and cannot end: the mask is empty."""


@_declared(
    "SG761",
    "endless-recursion",
    message="`{target}` needs itself, without a way to end",
    fix="Give the recursion a base case: make the property optional, or allow null.",
    bad='{"$ref": "#/$defs/n", "$defs": {"n": {"type": "object", "properties": '
    '{"n": {"$ref": "#/$defs/n"}}, "required": ["n"], "additionalProperties": false}}}',
    good='{"$ref": "#/$defs/n", "$defs": {"n": {"type": "object", "properties": '
    '{"n": {"anyOf": [{"$ref": "#/$defs/n"}, {"type": "null"}]}}, "required": ["n"], '
    '"additionalProperties": false}}}',
)
def endless_recursion() -> None:
    """A model that has begun the value writes it for ever."""


@_declared(
    "SG762",
    "impossible-schema",
    message="nothing satisfies the schema: {why}",
    fix="Correct one of the two.",
    bad=_closed('{"type": "string", "enum": [1, 2]}'),
    good=_closed('{"type": "string", "enum": ["1", "2"]}'),
)
def impossible_schema() -> None:
    """Whatever the engine lets a model write is invalid."""


@_declared(
    "SG763",
    "impossible-part",
    message="nothing is valid here: {why}",
    fix="Correct one of the two, or take the part out.",
    bad='{"type": "object", "properties": {"a": {"type": "string", "enum": [1, 2]}}, '
    '"additionalProperties": false}',
    good='{"type": "object", "properties": {"a": {"type": "string", "enum": ["1"]}}, '
    '"additionalProperties": false}',
)
def impossible_part() -> None:
    """The part can be left out, so the schema has instances; where it is written, it is invalid."""

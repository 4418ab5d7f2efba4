"""SG241 to SG263: references and types as providers want them, and fields that they do not know.

A PART rule looks at one schema at a time; what it looks for is set by the profile, so that a new
provider is a new file and no new code. Rules about what is *not* there, or about all places but the
root, are MEASURE rules: most schemas are leaves, and a leaf that no rule looks at costs nothing.
"""

from __future__ import annotations

from schemaguard.measured import children
from schemaguard.rules import MEASURE, PART, rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from schemaguard.measured import Finding as Placed
    from schemaguard.measured import Measured

    Finding = tuple[tuple[str | int, ...], dict[str, Any]]
    Findings = Sequence[Finding]

_NOTHING: tuple[()] = ()

#: Keywords whose values are schemas for instances, and not definitions.
_HOLDING = (
    "properties",
    "items",
    "anyOf",
    "oneOf",
    "allOf",
    "prefixItems",
    "additionalProperties",
    "patternProperties",
)

_OBJECT = (
    '{"type": "object", "properties": {%s}, "required": [%s], "additionalProperties": false%s}'
)


def _object(properties: str, required: str = '"a"', rest: str = "") -> str:
    """JSON text of a closed object."""
    return _OBJECT % (properties, required, rest and ", " + rest)


_DEFS = '"$defs": {"b": {"type": "string"}}'


# -------------------------------------------------------------------------------------- references


@rule(
    "SG241",
    "ref-siblings",
    PART,
    "$ref",
    message="{subject} does not take `{keyword}` beside `$ref`",
    fix="Remove `{keyword}`, move it into the target, or wrap the reference: "
    '`"anyOf": [{{"$ref": …}}]`.',
    bad=_object('"a": {"$ref": "#/$defs/b", "title": "A", "type": "string"}', rest=_DEFS),
    good=_object('"a": {"$ref": "#/$defs/b"}', rest=_DEFS),
    settings={"allowed": "names", "prefix": "text?", "at": "text?"},
)
def ref_siblings(schema: dict[str, Any], setting: Mapping[str, Any]) -> Findings:
    """Some APIs take a reference alone, as drafts before 2019-09 had it.

    `allowed` has the keywords that may stand there, `prefix` a text that allowed ones start with;
    the finding is at the keyword `at`, or at the schema.
    """
    if len(schema) == 1:
        return _NOTHING
    allowed = setting.get("allowed", ())
    prefix = setting.get("prefix", "$ref")
    extra = [
        name
        for name in schema
        if isinstance(name, str) and name not in allowed and not name.startswith(prefix)
    ]
    where = (setting["at"],) if setting.get("at") in schema else ()
    return ((where, {"keyword": min(extra)}),) if extra else _NOTHING


@rule(
    "SG242",
    "unusual-ref",
    PART,
    "$ref",
    message="{subject} takes references to definitions alone: {forms}",
    fix="Move the target under `$defs` and refer to it as `#/$defs/NAME`.",
    bad=_object('"a": {"type": "string"}, "b": {"$ref": "#/properties/a"}', '"a", "b"'),
    good=_object('"a": {"type": "string"}, "b": {"$ref": "#/$defs/b"}', '"a", "b"', _DEFS),
    settings={"under": "names", "root": "flag?"},
)
def unusual_ref(schema: dict[str, Any], setting: Mapping[str, Any]) -> Findings:
    """A pointer into `properties` is good JSON Schema, and refused by parsers that look names up.

    `under` has the keywords that may hold the target; `root` says that `#` is fine.
    """
    ref = schema["$ref"]
    under = setting.get("under", ())
    if not isinstance(ref, str) or not ref.startswith("#") or (ref == "#" and setting.get("root")):
        return _NOTHING
    if any(ref.startswith(f"#/{keyword}/") and ref.count("/") == 2 for keyword in under):
        return _NOTHING
    forms = " and ".join(f"#/{keyword}/NAME" for keyword in under)
    return ((("$ref",), {"forms": forms}),)


@rule(
    "SG243",
    "ref-in-combinator",
    PART,
    "anyOf",
    "oneOf",
    "allOf",
    message="{subject} does not support `$ref` inside `{keyword}`",
    fix="Write the target out here.",
    bad=_object(
        '"a": {"anyOf": [{"$ref": "#/$defs/b"}], "allOf": [{"$ref": "#/$defs/b"}]}', rest=_DEFS
    ),
    good=_object('"a": {"anyOf": [{"type": "string"}]}', rest=_DEFS),
    settings={"under": "names"},
)
def ref_in_combinator(schema: dict[str, Any], setting: Mapping[str, Any]) -> Findings:
    """A dialect that resolves references of properties need not resolve those of branches."""
    return [
        ((*tokens, "$ref"), {"keyword": keyword})
        for keyword in setting.get("under", ())
        for tokens, branch in children(schema, keyword)
        if branch.__class__ is dict and "$ref" in branch
    ]


@rule(
    "SG261",
    "recursive-ref",
    MEASURE,
    message="{subject} does not support recursive schemas{why}",
    fix="Write the levels out that are needed, or accept a list of nodes that name their parent.",
    bad='{"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"], '
    '"additionalProperties": false}',
    good='{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], '
    '"additionalProperties": false}',
    settings={"breaks": "breaks?", "why": "text?"},
)
def recursive_ref(measured: Measured, setting: Mapping[str, Any]) -> Sequence[Placed]:
    """A grammar that is written out, or a schema that is copied, has no end for a circle.

    `breaks` has what makes a circle fine: a property that is `optional`, `items` that may be none,
    a branch of an `anyOf`. The finding is at the `$ref` that closes the circle.
    """
    if not measured.refs:
        return _NOTHING
    why = f": {setting['why']}" if setting.get("why") else ""
    breaks = frozenset(setting.get("breaks", ()))
    return [(frame, ("$ref",), {"why": why}) for frame in measured.closing_refs(breaks)]


@rule(
    "SG262",
    "conflicting-expansion",
    MEASURE,
    message="`{keyword}` stands beside `$ref` and in its target",
    fix="Keep one of the two.",
    bad='{"type": "object", "properties": {"a": {"$ref": "#/$defs/b", "description": "x"}}, '
    '"required": ["a"], "$defs": {"b": {"type": "string", "description": "y"}}}',
    good='{"type": "object", "properties": {"a": {"$ref": "#/$defs/b", "description": "x"}}, '
    '"required": ["a"], "$defs": {"b": {"type": "string"}}}',
    settings={"keywords": "names"},
)
def conflicting_expansion(measured: Measured, setting: Mapping[str, Any]) -> Sequence[Placed]:
    """An API that puts the target in the place of the reference has no room for both."""
    return [
        (frame, (), {"keyword": keyword})
        for frame in measured.refs
        if (target := measured.target(frame[0])) is not None
        and not target.problem
        and target.schema.__class__ is dict
        for keyword in setting.get("keywords", ())
        if keyword in frame[0] and keyword in target.schema
    ]


# ------------------------------------------------------------------------------------------- types


@rule(
    "SG244",
    "untyped-schema",
    MEASURE,
    message="a schema without `type`: {subject} needs one here",
    fix="Say which `type` it has; one that may be anything cannot be generated.",
    bad=_object('"a": {"description": "anything"}'),
    good=_object('"a": {"type": "string", "description": "anything"}'),
    settings={"instead": "names", "under": "names", "empty": "names?"},
)
def untyped_schema(measured: Measured, setting: Mapping[str, Any]) -> Sequence[Placed]:
    """What has no type may be any JSON, which no strict grammar of a provider produces.

    `instead` has the keywords that stand for a type, `under` those whose schemas are looked at,
    `empty` those among them that may hold `{}`. The schema `true` is one without a type.
    """
    if not (measured.untyped or measured.booleans):
        return _NOTHING
    under = setting.get("under", _HOLDING)
    instead = setting.get("instead", ())
    empty = setting.get("empty", ())
    frames = [frame for frame in measured.booleans if frame[0] and frame[4] not in empty]
    frames += [
        frame
        for frame in measured.untyped
        if not any(name in frame[0] for name in instead) and (frame[0] or frame[4] not in empty)
    ]
    return [(frame, (), {}) for frame in frames if frame[4] in under]


@rule(
    "SG245",
    "type-beside-union",
    MEASURE,
    message="{subject} does not take `type` beside `{keyword}`",
    fix="Move `type` into each branch of `{keyword}`.",
    bad=_object('"a": {"type": "string", "anyOf": [{"type": "string", "maxLength": 3}]}'),
    good=_object('"a": {"anyOf": [{"type": "string", "maxLength": 3}]}'),
    settings={"keywords": "names"},
)
def type_beside_union(measured: Measured, setting: Mapping[str, Any]) -> Sequence[Placed]:
    """A compiler that takes one of the two drops the other in silence; a careful one refuses.

    It is about schemas below the root: a profile says of the root what it wants there.
    """
    return [
        (frame, ("type",), {"keyword": keyword})
        for frame in measured.unions
        if frame[3] is not None and "type" in frame[0]
        for keyword in setting.get("keywords", ())
        if keyword in frame[0]
    ]


@rule(
    "SG246",
    "boolean-subschema",
    MEASURE,
    message="{subject} does not take the schema `{value}` here",
    fix="Describe the value, or leave the member out.",
    bad=_object('"a": {"type": "array", "items": true}'),
    good=_object('"a": {"type": "array", "items": {"type": "string"}}'),
    settings={"under": "names", "value": "flag?", "of-root": "flag?"},
)
def boolean_subschema(measured: Measured, setting: Mapping[str, Any]) -> Sequence[Placed]:
    """`true` and `false` are schemas since draft 6; parsers that expect an object refuse them.

    `under` has the keywords whose schemas are looked at; with `value`, it is about this one alone;
    with `of-root`, about what the root itself holds.
    """
    under = setting.get("under", _HOLDING)
    anywhere = not setting.get("of-root", False)
    refused = (setting["value"],) if "value" in setting else (True, False)
    return [
        (frame, (), {"value": "true" if frame[0] else "false"})
        for frame in measured.booleans
        if frame[0] in refused
        and frame[4] in under
        and (anywhere or (frame[3] is not None and frame[3][3] is None))
    ]


@rule(
    "SG247",
    "items-array",
    PART,
    "items",
    message="`items` is an array of schemas, which draft 2020-12 does not allow",
    fix="Write `prefixItems` for the members, and `items` for those after them.",
    bad='{"type": "object", "properties": {"a": {"type": "array", '
    '"items": [{"type": "string"}]}}, "required": ["a"]}',
    good='{"type": "object", "properties": {"a": {"type": "array", '
    '"items": {"type": "string"}}}, "required": ["a"]}',
)
def items_array(schema: dict[str, Any], _: Mapping[str, Any]) -> Findings:
    """The tuple form of draft 7 and before is not valid in draft 2020-12."""
    return ((("items",), {}),) if schema["items"].__class__ is list else _NOTHING


@rule(
    "SG248",
    "type-list",
    PART,
    "type",
    message="{subject} does not take this array of types{why}",
    fix="Write `anyOf` with a branch for each type, or `nullable` where the dialect has it.",
    bad='{"type": "object", "properties": {"a": {"type": ["integer", "string", "null"], '
    '"enum": ["x"]}}, "required": ["a"]}',
    good='{"type": "object", "properties": {"a": {"type": "string", "enum": ["x"]}}, '
    '"required": ["a"]}',
    settings={"longest": "count", "beside": "text?", "last": "text?", "why": "text?"},
)
def type_list(schema: dict[str, Any], setting: Mapping[str, Any]) -> Findings:
    """Dialects with one type for each schema refuse the array, or take it with null alone.

    `longest` is how many types there may be (0: no array at all), `last` what the second one has to
    be; with `beside`, the rule is about schemas that have this keyword.
    """
    kinds = schema["type"]
    if kinds.__class__ is not list or setting.get("beside", "type") not in schema:
        return _NOTHING
    last = setting.get("last")
    if len(kinds) <= setting.get("longest", 0) and (not last or kinds[1:] in ([], [last])):
        return _NOTHING
    why = f": {setting['why']}" if setting.get("why") else ""
    return ((("type",), {"why": why}),)


@rule(
    "SG255",
    "nested-definitions",
    MEASURE,
    message="{subject} takes `{keyword}` at the root alone",
    fix="Move the definitions to the root, and correct the references to them.",
    bad='{"type": "object", "properties": {"a": {"type": "string", "$defs": {"b": '
    '{"type": "string"}}}}, "required": ["a"]}',
    good='{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], '
    '"$defs": {"b": {"type": "string"}}}',
    settings={"keywords": "names"},
)
def nested_definitions(measured: Measured, setting: Mapping[str, Any]) -> Sequence[Placed]:
    """A parser that collects definitions first looks for them in one place."""
    return [
        (frame, (keyword,), {"keyword": keyword})
        for frame in measured.definitions
        for keyword in setting.get("keywords", ())
        if keyword in frame[0]
    ]


@rule(
    "SG256",
    "slash-in-definition-name",
    PART,
    "$defs",
    message="{subject} does not take '/' in the name of a definition",
    fix="Give the definition a name of letters, digits and `_`.",
    bad='{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], '
    '"$defs": {"b/c": {"type": "string"}}}',
    good='{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], '
    '"$defs": {"b": {"type": "string"}}}',
)
def slash_in_definition_name(schema: dict[str, Any], _: Mapping[str, Any]) -> Findings:
    """A reference to it needs an escape that parsers which split at `/` do not know."""
    return [(tokens, {}) for tokens, _ in children(schema, "$defs") if "/" in str(tokens[1])]


@rule(
    "SG260",
    "unknown-field",
    PART,
    message="{subject} does not know `{keyword}`",
    fix="Remove `{keyword}`, or say it in the description.",
    bad='{"type": "object", "properties": {"a": {"type": "string", "x-order": 1}}, '
    '"required": ["a"]}',
    good='{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}',
    settings={"known": "names"},
)
def unknown_field(schema: dict[str, Any], setting: Mapping[str, Any]) -> Findings:
    """An API that reads a schema into a message of its own refuses a field that it does not have.

    `known` has the fields that it has, and those of which the profile speaks otherwise.
    """
    known = setting.get("known", ())
    return [
        ((name,), {"keyword": name})
        for name in schema
        if name not in known and isinstance(name, str)
    ]


@rule(
    "SG263",
    "union-siblings",
    PART,
    "anyOf",
    message="`{keyword}` stands beside `anyOf`",
    fix="Move `{keyword}` into the branches, or into the description.",
    bad='{"type": "object", "properties": {"a": {"anyOf": [{"type": "string"}, '
    '{"type": "null"}], "default": null}}, "required": ["a"]}',
    good='{"type": "object", "properties": {"a": {"anyOf": [{"type": "string"}, '
    '{"type": "null"}]}}, "required": ["a"]}',
    settings={"allowed": "names"},
)
def union_siblings(schema: dict[str, Any], setting: Mapping[str, Any]) -> Findings:
    """A compiler that takes the union alone drops what stands beside it."""
    allowed = setting.get("allowed", ())
    extra = [name for name in schema if isinstance(name, str) and name not in allowed]
    return [((name,), {"keyword": name}) for name in extra]

"""SG249 to SG266: values, patterns and bounds as providers want them; one schema at a time."""

from __future__ import annotations

from schemaguard import dialects
from schemaguard import keywords as kw
from schemaguard.rules import PART, rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    Finding = tuple[tuple[str | int, ...], dict[str, Any]]
    Findings = Sequence[Finding]

_NOTHING: tuple[()] = ()


def _object(a: str) -> str:
    """JSON text of a closed object with one property."""
    properties = f'"properties": {{"a": {a}}}'
    return f'{{"type": "object", {properties}, "required": ["a"], "additionalProperties": false}}'


def _says(schema: dict[str, Any], wanted: str | None) -> bool:
    """Whether a schema says a type; yes, when none is wanted."""
    kind = schema.get("type")
    return not wanted or kind == wanted or (kind.__class__ is list and wanted in kind)


def _kind(value: object) -> str:
    """The JSON type of a value, as the settings call it; all numbers are of one kind."""
    if value is None:
        return "null"
    if isinstance(value, str):
        return "string"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    return "array" if isinstance(value, list) else "object"


@rule(
    "SG249",
    "enum-of-other-values",
    PART,
    "enum",
    message="{subject} does not take {kind} values in `enum`",
    fix="List values of: {allowed}; or describe the values in the description.",
    bad=_object('{"enum": [["x"], ["y"]]}'),
    good=_object('{"enum": ["x", "y"]}'),
    settings={"allowed": "kinds"},
)
def enum_of_other_values(schema: dict[str, Any], setting: Mapping[str, Any]) -> Findings:
    """An `enum` may hold any JSON in JSON Schema, and strings alone in some dialects."""
    members = schema["enum"]
    if members.__class__ is not list:
        return _NOTHING
    allowed = setting.get("allowed", ())
    other = sorted({_kind(member) for member in members}.difference(allowed))
    return ((("enum",), {"kind": other[0], "allowed": ", ".join(allowed)}),) if other else _NOTHING


@rule(
    "SG250",
    "mixed-enum",
    PART,
    "enum",
    message="`enum` mixes {kinds}",
    fix="Keep values of one kind in an `enum`; join two with `anyOf`.",
    bad='{"type": "object", "properties": {"a": {"type": ["string", "integer"], '
    '"enum": ["x", 1]}}, "required": ["a"]}',
    good='{"type": "object", "properties": {"a": {"type": "string", "enum": ["x", "y"]}}, '
    '"required": ["a"]}',
)
def mixed_enum(schema: dict[str, Any], _: Mapping[str, Any]) -> Findings:
    """A dialect that compiles an `enum` for its type has one type for it; null is no other one."""
    members = schema["enum"]
    if members.__class__ is not list:
        return _NOTHING
    kinds = sorted({_kind(member) for member in members} - {"null"})
    return ((("enum",), {"kinds": " and ".join(kinds)}),) if len(kinds) > 1 else _NOTHING


@rule(
    "SG251",
    "values-alike-but-for-case",
    PART,
    "enum",
    message="'{one}' and '{other}' differ only in case",
    fix="Use values that differ in more than case.",
    bad=_object('{"type": "string", "enum": ["Open", "open"]}'),
    good=_object('{"type": "string", "enum": ["open", "closed"]}'),
)
def values_alike_but_for_case(schema: dict[str, Any], _: Mapping[str, Any]) -> Findings:
    """Where the case of a value is not guaranteed, one cannot be told from the other."""
    members = schema["enum"]
    if members.__class__ is not list:
        return _NOTHING
    known: dict[str, str] = {}
    for member in members:
        if isinstance(member, str):
            first = known.setdefault(member.casefold(), member)
            if first != member:
                return ((("enum",), {"one": first, "other": member}),)
    return _NOTHING


@rule(
    "SG252",
    "pattern-feature",
    PART,
    "pattern",
    message="{subject} does not support {feature} in `pattern`",
    fix="Say the same with classes, groups and repetitions.",
    bad=_object(r'{"type": "string", "pattern": "^(?=.*[0-9])[a-z0-9]+$"}'),
    good=_object('{"type": "string", "pattern": "[a-z0-9]+"}'),
    settings={"features": "features"},
)
def pattern_feature(schema: dict[str, Any], setting: Mapping[str, Any]) -> Findings:
    """A grammar has no way to look ahead or back; what cannot be compiled is refused or dropped."""
    pattern = schema["pattern"]
    if not isinstance(pattern, str):
        return _NOTHING
    used = dialects.features(pattern).intersection(setting.get("features", ()))
    return [(("pattern",), {"feature": dialects.FEATURES[feature]}) for feature in sorted(used)]


@rule(
    "SG253",
    "bound-beyond-guarantee",
    PART,
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    message="{subject} enforces `{keyword}` up to {limit}",
    fix="Use a smaller bound, or check the arguments in the tool.",
    bad='{"type": "object", "properties": {"a": {"type": "string", "maxLength": 5000}}, '
    '"required": ["a"]}',
    good='{"type": "object", "properties": {"a": {"type": "string", "maxLength": 100}}, '
    '"required": ["a"]}',
    settings={"limits": "numbers"},
)
def bound_beyond_guarantee(schema: dict[str, Any], setting: Mapping[str, Any]) -> Findings:
    """A bound that is accepted and not enforced is missed only when the model goes over it."""
    return [
        ((keyword,), {"keyword": keyword, "limit": limit})
        for keyword, limit in setting.get("limits", {}).items()
        if keyword in schema and kw.is_number(schema[keyword]) and schema[keyword] > limit
    ]


@rule(
    "SG254",
    "default-not-scalar",
    PART,
    "default",
    message="{subject} takes a string, number, boolean or null as `default`",
    fix="Leave the default out, and say it in the description.",
    bad='{"type": "object", "properties": {"a": {"type": "array", "items": {"type": "string"}, '
    '"default": []}}, "required": ["a"]}',
    good='{"type": "object", "properties": {"a": {"type": "string", "default": "x"}}, '
    '"required": ["a"]}',
)
def default_not_scalar(schema: dict[str, Any], _: Mapping[str, Any]) -> Findings:
    """A dialect that writes defaults into a prompt or a grammar takes simple ones."""
    return ((("default",), {}),) if isinstance(schema["default"], list | dict) else _NOTHING


_RANGES = (
    ("minimum", "maximum"),
    ("minLength", "maxLength"),
    ("minItems", "maxItems"),
)


@rule(
    "SG257",
    "empty-range",
    PART,
    *(low for low, _ in _RANGES),
    message="`{low}` is greater than `{high}`",
    fix="Correct one of the bounds: no value is between them.",
    bad='{"type": "object", "properties": {"a": {"type": "integer", "minimum": 5, "maximum": 3}}, '
    '"required": ["a"]}',
    good='{"type": "object", "properties": {"a": {"type": "integer", "minimum": 3, "maximum": 5}}, '
    '"required": ["a"]}',
)
def empty_range(schema: dict[str, Any], _: Mapping[str, Any]) -> Findings:
    """No value is valid, so there is nothing that a model could send."""
    return [
        ((low,), {"low": low, "high": high})
        for low, high in _RANGES
        if low in schema
        and kw.is_number(schema[low])
        and kw.is_number(schema.get(high))
        and schema[low] > schema[high]
    ]


@rule(
    "SG258",
    "many-branches",
    PART,
    "anyOf",
    "oneOf",
    "allOf",
    "patternProperties",
    message="{subject} takes at most {limit} members in `{keyword}`{why}",
    fix="Join members, or split the tool.",
    bad="@many-branches",
    good='{"type": "object", "properties": {"a": {"anyOf": [{"type": "string"}]}}, '
    '"required": ["a"], "additionalProperties": false}',
    settings={"limits": "numbers", "type": "text?", "why": "text?"},
)
def many_branches(schema: dict[str, Any], setting: Mapping[str, Any]) -> Findings:
    """Each branch is a copy of the grammar that is tried; providers count them.

    With `type`, it is about schemas that say this type.
    """
    if not _says(schema, setting.get("type")):
        return _NOTHING
    why = f": {setting['why']}" if setting.get("why") else ""
    return [
        ((keyword,), {"keyword": keyword, "limit": limit, "why": why})
        for keyword, limit in setting.get("limits", {}).items()
        if isinstance(schema.get(keyword), list | dict) and len(schema[keyword]) > limit
    ]


@rule(
    "SG259",
    "long-list-of-values",
    PART,
    "enum",
    message="{subject} takes at most {limit} characters in an `enum` of over {entries} strings",
    fix="Shorten the values, use fewer, or accept a string and validate it in the tool.",
    bad="@long-list-of-values",
    good=_object('{"type": "string", "enum": ["x", "y"]}'),
    settings={"entries": "count", "limit": "count"},
)
def long_list_of_values(schema: dict[str, Any], setting: Mapping[str, Any]) -> Findings:
    """A long list of strings is held to fewer characters than a short one."""
    members = schema["enum"]
    entries = setting.get("entries", 0)
    limit = setting.get("limit", 0)
    if members.__class__ is not list or len(members) <= entries:
        return _NOTHING
    length = sum(len(member) for member in members if isinstance(member, str))
    return ((("enum",), {"entries": entries, "limit": limit}),) if length > limit else _NOTHING


@rule(
    "SG264",
    "empty-enum",
    PART,
    "enum",
    message="`enum` has no values",
    fix="List the values, or remove `enum`.",
    bad='{"type": "object", "properties": {"a": {"enum": []}}, "required": ["a"]}',
    good='{"type": "object", "properties": {"a": {"enum": ["x"]}}, "required": ["a"]}',
)
def empty_enum(schema: dict[str, Any], _: Mapping[str, Any]) -> Findings:
    """No value is valid, so there is nothing that a model could send."""
    return ((("enum",), {}),) if schema["enum"] == [] else _NOTHING


@rule(
    "SG265",
    "open-tuple",
    PART,
    "prefixItems",
    message="{subject} takes `prefixItems` with `items: false` alone",
    fix='Add `"items": false`.',
    bad=_object('{"type": "array", "prefixItems": [{"type": "string"}]}'),
    good=_object('{"type": "array", "prefixItems": [{"type": "string"}], "items": false}'),
)
def open_tuple(schema: dict[str, Any], _: Mapping[str, Any]) -> Findings:
    """A tuple that may go on has no end that a grammar could wait for."""
    return _NOTHING if schema.get("items") is False else ((("prefixItems",), {}),)


@rule(
    "SG266",
    "constraints-together",
    PART,
    "pattern",
    "format",
    "minLength",
    "maxLength",
    "patternProperties",
    "propertyNames",
    message="{subject} refuses `{keyword}` beside `{other}`",
    fix="Keep one of the two.",
    bad=_object('{"type": "string", "pattern": "[a-z]+", "maxLength": 3}'),
    good=_object('{"type": "string", "pattern": "[a-z]{1,3}"}'),
    settings={"keywords": "names", "beside": "names", "type": "text?", "fine": "flags?"},
)
def constraints_together(schema: dict[str, Any], setting: Mapping[str, Any]) -> Findings:
    """An engine that compiles one constraint of a value drops the others; a careful one refuses.

    With `type`, it is about schemas that say this type; `fine` has the booleans that what stands
    beside may be.
    """
    if not _says(schema, setting.get("type")):
        return _NOTHING
    fine = setting.get("fine", ())
    beside = [
        name
        for name in setting.get("beside", ())
        if name in schema and not (schema[name].__class__ is bool and schema[name] in fine)
    ]
    return [
        ((keyword,), {"keyword": keyword, "other": beside[0]})
        for keyword in setting.get("keywords", ())
        if beside and keyword in schema
    ]

"""SG421 to SG435: what providers want of objects, arrays and the root."""

from __future__ import annotations

from functools import lru_cache

from schemaguard.rules import PART, TOP, rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    Finding = tuple[tuple[str | int, ...], dict[str, Any]]
    Findings = Sequence[Finding]

_NOTHING: tuple[()] = ()
_HERE: Finding = ((), {})

#: Steps that one name may cost; the names of a profile's patterns take tens.
_STEPS = 100_000
#: A longer name is not searched: no provider takes one.
_LONGEST_NAME = 4_096
_LONGEST_REMEMBERED = 128

_CLOSED = (
    '{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], '
    '"additionalProperties": false}'
)


@rule(
    "SG421",
    "array-without-items",
    PART,
    "type",
    "-items",
    message="an array needs `items` that say what is in it",
    fix="Add `items` with the schema of a member.",
    bad='{"type": "object", "properties": {"a": {"type": "array"}}, "required": ["a"], '
    '"additionalProperties": false}',
    good='{"type": "object", "properties": {"a": {"type": "array", "items": {"type": "string"}}}, '
    '"required": ["a"], "additionalProperties": false}',
)
def array_without_items(schema: dict[str, Any], _: Mapping[str, Any]) -> Findings:
    """Without `items` a model does not know what to put into the array; several APIs refuse it."""
    kind = schema["type"]
    is_array = kind == "array" or (kind.__class__ is list and "array" in kind)
    return (_HERE,) if is_array else _NOTHING


@rule(
    "SG422",
    "property-name-pattern",
    PART,
    "properties",
    message="{subject} takes property names that match {pattern}",
    fix="Rename the property; use letters, digits and `_`, at most 64.",
    bad='{"type": "object", "properties": {"due date": {"type": "string"}}, '
    '"required": ["due date"]}',
    good='{"type": "object", "properties": {"due_date": {"type": "string"}}, '
    '"required": ["due_date"]}',
    settings={"pattern": "pattern"},
)
def property_name_pattern(schema: dict[str, Any], setting: Mapping[str, Any]) -> Findings:
    """One name that does not match fails the request for all of its tools."""
    pattern = setting.get("pattern", "")
    return [
        (("properties", name), {"pattern": pattern})
        for name in _names(schema["properties"])
        if not matches(pattern, name)
    ]


def _names(properties: object) -> list[str]:
    """The names of a map that are names."""
    if not isinstance(properties, dict):
        return []
    return [name for name in properties if isinstance(name, str)]


def matches(pattern: str, name: str) -> bool:
    """Whether a name has a match of a profile's pattern in it; yes where that takes too long."""
    if len(name) > _LONGEST_NAME:
        return False
    return _found(pattern, name) if len(name) > _LONGEST_REMEMBERED else _remembered(pattern, name)


def whole(pattern: str) -> str:
    """The pattern that a name matches which matches another one as a whole."""
    return f"^(?:{pattern})$"


@lru_cache(maxsize=4_096)
def _remembered(pattern: str, name: str) -> bool:
    """`_found`: tools have the same names again and again."""
    return _found(pattern, name)


def _found(pattern: str, name: str) -> bool:
    from schemaguard import searching  # noqa: PLC0415  (few profiles have a pattern for names)

    try:
        return searching.search(pattern, name, searching.Budget(_STEPS))
    except searching.UndecidedError:
        return True


def is_bounded(pattern: str, length: int) -> bool:
    """Whether names of a length are told apart by a pattern, and not given up."""
    from schemaguard import searching  # noqa: PLC0415  (few profiles have a pattern for names)

    try:
        for form in (pattern, whole(pattern)):
            searching.search(form, "a" * length, searching.Budget(_STEPS))
    except searching.UndecidedError:
        return False
    return True


@rule(
    "SG423",
    "reserved-property-name",
    PART,
    "properties",
    message="{subject} does not take a property with the name of a keyword: '{property}'",
    fix="Rename the property.",
    bad='{"type": "object", "properties": {"$ref": {"type": "string"}}, "required": ["$ref"]}',
    good='{"type": "object", "properties": {"ref": {"type": "string"}}, "required": ["ref"]}',
    settings={"names": "names"},
)
def reserved_property_name(schema: dict[str, Any], setting: Mapping[str, Any]) -> Findings:
    """A parser that does not tell names from keywords takes the property for the keyword."""
    reserved = setting.get("names", ())
    return [
        (("properties", name), {"property": name})
        for name in _names(schema["properties"])
        if name in reserved
    ]


@rule(
    "SG424",
    "property-not-required",
    PART,
    "properties",
    message="'{property}' is not in `required`",
    fix="Add '{property}' to `required`; let an optional one be null: "
    '`"type": ["string", "null"]`.',
    bad='{"type": "object", "properties": {"a": {"type": "string"}}, "required": [], '
    '"additionalProperties": false}',
    good=_CLOSED,
)
def property_not_required(schema: dict[str, Any], _: Mapping[str, Any]) -> Findings:
    """Strict mode knows no optional property: each declared name is in `required`."""
    properties = schema["properties"]
    required = schema.get("required", [])
    if properties.__class__ is not dict or required.__class__ is not list:
        return _NOTHING
    if required == list(properties):  # one C comparison; the usual case
        return _NOTHING
    listed = {name for name in required if isinstance(name, str)}
    return [
        (("properties", name), {"property": name})
        for name in _names(properties)
        if name not in listed
    ]


@rule(
    "SG425",
    "required-not-declared",
    PART,
    "required",
    message="`required` names '{property}', which `properties` does not declare",
    fix="Declare '{property}' in `properties`, or remove it from `required`.",
    bad='{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a", "b"], '
    '"additionalProperties": false}',
    good=_CLOSED,
)
def required_not_declared(schema: dict[str, Any], _: Mapping[str, Any]) -> Findings:
    """Legal JSON Schema; an API that looks the names up refuses it."""
    required = schema["required"]
    properties = schema.get("properties", {})
    if required.__class__ is not list or properties.__class__ is not dict:
        return _NOTHING
    if required == list(properties):
        return _NOTHING
    return [
        (("required", index), {"property": name})
        for index, name in enumerate(required)
        if isinstance(name, str) and name not in properties
    ]


@rule(
    "SG426",
    "required-without-properties",
    PART,
    "required",
    "-properties",
    message="`required` is there and `properties` is not",
    fix="Add `properties`, an empty one if there are none.",
    bad='{"type": "object", "required": []}',
    good='{"type": "object", "properties": {}, "required": []}',
)
def required_without_properties(_schema: dict[str, Any], _: Mapping[str, Any]) -> Findings:
    """Generators that find no parameters leave one of the two out; some APIs want both."""
    return ((("required",), {}),)


# -------------------------------------------------------------------------------------------- root


@rule(
    "SG427",
    "nothing-required",
    TOP,
    message="{subject} needs at least one required parameter",
    fix="Make a parameter required.",
    bad='{"type": "object", "properties": {"a": {"type": "string"}}}',
    good='{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}',
)
def nothing_required(schema: Any, _: Mapping[str, Any]) -> Findings:
    """A tool of which everything may be left out can be called with nothing at all."""
    return _NOTHING if schema.__class__ is dict and schema.get("required") else (_HERE,)


@rule(
    "SG431",
    "missing-root-type",
    TOP,
    message="{subject} needs `type: object` at the root",
    fix='Set `"type": "object"` at the root.',
    bad='{"properties": {"a": {"type": "string"}}, "required": ["a"]}',
    good='{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}',
    settings={"instead": "names?"},
)
def missing_root_type(schema: Any, setting: Mapping[str, Any]) -> Findings:
    """Arguments are an object, and the API wants to read that; `instead` has what also says it."""
    if schema.__class__ is dict:
        if "type" in schema or any(name in schema for name in setting.get("instead", ())):
            return _NOTHING
    elif not isinstance(schema, bool):
        return _NOTHING  # no schema at all: another rule's to say
    return (_HERE,)


@rule(
    "SG432",
    "wrong-root-type",
    TOP,
    message="{subject} takes an object at the root, and no other type",
    fix="Make the root an object; put what it was into a property.",
    bad='{"type": "array", "items": {"type": "string"}}',
    good='{"type": "object", "properties": {"a": {"type": "array", "items": {"type": "string"}}}, '
    '"required": ["a"]}',
)
def wrong_root_type(schema: Any, _: Mapping[str, Any]) -> Findings:
    """Arguments are an object, never null, a string or a list."""
    if schema.__class__ is not dict or "type" not in schema:
        return _NOTHING
    return _NOTHING if schema["type"] in ("object", ["object"]) else ((("type",), {}),)


@rule(
    "SG433",
    "root-without-properties",
    TOP,
    message="{subject} needs `properties` at the root, if only an empty one",
    fix="Add `properties: {{}}`.",
    bad='{"type": "object"}',
    good='{"type": "object", "properties": {}, "additionalProperties": false}',
)
def root_without_properties(schema: Any, _: Mapping[str, Any]) -> Findings:
    """A tool without parameters is an object without members, not an object without words."""
    if schema.__class__ is not dict or "properties" in schema or "$ref" in schema:
        return _NOTHING
    return (_HERE,) if schema.get("type") in ("object", ["object"]) else _NOTHING


@rule(
    "SG434",
    "root-branch-not-object",
    TOP,
    message="{subject} takes objects alone as branches of a union at the root",
    fix='Set `"type": "object"` in each branch, or make the root one object.',
    bad='{"anyOf": [{"type": "object", "properties": {"a": {"type": "string"}}}, '
    '{"type": "string"}]}',
    good='{"anyOf": [{"type": "object", "properties": {"a": {"type": "string"}}}]}',
)
def root_branch_not_object(schema: Any, _: Mapping[str, Any]) -> Findings:
    """Arguments are an object whichever branch holds.

    The finding is at the branch; where no branch says object, at the union.
    """
    found: list[Finding] = []
    if schema.__class__ is not dict:
        return found
    for keyword in ("anyOf", "oneOf"):
        branches = schema.get(keyword)
        if branches.__class__ is not list or not branches:
            continue
        others = [
            index
            for index, branch in enumerate(branches)
            if not isinstance(branch, dict)
            or ("$ref" not in branch and branch.get("type") not in ("object", ["object"]))
        ]
        if len(others) == len(branches):
            found.append(((keyword,), {}))
        else:
            found += [((keyword, index), {}) for index in others]
    return found


@rule(
    "SG435",
    "malformed-root-members",
    TOP,
    message="{subject} needs {wanted} as `{keyword}` at the root",
    fix="Write `properties` as an object of schemas, and `required` as an array of their names.",
    bad='{"type": "object", "properties": {"a": {"type": "string"}}, "required": "a"}',
    good='{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}',
)
def malformed_root_members(schema: Any, _: Mapping[str, Any]) -> Findings:
    """A client that reads the root into a type of its own drops every tool of the answer.

    What is below the root it takes as it is: what is malformed there is another rule's to say.
    """
    found: list[Finding] = []
    if schema.__class__ is not dict:
        return found
    if "properties" in schema and schema["properties"].__class__ is not dict:
        found.append((("properties",), {"keyword": "properties", "wanted": "an object"}))
    required = schema.get("required", [])
    if required.__class__ is not list or not all(isinstance(name, str) for name in required):
        found.append((("required",), {"keyword": "required", "wanted": "an array of strings"}))
    return found

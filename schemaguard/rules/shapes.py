"""SG2xx: keywords that a profile does not support, and values that are malformed.

The check of a shape rule says whether the rule speaks for a value that failed its shape: two rules
may share a shape and split it.
"""

from __future__ import annotations

from schemaguard import keywords as kw
from schemaguard.rules import NODE, PRESENCE, SHAPE, rule

CLOSED = '"additionalProperties": false'


@rule(
    "SG201",
    "unsupported-keyword",
    PRESENCE,
    "unsupported",
    message="keyword is not supported in strict schemas",
    fix="Remove `{keyword}`, or say the same with supported keywords.",
    bad='{"type": "object", "properties": {"a": {"type": "array", "uniqueItems": true}}, '
    '"required": ["a"], "additionalProperties": false}',
    good='{"type": "object", "properties": {"a": {"type": "array"}}, '
    '"required": ["a"], "additionalProperties": false}',
)
def unsupported_keyword() -> None:
    """The server refuses the keyword wherever a schema may stand, whatever its value.

    An engine that does not know how to enforce it would otherwise drop it in silence.
    """


@rule(
    "SG202",
    "not-a-schema",
    NODE,
    message="schema must be an object or boolean",
    fix="Put a schema here: an object, `true` or `false`.",
    bad='{"type": "object", "properties": {"a": "string"}, "required": ["a"], '
    '"additionalProperties": false}',
    good='{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], '
    '"additionalProperties": false}',
)
def not_a_schema() -> None:
    """A schema is a JSON object or a boolean; nothing else can be enforced."""


@rule(
    "SG211",
    "malformed-type",
    SHAPE,
    "types",
    message="must be an array of unique strings",
    fix="Give one type name, or an array of different type names.",
    bad='{"type": "object", "properties": {"a": {"type": ["string", "string"]}}, '
    '"required": ["a"], "additionalProperties": false}',
    good='{"type": "object", "properties": {"a": {"type": ["string", "null"]}}, '
    '"required": ["a"], "additionalProperties": false}',
)
def malformed_type(value: object) -> bool:
    """`type` is a name or an array of different names (JSON Schema validation, section 6.1.1)."""
    return not isinstance(value, str) and not kw.is_unique_strings(value)


@rule(
    "SG212",
    "unknown-type",
    SHAPE,
    "types",
    message="must contain recognized, unique JSON Schema type names",
    fix="Use null, boolean, object, array, number, integer or string.",
    bad='{"type": "object", "properties": {"a": {"type": "dict"}}, "required": ["a"], '
    '"additionalProperties": false}',
    good='{"type": "object", "properties": {"a": {"type": "object", "additionalProperties": false}}'
    ', "required": ["a"], "additionalProperties": false}',
)
def unknown_type(value: object) -> bool:
    """There are seven type names. Engines have crashed, and one evaluated code, on an eighth."""
    return not malformed_type.check(value)


@rule(
    "SG213",
    "not-unique-strings",
    SHAPE,
    "unique-strings",
    message="must be an array of unique strings",
    fix="List each name once.",
    bad='{"type": "object", "properties": {"a": {"type": "string", "required": true}}, '
    '"required": ["a"], "additionalProperties": false}',
    good='{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], '
    '"additionalProperties": false}',
)
def not_unique_strings(_value: object) -> bool:
    """`required` is an array of different names; the boolean of draft 3 means nothing today."""
    return True


@rule(
    "SG214",
    "not-an-array",
    SHAPE,
    "array",
    message="must be an array",
    fix="Give a JSON array.",
    bad='{"type": "object", "properties": {"a": {"enum": "x"}}, "required": ["a"], '
    '"additionalProperties": false}',
    good='{"type": "object", "properties": {"a": {"enum": ["x"]}}, "required": ["a"], '
    '"additionalProperties": false}',
)
def not_an_array(_value: object) -> bool:
    """`enum` is an array of values."""
    return True


@rule(
    "SG215",
    "not-a-string",
    SHAPE,
    "string",
    message="must be a string",
    fix="Give a JSON string.",
    bad='{"type": "object", "properties": {"a": {"type": "string", "format": true}}, '
    '"required": ["a"], "additionalProperties": false}',
    good='{"type": "object", "properties": {"a": {"type": "string", "format": "date"}}, '
    '"required": ["a"], "additionalProperties": false}',
)
def not_a_string(_value: object) -> bool:
    """`$ref`, `pattern` and `format` are strings."""
    return True


@rule(
    "SG216",
    "not-a-number",
    SHAPE,
    "number",
    "positive-number",
    message="must be numeric",
    fix="Give a JSON number; a draft-4 boolean bound becomes the number itself.",
    bad='{"type": "object", "properties": {"a": {"type": "integer", "exclusiveMinimum": true}}, '
    '"required": ["a"], "additionalProperties": false}',
    good='{"type": "object", "properties": {"a": {"type": "integer", "exclusiveMinimum": 0}}, '
    '"required": ["a"], "additionalProperties": false}',
)
def not_a_number(value: object) -> bool:
    """A bound is a number since draft 6; `exclusiveMinimum: true` bounds nothing."""
    return not kw.is_number(value)


@rule(
    "SG217",
    "not-positive",
    SHAPE,
    "positive-number",
    message="must be positive",
    fix="Give a number greater than 0.",
    bad='{"type": "object", "properties": {"a": {"type": "integer", "multipleOf": 0}}, '
    '"required": ["a"], "additionalProperties": false}',
    good='{"type": "object", "properties": {"a": {"type": "integer", "multipleOf": 5}}, '
    '"required": ["a"], "additionalProperties": false}',
)
def not_positive(value: object) -> bool:
    """Nothing is a multiple of zero or of a negative step."""
    return kw.is_number(value)


@rule(
    "SG218",
    "not-a-count",
    SHAPE,
    "count",
    message="must be a nonnegative integer",
    fix="Give an integer of 0 or more.",
    bad='{"type": "object", "properties": {"a": {"type": "string", "maxLength": -1}}, '
    '"required": ["a"], "additionalProperties": false}',
    good='{"type": "object", "properties": {"a": {"type": "string", "maxLength": 10}}, '
    '"required": ["a"], "additionalProperties": false}',
)
def not_a_count(_value: object) -> bool:
    """Lengths and counts are nonnegative integers; engines read -1 as "no limit" in silence."""
    return True


@rule(
    "SG219",
    "not-a-schema-map",
    SHAPE,
    "map",
    message="must be a map of schemas",
    fix="Give a JSON object whose members are schemas.",
    bad='{"type": "object", "additionalProperties": false, "$defs": ["a"]}',
    good='{"type": "object", "additionalProperties": false, "$defs": {"a": {"type": "string"}}}',
)
def not_a_schema_map(_value: object) -> bool:
    """`properties` and its like map names to schemas."""
    return True


@rule(
    "SG220",
    "not-a-schema-array",
    SHAPE,
    "nonempty-array",
    "items",
    message="must be a nonempty array of schemas",
    fix="List at least one schema, or remove the keyword.",
    bad='{"type": "object", "properties": {"a": {"anyOf": []}}, "required": ["a"], '
    '"additionalProperties": false}',
    good='{"type": "object", "properties": {"a": {"anyOf": [{"type": "string"}]}}, '
    '"required": ["a"], "additionalProperties": false}',
)
def not_a_schema_array(_value: object) -> bool:
    """An empty `anyOf` accepts nothing, and an engine that compiles it emits nothing."""
    return True


@rule(
    "SG221",
    "malformed-dependencies",
    SHAPE,
    "dependencies",
    message="must be a map of schemas or property dependencies",
    fix="Map each name to a schema or to an array of different names.",
    bad='{"type": "object", "additionalProperties": false, "dependencies": ["a", "b"]}',
    good='{"type": "object", "additionalProperties": false, "dependencies": {"a": ["b"]}}',
)
def malformed_dependencies(_value: object) -> bool:
    """The old `dependencies` maps a name to a schema or to the names that it needs."""
    return True

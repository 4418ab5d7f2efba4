"""SG4xx: objects and the root.

The check of an object rule gets the schema and yields `(tokens, data)`: where below the object, and
what fills the message. It returns an empty tuple when there is nothing to say, which is what the
walk asks first; `required` and `properties` may be malformed, which is another rule's to say.
"""

from __future__ import annotations

from schemaguard import keywords as kw
from schemaguard.rules import OBJECT, ROOT, rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    Finding = tuple[tuple[str, ...], dict[str, Any]]

_NOTHING: tuple[()] = ()
_HERE: Finding = ((), {})


@rule(
    "SG401",
    "open-object",
    OBJECT,
    message="object schemas require additionalProperties: false",
    fix='Add `"additionalProperties": false`.',
    bad='{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}',
    good='{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], '
    '"additionalProperties": false}',
)
def open_object(schema: dict[str, Any]) -> Sequence[Finding]:
    """A strict object is closed by the literal `false`.

    An object that is left open lets the model invent arguments that the tool does not know.
    """
    return _NOTHING if schema.get("additionalProperties") is False else (_HERE,)


@rule(
    "SG402",
    "optional-property",
    OBJECT,
    "members",
    message="must include property '{property}'",
    fix="Add '{property}' to `required`; let an optional one be null: "
    '`"type": ["string", "null"]`.',
    bad='{"type": "object", "properties": {"a": {"type": "string"}}, "required": [], '
    '"additionalProperties": false}',
    good='{"type": "object", "properties": {"a": {"type": ["string", "null"]}}, '
    '"required": ["a"], "additionalProperties": false}',
)
def optional_property(schema: dict[str, Any]) -> Sequence[Finding]:
    """Strict mode knows no optional property: each declared name is in `required`.

    What may be absent is said with a union with null, so that the grammar stays small.
    """
    properties = schema.get("properties")
    required = schema.get("required")
    if properties.__class__ is not dict:
        return _NOTHING
    if required is None and "required" not in schema:
        required = []
    if required == list(properties):  # one C comparison; the usual case
        return _NOTHING
    if not isinstance(required, list) or not kw.is_unique_strings(required):
        return _NOTHING
    missing = [name for name in properties.keys() - set(required) if isinstance(name, str)]
    return [(("required",), {"property": name}) for name in sorted(missing)]


@rule(
    "SG403",
    "undeclared-required",
    OBJECT,
    "members",
    message="unknown property '{property}' in a closed object",
    fix="Declare '{property}' in `properties`, or remove it from `required`.",
    bad='{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a", "b"], '
    '"additionalProperties": false}',
    good='{"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}, '
    '"required": ["a", "b"], "additionalProperties": false}',
)
def undeclared_required(schema: dict[str, Any]) -> Sequence[Finding]:
    """A closed object can never have the name that it requires: no instance is valid."""
    required = schema.get("required")
    properties = schema.get("properties", {})
    if not required or schema.get("patternProperties", {}) != {}:
        return _NOTHING
    if properties.__class__ is not dict or required == list(properties):
        return _NOTHING
    if not kw.is_unique_strings(required):
        return _NOTHING
    extra = set(required) - properties.keys()
    return [(("required",), {"property": name}) for name in sorted(extra)]


@rule(
    "SG411",
    "root-any-of",
    ROOT,
    message="root must not use anyOf",
    fix="Make the root one object; move the alternatives into a property.",
    bad='{"type": "object", "additionalProperties": false, "anyOf": [true]}',
    good='{"type": "object", "additionalProperties": false}',
)
def root_any_of() -> None:
    """Arguments are one object; a union at the root has no fixed set of names."""


@rule(
    "SG412",
    "root-not-object",
    ROOT,
    message="root must have object-only type",
    fix='Set `"type": "object"` at the root.',
    bad='{"type": ["object", "null"], "additionalProperties": false}',
    good='{"type": "object", "additionalProperties": false}',
)
def root_not_object() -> None:
    """Arguments are an object, never null, a string or a list."""


@rule(
    "SG413",
    "root-untyped",
    ROOT,
    message="unsupported root representation: {subject} requires an object-only type or "
    "local-reference chain",
    fix='Set `"type": "object"` at the root, or on the schema that the root refers to.',
    bad="{}",
    good='{"type": "object", "additionalProperties": false}',
)
def root_untyped() -> None:
    """Without a type at the root nothing says that the arguments are an object."""

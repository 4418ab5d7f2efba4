"""A JSON Schema by itself: how sure a JSON object is one.

The words of JSON Schema are everyday words: a `package.json` has `dependencies`, a request to
Ollama a `format`, a page of results `items`, a config file a `$schema` that it obeys and is not. So
a single word is proof only with a value that it has nowhere else; words that prove nothing by
themselves still do when all the others are JSON Schema's, too.
"""

from __future__ import annotations

from schemaguard.keywords import KEYWORDS, TYPE_NAMES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

#: Annotations: they fit a schema, but say nothing about whether it is one.
_ANNOTATIONS = frozenset(
    {
        "title",
        "description",
        "default",
        "example",
        "examples",
        "deprecated",
        "readOnly",
        "writeOnly",
        "$comment",
        "$schema",
        "id",
    }
)

#: Keywords that have no row in the table of keywords; OpenAPI's and Gemini's dialects included.
_OTHER_KEYWORDS = frozenset(
    {
        "$id",
        "$anchor",
        "$dynamicAnchor",
        "$dynamicRef",
        "$recursiveAnchor",
        "$recursiveRef",
        "$vocabulary",
        "contentEncoding",
        "contentMediaType",
        "dependentRequired",
        "discriminator",
        "disallow",
        "divisibleBy",
        "extends",
        "externalDocs",
        "nullable",
        "propertyOrdering",
        "uniqueItems",
        "xml",
    }
)

_LONGEST_TYPE_NAME = 7


def _is_type_name(value: object) -> bool:
    """A type name; Gemini writes them in capitals."""
    return (
        value.__class__ is str and len(value) <= _LONGEST_TYPE_NAME and value.lower() in TYPE_NAMES
    )


def _is_type(value: Any) -> bool:
    return _is_type_name(value) or (value.__class__ is list and any(map(_is_type_name, value)))


def _is_dialect(value: Any) -> bool:
    """The `$schema` of a schema. That of a configuration file names the schema it obeys."""
    return value.__class__ is str and "json-schema.org/" in value[:64]


def _is_string(value: Any) -> bool:
    return value.__class__ is str


def _is_list(value: Any) -> bool:
    return value.__class__ is list


def is_schema_value(value: Any) -> bool:
    """Whether the value has the type of a schema."""
    return value.__class__ is dict or value.__class__ is bool


def _is_map(value: Any) -> bool:
    return value.__class__ is dict and (not value or any(map(is_schema_value, value.values())))


def _is_schemas(value: Any) -> bool:
    return value.__class__ is list and any(map(is_schema_value, value))


#: The commonest first.
_PROOF: dict[str, Callable[[Any], bool]] = {
    "type": _is_type,
    "properties": _is_map,
    "$schema": _is_dialect,
    "patternProperties": _is_map,
    "$defs": _is_map,
    "definitions": _is_map,
    "anyOf": _is_schemas,
    "oneOf": _is_schemas,
    "allOf": _is_schemas,
    "prefixItems": _is_schemas,
    "additionalProperties": is_schema_value,
    "unevaluatedProperties": is_schema_value,
    "propertyNames": is_schema_value,
    "$ref": _is_string,
    "$dynamicRef": _is_string,
    "$recursiveRef": _is_string,
    "enum": _is_list,
}


def is_strong(value: dict[str, Any]) -> bool:
    """A keyword has a value that it has in schemas only."""
    return any(key in value and is_proof(value[key]) for key, is_proof in _PROOF.items())


def is_weak(value: dict[str, Any]) -> bool:
    """All members are words of JSON Schema (or `x-…`), and one is more than an annotation."""
    said = False
    for key in value:
        if key in KEYWORDS or key in _OTHER_KEYWORDS:
            said = True
        elif key not in _ANNOTATIONS and not (key.__class__ is str and key.startswith("x-")):
            return False
    return said

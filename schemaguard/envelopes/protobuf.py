"""Schemas in the spelling of Protocol Buffers, as Google's own libraries write them.

Gemini's `Schema` message has `"type": "OBJECT"` where JSON Schema has `"object"`, and the names of
its fields may be in snake case (`any_of`); 64-bit numbers may be strings (`"minItems": "1"`). Both
spellings mean the same to the API. Here one becomes the other, so that profiles know one alone.

Source: google-genai 3.6.1, `types.Schema` and what its client sends, 2026-12-01.
"""

from __future__ import annotations

from schemaguard.keywords import TYPE_NAMES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: Field in snake case → as JSON has it.
CAMEL = {
    "any_of": "anyOf",
    "additional_properties": "additionalProperties",
    "max_items": "maxItems",
    "max_length": "maxLength",
    "max_properties": "maxProperties",
    "min_items": "minItems",
    "min_length": "minLength",
    "min_properties": "minProperties",
    "property_ordering": "propertyOrdering",
}
_SNAKE = {camel: snake for snake, camel in CAMEL.items()}
_TYPES = {name.upper(): name for name in TYPE_NAMES}
_COUNTS = frozenset(
    ("minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties")
)
#: Digits of a 64-bit number.
_MOST_DIGITS = 19


def translated(schema: Any) -> Any:
    """The schema in the spelling of JSON Schema: a copy, or itself where nothing is spelled so.

    Parts that are shared, or contain themselves, are so in the copy, too.
    """
    copies: dict[int, dict[str, Any]] = {}
    differs = False
    stack: list[tuple[dict[str, Any], dict[str, Any]]] = []

    def copy_of(part: Any) -> Any:
        if part.__class__ is not dict:
            return part
        made = copies.get(id(part))
        if made is None:
            made = copies[id(part)] = {}
            stack.append((part, made))
        return made

    root = copy_of(schema)
    while stack:
        part, made = stack.pop()
        for key, value in part.items():
            name = CAMEL.get(key, key)
            if name != key and name in part:
                name = key  # both are there: leave it, for the profile to say
            if name == "type" and value.__class__ is str and value in _TYPES:
                new: Any = _TYPES[value]
            elif name in _COUNTS and _is_number(value):
                new = int(value)
            elif name == "properties" and value.__class__ is dict:
                new = {inner: copy_of(member) for inner, member in value.items()}
            elif name == "anyOf" and value.__class__ is list:
                new = [copy_of(member) for member in value]
            elif name in ("items", "additionalProperties"):
                new = copy_of(value)
            else:
                new = value
            made[name] = new
            if name != key or (name in ("type", *_COUNTS) and new is not value):
                differs = True
    return root if differs else schema


def _is_number(value: object) -> bool:
    if not isinstance(value, str) or len(value) > _MOST_DIGITS:
        return False
    return value.isascii() and value.isdigit()


def spelled(schema: Any, tokens: tuple[str, ...]) -> list[str]:
    """Steps into the translated schema, as the schema itself has them."""
    steps = []
    for token in tokens:
        name = token
        if schema.__class__ is dict:
            if token not in schema and _SNAKE.get(token) in schema:
                name = _SNAKE[token]
            schema = schema.get(name)
        elif schema.__class__ is list and token.isdigit() and int(token) < len(schema):
            schema = schema[int(token)]
        else:
            schema = None
        steps.append(name)
    return steps

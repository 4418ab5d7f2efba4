"""What a description says of a keyword that is dropped: whole sentences, which a model reads.

A model knows nothing of the keyword that was there, nor of others that are dropped with it, so
each sentence can be understood by itself.
"""

from __future__ import annotations

from schemaguard import keywords as kw
from schemaguard.data import dumps
from schemaguard.errors import counted, cut, printable
from schemaguard.fix.rewrites.base import quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from schemaguard.fix.draft import Schema

#: Characters of a value that a description quotes.
_SHOWN = 200
#: Members of a map that get a sentence each; of more, the map is quoted.
_SPELT_OUT = 4

#: Keywords that say something only together, and go together.
_CONDITION = ("if", "then", "else")
_CONTAINS = ("contains", "minContains", "maxContains")
TOGETHER = {
    "contains": _CONTAINS,
    **dict.fromkeys(_CONDITION, _CONDITION),
}

_OTHERS_MATCH = "Other members must match this JSON Schema:"
_OTHERS_FREE = "Other members may be anything."
_OTHERS_BUT = "Other members, whose names do not match"
_NAMES_MATCH = "Members whose names match"
#: With one of these in its description, an object has a use for names that it does not declare.
OF_OTHER_NAMES = (_OTHERS_MATCH, _OTHERS_FREE, _OTHERS_BUT, _NAMES_MATCH)

EXACTLY_ONE = "Exactly one of the alternatives must hold."


def sentence(schema: Schema, keyword: str) -> str:
    """What a schema says with a keyword, and with those of `TOGETHER`."""
    value = schema[keyword]
    if keyword in _CONDITION:
        return _of_condition(schema)
    if keyword == "contains":
        return _of_contains(schema)
    if keyword == "additionalProperties":
        return _others(value, schema.get("patternProperties"))
    if keyword in _COUNTS and kw.is_count(value):
        return _COUNTS[keyword](int(value))
    if keyword in _BOUNDS and kw.is_number(value):
        return f"Must be {_BOUNDS[keyword]} {_json(value)}."
    if keyword in _TEXTS and isinstance(value, str) and value:
        return f"{_TEXTS[keyword].format(printable(cut(value, _SHOWN)))}"
    if keyword in _LISTS and value.__class__ is list and value:
        # Shortened as a whole: a list is as long as it likes.
        return f"{_LISTS[keyword]} {_json(value)[1:].removesuffix(']')}."
    if keyword in _MAPS and value.__class__ is dict:
        return _of_map(keyword, value)
    if keyword in ("minContains", "maxContains") and kw.is_count(value):
        least = "At least" if keyword == "minContains" else "At most"
        return f"{least} {counted(int(value), 'item')} must match {_schema(schema['contains'])}."
    if keyword in _SCHEMAS:
        return _SCHEMAS[keyword](value)
    if keyword in _VALUES:
        return _VALUES[keyword].format(_json(value))
    return f"{printable(cut(keyword, _SHOWN))}: {_json(value)}."


def _json(value: Any) -> str:
    return printable(cut(dumps(value, _MOST) or "a large value", _SHOWN))


_MOST = 10_000


def _schema(value: Any) -> str:
    return f"this JSON Schema: {_json(value)}"


def _of_condition(schema: Schema) -> str:
    said = f"If it matches {_schema(schema['if'])}"
    if "then" in schema:
        said += f", then it must match {_schema(schema['then'])}"
    if "else" in schema:
        said += f"{';' if 'then' in schema else ','} otherwise it must match "
        if "then" not in schema:
            said = f"If it does not match {_schema(schema['if'])}, it must match "
        said += _schema(schema["else"])
    return said + "."


def _of_contains(schema: Schema) -> str:
    least, most = schema.get("minContains", 1), schema.get("maxContains")
    if not kw.is_count(least) or not (most is None or kw.is_count(most)):
        least, most = 1, None
    matching = f"must match {_schema(schema['contains'])}."
    if most is None:
        return f"At least {counted(int(least), 'item')} {matching}"
    if not least:
        return f"At most {counted(int(most), 'item')} may match {_schema(schema['contains'])}."
    return f"At least {int(least):,} and at most {counted(int(most), 'item')} {matching}"


def _of_map(keyword: str, value: dict[str, Any]) -> str:
    if not 0 < len(value) <= _SPELT_OUT:
        return f"{_MAPS[keyword]} {_json(value)}."
    if keyword == "patternProperties":
        return " ".join(_of_pattern(pattern, held) for pattern, held in value.items())
    return " ".join(_of_dependency(name, held) for name, held in value.items())


def _of_pattern(pattern: str, held: Any) -> str:
    shown = printable(quoted(pattern))
    if held is False:
        return f"No name of a member may match the regular expression {shown}."
    free = held is True or held == {}
    told = "may be anything" if free else f"must match {_schema(held)}"
    return f"{_NAMES_MATCH} the regular expression {shown} {told}."


def _of_dependency(name: str, held: Any) -> str:
    start = f"If {printable(quoted(name))} is there,"
    if held.__class__ is list:
        others = [printable(quoted(other)) for other in held]
        shown = ", ".join(others[:_SPELT_OUT])
        if len(others) > _SPELT_OUT:
            shown += f" and {len(others) - _SPELT_OUT} more"
        return f"{start} so must be {shown}."
    if held is False:
        return f"{printable(quoted(name))} must not be there."
    return f"{start} the object must match {_schema(held)}."


def _others(value: Any, patterns: Any = None) -> str:
    """What members are that neither `properties` nor `patternProperties` speaks of."""
    if value is False:
        return "No other members."
    free = value is True or value == {}
    if patterns.__class__ is dict and patterns:
        told = "may be anything" if free else f"must match {_schema(value)}"
        shown = " or ".join(printable(quoted(pattern)) for pattern in list(patterns)[:_SPELT_OUT])
        return f"{_OTHERS_BUT} {shown}, {told}."
    return _OTHERS_FREE if free else f"{_OTHERS_MATCH} {_json(value)}."


def _other_items(value: Any) -> str:
    if value is False:
        return "No other items."
    if value is True or value == {}:
        return "Other items may be anything."
    return f"Other items must match {_schema(value)}."


def _of_names(value: Any) -> str:
    if value is False:
        return "No members."
    pattern = value.get("pattern") if value.__class__ is dict and len(value) == 1 else None
    if isinstance(pattern, str):
        shown = printable(cut(pattern, _SHOWN))
        return f"Names of members must match the regular expression `{shown}`."
    return f"Names of members must match {_schema(value)}."


def _unique(value: Any) -> str:
    return "Items must be unique." if value is True else f"uniqueItems: {_json(value)}."


_COUNTS: dict[str, Callable[[int], str]] = {
    "minLength": lambda n: f"At least {counted(n, 'character')}.",
    "maxLength": lambda n: f"At most {counted(n, 'character')}.",
    "minItems": lambda n: f"At least {counted(n, 'item')}.",
    "maxItems": lambda n: f"At most {counted(n, 'item')}." if n else "No items.",
    "minProperties": lambda n: f"At least {counted(n, 'member')}.",
    "maxProperties": lambda n: f"At most {counted(n, 'member')}." if n else "No members.",
}
_BOUNDS = {
    "multipleOf": "a multiple of",
    "minimum": "at least",
    "maximum": "at most",
    "exclusiveMinimum": "greater than",
    "exclusiveMaximum": "less than",
}
#: Of strings: as they are, for a model would read the escapes of JSON as part of them.
_TEXTS = {
    "pattern": "Must match the regular expression `{}`.",
    "format": "Format: {}.",
    "title": "Title: {}.",
    "contentEncoding": "Encoded as {}.",
    "contentMediaType": "Of the media type {}.",
}
_LISTS = {"enum": "Must be one of:", "examples": "Examples:"}
_MAPS = {
    "patternProperties": "Members, by a regular expression that their names match:",
    "dependentRequired": "Members that must be there with others:",
    "dependentSchemas": "What the object must match where a member is there:",
    "dependencies": "What must hold where a member is there:",
}
_SCHEMAS: dict[str, Callable[[Any], str]] = {
    "uniqueItems": _unique,
    "not": lambda value: f"Must not match {_schema(value)}.",
    "anyOf": lambda value: f"Must match at least one of these JSON Schemas: {_json(value)}.",
    "propertyNames": _of_names,
    "unevaluatedItems": _other_items,
    "unevaluatedProperties": _others,
}
_VALUES = {
    "const": "Must be {}.",
    "default": "Default: {}.",
    "example": "Example: {}.",
    "examples": "Examples: {}.",
}
#: Keywords of JSON Schema that there is a sentence for.
SPOKEN = frozenset(
    (
        *_COUNTS,
        *_BOUNDS,
        *_TEXTS,
        *_LISTS,
        *_MAPS,
        *_SCHEMAS,
        *_VALUES,
        *_CONDITION,
        *_CONTAINS,
        "additionalProperties",
    )
)

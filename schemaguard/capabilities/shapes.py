"""Schemas of the catalogue that are written out, and the names and values that it goes through."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_DRAFT_7 = "http://json-schema.org/draft-07/schema#"

_INTEGER: dict[str, Any] = {"type": "integer"}
_STRING: dict[str, Any] = {"type": "string"}

#: Names of formats: those of the specifications, of OpenAPI, and one that nobody knows.
FORMATS = (
    *("date", "time", "date-time", "duration", "email", "idn-email", "hostname", "idn-hostname"),
    *("ipv4", "ipv6", "uri", "uri-reference", "iri", "iri-reference", "uri-template", "uuid"),
    *("json-pointer", "relative-json-pointer", "regex", "color"),
)

#: What patterns are made of.
PATTERNS = {
    "anchored": "^a+$",
    "unanchored": "a",
    "begins": "^a",
    "ends": "a$",
    "class": "^[a-z0-9_]{2,8}$",
    "negated class": "^[^a]+$",
    "alternatives": "^(a|b)$",
    "top alternatives": "^a|b$",
    "dot": "^.+$",
    "digit": r"^\d{3}$",
    "word": r"^\w+$",
    "space": r"^a\sb$",
    "boundary": r"\bab\b",
    "lookahead": "^(?=a)[a-z]+$",
    "negative lookahead": "^(?!a)[a-z]+$",
    "backreference": r"^(a|b)\1$",
    "lazy": "^a+?$",
    "unicode class": r"^\p{L}+$",
    "unicode escape": r"^\u0041+$",
    "quote": '^"+$',
}


def _object(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


#: What depends on the values of more than one keyword, or on those of a whole branch.
SHAPES: dict[str, Any] = {
    # Alternatives.
    "anyOf disjoint types": {"anyOf": [_INTEGER, _STRING]},
    "anyOf overlapping": {"anyOf": [{"type": "integer", "maximum": 5}, {"type": "number"}]},
    "anyOf nullable": {"anyOf": [{"type": "string", "pattern": "^a$"}, {"type": "null"}]},
    "anyOf false branch": {"anyOf": [_INTEGER, False]},
    "anyOf true branch": {"anyOf": [_INTEGER, True]},
    "anyOf untyped branch": {"type": "integer", "anyOf": [{"minimum": 5}, {"maximum": 0}]},
    "oneOf disjoint types": {"oneOf": [_INTEGER, _STRING]},
    "oneOf disjoint constants": {"oneOf": [{"const": "a"}, {"const": "b"}]},
    "oneOf disjoint lists": {"oneOf": [{"enum": ["a", "b"]}, {"enum": ["c", 1]}]},
    "oneOf same constant": {"oneOf": [{"enum": ["a", "b"]}, {"enum": ["b", "c"]}]},
    "oneOf constant discriminator": {
        "oneOf": [
            _object(kind={"const": "a"}, value=_INTEGER),
            _object(kind={"const": "b"}, value=_STRING),
        ]
    },
    "oneOf enum discriminator": {
        "oneOf": [
            _object(kind={"enum": ["a", "b"]}, value=_INTEGER),
            _object(kind={"enum": ["c"]}, value=_STRING),
        ]
    },
    "oneOf optional discriminator": {
        "oneOf": [
            {"type": "object", "properties": {"kind": {"const": "a"}, "x": _INTEGER}},
            {"type": "object", "properties": {"kind": {"const": "b"}, "x": _INTEGER}},
        ]
    },
    "oneOf disjoint names": {"oneOf": [_object(a=_INTEGER), _object(b=_INTEGER)]},
    "oneOf disjoint ranges": {
        "oneOf": [{"type": "integer", "maximum": 3}, {"type": "integer", "minimum": 7}]
    },
    "oneOf overlapping ranges": {
        "oneOf": [{"type": "integer", "maximum": 7}, {"type": "integer", "minimum": 3}]
    },
    "oneOf number and integer": {"oneOf": [{"type": "number"}, _INTEGER]},
    "oneOf overlapping objects": {
        "oneOf": [
            {"type": "object", "properties": {"a": _INTEGER}, "required": ["a"]},
            {"type": "object", "properties": {"b": _INTEGER}, "required": ["b"]},
        ]
    },
    "oneOf one branch": {"oneOf": [_INTEGER]},
    "allOf one branch": {"allOf": [_INTEGER]},
    "allOf two branches": {"allOf": [{"type": "integer"}, {"minimum": 3}]},
    "allOf two objects": {
        "allOf": [
            {"type": "object", "properties": {"a": _INTEGER}, "required": ["a"]},
            {"type": "object", "properties": {"b": _STRING}, "required": ["b"]},
        ]
    },
    "allOf and an empty branch": {"allOf": [_INTEGER, {}]},
    "allOf three branches": {"allOf": [_INTEGER, {"minimum": 3}, {"maximum": 9}]},
    "allOf empty": {"type": "integer", "allOf": []},
    "not type": {"not": _STRING},
    "not required": {"type": "object", "not": {"required": ["a"]}},
    "if then": {
        "type": "object",
        "properties": {"a": {"type": "boolean"}},
        "if": {"required": ["a"]},
        "then": {"required": ["b"]},
    },
    "if then else": {
        "type": "integer",
        "if": {"minimum": 5},
        "then": {"maximum": 9},
        "else": {"minimum": 2},
    },
    # References.
    "$ref local": {"$ref": "#/$defs/d", "$defs": {"d": _INTEGER}},
    "$ref definitions": {"$ref": "#/definitions/d", "definitions": {"d": _INTEGER}},
    "$ref property": {
        "type": "object",
        "properties": {"a": _INTEGER, "b": {"$ref": "#/properties/a"}},
    },
    "$ref escaped": {"$ref": "#/$defs/a~1b", "$defs": {"a/b": _INTEGER}},
    "$ref percent": {"$ref": "#/$defs/a%20b", "$defs": {"a b": _INTEGER}},
    "$ref index": {"$ref": "#/$defs/d/anyOf/0", "$defs": {"d": {"anyOf": [_INTEGER, _STRING]}}},
    "$ref chain": {"$ref": "#/$defs/d", "$defs": {"d": {"$ref": "#/$defs/e"}, "e": _INTEGER}},
    "$ref recursive": {
        "$ref": "#/$defs/d",
        "$defs": {"d": _object(v=_INTEGER, n={"anyOf": [{"$ref": "#/$defs/d"}, {"type": "null"}]})},
    },
    # Objects.
    "object open": {"type": "object", "properties": {"a": _INTEGER}},
    "object empty": {"type": "object"},
    "object closed": {
        "type": "object",
        "properties": {"a": _INTEGER},
        "additionalProperties": False,
    },
    "object additional true": {
        "type": "object",
        "properties": {"a": _INTEGER},
        "additionalProperties": True,
    },
    "object additional schema": {
        "type": "object",
        "properties": {"a": _INTEGER},
        "additionalProperties": _STRING,
    },
    "object map": {"type": "object", "additionalProperties": _INTEGER},
    "object additional schema required": {
        "type": "object",
        "properties": {"a": _INTEGER},
        "required": ["a"],
        "additionalProperties": _STRING,
    },
    "object required undeclared": {
        "type": "object",
        "properties": {"a": _INTEGER},
        "required": ["a", "b"],
    },
    "object required undeclared open": {
        "type": "object",
        "properties": {"a": _INTEGER},
        "required": ["b"],
        "additionalProperties": True,
    },
    "object optional": {
        "type": "object",
        "properties": {"a": _INTEGER, "b": _INTEGER, "c": _INTEGER},
        "required": ["b"],
        "additionalProperties": False,
    },
    "object property true": {"type": "object", "properties": {"a": True}, "required": ["a"]},
    "object property false": {"type": "object", "properties": {"a": False, "b": _INTEGER}},
    "object patternProperties two": {
        "type": "object",
        "patternProperties": {"^a": _INTEGER, "^b": _STRING},
        "additionalProperties": False,
    },
    "object patternProperties closed": {
        "type": "object",
        "patternProperties": {"^a": _INTEGER},
        "additionalProperties": False,
    },
    "object patternProperties unanchored": {
        "type": "object",
        "patternProperties": {"a": _INTEGER},
        "additionalProperties": False,
    },
    "object propertyNames pattern": {
        "type": "object",
        "propertyNames": {"pattern": "^[a-c]+$"},
        "additionalProperties": _INTEGER,
    },
    "object propertyNames enum": {
        "type": "object",
        "propertyNames": {"enum": ["a", "b"]},
        "additionalProperties": _INTEGER,
    },
    "object propertyNames and properties": {
        "type": "object",
        "properties": {"abc": _INTEGER},
        "propertyNames": {"maxLength": 3},
        "additionalProperties": _INTEGER,
    },
    "object counted map": {
        "type": "object",
        "additionalProperties": _INTEGER,
        "minProperties": 2,
        "maxProperties": 3,
    },
    "object counted properties": {
        "type": "object",
        "properties": {"a": _INTEGER, "b": _INTEGER, "c": _INTEGER},
        "minProperties": 1,
        "maxProperties": 2,
        "additionalProperties": False,
    },
    # Arrays.
    "array open": {"type": "array"},
    "array any items": {"type": "array", "items": {}},
    "array no items": {"type": "array", "items": False},
    "array tuple": {"type": "array", "prefixItems": [_INTEGER, _STRING]},
    "array tuple closed": {"type": "array", "prefixItems": [_INTEGER, _STRING], "items": False},
    "array tuple counted": {
        "type": "array",
        "prefixItems": [_INTEGER, _STRING],
        "minItems": 2,
        "maxItems": 2,
    },
    "array tuple and items": {
        "type": "array",
        "prefixItems": [_INTEGER],
        "items": _STRING,
        "minItems": 1,
    },
    "array tuple with true": {"type": "array", "prefixItems": [True, _INTEGER]},
    "array tuple of draft 7": {"$schema": _DRAFT_7, "type": "array", "items": [_INTEGER, _STRING]},
    "array tuple and additionalItems": {
        "$schema": _DRAFT_7,
        "type": "array",
        "items": [_INTEGER],
        "additionalItems": _STRING,
    },
    "array counted items": {"type": "array", "items": _INTEGER, "minItems": 2, "maxItems": 3},
    "array of enum": {"type": "array", "items": {"enum": ["a", "b"]}, "uniqueItems": True},
    # Scalars.
    "string": {"type": "string", "minLength": 1, "maxLength": 4},
    "string length fixed": {"type": "string", "minLength": 3, "maxLength": 3},
    "integer range": {"type": "integer", "minimum": -3, "maximum": 30},
    "integer negative": {"type": "integer", "maximum": -2},
    "integer exclusive range": {"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 9},
    "integer fractional bound": {"type": "integer", "minimum": 1.5},
    "integer whole float bound": {"type": "integer", "minimum": 2.0},
    "integer beyond 64 bits": {"type": "integer", "maximum": 18446744073709551615},
    "integer 64 bits": {"type": "integer", "maximum": 9223372036854775807},
    "number range": {"type": "number", "minimum": -0.5, "maximum": 2.5},
    "number exclusive range": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
    "number negative": {"type": "number", "maximum": -1.5},
    "number large": {"type": "number", "minimum": 1e10},
    "const object": {"const": {"a": 1, "b": [True, None]}},
    "const with type": {"type": "string", "const": "a"},
    "enum with type": {"type": "string", "enum": ["a", "b"]},
    "enum mixed": {"enum": ["a", 1, None, True, 1.5, [1], {"a": 1}]},
    "enum beyond type": {"type": "string", "enum": ["a", 1]},
    "enum empty": {"enum": []},
    "type list": {"type": ["string", "integer", "null"]},
    "type list number": {"type": ["integer", "number"]},
    "type list minimum": {"type": ["string", "integer"], "minimum": 3, "minLength": 2},
    "type list object": {
        "type": ["object", "null"],
        "properties": {"a": _INTEGER},
        "required": ["a"],
        "additionalProperties": False,
    },
    "true": True,
    "false": False,
}

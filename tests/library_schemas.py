"""Schemas of tools for the client libraries of the providers."""

from __future__ import annotations

# Properties out of alphabetical order, texts beyond ASCII, nulls that a library might drop.
FLAT = {
    "type": "object",
    "properties": {
        "zone": {"type": "string", "description": "Zone für die Suche\u2028“A/B”"},
        "name": {"type": ["string", "null"]},
        "size": {"type": "integer"},
    },
    "required": ["zone", "name", "size"],
    "additionalProperties": False,
}
NESTED = {
    "type": "object",
    "description": "Rows to write",
    "properties": {
        "rows": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "value": {"anyOf": [{"type": "number"}, {"type": "null"}]},
                    "at": {"type": "string", "format": "date-time"},
                    "kind": {"type": "string", "enum": ["b", "a", "B\n"]},
                },
                "required": ["value", "at", "kind"],
                "additionalProperties": False,
            },
        },
        "dry": {"type": "boolean"},
    },
    "required": ["rows", "dry"],
    "additionalProperties": False,
}
SHARED_PARTS = {
    "type": "object",
    "properties": {"to": {"$ref": "#/$defs/point"}, "from": {"$ref": "#/$defs/point"}},
    "required": ["to", "from"],
    "additionalProperties": False,
    "$defs": {
        "point": {
            "type": "object",
            "properties": {"y": {"type": "number"}, "x": {"type": "number"}},
            "required": ["y", "x"],
            "additionalProperties": False,
        }
    },
}
RECURSIVE = {
    "type": "object",
    "properties": {
        "größe": {"type": "string", "pattern": "^[a-z]+$"},
        "children": {"type": "array", "items": {"$ref": "#"}, "maxItems": 8},
        "weight": {"type": "number", "minimum": 0, "maximum": 1e300},
    },
    "required": ["größe", "children", "weight"],
    "additionalProperties": False,
}
EMPTY = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}

CLOSED = {
    "flat": FLAT,
    "nested": NESTED,
    "shared parts": SHARED_PARTS,
    "recursive": RECURSIVE,
    "empty": EMPTY,
}
#: Those of them without what Anthropic's strict tools refuse: recursion, bounds, names like größe.
CLOSED_SIMPLE = {name: schema for name, schema in CLOSED.items() if name != "recursive"}

# The dialect of Gemini's `parameters`.
OPENAPI = {
    "plain": {
        "type": "object",
        "properties": {
            "zone": {"type": "string", "description": "Zone für die Suche\u2028“A/B”"},
            "name": {"type": "string", "nullable": True, "pattern": "^a"},
            "size": {"type": "integer", "format": "int32", "minimum": 1, "maximum": 9},
        },
        "required": ["zone"],
    },
    "nested": {
        "type": "object",
        "properties": {
            "rows": {
                "type": "array",
                "minItems": 1,
                "items": {
                    "type": "object",
                    "properties": {"kind": {"type": "string", "enum": ["b", "a"]}},
                    "propertyOrdering": ["kind"],
                },
            },
            "either": {"anyOf": [{"type": "string", "minLength": 1}, {"type": "integer"}]},
        },
        "required": ["rows"],
    },
}

#: Schemas of tools that differ in their root.
ROOTS = {
    "closed": EMPTY,
    "of any object": {"type": "object"},
    "union of required": {"type": "object", "anyOf": [{"required": ["a"]}]},
    "without type": {"properties": {}},
    "array": {"type": "array", "items": {"type": "string"}},
    "list of types": {"type": ["object", "null"]},
    "list of properties": {"type": "object", "properties": []},
    "numbers required": {"type": "object", "required": [1]},
}

#: A keyword beside others that make it valid JSON Schema of draft 2020-12.
BESIDE = {
    "$anchor": {"type": "string", "$anchor": "a"},
    "$comment": {"type": "string", "$comment": "c"},
    "$id": {"type": "string", "$id": "https://example.com/a"},
    "allOf": {"allOf": [{"type": "string"}]},
    "anyOf": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
    "boolean schema": True,
    "const": {"type": "string", "const": "a"},
    "contains": {"type": "array", "items": {"type": "string"}, "contains": {"minLength": 1}},
    "default": {"type": "string", "default": "a"},
    "dependentRequired": {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
        "dependentRequired": {"a": ["b"]},
    },
    "description": {"type": "string", "description": "d"},
    "enum": {"type": "string", "enum": ["a", "b"]},
    "enum of integers": {"type": "integer", "enum": [1, 2]},
    "exclusiveMaximum": {"type": "integer", "exclusiveMaximum": 1},
    "exclusiveMinimum": {"type": "integer", "exclusiveMinimum": 1},
    "format": {"type": "string", "format": "date-time"},
    "if": {"type": "string", "if": {"minLength": 2}, "then": {"maxLength": 3}},
    "maxItems": {"type": "array", "items": {"type": "string"}, "maxItems": 2},
    "maxLength": {"type": "string", "maxLength": 2},
    "maxProperties": {"type": "object", "properties": {}, "maxProperties": 2},
    "maximum": {"type": "integer", "maximum": 2},
    "minItems": {"type": "array", "items": {"type": "string"}, "minItems": 2},
    "minLength": {"type": "string", "minLength": 2},
    "minimum": {"type": "integer", "minimum": 2},
    "multipleOf": {"type": "integer", "multipleOf": 2},
    "not": {"type": "string", "not": {"const": "a"}},
    "oneOf": {"oneOf": [{"type": "string"}, {"type": "integer"}]},
    "pattern": {"type": "string", "pattern": "a"},
    "patternProperties": {"type": "object", "patternProperties": {"^a": {"type": "string"}}},
    "prefixItems": {"type": "array", "prefixItems": [{"type": "string"}]},
    "propertyNames": {"type": "object", "propertyNames": {"minLength": 1}},
    "readOnly": {"type": "string", "readOnly": True},
    "title": {"type": "string", "title": "t"},
    "type list": {"type": ["string", "null"]},
    "unevaluatedProperties": {
        "type": "object",
        "properties": {},
        "unevaluatedProperties": False,
    },
    "uniqueItems": {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
}

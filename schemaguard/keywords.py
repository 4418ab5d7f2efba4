"""The one table of JSON Schema keywords: what a value holds, and which shape it must have.

Everything that needs to know a keyword reads it here: the walk (where the subschemas are), the
shape rules (what a well-formed value is), reference resolution (which pointers name a subschema).

Sources: JSON Schema draft 2020-12 core and validation, with the older spellings that tools still
send (`definitions`, `dependencies`, `additionalItems`, the array form of `items`). The order of the
table is the order in which the `dynamo` contract visits children and checks shapes.
"""

from __future__ import annotations

TYPE_NAMES = frozenset({"null", "boolean", "object", "array", "number", "integer", "string"})

# What a value holds.
DATA = "data"  # no subschema: data, or an annotation
SCHEMA = "schema"
SCHEMAS = "schemas"  # array of schemas
SCHEMA_MAP = "schema-map"  # name → schema
ITEMS = "items"  # one schema, or the old array form
DEPENDENCIES = "dependencies"  # name → schema, or array of property names

# An integer of more digits than CPython prints by default (sys.int_info.default_max_str_digits),
# as a number of bits: 10**4300 has 14,285.
MAX_INTEGER_BITS = 14_284


class Keyword:
    """One row of the table.

    Attributes:
        name: the keyword.
        holds: where subschemas are in its value: one of the constants above.
        shape: name of the shape in `SHAPES` that the value must have, or None for any JSON value.
    """

    __slots__ = ("holds", "name", "shape")

    def __init__(self, name: str, holds: str, shape: str | None) -> None:
        self.name = name
        self.holds = holds
        self.shape = shape

    def __repr__(self) -> str:
        return f"Keyword({self.name!r}, {self.holds!r}, {self.shape!r})"


# ------------------------------------------------------------------------------------------------
# Shapes: predicates on one keyword's value. A bool is no number (in Python it is an int), and
# NaN and the infinities are no JSON at all.
# ------------------------------------------------------------------------------------------------


def is_string(value: object) -> bool:
    """A string that Unicode can encode (no lone surrogate)."""
    return isinstance(value, str) and (value.isascii() or is_encodable(value))


def is_encodable(text: str) -> bool:
    """Whether UTF-8 can carry the text: it has no lone surrogate."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def is_number(value: object) -> bool:
    """A finite number that JSON can carry."""
    if value.__class__ is int:
        return value.bit_length() <= MAX_INTEGER_BITS
    return value.__class__ is float and -1e400 < value < 1e400


def is_positive(value: object) -> bool:
    """A number greater than zero."""
    return is_number(value) and value > 0  # type: ignore[operator]


def is_count(value: object) -> bool:
    """A nonnegative integer; 1.0 and 1e2 are integers, as in JSON Schema."""
    return is_number(value) and value >= 0 and value % 1 == 0  # type: ignore[operator]


def is_array(value: object) -> bool:
    """A JSON array."""
    return value.__class__ is list


def is_unique_strings(value: object) -> bool:
    """An array of strings without a repeat; it may be empty."""
    if value.__class__ is not list:
        return False
    try:
        text = "".join(value)
    except TypeError:
        return False
    return len(set(value)) == len(value) and (text.isascii() or is_encodable(text))


def is_types(value: object) -> bool:
    """A type name, or a nonempty array of different type names."""
    if isinstance(value, str):
        return value in TYPE_NAMES
    if value.__class__ is not list or not value:
        return False
    try:
        return TYPE_NAMES.issuperset(value) and len(set(value)) == len(value)
    except TypeError:  # a member that cannot be hashed
        return False


def names_object(kind: object) -> bool:
    """Whether a `type` value says object: the name, or an array that has it (contract rule 8)."""
    return kind == "object" or (kind.__class__ is list and "object" in kind)


def is_map(value: object) -> bool:
    """A JSON object (of schemas: the members are looked at one by one)."""
    return value.__class__ is dict


def is_nonempty_array(value: object) -> bool:
    """A JSON array with at least one member."""
    return value.__class__ is list and bool(value)


def is_items(value: object) -> bool:
    """One schema (looked at in its own turn), or a nonempty array of schemas."""
    return value.__class__ is not list or bool(value)


def characters(value: object, limit: int) -> int:
    """Characters of all strings and names, each path counted; stops beyond the limit."""
    total = 0
    stack = [value]
    while stack and total <= limit:
        item = stack.pop()
        if isinstance(item, str):
            total += len(item)
        elif item.__class__ is dict:
            total += sum(len(key) + 4 for key in item if isinstance(key, str))
            stack.extend(item.values())
        elif item.__class__ is list:
            total += len(item)
            stack.extend(item)
    return total


SHAPES = {
    "types": is_types,
    "unique-strings": is_unique_strings,
    "array": is_array,
    "string": is_string,
    "number": is_number,
    "positive-number": is_positive,
    "count": is_count,
    "map": is_map,
    "nonempty-array": is_nonempty_array,
    "items": is_items,
    "dependencies": is_map,
}


def _rows() -> list[Keyword]:
    rows = [
        # Shapes, in the order in which they are checked.
        ("type", DATA, "types"),
        ("required", DATA, "unique-strings"),
        ("enum", DATA, "array"),
        ("const", DATA, None),
        ("$ref", DATA, "string"),
        ("pattern", DATA, "string"),
        ("format", DATA, "string"),
        ("minimum", DATA, "number"),
        ("maximum", DATA, "number"),
        ("exclusiveMinimum", DATA, "number"),
        ("exclusiveMaximum", DATA, "number"),
        ("multipleOf", DATA, "positive-number"),
        ("minLength", DATA, "count"),
        ("maxLength", DATA, "count"),
        ("minItems", DATA, "count"),
        ("maxItems", DATA, "count"),
        ("minProperties", DATA, "count"),
        ("maxProperties", DATA, "count"),
        # Children, in the order in which they are visited.
        ("properties", SCHEMA_MAP, "map"),
        ("patternProperties", SCHEMA_MAP, "map"),
        ("$defs", SCHEMA_MAP, "map"),
        ("definitions", SCHEMA_MAP, "map"),
        ("anyOf", SCHEMAS, "nonempty-array"),
        ("prefixItems", SCHEMAS, "nonempty-array"),
        ("items", ITEMS, "items"),
        ("additionalProperties", SCHEMA, None),
        ("additionalItems", SCHEMA, None),
        ("propertyNames", SCHEMA, None),
        ("unevaluatedProperties", SCHEMA, None),
        ("contentSchema", SCHEMA, None),
        ("dependencies", DEPENDENCIES, "dependencies"),
        # The `dynamo` contract refuses these, so their place in the order is ours.
        ("allOf", SCHEMAS, "nonempty-array"),
        ("oneOf", SCHEMAS, "nonempty-array"),
        ("not", SCHEMA, None),
        ("if", SCHEMA, None),
        ("then", SCHEMA, None),
        ("else", SCHEMA, None),
        ("contains", SCHEMA, None),
        ("unevaluatedItems", SCHEMA, None),
        ("dependentSchemas", SCHEMA_MAP, "map"),
        ("minContains", DATA, "count"),
        ("maxContains", DATA, "count"),
    ]
    return [Keyword(name, holds, shape) for name, holds, shape in rows]


#: name → row, in table order. A keyword that is not here is an annotation: data.
KEYWORDS = {keyword.name: keyword for keyword in _rows()}

#: name → position in the table.
RANK = {name: rank for rank, name in enumerate(KEYWORDS)}

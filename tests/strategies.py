"""Hypothesis strategies for schemas near the border of the `dynamo` contract.

    schemas()           accepted schemas of many forms
    near_border()       such a schema with up to three mutations
    at_budget_border()  large documents one below, at and one above a budget

Every drawn document is a JSON tree: no value is shared, so that callers may change what they get.
Nothing here recurses; schemas grow from a queue of empty places.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from hypothesis import strategies as st

Keys = tuple[str, ...]

MAX_PLACES = 24  # schema locations of a grown document, roughly
MAX_LEVELS = 4  # below this, only leaves grow


def _words(text: str) -> list[str]:
    return text.split()


KEYWORD_NAMES = _words(
    "allOf oneOf anyOf not if then else contains uniqueItems unevaluatedItems dependentSchemas "
    "$ref $dynamicRef $id id type properties required items enum const $defs additionalProperties"
)
PLAIN_NAMES = ["a", "b", "c", "ab", "value", "Z", "0", "00", "10", "9"]
ODD_NAMES = [
    "",
    "a/b",
    "a~b",
    "~1",
    "a%2Fb",
    "%",
    "a b",
    "é",
    "～",
    "😀",
    "'",
    "\n",
    '"',
    "n" * 300,
]
NAMES = st.sampled_from([*PLAIN_NAMES * 3, *KEYWORD_NAMES, *ODD_NAMES])
PATTERNS = st.sampled_from(["", "^a", "([*", "a/b~", "not", "^x-"])

# A value that breaks many rules wherever it is taken for a schema.
HOSTILE_DATA = '{"type": "object", "$ref": "#/nope", "$id": "x", "not": 1, "enum": 3, "items": []}'


def _one_of_texts(*texts: str) -> st.SearchStrategy[Any]:
    """One of some JSON texts, parsed anew for each draw."""
    return st.sampled_from(texts).map(json.loads)


# --------------------------------------------------------------------------------------------------
# the form of a document while it grows
# --------------------------------------------------------------------------------------------------
class Place(NamedTuple):
    """A schema location: where its value hangs and its path from the root."""

    holder: Any
    key: str | int
    keys: Keys
    level: int

    @property
    def schema(self) -> Any:
        """What is there now; None also when a mutation removed the key."""
        return self.holder.get(self.key) if isinstance(self.holder, dict) else self.holder[self.key]


@dataclass
class Draft:
    """A document with the schema locations that were made for it."""

    cell: dict[str, Any] = field(default_factory=dict)  # holds the root, so that it is replaceable
    places: list[Place] = field(default_factory=list)
    pending: deque[Place] = field(default_factory=deque)
    # Filled places, later ones only refer to earlier ones, so no direct cycle grows. True: a typed
    # reference may aim there.
    targets: list[tuple[Keys, bool]] = field(default_factory=list)

    @property
    def root(self) -> Any:
        return self.cell["root"]

    def later(self, parent: Place, holder: Any, key: str | int, *steps: str) -> None:
        """Queues a place below `parent`, which something will fill."""
        place = Place(holder, key, parent.keys + steps, parent.level + 1)
        self.places.append(place)
        self.pending.append(place)


_INDEX = st.integers(0, 9_999)
_SMALL = st.integers(0, 3)
_COIN = st.booleans()


def _pick(draw: st.DrawFn, items: list[Any]) -> Any:
    """One item of a list that is made anew each time (`sampled_from` is for constant lists)."""
    return items[draw(_INDEX) % len(items)]


# --------------------------------------------------------------------------------------------------
# references
# --------------------------------------------------------------------------------------------------
def _escape(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def _percent(text: str) -> str:
    return "".join(f"%{octet:02x}" for octet in text.encode())


_SPELLINGS: list[Callable[[str], str]] = [
    lambda pointer: pointer.replace("%", "%25"),
    lambda pointer: pointer.replace("%", "%25").replace("~", "%7E"),
    lambda pointer: re.sub(r"[^A-Za-z0-9/]", lambda match: _percent(match[0]), pointer),
    _percent,
]
_SPELLING = st.sampled_from(_SPELLINGS)


def _reference(draw: st.DrawFn, keys: Keys) -> str:
    """A `$ref` to a path, in one of the ways in which it may be written."""
    pointer = "".join("/" + _escape(key) for key in keys)
    return "#" + draw(_SPELLING)(pointer)


# --------------------------------------------------------------------------------------------------
# growth: each grower returns the schema for a place and queues the places below it
# --------------------------------------------------------------------------------------------------
Grower = Callable[[st.DrawFn, Draft, Place], Any]

LEAVES = _one_of_texts(
    "true",
    "false",
    "{}",
    '{"type": "string"}',
    '{"type": "string", "minLength": 0, "maxLength": 1e2, "pattern": "([*", "format": "any"}',
    '{"type": ["integer", "null"], "minimum": -1.5, "exclusiveMaximum": 5, "multipleOf": 0.01}',
    '{"type": "number", "minimum": 5, "maximum": 1, "exclusiveMinimum": -0.0}',
    '{"type": "boolean", "nullable": true, "title": "t", "description": "d"}',
    '{"type": "array", "minItems": 1.0, "maxItems": 0, "items": true}',
    '{"enum": ["a", 1, 1.0, true, null, {}, [], "a"]}',
    '{"enum": []}',
    f'{{"enum": [{HOSTILE_DATA}]}}',
    f'{{"const": {HOSTILE_DATA}}}',
    f'{{"default": {HOSTILE_DATA}}}',
    f'{{"examples": [{HOSTILE_DATA}]}}',
    f'{{"x-any": {HOSTILE_DATA}}}',
    '{"const": "text"}',
    '{"const": null}',
    '{"required": ["q"]}',
    '{"type": "string", "required": ["q"]}',
    '{"additionalProperties": true}',
    '{"additionalProperties": false, "required": ["q"]}',
    '{"type": "string", "additionalProperties": {"type": "integer"}}',
    '{"type": "object", "additionalProperties": false}',
    '{"type": ["null", "object"], "additionalProperties": false, "maxProperties": 0}',
    '{"dependencies": {"a": ["b"], "not": []}}',
    '{"$anchor": "x", "$dynamicAnchor": "y", "$schema": 1, "readOnly": "yes"}',
)


def _leaf(draw: st.DrawFn, draft: Draft, place: Place) -> Any:  # noqa: ARG001 - one signature
    return draw(LEAVES)


def _object(draw: st.DrawFn, draft: Draft, place: Place) -> Any:
    """A closed object in one of the forms that count as one."""
    properties: dict[str, Any] = {}
    for _ in range(draw(_SMALL)):
        properties[draw(NAMES)] = None
    for name in properties:
        draft.later(place, properties, name, "properties", name)
    required = list(properties)
    if draw(_COIN):
        required.reverse()
    form = draw(_OBJECT_FORM)
    schema: dict[str, Any] = {
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }
    if form == "nullable":
        schema["type"] = ["object", "null"]
    elif form != "typeless":
        schema["type"] = "object"
    if form == "patterns":
        pattern = draw(PATTERNS)
        schema["patternProperties"] = patterns = {pattern: None}
        draft.later(place, patterns, pattern, "patternProperties", pattern)
        required.append("named nowhere")
    elif form == "empty patterns":
        schema["patternProperties"] = {}
    return schema


_OBJECT_FORM = st.sampled_from(
    ["plain"] * 5 + ["nullable", "typeless", "patterns", "empty patterns"]
)


def _list_of(keyword: str, **more: Any) -> Grower:
    def grow(draw: st.DrawFn, draft: Draft, place: Place) -> Any:
        members: list[Any] = [None] * (1 + draw(_SMALL))
        for index in range(len(members)):
            draft.later(place, members, index, keyword, str(index))
        return {**more, keyword: members}

    return grow


def _single(keyword: str, **more: Any) -> Grower:
    def grow(draw: st.DrawFn, draft: Draft, place: Place) -> Any:  # noqa: ARG001 - one signature
        schema = {**more, keyword: None}
        draft.later(place, schema, keyword, keyword)
        return schema

    return grow


def _definitions(keyword: str) -> Grower:
    def grow(draw: st.DrawFn, draft: Draft, place: Place) -> Any:
        name = draw(NAMES)
        members: dict[str, Any] = {name: None}
        draft.later(place, members, name, keyword, name)
        return {"type": "string", keyword: members}

    return grow


def _dependencies(draw: st.DrawFn, draft: Draft, place: Place) -> Any:
    members: dict[str, Any] = {"list": ["p", "q"], "schema": None}
    draft.later(place, members, "schema", "dependencies", "schema")
    return {"type": "array", "dependencies": members, "minItems": draw(_SMALL)}


def _ref(draw: st.DrawFn, draft: Draft, place: Place) -> Any:  # noqa: ARG001 - one signature
    keys, _ = _pick(draw, draft.targets)
    return {"$ref": _reference(draw, keys), **draw(_REF_SIBLINGS)}


_REF_SIBLINGS = _one_of_texts(
    "{}",
    "{}",
    '{"description": "d", "default": null}',
    '{"type": "string", "minLength": 1}',
    '{"additionalProperties": false}',
    '{"properties": {"k": true}, "required": ["k"], "additionalProperties": false}',
    '{"type": "object", "additionalProperties": false, "required": []}',
)


def _typed_ref(draw: st.DrawFn, draft: Draft, place: Place) -> Any:  # noqa: ARG001 - one signature
    closed = [keys for keys, is_closed in draft.targets if is_closed]
    return {"$ref": _reference(draw, _pick(draw, closed)), "type": draw(_TYPED_REF_TYPE)}


_TYPED_REF_TYPE = _one_of_texts('"object"', '["object"]', '["null", "object"]')


_GROWERS: list[Grower] = [
    *[_object] * 6,
    *[_leaf] * 4,
    *[_ref] * 3,
    _typed_ref,
    _list_of("anyOf"),
    _list_of("anyOf", description="d"),
    _list_of("prefixItems", type="array"),
    _list_of("items", type="array", additionalItems=False),
    _single("items", type="array"),
    _single("items", type="array", minItems=1),
    _single("additionalProperties", type="string"),
    _single("additionalItems"),
    _single("propertyNames"),
    _single("unevaluatedProperties"),
    _single("contentSchema", type="string"),
    _definitions("$defs"),
    _definitions("definitions"),
    _dependencies,
]
_GROWER = st.sampled_from(_GROWERS)
_SHALLOW_GROWER = st.sampled_from([_leaf, _leaf, _ref, _typed_ref])
_ROOT_FORM = st.sampled_from(["object"] * 8 + ["reference", "typed reference"])
_OBJECT_ONLY = _one_of_texts('"object"', '"object"', '["object"]')
_ROOT_EXTRAS = _one_of_texts(
    "{}",
    "{}",
    "{}",
    '{"$id": "https://example.com/root", "$schema": "s", "title": "t"}',
    '{"enum": ["x", null], "const": "c", "id": 7}',
    '{"maxProperties": 3.0, "minProperties": 0, "$comment": ["c"]}',
    f'{{"examples": [{HOSTILE_DATA}], "default": {HOSTILE_DATA}, "x": {{"type": "string"}}}}',
)


def _is_closed(schema: Any) -> bool:
    return isinstance(schema, dict) and schema.get("additionalProperties") is False


def _grow(draw: st.DrawFn) -> Draft:
    """Grows an accepted document."""
    draft = Draft()
    root = Place(draft.cell, "root", (), 0)
    draft.places.append(root)

    definitions = [f"d{index}" for index in range(draw(_SMALL))]
    form = draw(_ROOT_FORM)
    if form == "object":
        schema = {**_object(draw, draft, root), "type": draw(_OBJECT_ONLY)}
        draft.targets.append(((), True))
    else:
        definitions = ["d0", *definitions[1:]]
        schema = {"$ref": "#/$defs/d0"}
        if form == "typed reference":
            schema["type"] = "object"
    schema.update(draw(_ROOT_EXTRAS))
    draft.cell["root"] = schema

    for name in definitions:
        keyword = "$defs" if name == "d0" or draw(_COIN) else "definitions"
        members = schema.setdefault(keyword, {})
        members[name] = None
        draft.later(root, members, name, keyword, name)
    if form != "object":
        # The root refers to d0, so d0 must be what a root may be; it is filled at once, because
        # everything else may refer to it.
        first = draft.pending.popleft()
        first.holder[first.key] = {**_object(draw, draft, first), "type": draw(_OBJECT_ONLY)}
        draft.targets += [(first.keys, True), ((), True)]

    while draft.pending:
        place = draft.pending.popleft()
        deep = place.level > MAX_LEVELS or len(draft.places) > MAX_PLACES
        grown = draw(_SHALLOW_GROWER if deep else _GROWER)(draw, draft, place)
        place.holder[place.key] = grown
        draft.targets.append((place.keys, _is_closed(grown)))
    return draft


@st.composite
def schemas(draw: st.DrawFn) -> Any:
    """An accepted schema."""
    return _grow(draw).root


# --------------------------------------------------------------------------------------------------
# mutations
# --------------------------------------------------------------------------------------------------
Mutation = Callable[[st.DrawFn, Draft], None]


def _objects(draft: Draft) -> list[Place]:
    """The places that hold an object. The root's counts twice: much is special there."""
    found = [place for place in draft.places if isinstance(place.schema, dict)]
    return found[:1] + found


def _some_schema(draw: st.DrawFn, draft: Draft, having: str | None = None) -> dict[str, Any]:
    """An object at some place, if possible one that has a keyword."""
    found = _objects(draft)
    wanted = [place for place in found if having is None or having in place.schema]
    if wanted or found:
        schema: dict[str, Any] = _pick(draw, wanted or found).schema
        return schema
    draft.cell["root"] = {"type": "object", "additionalProperties": False}
    root: dict[str, Any] = draft.root
    return root


def _set(table: dict[str, str], having: str | None = None) -> Mutation:
    """Gives some schema one of the keywords of a table: keyword -> values as a JSON array."""
    # The keyword is chosen first, so that one with many values is not chosen more often.
    keywords = st.sampled_from(list(table))
    values = {
        keyword: _one_of_texts(*(json.dumps(value) for value in json.loads(text)))
        for keyword, text in table.items()
    }

    def mutate(draw: st.DrawFn, draft: Draft) -> None:
        keyword = draw(keywords)
        _some_schema(draw, draft, having)[keyword] = draw(values[keyword])

    return mutate


_ANYTHING = '[null, false, true, 0, "x", [], {}]'
_BANNED = dict.fromkeys(
    _words(
        "allOf oneOf not dependentRequired dependentSchemas if then else uniqueItems contains "
        "minContains maxContains unevaluatedItems $dynamicRef $recursiveRef"
    ),
    _ANYTHING,
)

_OPENINGS = {"additionalProperties": '[true, {}, 0, null, [], "", 1, {"type": "string"}, false]'}

_STRING_VALUES = '[null, 1, true, [], ["a"], {}, "", "([*"]'
_NUMBER_VALUES = (
    '[null, "1", true, false, [], {}, [1], -1, 0, -0.0, 1.5, 1e300, 18446744073709551616]'
)
_COUNT_VALUES = '[null, "1", true, false, [], -1, -1.0, -1e-9, 0.5, 1e-9, 1.0, 1e2, 0, -0.0, 1e300]'
_SHAPES = {
    "type": """[null, true, 1, {}, [], "", "any", "Object", ["string", 1], ["string", "string"],
        ["string", "date"], ["x", "x"], ["object", "null", "object"], [["string"]], "integer",
        ["object", "string"], "object", ["object"]]""",
    "required": """[null, true, 0, "a", {}, ["a", 1], [null], ["a", "a"], [], [[]], ["z", "q"]]""",
    "enum": '[null, 1, "a", {}, true, [], [null, null], [0, false]]',
    "const": _ANYTHING,
    "pattern": _STRING_VALUES,
    "format": _STRING_VALUES,
    "multipleOf": "[0, 0.0, -0.0, -1, -0.5, true, false, null, [1], 1, 1e-300]",
}

_BOUNDS = {
    "minimum": _NUMBER_VALUES,
    "maximum": _NUMBER_VALUES,
    "exclusiveMinimum": _NUMBER_VALUES,
    "exclusiveMaximum": _NUMBER_VALUES,
    "minLength": _COUNT_VALUES,
    "maxLength": _COUNT_VALUES,
    "minItems": _COUNT_VALUES,
    "maxItems": _COUNT_VALUES,
    "minProperties": _COUNT_VALUES,
    "maxProperties": _COUNT_VALUES,
}

_MAP_VALUES = """[null, true, [], [true], "x", 0, {}, {"k": true}, {"k": 1, "K": null},
    {"not": {"not": 1}}, {"k": {"type": "object"}}]"""
_ARRAY_VALUES = '[null, true, {}, "x", [], [true], [1, 2], [null], [[true]], [{"type": "object"}]]'
_SCHEMA_VALUES = """[null, true, false, 0, 1, "x", [], [true], {}, {"type": "object"}, {"if": 1},
    {"type": "string"}]"""
_CONTAINERS = {
    "properties": _MAP_VALUES,
    "patternProperties": _MAP_VALUES,
    "$defs": _MAP_VALUES,
    "definitions": _MAP_VALUES,
    "anyOf": _ARRAY_VALUES,
    "prefixItems": _ARRAY_VALUES,
    "items": '[null, true, false, 0, "x", [], [true], [1], [null, 2], {}, [[]], {"type": "object"}]',
    "additionalItems": _SCHEMA_VALUES,
    "propertyNames": _SCHEMA_VALUES,
    "unevaluatedProperties": _SCHEMA_VALUES,
    "contentSchema": _SCHEMA_VALUES,
    "dependencies": """[null, true, [], "x", {}, {"a": ["b"]}, {"a": []}, {"a": ["b", "b"]},
        {"a": [1]}, {"a": null}, {"a": 1}, {"a": {"not": 1}, "b": [1]}, {"a": true, "not": false},
        {"type": [1]}, {"a": {"type": "object"}}]""",
}

_IDENTIFIERS = {"$id": '[null, "x", "https://example.com/", {}]', "id": '[null, "x", 1, false]'}

_HOSTILE = f"[{HOSTILE_DATA}]"
_DATA = {
    "enum": f"[[{HOSTILE_DATA}]]",
    "const": _HOSTILE,
    "default": _HOSTILE,
    "examples": _HOSTILE,
    "x-unknown": _HOSTILE,
    "title": _HOSTILE,
    "$vocabulary": _HOSTILE,
}

_REFERENCES = {
    "$ref": """["", "#", "#foo", "foo", "/", "/x", "#/", "#/nope", "x.json#/a", " #", "%23", null, 1,
        "#%", "#/%", "#/%4g", "#/%%41", "#foo%zz", "#/%ff%g0", "#/%FF", "#/%C3", "#/%C0%AF", "#x%80",
        "#/%ed%a0%80", "#%41", "#~2", "#/~", "#/~2", "#/a~/b", "#/%7E", "#/%7e1", "#/~0~1~",
        "#/$defs/a%7E1b", "#/$defs/a%252Fb", "#/$defs/a%2Fb", "#%2f", "#/properties", "#/required",
        "#/required/0", "#/required/00", "#/required/+0", "#/required/-1", "#/required/99",
        "#/required/\uff10", "#/type", "#/type/0", "#/$defs", "#/definitions", "#/additionalProperties",
        "#/additionalProperties/a", "#/default", "#/examples/0", "#/enum/0", "#/const", "#/x",
        "#/x/type", "#/x-unknown", "#/properties/a", "#/properties/not", "#/$defs/d0", "#/$defs/d1",
        "#/definitions/d1", "#/properties/a/anyOf/0", "#/properties/a/anyOf/00", "#/$ref"]"""
}

_LOCALS = {
    "required": '[[], ["x"]]',
    "additionalProperties": "[false, true, {}]",
    "properties": '[{}, {"x": true}, null]',
    "patternProperties": '[{}, {"x": true}, null]',
    "type": '["object", ["object", "null"], "string", ["object"]]',
    "description": '["d"]',
    "anyOf": "[[true]]",
}


def _drop_keyword(draw: st.DrawFn, draft: Draft) -> None:
    keyword = draw(_DROPPABLE)
    _some_schema(draw, draft, keyword).pop(keyword, None)


_DROPPABLE = st.sampled_from(
    [
        "additionalProperties",
        "additionalProperties",
        "required",
        "type",
        "properties",
        "$defs",
        "$ref",
    ]
)


def _change_required(draw: st.DrawFn, draft: Draft) -> None:
    """Drops, repeats or adds names in a `required` that is there."""
    schema = _some_schema(draw, draft, "required")
    required = schema.setdefault("required", [])
    if not isinstance(required, list):
        return
    change = draw(_REQUIRED_CHANGE)
    if change == "drop" and required:
        del required[draw(_INDEX) % len(required)]
    elif change == "repeat" and required:
        required.append(_pick(draw, required))
    elif change == "swap":
        required.reverse()
    else:
        required += sorted({draw(NAMES), draw(NAMES)} - {n for n in required if isinstance(n, str)})


_REQUIRED_CHANGE = st.sampled_from(["drop", "drop", "repeat", "add", "swap"])


def _replace_schema(draw: st.DrawFn, draft: Draft) -> None:
    """Puts something else where a schema was, now and then the root."""
    place = _pick(draw, draft.places)
    place.holder[place.key] = draw(_REPLACEMENTS)


_REPLACEMENTS = _one_of_texts(
    *_words('null 1 0 0.0 1e2 "object" [] [true] true false {} {"type":"object"} {"not":1}'),
    '{"type": "object", "additionalProperties": false, "properties": {"k": true}}',
    '{"properties": {"a": true}, "required": ["a"]}',
)


def _refer_to_place(draw: st.DrawFn, draft: Draft) -> None:
    """A reference to something that is there: a schema, or what is above or below one.

    This makes cycles, references to open schemas, and references that end beside a schema.
    """
    place = _pick(draw, draft.places)
    keys = draw(_STEPS)(place.keys)
    schema = _some_schema(draw, draft, "$ref" if draw(_COIN) else None)
    if draw(_COIN):
        schema.clear()
    schema["$ref"] = _reference(draw, keys)
    if draw(_COIN):
        schema["type"] = draw(_TYPED_REF_TYPE)


_STEPS = st.sampled_from(
    [
        *[lambda keys: keys] * 8,
        lambda keys: keys[:-1],
        lambda keys: (*keys, "type"),
        lambda keys: (*keys, "properties"),
        lambda keys: (*keys, "additionalProperties"),
        lambda keys: (*keys, "required", "0"),
        lambda keys: (*keys, "dependencies", "list"),
        lambda keys: (*keys, ""),
        lambda keys: (*keys[:-1], "0" + keys[-1]) if keys else ("0",),
        lambda keys: (*keys[:-1], "+" + keys[-1]) if keys else ("-",),
    ]
)


def _chain_of_references(draw: st.DrawFn, draft: Draft) -> None:
    """Definitions that refer to one another, up to an end or back into the chain."""
    root = draft.root
    if not isinstance(root, dict):
        return
    links = [f"c{index}" for index in range(1 + draw(_SMALL))]
    typed = draw(_COIN)
    end = draw(_CHAIN_ENDS)
    goals = [*links[1:], "end" if end else _pick(draw, links)]
    members = root.setdefault("$defs", {})
    if not isinstance(members, dict):
        return
    for link, goal in zip(links, goals, strict=True):
        members[link] = {"$ref": f"#/$defs/{goal}"}
        if typed:
            members[link]["type"] = "object"
    if end:
        members["end"] = json.loads(end)
    if draw(_COIN):
        members["b0"] = {"$ref": "#/$defs/c0"}
    if draw(_COIN):
        root["$ref"] = "#/$defs/c0"


# None: no end, the last link points into the chain.
_CHAIN_ENDS = st.sampled_from(
    [
        None,
        *_words("true {} null"),
        '{"type": "string"}',
        '{"type": "string", "additionalProperties": true}',
        '{"type": "object"}',
        '{"anyOf": [true]}',
        '{"required": ["q"]}',
        '{"additionalProperties": false}',
        *['{"type": "object", "additionalProperties": false}'] * 3,
        '{"type": ["object", "null"], "additionalProperties": false}',
    ]
)


def _change_root(draw: st.DrawFn, draft: Draft) -> None:
    """What only the root check sees, and the root behind a reference."""
    root = draft.root
    if not isinstance(root, dict):
        return
    change = draw(_ROOT_CHANGES)
    if change == "typeless":
        root.pop("type", None)
    elif change == "wrap":
        draft.cell["root"] = {"$ref": "#/$defs/r", "$defs": {"r": root}}
    elif change == "wrap typed":
        draft.cell["root"] = {"$ref": "#/$defs/r", "type": "object", "$defs": {"r": root}}
    elif change == "wrap closed":
        draft.cell["root"] = {
            "$ref": "#/$defs/r",
            "additionalProperties": False,
            "$defs": {"r": root},
        }
    elif change == "only reference":
        root["$ref"] = "#/$defs/d0"
        for keyword in ("type", "properties", "required", "additionalProperties"):
            root.pop(keyword, None)
    else:
        root.update(json.loads(change))


_ROOT_CHANGES = st.sampled_from(
    [
        "typeless",
        "wrap",
        "wrap",
        "wrap typed",
        "wrap closed",
        "only reference",
        '{"anyOf": [true]}',
        '{"anyOf": [{"type": "object", "additionalProperties": false}], "type": "array"}',
        '{"type": ["object", "null"]}',
        '{"type": ["object"]}',
        '{"type": "string"}',
        '{"type": ["null", "object"], "anyOf": [true]}',
    ]
)


def _nest(draw: st.DrawFn, draft: Draft) -> None:
    """A chain of objects under some schema, about as long as the contract allows."""
    schema = _some_schema(draw, draft, draw(_NEST_BELOW))
    schema["contentSchema"] = nested_objects(8 + draw(_INDEX) % 5, draw(_INDEX))


_NEST_BELOW = st.sampled_from([None, "$ref", "properties", "anyOf"])


def _add_property(draw: st.DrawFn, draft: Draft) -> None:
    """A property, mostly declared as it should be; its name may be a keyword's."""
    schema = _some_schema(draw, draft, "properties")
    properties = schema.setdefault("properties", {})
    required = schema.setdefault("required", [])
    if isinstance(properties, dict) and isinstance(required, list):
        name = draw(NAMES)
        if name not in properties and name not in required:
            required.append(name)
        properties[name] = draw(LEAVES)


def _excuse_extras(draw: st.DrawFn, draft: Draft) -> None:
    """`patternProperties` beside a required name that nothing declares."""
    schema = _some_schema(draw, draft, "properties")
    schema["patternProperties"] = draw(_EXCUSES)
    if isinstance(schema.get("required"), list):
        schema["required"].append("declared nowhere")


_EXCUSES = _one_of_texts("{}", '{"^y": false}', '{"^y": true, "": {"type": "string"}}', "null")


def _give_reference_siblings(draw: st.DrawFn, draft: Draft) -> None:
    for _ in range(1 + draw(_SMALL) % 2):
        _LOCAL_SIBLING(draw, draft)


_LOCAL_SIBLING = _set(_LOCALS, having="$ref")

_MUTATION = st.sampled_from(
    [
        _drop_keyword,
        *[_change_required] * 2,
        _set(_OPENINGS, having="additionalProperties"),
        _set(_BANNED),
        *[_set(_SHAPES)] * 2,
        _set(_BOUNDS),
        *[_set(_CONTAINERS)] * 2,
        _set(_IDENTIFIERS),
        _set(_DATA),
        *[_set(_REFERENCES)] * 3,
        _give_reference_siblings,
        _replace_schema,
        *[_refer_to_place] * 3,
        *[_chain_of_references] * 3,
        *[_change_root] * 2,
        _nest,
        _add_property,
        _excuse_extras,
    ]
)


@st.composite
def near_border(draw: st.DrawFn) -> Any:
    """A schema with up to three mutations, of which many are harmless."""
    draft = _grow(draw)
    for _ in range(draw(_SMALL)):
        draw(_MUTATION)(draw, draft)
    return draft.root


# --------------------------------------------------------------------------------------------------
# budgets
# --------------------------------------------------------------------------------------------------
def closed(properties: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """A closed object that requires all its properties."""
    schema: dict[str, Any] = {"type": "object", "additionalProperties": False, **more}
    if properties is not None:
        schema |= {"properties": properties, "required": list(properties)}
    return schema


def nested_objects(count: int, variant: int) -> Any:
    """`count` objects below an object: it is the lowest of `count + 1` levels.

    The variant says what lies between two objects and how they look.
    """
    inner: dict[str, Any] = closed()
    for _ in range(count):
        match variant % 8:
            case 0 | 1:
                inner = closed({"value": inner})
            case 2:
                inner = closed({"value": {"items": {"anyOf": [{"prefixItems": [inner]}]}}})
            case 3:
                inner = {**closed({"value": inner}), "type": ["object", "null"]}
            case 4:
                inner = {
                    "properties": {"v": inner},
                    "required": ["v"],
                    "additionalProperties": False,
                }
            case 5:
                inner = closed(patternProperties={"^a": inner})
            case 6:
                inner = closed(definitions={"d": inner})
            case _:
                inner = closed(dependencies={"d": inner}, items=[True])
    return inner


def _names(count: int, prefix: str = "p") -> list[str]:
    return [f"{prefix}{index:05}" for index in range(count)]


def _properties_document(count: int, variant: int) -> Any:
    """`count` declared properties in all."""
    match variant % 4:
        case 0:
            return closed(dict.fromkeys(_names(count), True))
        case 1:  # the root's own property counts
            return closed({"o": closed(dict.fromkeys(_names(count - 1), True))})
        case 2:
            half = count // 2
            parts = {"a": half, "b": count - half}
            return closed(
                **{"$defs": {n: closed(dict.fromkeys(_names(c), True)) for n, c in parts.items()}}
            )
        case _:  # names of patternProperties do not count
            return closed(
                dict.fromkeys(_names(count), True),
                patternProperties=dict.fromkeys(_names(9, "x"), False),
            )


def _enum_document(count: int, variant: int) -> Any:
    """`count` enum entries in all."""
    match variant % 4:
        case 0:
            return closed({"e": {"enum": list(range(count))}})
        case 1:
            return closed(
                {"e": {"enum": [None] * (count - 400)}, "f": {"enum": [{} for _ in range(400)]}}
            )
        case 2:
            return closed(**{"$defs": {"unused": {"enum": _names(count)}}})
        case _:
            return closed(enum=[1.0] * (count - 1), definitions={"d": {"items": {"enum": ["x"]}}})


def _characters_document(count: int, variant: int) -> Any:
    """`count` name and value characters in all."""
    letter = "x" if variant % 2 else "😀"
    match variant // 2 % 6:
        case 0:
            return closed({"c": {"const": letter * (count - 1)}})
        case 1:
            return closed({letter * count: True})
        case 2:
            return closed(**{"$defs": {letter * count: True}})
        case 3:
            return closed(definitions={letter * (count - 2): True, "zz": {"enum": ["", 1, None]}})
        case 4:
            rest = count - 1 - 4 * 20_000
            return closed({"e": {"enum": [letter * 20_000] * 4, "const": letter * rest}})
        case _:  # one of each, beside much that does not count
            uncounted = letter * 1_000
            return closed(
                {"p": {"enum": [letter * 40_000, [uncounted]], "pattern": uncounted}},
                patternProperties={uncounted: True},
                definitions={letter * 40_000: {"default": uncounted}},
                dependencies={uncounted: [uncounted]},
                const=letter * (count - 80_001),
            )


def _long_enum_document(characters: int, variant: int) -> Any:
    """One enum of 251 to 1,000 strings with that many characters."""
    entries = (251, 252, 500, 1_000)[variant // 2 % 4]
    letter = "x" if variant % 2 else "é"
    short, longer = divmod(characters, entries)
    texts = [letter * (short + (index < longer)) for index in range(entries)]
    return closed({"value": {"type": "string", "enum": texts}})


def _long_enum_entries_document(entries: int, variant: int) -> Any:
    """One enum of that many strings with too many characters for more than 250 of them."""
    return closed({"value": {"enum": [("x" if variant % 2 else "~") * 61] * entries}})


def _depth_document(levels: int, variant: int) -> Any:
    """Objects nested down to that many levels below the root, or an equivalent."""
    match variant // 8 % 3:
        case 0:
            return closed({"value": nested_objects(levels - 1, variant)})
        case 1:  # the definitions of an object root start one level down
            return closed(**{"$defs": {"d": nested_objects(levels - 1, variant)}})
        case _:  # those of a root that is only a reference do not
            return {
                "$ref": "#/$defs/d",
                "$defs": {"d": {**nested_objects(levels, variant), "type": "object"}},
            }


class Budget(NamedTuple):
    """A limit, and documents that use a given amount of it."""

    limit: int
    document: Callable[[int, int], Any]
    variants: int


BUDGETS = {
    "properties": Budget(5_000, _properties_document, 4),
    "enum entries": Budget(1_000, _enum_document, 4),
    "characters": Budget(120_000, _characters_document, 12),
    "long enum characters": Budget(15_000, _long_enum_document, 8),
    "long enum entries": Budget(250, _long_enum_entries_document, 2),
    "depth": Budget(10, _depth_document, 24),
}
_BUDGET = st.sampled_from(list(BUDGETS))
_OFFSET = st.integers(-1, 1)


def budget_document(budget: str, offset: int, variant: int) -> Any:
    """A document that uses `limit + offset` of a budget; it breaks no other rule.

    Args:
        budget: a key of BUDGETS.
        offset: from the last amount that is accepted.
        variant: which of the budget's documents, counted from 0.
    """
    limit, document, _ = BUDGETS[budget]
    return document(limit + offset, variant)


@st.composite
def at_budget_border(draw: st.DrawFn) -> Any:
    """A document at a budget's limit or one off, in a third of cases with another error as well."""
    schema = budget_document(draw(_BUDGET), draw(_OFFSET), draw(_INDEX))
    schema.update(draw(_DISTURBANCES))
    return schema


_DISTURBANCES = _one_of_texts(
    *["{}"] * 12,
    '{"not": 1}',
    '{"contentSchema": {"not": 1}}',
    '{"contentSchema": {"items": {"type": "object"}}}',
    '{"items": {"$ref": "#/nope"}}',
    '{"anyOf": [true]}',
    '{"propertyNames": 1}',
)

"""Valid instances of a schema in the form that xgrammar can write, and instances that are wrong.

xgrammar writes less than JSON Schema allows: declared properties in declared order and extra ones
after them, integers without `.0`, bounded numbers without an exponent, strings with length bounds
without escapes, patterns as whole matches, no items where none are described. The generator keeps
to that form; what is valid is decided by jsonschema alone, with a registry that fetches nothing.

Everything is a function of the seed. Recursion is bounded by `MAX_DEPTH`.
"""

from __future__ import annotations

import json
import math
import random
import re
from re import _parser as regex_parser
from typing import Any
from urllib.parse import unquote

import jsonschema
import referencing
import referencing.exceptions

MAX_DEPTH = 40

# Below this depth optional parts are left out and finishing branches are preferred.
SHALLOW = 4

ATTEMPTS_PER_INSTANCE = 6

FORMATS = {
    "date": ["2024-02-29", "1999-12-31"],
    "time": ["23:59:59Z", "00:00:00+05:30"],
    "date-time": ["2024-02-29T12:30:00Z", "1999-12-31T23:59:59.123+02:00"],
    "duration": ["P3D", "PT1H30M"],
    "email": ["ab@example.com", "first.last@mail.example.org"],
    "hostname": ["example.com", "a-b.example"],
    "ipv4": ["127.0.0.1", "255.255.255.255"],
    "ipv6": ["::1", "2001:db8:0:0:0:0:0:1"],
    "uuid": ["123e4567-e89b-12d3-a456-426614174000"],
    "uri": ["https://example.com/a?b=c#d", "urn:isbn:0451450523"],
    "uri-reference": ["a/b", "#frag"],
    "uri-template": ["/items/{id}"],
    "json-pointer": ["", "/a~0b/0"],
    "relative-json-pointer": ["0", "1/a"],
}

PLAIN_TEXTS = ["", "a", "hello world", "Zürich", "日本語", "😀", "x" * 40]
ESCAPED_TEXTS = ['say "hi"', "back\\slash", "line\nbreak", "tab\there", "a/b", "</tag>"]

TYPES = ("string", "integer", "number", "boolean", "null", "array", "object")


class NoInstance(Exception):  # noqa: N818 - a branch that cannot be taken, not an error
    """Nothing can be made of this schema on this way down."""


def validator(schema: Any) -> Any:
    """The oracle: draft 2020-12 and no documents but this one."""
    return jsonschema.Draft202012Validator(schema, registry=referencing.Registry())


def valid_instances(schema: Any, n: int, seed: int) -> list[Any]:
    """Up to `n` instances that jsonschema calls valid; different ones as far as they are found."""
    oracle = validator(schema)
    maker = _Maker(schema, random.Random(seed))
    found: dict[str, Any] = {}
    spare: list[Any] = []
    for attempt in range(n * ATTEMPTS_PER_INSTANCE):
        if len(found) == n:
            break
        try:
            value = maker.make(schema, 0, full=attempt % 3 == 0)
        except NoInstance:
            continue
        text = dumps_for_engine(value)
        if text in found:
            spare.append(value)
        elif is_valid(oracle, value):
            found[text] = value
    return [*found.values(), *spare][:n]


def wrong_type_at_random_leaf(schema: Any, instance: Any, seed: int) -> Any:
    """The instance with one leaf of another type, so that jsonschema calls it invalid.

    Returns:
        A list with the instance as its only member, or None when every change stays valid.
    """
    rng = random.Random(seed)
    oracle = validator(schema)
    paths = _leaves(instance)
    rng.shuffle(paths)
    for path in paths:
        others: list[Any] = ["wrong", 7, 7.5, True, None, ["wrong"], {"wrong": 1}]
        rng.shuffle(others)
        for other in others:
            if _type_of(other) == _type_of(_at(instance, path)):
                continue
            changed = _replaced(instance, path, other)
            if is_valid(oracle, changed) is False:
                return [changed]
    return None


def dumps_for_engine(value: Any) -> str:
    """Compact JSON, as the engine writes it: no spaces, characters as they are."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def is_valid(oracle: Any, instance: Any) -> bool | None:
    """What the oracle says; None when it cannot, as with a pattern that Python does not know."""
    try:
        return bool(oracle.is_valid(instance))
    except (re.error, RecursionError, referencing.exceptions.Unresolvable):
        return None


# ------------------------------------------------------------------------------------------------
# Leaves
# ------------------------------------------------------------------------------------------------


def _leaves(instance: Any) -> list[tuple[Any, ...]]:
    """Paths of everything that holds nothing: scalars, `[]` and `{}`."""
    leaves: list[tuple[Any, ...]] = []
    queue: list[tuple[tuple[Any, ...], Any]] = [((), instance)]
    for path, value in queue:
        if isinstance(value, dict) and value:
            queue.extend(((*path, key), member) for key, member in value.items())
        elif isinstance(value, list) and value:
            queue.extend(((*path, index), member) for index, member in enumerate(value))
        else:
            leaves.append(path)
    return leaves


def _at(instance: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        instance = instance[step]
    return instance


def _replaced(instance: Any, path: tuple[Any, ...], value: Any) -> Any:
    if not path:
        return value
    copy = json.loads(json.dumps(instance))
    _at(copy, path[:-1])[path[-1]] = value
    return copy


def _type_of(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "integer" if value == int(value) else "number"
    names = {str: "string", list: "array", dict: "object", type(None): "null"}
    return names[type(value)]


# ------------------------------------------------------------------------------------------------
# Instances
# ------------------------------------------------------------------------------------------------


class _Maker:
    def __init__(self, root: Any, rng: random.Random) -> None:
        self.root = root
        self.rng = rng
        self.length = 0  # how many characters a match should have

    def make(self, schema: Any, depth: int, *, full: bool) -> Any:
        """A candidate; `full` asks for optional parts and for more items."""
        if not isinstance(schema, (dict, bool)) or schema is False or depth > MAX_DEPTH:
            raise NoInstance
        if schema is True or not schema:
            return self.anything()
        full = full and depth <= SHALLOW
        if "$ref" in schema:
            return self.make(self.target(schema), depth + 1, full=full)
        if "const" in schema:
            return _plain(schema["const"])
        if "enum" in schema:
            return _plain(self.rng.choice(schema["enum"] or self.nothing()))
        for keyword in ("anyOf", "oneOf"):
            if keyword in schema:
                return self.branch(schema, keyword, depth, full=full)
        if "allOf" in schema:
            rest = {key: value for key, value in schema.items() if key != "allOf"}
            for part in schema["allOf"]:
                rest |= part if isinstance(part, dict) else {}
            return self.make(rest, depth + 1, full=full)
        types = schema.get("type", _implied_types(schema))
        types = [types] if isinstance(types, str) else list(types)
        if not types:
            return self.anything()
        return self.typed(schema, self.rng.choice(types), depth, full=full)

    def nothing(self) -> Any:
        raise NoInstance

    def anything(self) -> Any:
        return self.rng.choice(["any", 5, 2.5, True, False, None, [], {}, [1, "a"], {"k": [None]}])

    def target(self, schema: dict[str, Any]) -> Any:
        node = self.root
        fragment = unquote(schema["$ref"].removeprefix("#"))
        for token in fragment.split("/")[1:]:
            step = token.replace("~1", "/").replace("~0", "~")
            try:
                node = node[int(step)] if isinstance(node, list) else node[step]
            except (KeyError, IndexError, ValueError, TypeError):
                raise NoInstance from None
        return node

    def branch(self, schema: dict[str, Any], keyword: str, depth: int, *, full: bool) -> Any:
        branches = list(schema[keyword])
        self.rng.shuffle(branches)
        if depth > SHALLOW:  # finish: references may come back here
            branches.sort(key=lambda branch: "$ref" in json.dumps(branch))
        rest = {key: value for key, value in schema.items() if key != keyword}
        for branch in branches:
            merged = {**rest, **branch} if isinstance(branch, dict) else branch
            try:
                return self.make(merged, depth + 1, full=full)
            except NoInstance:
                continue
        raise NoInstance

    def typed(self, schema: dict[str, Any], kind: str, depth: int, *, full: bool) -> Any:
        if kind == "object":
            return self.object(schema, depth, full=full)
        if kind == "array":
            return self.array(schema, depth, full=full)
        if kind == "string":
            return self.string(schema)
        if kind == "integer":
            return self.integer(schema)
        if kind == "number":
            return self.number(schema)
        if kind == "boolean":
            return self.rng.random() < 0.5
        if kind == "null":
            return None
        raise NoInstance

    def object(self, schema: dict[str, Any], depth: int, *, full: bool) -> dict[str, Any]:
        properties = schema.get("properties", {})
        required = set(schema.get("required", ()))
        least = schema.get("minProperties", 0)
        most = schema.get("maxProperties", math.inf)
        result: dict[str, Any] = {}
        missing = len(required)
        for name, member in properties.items():
            wanted = name in required
            missing -= wanted
            optional = full or (depth <= SHALLOW and self.rng.random() < 0.6)
            if not wanted and not (optional and len(result) + missing < most):
                continue
            try:
                result[name] = self.make(member, depth + 1, full=full)
            except NoInstance:
                if wanted:
                    raise
        extra = schema.get("additionalProperties", False)
        for name in required - set(properties):
            result[name] = self.make(extra, depth + 1, full=full)
        names = iter(f"extra{number}" for number in range(1000))
        patterns = list(schema.get("patternProperties", {}).items())
        while len(result) < least or (full and len(result) < most and self.rng.random() < 0.3):
            if patterns:
                pattern, member = self.rng.choice(patterns)
                name = self.matching_text({"pattern": pattern})
            else:
                member, name = extra, next(names)
                if "propertyNames" in schema:
                    name = self.make(
                        {"type": "string", **schema["propertyNames"]}, depth + 1, full=full
                    )
            try:
                result[name] = self.make(member, depth + 1, full=full)
            except NoInstance:
                break
        return result

    def array(self, schema: dict[str, Any], depth: int, *, full: bool) -> list[Any]:
        prefix = schema.get("prefixItems", [])
        items = schema.get("items", False)
        least = int(schema.get("minItems", 0))
        most = int(schema.get("maxItems", max(least, len(prefix)) + 3))
        if depth > SHALLOW:
            wanted = least
        else:
            wanted = self.rng.randint(least, max(least, min(most, least + 3)))
            wanted = max(wanted, min(len(prefix), most)) if full else wanted
        result: list[Any] = []
        while len(result) < wanted:
            member = prefix[len(result)] if len(result) < len(prefix) else items
            if isinstance(member, list):
                raise NoInstance
            try:
                value = self.make(member, depth + 1, full=full)
            except NoInstance:
                break
            if schema.get("uniqueItems") and value in result and self.rng.random() < 0.9:
                wanted -= len(result) >= least
                continue
            result.append(value)
        return result

    def string(self, schema: dict[str, Any]) -> str:
        if schema.get("format") in FORMATS:
            return self.rng.choice(FORMATS[schema["format"]])
        if "pattern" in schema:
            return self.matching_text(schema)
        least = int(schema.get("minLength", 0))
        if "minLength" not in schema and "maxLength" not in schema:
            return self.rng.choice(PLAIN_TEXTS + ESCAPED_TEXTS)
        most = int(schema.get("maxLength", least + 20))
        if least > 10_000:
            raise NoInstance
        size = self.rng.choice([least, most, self.rng.randint(least, max(least, most))])
        size = max(least, min(size, least + 200))
        return "".join(self.rng.choice("abz 09é語") for _ in range(size))

    def integer(self, schema: dict[str, Any]) -> int:
        low, high = _bounds(schema, 1)
        step = schema.get("multipleOf", 1)
        step = int(step) if step == int(step) and step >= 1 else 1
        low, high = _closed(low, high, -1000, 1000)
        first, last = math.ceil(low / step), math.floor(high / step)
        if first > last:
            raise NoInstance
        return step * self.rng.choice([first, last, self.rng.randint(first, last)])

    def number(self, schema: dict[str, Any]) -> float | int:
        low, high = _bounds(schema, 1e-4)  # smaller ones would be written with an exponent
        low, high = _closed(low, high, -1000, 1000)
        step = schema.get("multipleOf")
        if step is not None:
            first, last = math.ceil(low / step), math.floor(high / step)
            if first > last:
                raise NoInstance
            return _plain(round(step * self.rng.randint(first, last), 6))
        value = self.rng.choice([low, high, round(self.rng.uniform(low, high), 4)])
        return _plain(round(min(max(value, low), high), 6))

    # Strings that a pattern matches as a whole ----------------------------------------------------

    def matching_text(self, schema: dict[str, Any]) -> str:
        """A match of a length that the schema allows, and one that JSON writes as it is."""
        least, most = schema.get("minLength", 0), schema.get("maxLength", math.inf)
        self.length = int(least)
        for _ in range(20):
            text = self.matching(schema["pattern"])
            if least <= len(text) <= most and len(dumps_for_engine(text)) == len(text) + 2:
                return text
        raise NoInstance

    def matching(self, pattern: str) -> str:
        try:
            return self.match_parts(regex_parser.parse(pattern), 0)
        except (re.error, OverflowError, RecursionError):
            raise NoInstance from None

    def match_parts(self, parts: Any, depth: int) -> str:
        if depth > MAX_DEPTH:
            raise NoInstance
        return "".join(self.match_part(str(op), argument, depth + 1) for op, argument in parts)

    def match_part(self, op: str, argument: Any, depth: int) -> str:
        if op == "LITERAL":
            return chr(argument)
        if op in {"ANY", "NOT_LITERAL"}:
            return "a" if argument != ord("a") else "b"
        if op == "IN":
            return self.match_class(argument)
        if op == "BRANCH":
            return self.match_parts(self.rng.choice(argument[1]), depth)
        if op == "SUBPATTERN":
            return self.match_parts(argument[-1], depth)
        if op in {"MAX_REPEAT", "MIN_REPEAT"}:
            least, most, part = argument
            times = self.rng.randint(least, min(int(most), least + 3))
            if least <= self.length <= int(most) and self.rng.random() < 0.5:
                times = self.length
            return "".join(self.match_parts(part, depth) for _ in range(times))
        if op == "AT":
            return ""
        raise NoInstance  # lookaround, back-references: not what the engine does either

    def match_class(self, members: Any) -> str:
        candidates = "abcxyzABCXYZ0123456789_- .,:/@#é"
        ranges = []
        for op, argument in members:
            if str(op) == "LITERAL":
                ranges.append(chr(argument))
            elif str(op) == "RANGE":
                ranges.append(chr(self.rng.randint(*argument)))
        text = [c for c in candidates if _in_class(members, c)]
        text += [c for c in ranges if _in_class(members, c)]
        if not text:
            raise NoInstance
        return self.rng.choice(text)


def _in_class(members: Any, char: str) -> bool:
    negated = False
    inside = False
    tests = {
        "CATEGORY_DIGIT": lambda c: c in "0123456789",
        "CATEGORY_NOT_DIGIT": lambda c: c not in "0123456789",
        "CATEGORY_SPACE": lambda c: c == " ",
        "CATEGORY_NOT_SPACE": lambda c: c != " ",
        "CATEGORY_WORD": lambda c: c.isascii() and (c.isalnum() or c == "_"),
        "CATEGORY_NOT_WORD": lambda c: c.isascii() and not (c.isalnum() or c == "_"),
    }
    for op, argument in members:
        name = str(op)
        if name == "NEGATE":
            negated = True
        elif name == "LITERAL":
            inside |= ord(char) == argument
        elif name == "RANGE":
            inside |= argument[0] <= ord(char) <= argument[1]
        elif name == "CATEGORY":
            inside |= tests[str(argument)](char)
    return inside != negated


def _plain(value: Any) -> Any:
    """The value with whole numbers written as integers, as the engine writes them."""

    def number(text: str) -> float | int:
        found = float(text)
        return int(found) if found.is_integer() and abs(found) < 2**53 else found

    return json.loads(json.dumps(value), parse_float=number)


def _implied_types(schema: dict[str, Any]) -> list[str]:
    """The types that the engine takes a schema without `type` to mean."""
    if "properties" in schema or "additionalProperties" in schema:
        return ["object"]
    if "items" in schema or "prefixItems" in schema:
        return ["array"]
    return []


def _bounds(schema: dict[str, Any], step: float) -> tuple[float, float]:
    low = schema.get("minimum", -math.inf)
    high = schema.get("maximum", math.inf)
    if not isinstance(schema.get("exclusiveMinimum", False), bool):
        low = max(low, schema["exclusiveMinimum"] + step)
    if not isinstance(schema.get("exclusiveMaximum", False), bool):
        high = min(high, schema["exclusiveMaximum"] - step)
    return low, high


def _closed(low: float, high: float, least: float, most: float) -> tuple[float, float]:
    """Finite bounds: what is open ends up some hundreds away."""
    if math.isinf(low):
        low = min(least, high - 1000) if not math.isinf(high) else least
    if math.isinf(high):
        high = max(most, low + 1000)
    return low, high

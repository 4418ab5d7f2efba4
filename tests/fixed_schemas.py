"""What tests and benchmarks of `schemaguard fix` share: random tools, and what is asked of a fix.

A tool is a function of its seed. It may have any of the constructions that a rewrite answers, and
those that must keep a rewrite from being made.
"""

from __future__ import annotations

import random
import re
from typing import Any

import instances

_NAMES = ("a", "b", "c", "kind", "id", "type", "$ref", "required", "enum")
_TEXTS = ("x", "y", "z", "", "a b")


def keeps_order(old: Any, new: Any) -> bool:
    """Whether keys that are in both of two values, at the same places, are in the same order."""
    pending = [(old, new)]
    while pending:
        one, other = pending.pop()
        if isinstance(one, dict) and isinstance(other, dict):
            # What stands in the place of a reference has the order that it had there.
            is_written = isinstance(one.get("$ref"), str) and "$ref" not in other
            both = [key for key in one if key in other]
            if not is_written and both != [key for key in other if key in one]:
                return False
            pending += [(one[key], other[key]) for key in one if key in other]
        elif isinstance(one, list) and isinstance(other, list):
            pending += zip(one, other, strict=False)
    return True


class Tools:
    """Random schemas of tools."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.word = self.rng.choice(("$defs", "definitions"))
        self.definitions = self.rng.sample(("D", "E", "F"), self.rng.randint(0, 3))

    def tool(self) -> dict[str, Any]:
        """A schema whose root is an object, mostly."""
        root = self.object(0)
        root["type"] = self.rng.choice(("object",) * 8 + (["object"], ["object", "null"]))
        if self.definitions:
            # Never a bare reference: circles of those mean nothing.
            root[self.word] = {
                name: self.scalar(2) if self.one_in(4) else self.object(2)
                for name in self.definitions
            }
            if self.one_in(4):
                root[self.word]["x/y"] = self.object(2)
                root.setdefault("properties", {})["odd"] = {"$ref": f"#/{self.word}/x~1y"}
        declared = root.get("properties", {})
        shared = [name for name, held in declared.items() if self.refers_to_nothing(held)]
        if shared and self.one_in(3):
            declared["same"] = {"$ref": f"#/properties/{self.rng.choice(shared)}"}
        return root

    @staticmethod
    def refers_to_nothing(schema: Any) -> bool:
        """Whether a reference to a schema is no circle of references."""
        return isinstance(schema, dict) and "$ref" not in str(schema)

    def one_in(self, count: int) -> bool:
        return self.rng.randrange(count) == 0

    def schema(self, depth: int) -> Any:
        """Any schema."""
        simple = (self.scalar, self.scalar, self.listed, self.constant, self.reference)
        nested = (
            self.object,
            self.object,
            self.array,
            self.union,
            self.union,
            self.whole,
            self.odd,
        )
        make = self.rng.choice(simple if depth > 3 else simple + nested)
        made = make(depth + 1)
        if isinstance(made, dict) and self.one_in(4):
            made["description"] = "about it"
        return made

    def scalar(self, _: int) -> Any:
        kind = self.rng.choice(("string", "integer", "number", "boolean", "null"))
        made: dict[str, Any] = {"type": kind if not self.one_in(5) else [kind, "string"]}
        if made["type"] == ["string", "string"]:
            made["type"] = ["string", "null"]
        if self.one_in(4) and "string" in made["type"]:
            made["minLength"] = self.rng.choice((0, 1))
        if self.one_in(4) and kind in ("integer", "number"):
            made[self.rng.choice(("minimum", "exclusiveMinimum"))] = self.rng.randint(-3, 3)
        if self.one_in(8):
            made["default"] = None
        if self.one_in(40):
            return self.rng.choice((True, {}))
        return made

    def listed(self, _: int) -> Any:
        made: dict[str, Any] = {"enum": self.rng.sample((*_TEXTS, 1, None, True), 2)}
        if self.one_in(3):
            made = {"type": "string", "enum": self.rng.sample(_TEXTS, 2)}
        return made

    def constant(self, _: int) -> Any:
        return {"const": self.rng.choice((*_TEXTS, 1, None))}

    def reference(self, _: int) -> Any:
        if not self.definitions:
            return {"type": "string"}
        made: dict[str, Any] = {"$ref": f"#/{self.word}/{self.rng.choice(self.definitions)}"}
        if self.one_in(4):
            made["description"] = "see there"
        if self.one_in(8):
            made["type"] = "object"
        if self.one_in(15):
            made["required"] = ["a"]
        return made

    def object(self, depth: int) -> dict[str, Any]:
        names = self.rng.sample(_NAMES, self.rng.randint(0, 3))
        made: dict[str, Any] = {"type": "object"}
        if names or self.one_in(2):
            made["properties"] = {name: self.schema(depth + 1) for name in names}
        if names and not self.one_in(3):
            made["required"] = self.rng.sample(names, self.rng.randint(0, len(names)))
        if self.one_in(6):
            made["additionalProperties"] = self.rng.choice((False, False, True, {"type": "string"}))
        if self.one_in(12):
            made.update(self.entangled(depth, names))
        if self.one_in(20):
            del made["type"]
        return made

    def entangled(self, depth: int, names: list[str]) -> dict[str, Any]:
        """What makes the presence of a member matter."""
        some = names[:1] or ["a"]
        return self.rng.choice(
            (
                {"minProperties": 1},
                {"maxProperties": 2},
                {"dependentRequired": {some[0]: [self.rng.choice(_NAMES)]}},
                {"patternProperties": {"^x": {"type": "string"}}},
                {"anyOf": [{"required": some}, {"required": ["b"]}]},
                {"not": {"required": some}},
                {"if": {"required": some}, "then": {"required": ["b"]}},
                {"allOf": [{"properties": {"d": {"type": "string"}}, "required": ["d"]}]},
                {"allOf": [{"required": some}]},
                {"oneOf": [self.object(depth + 2), self.object(depth + 2)]},
                {"propertyNames": {"maxLength": 3}},
                {"required": ["undeclared"]},
                {"enum": [{}, {some[0]: "x"}]},
                {"not": {"const": {}}},
                {"allOf": [{"dependentRequired": {some[0]: [self.rng.choice(_NAMES)]}}]},
                {"allOf": [{"unevaluatedProperties": False}]},
                {"unevaluatedProperties": self.rng.choice((False, self.schema(depth + 2)))},
                {"allOf": [self.object(depth + 2)], "unevaluatedProperties": False},
                {"patternProperties": {"^k": self.object(depth + 2)}},
                {"nullable": True},
            )
        )

    def array(self, depth: int) -> Any:
        made: dict[str, Any] = {"type": "array"}
        kind = self.rng.randrange(6)
        if kind == 0:
            made["prefixItems"] = [self.schema(depth + 1)]
        elif kind < 5:
            made["items"] = self.schema(depth + 1)
        if self.one_in(6):
            # Not of objects: of {} and {"a": null}, which differ, only one form is left.
            made.update(items=self.scalar(depth), uniqueItems=self.one_in(2))
        if self.one_in(10):
            made["contains"] = self.object(depth + 1)
        return made

    def union(self, depth: int) -> Any:
        keyword = self.rng.choice(("anyOf", "anyOf", "oneOf"))
        if self.one_in(3):  # told apart by a property
            branches = []
            for value in self.rng.sample(_TEXTS, 2):
                branch = self.object(depth + 1)
                branch.setdefault("properties", {})["kind"] = {"const": value}
                branch["required"] = ["kind"]
                branches.append(branch)
            return {keyword: branches}
        made = {keyword: [self.schema(depth + 1) for _ in range(self.rng.randint(1, 3))]}
        if self.one_in(6):
            made[keyword].append({"not": {}})
        return made

    def whole(self, depth: int) -> Any:
        made: dict[str, Any] = {"allOf": [self.schema(depth + 1)]}
        if self.one_in(2):
            made["allOf"].append(self.object(depth + 1))
        if self.one_in(3):
            made["type"] = "object"
        return made

    def odd(self, depth: int) -> Any:
        return self.rng.choice(
            (
                {"not": self.object(depth + 1)},
                {"if": self.object(depth + 1), "then": self.object(depth + 1)},
                {"type": "object", "additionalProperties": self.schema(depth + 1)},
                {"type": ["string", "object"], "properties": {"a": self.schema(depth + 1)}},
                {"type": "array", "prefixItems": [self.scalar(depth)], "unevaluatedItems": False},
                {"enum": [1, 2], "allOf": [{"enum": [1.0, "x"]}]},
                {"type": "array", "contains": self.scalar(depth), "allOf": [{"minContains": 2}]},
                {"anyOf": [{"not": {}}, self.scalar(depth)], "description": "d"},
                {"type": "array", "prefixItems": [self.scalar(depth)], "maxItems": 1},
                {"type": "object", "properties": {"a": False}, "additionalProperties": False},
                {**self.object(depth + 1), "$defs": {"D": self.scalar(depth)}},
            )
        )


# --------------------------------------------------------------------------------- instances


def is_valid(schema: Any, value: Any) -> bool:
    """What jsonschema says; what it cannot decide is not valid."""
    return bool(instances.is_valid(instances.validator(schema), value))


def some_instances(schema: Any, count: int, seed: int) -> list[Any]:
    """Valid instances, and variants of them that may not be: nulls, members left out or added."""
    rng = random.Random(seed)
    found = instances.valid_instances(schema, count, seed)
    for value in list(found):
        found += [_varied(value, rng) for _ in range(3)]
    return found


def _varied(value: Any, rng: random.Random) -> Any:
    """A copy with a change at one place."""
    if isinstance(value, dict):
        copy = dict(value)
        names = list(copy)
        kind = rng.randrange(4)
        if names and kind == 0:
            del copy[rng.choice(names)]
        elif names and kind == 1:
            copy[rng.choice(names)] = None
        elif kind == 2:
            copy[rng.choice(_NAMES)] = rng.choice((None, "x", 1, {}))
        elif names:
            name = rng.choice(names)
            copy[name] = _varied(copy[name], rng)
        return copy
    if isinstance(value, list) and value:
        copy_of_list = list(value)
        index = rng.randrange(len(value))
        copy_of_list[index] = _varied(value[index], rng)
        return copy_of_list
    return rng.choice((None, "x", 1, value))


def lifted(value: Any, schema: Any, root: Any, depth: int = 0) -> Any:
    """What a model sends for a fixed schema to mean some arguments of the original: nulls for
    what is absent. Written apart from the library's own way back."""
    if depth > 60 or not isinstance(schema, dict):
        return value
    if "$ref" in schema:
        target = root
        for step in schema["$ref"][1:].split("/")[1:]:
            token = step.replace("~1", "/").replace("~0", "~")
            target = target[int(token) if isinstance(target, list) else token]
        value = lifted(value, target, root, depth + 1)
    for keyword in ("anyOf", "oneOf"):
        oracle = instances.validator(root)
        candidates = [
            candidate
            for branch in schema.get(keyword, ())
            for candidate in [lifted(value, branch, root, depth + 1)]
            if instances.is_valid(oracle.evolve(schema=branch), candidate)
        ]
        # One that needs no nulls is what the tool meant, if there is one.
        value = next((c for c in candidates if c == value), (*candidates, value)[0])
    for part in schema.get("allOf", ()):
        value = lifted(value, part, root, depth + 1)
    if isinstance(value, dict):
        declared = schema.get("properties", {})
        rest = schema.get("additionalProperties", True)
        rest = schema.get("unevaluatedProperties", rest) if rest is True else rest
        for pattern, held in schema.get("patternProperties", {}).items():
            value = {
                name: lifted(member, held, root, depth + 1) if re.search(pattern, name) else member
                for name, member in value.items()
            }
            rest = True
        value = {
            name: lifted(member, declared.get(name, rest), root, depth + 1)
            for name, member in value.items()
        }
        for name in schema.get("required", ()):
            if name in declared:
                value.setdefault(name, None)
    elif isinstance(value, list):
        leading = schema.get("prefixItems", [])
        value = [
            lifted(
                item,
                leading[index] if index < len(leading) else schema.get("items", True),
                root,
                depth + 1,
            )
            for index, item in enumerate(value)
        ]
    return value


def closed(schema: Any) -> Any:
    """A copy in which every object with properties is closed: the change that a fix states."""
    if isinstance(schema, list):
        return [closed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    copy = {key: closed(value) for key, value in schema.items()}
    if isinstance(schema.get("properties"), dict):
        copy.setdefault("additionalProperties", False)
    return copy


def of_openapi(schema: Any) -> Any:
    """A copy in which `nullable`, which JSON Schema does not know, is a union with null.

    Not at the root, which pointers start from: arguments are never null.
    """
    if not isinstance(schema, dict):
        return schema
    return {key: _of_openapi(value) for key, value in schema.items() if key != "nullable"}


def _of_openapi(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_of_openapi(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    copy = {key: _of_openapi(value) for key, value in schema.items()}
    if copy.get("nullable") is True:
        del copy["nullable"]
        held = {key: copy.pop(key) for key in ("$defs", "definitions") if key in copy}
        return {"anyOf": [copy, {"type": "null"}], **held}
    return copy


def without_nulls(value: Any) -> Any:
    """A copy without members that are null."""
    if isinstance(value, dict):
        return {k: without_nulls(v) for k, v in value.items() if v is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value

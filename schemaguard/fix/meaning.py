"""What can be said of a schema by reading it: may it be null, can two of them overlap.

Every answer is on the safe side: "no" means that it is so for every instance, and what is not
understood is "perhaps". References are followed within the document, each once on a way.
"""

from __future__ import annotations

from schemaguard.fix.draft import find
from schemaguard.keywords import TYPE_NAMES, is_number, is_types
from schemaguard.report import tokens_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from schemaguard.fix.draft import Tokens

#: Subschemas that one question may look at, and levels that it may go down, references included;
#: beyond, the answer is "perhaps". The questions are recursive, and the levels few enough for any
#: stack.
_MAX_STEPS = 2_000
_MAX_LEVELS = 60

#: Alternatives of one `oneOf` that are compared with each other; and pairs of them in a document,
#: beyond which they may overlap for all that is known.
_BRANCHES = 50
_MAX_PAIRS = 10_000

#: What says something of null; every other keyword lets it pass.
_NULL_SAYS = frozenset(
    {"type", "enum", "const", "$ref", "anyOf", "oneOf", "allOf", "not", "if"}
    | {"$dynamicRef", "$recursiveRef"}
)


def target(root: Any, reference: object) -> tuple[Tokens, Any] | None:
    """Place and schema of a reference within the document; None for any other reference."""
    if not isinstance(reference, str) or not reference.startswith("#"):
        return None
    fragment = reference[1:]
    if "%" in fragment:
        from urllib.parse import unquote  # noqa: PLC0415  (8 ms, rarely needed)

        fragment = unquote(fragment, errors="replace")
    if fragment and not fragment.startswith("/"):
        return None
    steps, schema, rest = find(root, tokens_of(fragment))
    return None if rest else (steps, schema)


class Reader:
    """Answers questions about the schemas of one document."""

    __slots__ = ("_pairs", "_root", "_steps")

    def __init__(self, root: Any) -> None:
        self._root = root
        self._pairs = 0
        self._steps = 0

    def accepts_null(self, schema: Any) -> bool | None:
        """Whether null is an instance of a schema; None when that cannot be told."""
        self._steps = 0
        return self._null(schema, ())

    def _null(self, schema: Any, path: tuple[str, ...]) -> bool | None:
        path = (*path, "")
        self._steps += 1
        if self._steps > _MAX_STEPS or len(path) > _MAX_LEVELS:
            return None
        if schema.__class__ is not dict:
            return schema if schema.__class__ is bool else None
        if _NULL_SAYS.isdisjoint(schema):
            return True
        answers: list[bool | None] = []
        kind = schema.get("type", "null")
        answers.append("null" in kind if kind.__class__ is list else kind == "null")
        if "enum" in schema:
            members = schema["enum"]
            answers.append(members.__class__ is list and None in members)
        if "const" in schema:
            answers.append(schema["const"] is None)
        if "$dynamicRef" in schema or "$recursiveRef" in schema:
            answers.append(None)
        if "$ref" in schema:
            answers.append(self._null_of_reference(schema["$ref"], path))
        for keyword in ("anyOf", "oneOf", "allOf"):
            if keyword in schema:
                branches = schema[keyword]
                found: list[bool | None] = [None]
                if branches.__class__ is list:
                    found = [self._null(branch, path) for branch in branches]
                answers.append(_COMBINED[keyword](found))
        if "not" in schema:
            answers.append(_opposite(self._null(schema["not"], path)))
        if "if" in schema:
            answers.append(self._null_of_condition(schema, path))
        return _all(answers)

    def _null_of_reference(self, reference: object, path: tuple[str, ...]) -> bool | None:
        if not isinstance(reference, str) or reference in path:
            return None
        found = target(self._root, reference)
        return None if found is None else self._null(found[1], (*path, reference))

    def _null_of_condition(self, schema: dict[str, Any], path: tuple[str, ...]) -> bool | None:
        holds = self._null(schema["if"], path)
        if holds is None:
            return None
        branch = "then" if holds else "else"
        return self._null(schema[branch], path) if branch in schema else True

    def types(self, schema: Any) -> frozenset[str]:
        """The types that instances may have; "number" stands for integers as well."""
        self._steps = 0
        return self._types(schema, ())

    def _types(self, schema: Any, path: tuple[str, ...]) -> frozenset[str]:
        path = (*path, "")
        self._steps += 1
        if self._steps > _MAX_STEPS or len(path) > _MAX_LEVELS or schema.__class__ is not dict:
            return frozenset() if schema is False else _ALL_TYPES
        found = _ALL_TYPES
        kind = schema.get("type")
        if is_types(kind):
            found &= _widened([kind] if isinstance(kind, str) else kind or [])
        values = _values(schema)
        if values is not None:
            found &= frozenset(json_type(value) for value in values)
        reference = schema.get("$ref")
        if isinstance(reference, str) and reference not in path:
            place = target(self._root, reference)
            if place is not None:
                found &= self._types(place[1], (*path, reference))
        for keyword in ("anyOf", "oneOf"):
            branches = schema.get(keyword)
            if branches.__class__ is list:
                union: frozenset[str] = frozenset()
                found &= union.union(*(self._types(branch, path) for branch in branches))
        branches = schema.get("allOf")
        for branch in branches if branches.__class__ is list else ():
            found &= self._types(branch, path)
        return found | {"null"} if schema.get("nullable") is True else found

    def resolved(self, schema: Any) -> Any:
        """The schema that a chain of bare references leads to."""
        for _ in range(_BRANCHES):
            if schema.__class__ is not dict or schema.keys() - _SILENT != {"$ref"}:
                break
            found = target(self._root, schema["$ref"])
            if found is None:
                break
            schema = found[1]
        return schema

    def are_disjoint(self, branches: Any, *, with_nulls: bool = False) -> bool:
        """Whether no instance can be valid against two of some schemas.

        Args:
            branches: the schemas.
            with_nulls: also when null is accepted for each property that is optional.
        """
        if branches.__class__ is not list or len(branches) > _BRANCHES:
            return False
        self._pairs += len(branches) * (len(branches) - 1) // 2
        if self._pairs > _MAX_PAIRS:
            return False
        whole = [self.resolved(branch) for branch in branches]
        types = [self.types(branch) for branch in branches]
        return all(
            self._cannot_meet(whole[i], types[i], whole[j], types[j], with_nulls)
            for i in range(len(whole))
            for j in range(i)
        )

    def _cannot_meet(
        self,
        one: Any,
        one_types: frozenset[str],
        other: Any,
        other_types: frozenset[str],
        with_nulls: bool,
    ) -> bool:
        common = one_types & other_types
        if not common:
            return True
        if one.__class__ is not dict or other.__class__ is not dict:
            return False
        if _apart(_values(one), _values(other)) or _ranges_apart(one, other, common):
            return True
        return common == {"object"} and self._told_apart(one, other, with_nulls)

    def _told_apart(self, one: dict[str, Any], other: dict[str, Any], with_nulls: bool) -> bool:
        """Whether a property tells two kinds of objects apart."""
        for here, there in ((one, other), (other, one)):
            required = here.get("required")
            mine, theirs = here.get("properties"), there.get("properties")
            if required.__class__ is not list or theirs.__class__ is not dict:
                continue
            mine = mine if mine.__class__ is dict else {}
            for name in required:
                if not isinstance(name, str):
                    continue
                if name not in theirs:
                    if there.get("additionalProperties") is False and not (
                        there.get("patternProperties")
                    ):
                        return True
                    continue
                if theirs[name] is False:
                    return True
                also = there.get("required")
                may_be_null = also.__class__ is not list or name not in also
                if with_nulls and may_be_null and "null" in self.types(mine.get(name, True)):
                    continue
                a, b = self.resolved(mine.get(name)), self.resolved(theirs[name])
                if a.__class__ is not dict or b.__class__ is not dict:
                    continue
                if _apart(_values(a), _values(b)) or not (self.types(a) & self.types(b)):
                    return True
        return False


#: Keywords that constrain nothing.
_SILENT = frozenset(
    {"title", "description", "default", "examples", "example", "deprecated", "readOnly"}
    | {"writeOnly", "$comment", "$schema", "$id", "$defs", "definitions"}
)
ANNOTATIONS = _SILENT - {"$schema", "$id", "$defs", "definitions"}

_ALL_TYPES = TYPE_NAMES - {"integer"}


def _widened(names: list[str]) -> frozenset[str]:
    return frozenset("number" if name == "integer" else name for name in names)


def json_type(value: object) -> str:
    """The type of a JSON value; all numbers are of one."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "string"
    if isinstance(value, (int, float)):
        return "number"
    return "array" if isinstance(value, list) else "object"


def _values(schema: dict[str, Any]) -> list[Any] | None:
    """The values that a schema lists, or None when it lists none."""
    members = [schema["const"]] if "const" in schema else schema.get("enum")
    if members.__class__ is not list:
        return None
    return [*members, None] if schema.get("nullable") is True else members


def lists_containers(schema: dict[str, Any]) -> bool:
    """Whether `enum` or `const` has objects or arrays: whole values, with all that is in them."""
    values = list(_values(schema) or ())
    if "const" in schema and schema.get("enum").__class__ is list:
        values += schema["enum"]
    return any(value.__class__ in (dict, list) for value in values)


def _apart(ones: list[Any] | None, others: list[Any] | None) -> bool:
    """Whether two lists of scalars have nothing in common; 1 and 1.0 are the same number."""
    if ones is None or others is None:
        return False
    if any(isinstance(value, (list, dict)) for value in (*ones, *others)):
        return False
    return _keys(ones).isdisjoint(_keys(others))


def _keys(values: list[Any]) -> set[tuple[str, Any]]:
    return {(json_type(value), value) for value in values}


def _ranges_apart(one: dict[str, Any], other: dict[str, Any], common: frozenset[str]) -> bool:
    if common != {"number"}:
        return False
    for low, high in ((one, other), (other, one)):
        least, most = low.get("minimum"), high.get("maximum")
        if is_number(least) and is_number(most) and least > most:  # type: ignore[operator]
            return True
    return False


def _all(answers: list[bool | None]) -> bool | None:
    if False in answers:
        return False
    return None if None in answers else True


def _any(answers: list[bool | None]) -> bool | None:
    return _opposite(_all([_opposite(answer) for answer in answers]))


def _one(answers: list[bool | None]) -> bool | None:
    if answers.count(True) > 1:
        return False
    return None if None in answers else answers.count(True) == 1


def _opposite(answer: bool | None) -> bool | None:
    return None if answer is None else not answer


_COMBINED = {"anyOf": _any, "oneOf": _one, "allOf": _all}

"""Arguments for the fixed schema, as the tool's own schema has them.

A property that had been optional is null where it is absent. To leave such nulls out, the arguments
are walked along with the schema: through properties, items, references, and those alternatives of a
union that the value keeps to.
"""

from __future__ import annotations

from schemaguard import data
from schemaguard.arguments import ARGUMENT_LIMITS
from schemaguard.fix.draft import value_at
from schemaguard.fix.meaning import Reader, json_type, target
from schemaguard.preflight import as_document
from schemaguard.report import tokens_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

#: Schemas that may hold for one value, and steps of the validator for one call.
_MAX_SCHEMAS = 1_000
_MAX_STEPS = 200_000


def adapted(schema: Any, optional: Mapping[str, tuple[str, ...]], arguments: Any) -> dict[str, Any]:
    """See `FixResult.adapt_arguments`.

    Args:
        schema: the fixed schema.
        optional: of the result.
        arguments: those of one call, as text or parsed.
    """
    arguments = _parsed(arguments)
    walk = _Walk(schema, optional)
    top = [arguments]
    pending: list[tuple[Any, Any, list[Any]]] = [(top, 0, [schema])]
    while pending:
        holder, key, schemas = pending.pop()
        value = holder[key]
        if value.__class__ is dict:
            known = walk.holding(schemas, value)
            absent = walk.absent(known)
            copy: Any = {k: v for k, v in value.items() if v is not None or k not in absent}
            holder[key] = copy
            pending += [(copy, name, walk.of_name(known, name)) for name in copy]
        elif value.__class__ is list:
            known = walk.holding(schemas, value)
            copy = holder[key] = list(value)
            pending += [(copy, index, walk.of_index(known, index)) for index in range(len(copy))]
    return top[0]  # type: ignore[no-any-return]


def _parsed(arguments: Any) -> dict[str, Any]:
    """The object that arguments are.

    Raises:
        ValueError: they are none, or too large or too deep.
    """
    limits = ARGUMENT_LIMITS
    document = as_document(arguments, limits)
    if document.faults:
        fault = document.faults[0]
        raise ValueError(f"no arguments of a call: {fault.name}: {fault.detail}")
    inside, nesting, faults = data.faults(document.value, limits.max_nodes, 1)
    if faults:
        raise ValueError(f"no arguments of a call: {faults[0][0]}: {faults[0][2]}")
    if inside > limits.max_nodes or nesting > limits.max_depth:
        raise ValueError("no arguments of a call: too many values, or nested too deep")
    if document.value.__class__ is not dict:
        raise ValueError("no arguments of a call: they are a JSON object, or the text of one")
    return document.value


class _Walk:
    """The schemas that hold for the parts of some arguments."""

    def __init__(self, root: Any, optional: Mapping[str, tuple[str, ...]]) -> None:
        self._root = root
        self._reader = Reader(root)
        self._absent = {
            id(value_at(root, _steps(root, pointer))): frozenset(names)
            for pointer, names in optional.items()
        }
        self._validator: Any = None

    def absent(self, schemas: list[Any]) -> frozenset[str]:
        """Properties that are null for absent."""
        names: frozenset[str] = frozenset()
        return names.union(*(self._absent.get(id(schema), ()) for schema in schemas))

    def holding(self, schemas: list[Any], value: Any) -> list[Any]:
        """Those schemas, and all that hold for the value because of them."""
        found: dict[int, Any] = {}
        pending = list(reversed(schemas))
        while pending and len(found) < _MAX_SCHEMAS:
            schema = pending.pop()
            if schema.__class__ is not dict or id(schema) in found:
                continue
            found[id(schema)] = schema
            pending += self._beside(schema, value)
        return list(found.values())

    def _beside(self, schema: dict[str, Any], value: Any) -> Iterator[Any]:
        there = target(self._root, schema.get("$ref"))
        if there is not None:
            yield there[1]
        branches = schema.get("allOf")
        yield from branches if branches.__class__ is list else ()
        for keyword in ("anyOf", "oneOf"):
            branches = schema.get(keyword)
            if branches.__class__ is list:
                yield from self._chosen(branches, value)
        if "if" in schema:
            branch = "then" if self._is_valid(schema["if"], value) else "else"
            if branch in schema:
                yield schema[branch]

    def _chosen(self, branches: list[Any], value: Any) -> Iterator[Any]:
        """The first alternative that the value keeps to."""
        likely = [branch for branch in branches if self._may_keep_to(branch, value)]
        if len(likely) > 1:
            likely = [branch for branch in likely if self._is_valid(branch, value)]
        yield from likely[:1]

    def _may_keep_to(self, branch: Any, value: Any) -> bool:
        """Whether a glance does not rule an alternative out."""
        branch = self._reader.resolved(branch)
        if branch.__class__ is not dict:
            return branch is not False
        if json_type(value) not in self._reader.types(branch):
            return False
        if value.__class__ is not dict:
            return True
        declared = branch.get("properties")
        declared = declared if declared.__class__ is dict else {}
        required = branch.get("required")
        if required.__class__ is list and any(name not in value for name in required):
            return False
        for name, member in declared.items():
            is_listed = name in value and member.__class__ is dict and "const" in member
            if is_listed and not data.same(member["const"], value[name]):
                return False
        closed = branch.get("additionalProperties") is False and not branch.get("patternProperties")
        return not closed or all(name in declared for name in value)

    def _is_valid(self, schema: Any, value: Any) -> bool:
        if self._validator is None:
            self._validator = _validator(self._root)
        try:
            return bool(self._validator.evolve(schema=schema).is_valid(value))
        except Exception:  # noqa: BLE001  (jsonschema fails as it likes; then it is not known to be)
            return False

    def of_name(self, schemas: list[Any], name: str) -> list[Any]:
        """The schemas of a member."""
        found: list[Any] = []
        rest: list[Any] = []
        for schema in schemas:
            declared = schema.get("properties")
            own = [declared[name]] if declared.__class__ is dict and name in declared else []
            patterns = schema.get("patternProperties")
            if patterns.__class__ is dict:
                own += [held for pattern, held in patterns.items() if self._matches(pattern, name)]
            if not own and "additionalProperties" in schema:
                own.append(schema["additionalProperties"])
            found += own
            rest.append(schema.get("unevaluatedProperties"))
        return found or rest

    def _matches(self, pattern: str, name: str) -> bool:
        from schemaguard.searching import Budget, UndecidedError, search  # noqa: PLC0415  (rare)

        try:
            return search(pattern, name, Budget(_MAX_STEPS))
        except UndecidedError:
            return False

    def of_index(self, schemas: list[Any], index: int) -> list[Any]:
        """The schemas of an item."""
        found = []
        rest: list[Any] = []
        for schema in schemas:
            rest.append(schema.get("unevaluatedItems"))
            items = schema.get("items")
            leading = schema.get("prefixItems")
            if items.__class__ is list:  # the old form
                leading, items = items, schema.get("additionalItems")
            if leading.__class__ is list and index < len(leading):
                found.append(leading[index])
            elif items is not None:
                found.append(items)
        return found or rest


def _steps(root: Any, pointer: str) -> tuple[str | int, ...]:
    steps: list[str | int] = []
    for token in tokens_of(pointer):
        step: str | int = int(token) if root.__class__ is list else token
        steps.append(step)
        root = root[step]
    return tuple(steps)


def _validator(root: Any) -> Any:
    from jsonschema import Draft202012Validator  # noqa: PLC0415  (78 ms)

    from schemaguard.formats import is_of_format  # noqa: PLC0415  (with it)
    from schemaguard.searching import Budget, search  # noqa: PLC0415  (with it)
    from schemaguard.validating import bounded, made  # noqa: PLC0415  (with it)

    draft = bounded(Draft202012Validator, search, is_of_format, follows=False)
    return made(draft, root, Budget(_MAX_STEPS))

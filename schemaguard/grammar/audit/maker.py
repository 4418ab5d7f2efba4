"""Instances of schemas: plausible ones, which the judge then calls valid or not.

At each place of an instance several schemas may hold at once: a schema, what its `$ref` leads to,
all of its `allOf`, a branch of its `anyOf`. The maker takes them as one list of *parts* and makes a
value that suits all of them, as far as it understands them; `not` and exclusive `oneOf` it leaves
to luck and the judge. A part may also be made up, to steer: `{"minItems": 4}` next to the schema
asks for a longer array.

A *route* (see `constraints`) sends the instance past a place: branches on it are taken, members on
it are made, however optional. The value there is the *hole*, to be replaced by others.

Schemas nest deeply and refer to themselves. Every step that would recurse is a generator that
yields what it needs to `_run`, which keeps them on a stack of its own.
"""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING, Any

from schemaguard.grammar.audit import parts as of
from schemaguard.grammar.audit import scalars
from schemaguard.grammar.audit.constraints import SAME_PLACE, overridden, target
from schemaguard.grammar.audit.parts import TYPES, NoInstance

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

    from schemaguard.grammar.audit.constraints import Step
    from schemaguard.grammar.audit.judge import Judge

    Making = Generator["Making", Any, Any]

#: Levels of an instance; deeper ones are not made.
MAX_DEPTH = 70

#: Below this depth optional members are left out.
SHALLOW = 3

#: Values that one instance may hold.
MAX_VALUES = 2_000

#: Items of an array and members of an object that are made at most.
MAX_ITEMS = 1_200

# Keywords that put further parts beside a part.
_COMBINERS = frozenset({"$ref", "allOf", "anyOf", "oneOf", "if", "then", "else", "not"})


class Template:
    """An instance with a hole.

    Attributes:
        instance: the whole instance, with a value in the hole.
        path: keys and indices from the root to the hole.
        own: the schema that the hole is for.
        others: the other parts that hold there, without combiners.
    """

    __slots__ = ("instance", "others", "own", "path")

    def __init__(
        self, instance: Any, path: tuple[Any, ...], own: Any, others: list[dict[str, Any]]
    ) -> None:
        self.instance = instance
        self.path = path
        self.own = own
        self.others = others

    def value(self) -> Any:
        """What is in the hole now."""
        value = self.instance
        for key in self.path:
            value = value[key]
        return value

    def filled(self, value: Any) -> Any:
        """The instance with another value in the hole; the rest is shared."""
        nodes = [self.instance]
        for key in self.path[:-1]:
            nodes.append(nodes[-1][key])
        for node, key in zip(reversed(nodes), reversed(self.path), strict=False):
            copy = node.copy()
            copy[key] = value
            value = copy
        return value


class Maker:
    """Makes instances of one schema.

    Args:
        judge: whose document the references are looked up in.
        seed: for those who make instances with it.
    """

    def __init__(self, judge: Judge, seed: int = 0) -> None:
        self.seed = seed
        self._judge = judge
        self._root = judge.schema
        self._rng = random.Random(0)  # noqa: S311 - reproducible
        self._values = 0
        self._path: list[Any] = []
        self._hole: tuple[Any, list[dict[str, Any]]] | None = None
        self._hole_depth = -1
        self._full = False

    def template(self, route: list[Step], rng: random.Random, *, full: bool) -> Template:
        """An instance of the whole schema that goes along a route.

        Args:
            route: where to.
            rng: decides what is left open.
            full: make optional members and more items, too.

        Raises:
            NoInstance: none could be made.
        """
        self._start(rng, full=full)
        instance = _run(self._value([self._root], (route, 0), 0))
        if self._hole is None:
            raise NoInstance
        own, others = self._hole
        return Template(instance, tuple(self._path), own, others)

    def value(self, parts: list[Any], rng: random.Random, *, full: bool) -> Any:
        """A value that suits all parts.

        Raises:
            NoInstance: none could be made.
        """
        self._start(rng, full=full)
        return _run(self._value(parts, None, 0))

    def _start(self, rng: random.Random, *, full: bool) -> None:
        self._rng = rng
        self._full = full
        self._values = 0
        self._path = []
        self._hole = None

    # Parts --------------------------------------------------------------------------------------

    def _expanded(
        self, schemas: Iterable[Any], goal: tuple[list[Step], int] | None, depth: int
    ) -> tuple[list[dict[str, Any]], tuple[list[Step], int] | None, dict[str, Any] | None]:
        """The parts without combiners, and the goal that is left.

        Returns:
            The parts; the goal with the next step that goes to a member; and the part that this
            step is in. Both None when there is no goal, or it is reached.
        """
        parts: list[dict[str, Any]] = []
        inner = guide = None
        # The goal's own schema comes last, so that what holds beside it is known.
        queue = [(schema, goal if index == 0 else None) for index, schema in enumerate(schemas)]
        queue.reverse()
        waiting: list[tuple[Any, tuple[list[Step], int] | None]] = []
        budget = 500
        while queue or waiting:
            schema, here = queue.pop() if queue else waiting.pop()
            budget -= 1
            if budget < 0:
                raise NoInstance
            step: Step | None = None
            if here is not None:
                route, index = here
                if index == len(route):
                    if queue:
                        waiting.append((schema, here))
                        continue
                    self._hole = (schema, list(parts))
                    self._hole_depth = depth
                elif route[index][0] in SAME_PLACE:
                    step = route[index]
                    here = (route, index + 1)
                else:
                    inner = here
            if schema is True:
                continue
            if not isinstance(schema, dict):
                raise NoInstance
            if overridden(schema, self._judge):
                queue.append((self._target(schema), here if step else None))
                continue
            self._combined(schema, step, here, queue, depth)
            plain = schema
            if not _COMBINERS.isdisjoint(schema):
                plain = {key: schema[key] for key in schema if key not in _COMBINERS}
            if inner is not None and guide is None and here is inner:
                guide = plain
            if plain:
                parts.append(plain)
        return parts, inner, guide

    def _combined(
        self,
        schema: dict[str, Any],
        step: Step | None,
        here: tuple[list[Step], int] | None,
        queue: list[Any],
        depth: int,
    ) -> None:
        """Queue what holds beside a schema."""

        def add(keyword: str, key: Any, member: Any) -> None:
            queue.append((member, here if step == (keyword, key) else None))

        if "$ref" in schema:
            add("$ref", None, self._target(schema))
        for index, member in enumerate(schema.get("allOf") or ()):
            add("allOf", index, member)
        for keyword in ("anyOf", "oneOf"):
            branches = schema.get(keyword)
            if branches:
                if step is not None and step[0] == keyword:
                    index = step[1]
                else:
                    index = self._branch(branches, depth)
                add(keyword, index, branches[index])
        if "if" in schema:
            forced = step[0] if step is not None and step[0] in {"then", "else"} else None
            if forced == "then" or (
                forced is None and "then" in schema and self._rng.random() < 0.5
            ):
                queue.append((schema["if"], None))
                add("then", None, schema.get("then", True))
            elif "else" in schema:
                add("else", None, schema["else"])

    def _target(self, schema: dict[str, Any]) -> Any:
        found = target(self._root, schema["$ref"])
        if found is None:
            raise NoInstance
        return found[1]

    def _branch(self, branches: list[Any], depth: int) -> int:
        if depth <= SHALLOW:
            return self._rng.randrange(len(branches))
        # Deep down: finish. What has neither references nor members comes to an end.
        costs = [of.weight(branch) for branch in branches]
        return costs.index(min(costs))

    # Values -------------------------------------------------------------------------------------

    def _value(self, schemas: list[Any], goal: tuple[list[Step], int] | None, depth: int) -> Making:
        self._values += 1
        if depth > MAX_DEPTH or self._values > MAX_VALUES:
            raise NoInstance
        before = self._hole
        try:
            parts, inner, guide = self._expanded(schemas, goal, depth)
            return (yield self._made(parts, inner, guide, depth))
        except NoInstance:
            if goal is None or self._hole is before or self._hole_depth != depth:
                raise
            return None  # the hole is here, and nothing fits it

    def _made(
        self,
        parts: list[dict[str, Any]],
        goal: tuple[list[Step], int] | None,
        guide: dict[str, Any] | None,
        depth: int,
    ) -> Making:
        """A value of parts without combiners."""
        kinds = of.kinds(parts)
        if goal is not None and guide is not None:
            wanted = "object" if "ropert" in goal[0][goal[1]][0] else "array"
            if wanted not in kinds:
                raise NoInstance
            made = self._object if wanted == "object" else self._array
            return (yield made(parts, goal, guide, depth))
        values = of.listed(parts)
        if values is not None:
            fitting = [value for value in values if of.kinds_of(value) & kinds]
            if not fitting:
                raise NoInstance
            return self._rng.choice(fitting)
        usual = [kind for kind in TYPES if kind in kinds]
        if not usual:
            raise NoInstance
        if len(usual) == len(TYPES) - 1:  # no type is excluded: an integer is a number
            usual = of.implied(parts) or ["string"]
        kind = self._rng.choice(usual)
        if kind == "object":
            return (yield self._object(parts, None, None, depth))
        if kind == "array":
            return (yield self._array(parts, None, None, depth))
        return self._scalar(kind, parts)

    def _scalar(self, kind: str, parts: list[dict[str, Any]]) -> Any:
        if kind == "string":
            return scalars.string(parts, self._rng, full=self._full)
        if kind == "boolean":
            return self._rng.random() < 0.5
        if kind == "null":
            return None
        whole = kind == "integer"
        return scalars.number(parts, self._rng, whole=whole, full=self._full)

    # Objects ------------------------------------------------------------------------------------

    def _object(
        self,
        parts: list[dict[str, Any]],
        goal: tuple[list[Step], int] | None,
        guide: dict[str, Any] | None,
        depth: int,
    ) -> Making:
        declared = of.declared(parts)
        goal_name = self._goal_name(goal, declared, parts)
        wanted = self._wanted_names(parts, declared, goal_name, depth)
        result: dict[str, Any] = {}
        if goal_name is not None:
            self._path.append(goal_name)
        for name in of.in_order(declared, wanted):
            members = of.members(parts, name)
            inner = None
            if name == goal_name and goal is not None:
                inner = (goal[0], goal[1] + 1)
                first = of.member_of(guide or {}, goal[0][goal[1]])
                members = [first, *(m for m in members if m is not first)]
            try:
                result[name] = yield self._value(members, inner, depth + 1)
            except NoInstance:
                if name == goal_name or of.is_required(parts, name):
                    raise
        return result

    def _goal_name(
        self,
        goal: tuple[list[Step], int] | None,
        declared: dict[str, None],
        parts: list[dict[str, Any]],
    ) -> str | None:
        if goal is None:
            return None
        keyword, key = goal[0][goal[1]]
        if keyword == "properties":
            return str(key)
        if keyword == "patternProperties":
            return self._name_like(key, parts)
        return self._new_name(declared, parts)

    def _wanted_names(
        self,
        parts: list[dict[str, Any]],
        declared: dict[str, None],
        goal_name: str | None,
        depth: int,
    ) -> dict[str, None]:
        wanted: dict[str, None] = {} if goal_name is None else {goal_name: None}
        for part in parts:
            required = part.get("required")
            if isinstance(required, list):
                wanted.update(dict.fromkeys(name for name in required if isinstance(name, str)))
        least = int(max((of.count(part, "minProperties", 0) for part in parts), default=0))
        most = min((of.count(part, "maxProperties", math.inf) for part in parts), default=math.inf)
        for name in declared:
            optional = self._full and depth <= SHALLOW
            possible = name not in wanted and all(m is not False for m in of.members(parts, name))
            if possible and len(wanted) < most and (optional or len(wanted) < least):
                wanted[name] = None
        self._add_dependents(parts, wanted)
        if least > MAX_ITEMS:
            raise NoInstance
        for _ in range(least - len(wanted)):
            wanted[self._new_name({**declared, **wanted}, parts)] = None
        return wanted

    def _add_dependents(self, parts: list[dict[str, Any]], wanted: dict[str, None]) -> None:
        queue = list(wanted)
        for name in queue:
            for part in parts:
                for keyword in ("dependentRequired", "dependencies"):
                    rule = part.get(keyword)
                    names = rule.get(name) if isinstance(rule, dict) else None
                    for needed in names if isinstance(names, list) else ():
                        if isinstance(needed, str) and needed not in wanted:
                            wanted[needed] = None
                            queue.append(needed)

    def _new_name(self, taken: dict[str, None], parts: list[dict[str, Any]]) -> str:
        """A name that nothing declares; one that a pattern or `propertyNames` asks for."""
        names = [p["propertyNames"] for p in parts if isinstance(p.get("propertyNames"), dict)]
        patterns = [key for p in parts for key in p.get("patternProperties") or ()]
        closed = any(p.get("additionalProperties") is False for p in parts)
        for number in range(40):
            if names:
                maker = Maker(self._judge)
                name = maker.value([{"type": "string"}, *names], self._rng, full=number % 2 == 1)
            elif closed and patterns:
                name = self._name_like(self._rng.choice(patterns), parts)
            else:
                name = f"extra{number or ''}"
            if isinstance(name, str) and name not in taken:
                return name
        raise NoInstance

    def _name_like(self, pattern: str, parts: list[dict[str, Any]]) -> str:
        names = [p["propertyNames"] for p in parts if isinstance(p.get("propertyNames"), dict)]
        wanted: list[Any] = [{"type": "string", "pattern": pattern}, *names]
        name = Maker(self._judge).value(wanted, self._rng, full=False)
        if not isinstance(name, str):
            raise NoInstance
        return name

    # Arrays -------------------------------------------------------------------------------------

    def _array(
        self,
        parts: list[dict[str, Any]],
        goal: tuple[list[Step], int] | None,
        guide: dict[str, Any] | None,
        depth: int,
    ) -> Making:
        least = int(max((of.count(part, "minItems", 0) for part in parts), default=0))
        most = min((of.count(part, "maxItems", math.inf) for part in parts), default=math.inf)
        tuples = [len(of.prefix(part)) for part in parts]
        size = least
        if self._full and depth <= SHALLOW:
            size = int(max(least, min(most, max([*tuples, 1]))))
        goal_index = None
        if goal is not None:
            keyword, key = goal[0][goal[1]]
            goal_index = key if keyword == "prefixItems" else len(of.prefix(guide or {}))
            size = max(size, goal_index + 1)
            self._path.append(goal_index)
        contained = [part["contains"] for part in parts if "contains" in part]
        copies = int(max((of.count(part, "minContains", 1) for part in parts), default=1))
        if contained and copies:
            size = max(size, copies + (goal_index is not None))
        if size > min(most, MAX_ITEMS):
            raise NoInstance
        unique = any(part.get("uniqueItems") is True for part in parts)
        result: list[Any] = []
        while len(result) < size:
            index = len(result)
            members = [of.item(part, index) for part in parts]
            inner = None
            if index == goal_index and goal is not None:
                inner = (goal[0], goal[1] + 1)
                first = of.member_of(guide or {}, goal[0][goal[1]])
                members = [first, *(m for m in members if m is not first)]
            elif contained and index < copies + (goal_index is not None and goal_index < copies):
                members = [*members, *contained]
            result.append((yield self._distinct(members, inner, depth, result if unique else [])))
        return result

    def _distinct(
        self,
        members: list[Any],
        inner: tuple[list[Step], int] | None,
        depth: int,
        others: list[Any],
    ) -> Making:
        """An item that is not among the others, if possible."""
        value: Any = None
        for attempt in range(4):
            value = yield self._value(members, inner, depth + 1)
            if value not in others or inner is not None:
                break
            if isinstance(value, str) and attempt == 0:
                members = [*members, {"minLength": len(value) + 1}]
            elif isinstance(value, (int, float)) and not isinstance(value, bool):
                members = [*members, {"exclusiveMinimum": value}]
        return value


def _run(making: Making) -> Any:
    """Drive generators that yield what they need, on a stack instead of by recursion."""
    stack = [making]
    value: Any = None
    error: NoInstance | None = None
    while stack:
        try:
            needed = stack[-1].send(value) if error is None else stack[-1].throw(error)
        except StopIteration as done:
            stack.pop()
            value, error = done.value, None
        except NoInstance as failed:
            stack.pop()
            value, error = None, failed
        else:
            stack.append(needed)
            value, error = None, None
    if error is not None:
        raise error
    return value

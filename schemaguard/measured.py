"""What providers count over one schema: levels, names, values, parameters; and where `$ref` leads.

One walk with its own stack counts everything that the MEASURE rules of a profile ask for. `$ref` is
never followed while counting, so the time is linear in the document. Where it is not settled how a
provider counts, each reading has a name of its own in `READINGS`.
"""

from __future__ import annotations

from schemaguard.keywords import ITEMS, KEYWORDS, SCHEMA, SCHEMA_MAP, SCHEMAS, names_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from schemaguard.plan import Part, Plan, Plans
    from schemaguard.walk import Frame

    #: A place, tokens below it, and what fills the message.
    Finding = tuple[Frame | None, tuple[str | int, ...], dict[str, Any]]

__all__ = ["BREAKS", "READINGS", "Measured", "children", "findings", "is_clean"]

#: Reading → what it counts.
READINGS = {
    "levels-below-root": "objects on one path, the root not counted, `$defs` one level below it",
    "levels-of-parts": "objects with `properties` on one path, the root and each definition alone",
    "properties": "declared names, in the whole document",
    "properties-of-part": "declared names, in the root or in one definition",
    "enum-values": "members of all `enum`s",
    "enum-characters": "characters of the strings in all `enum`s",
    "optional-parameters": "names outside `required`, in the whole document",
    "optional-parameters-of-root": "names outside `required`, without those of definitions",
    "union-parameters": "properties with `anyOf` or several types, in the whole document",
    "union-parameters-of-root": "properties with `anyOf` or several types, not in definitions",
    "max-items": "sum of all `maxItems`",
    "any-of-branches": "branches of the largest `anyOf`",
}

#: What ends a recursion: an `optional` property, an `items` that may have none, an `anyOf` that may
#: choose another branch.
BREAKS = frozenset({"optional", "items", "anyOf"})

_DEFINITIONS = frozenset({"$defs", "definitions"})
_UNIONS = frozenset({"anyOf", "oneOf"})
_HOLDS = {name: keyword.holds for name, keyword in KEYWORDS.items()}


def findings(root: Any, plans: Plans) -> Iterator[tuple[Part, Finding]]:
    """What the MEASURE rules of a profile have to say about a document.

    Args:
        root: the document; it keeps to the hard stops.
        plans: the compiled profile.
    """
    measured = Measured(root, plans)
    for part in measured.concerned():
        for finding in part.rule.check(measured, part.setting):
            yield part, finding


def is_clean(root: Any, plans: Plans) -> bool:
    """Whether there are none of these; arguments as for `findings`."""
    measured = Measured(root, plans)
    return not any(part.rule.check(measured, part.setting) for part in measured.concerned())


class Measured:
    """A document, counted.

    The lists have the places that single rules look for. A place is a frame of the walk: a link to
    the place above it, so that a pointer is built only for what is said in the end.

    Attributes:
        root: the document.
        values: reading → count.
        largest_enum: the schema whose `enum` has most members; None when there is none.
        refs: schemas with a `$ref`.
        unions: schemas with `anyOf` or `oneOf`.
        booleans: the schemas `true` and `false`.
        untyped: schemas without `type`, the root not among them.
        definitions: schemas with `$defs` or `definitions`, the root not among them.
    """

    def __init__(self, root: Any, plans: Plans) -> None:
        self.root = root
        self.refs: list[Frame] = []
        self.unions: list[Frame] = []
        self.booleans: list[Frame] = []
        self.untyped: list[Frame] = []
        self.definitions: list[Frame] = []
        self.largest_enum: Frame | None = None
        self._frames: list[Frame] = []
        self._plans = plans
        self._resolver: Any = None
        self.values: Mapping[str, int] = self._count()

    def _count(self) -> dict[str, int]:
        plan_of = self._plans.cache.get
        learn = self._plans.learn
        below_root = in_part = largest = values = characters = max_items = branches = 0
        # Per part (the root is the first): names, optional ones, union-typed ones.
        names, optional, unions = [0], [0], [0]
        frames = self._frames
        # The counts in a frame are those of this walk: objects above it, and those of its part.
        stack: list[tuple[Frame, Plan, int]] = []
        if self.root.__class__ is dict:
            keys = tuple(self.root)
            stack.append(((self.root, 0, 0, None, None, None), plan_of(keys) or learn(keys), 0))
        while stack:
            frame, plan, part = stack.pop()
            frames.append(frame)
            schema, depth, level, above, _, _ = frame
            if plan.object or (plan.typed and names_object(schema["type"])):
                below_root = max(below_root, depth)
                depth += 1
                properties = schema.get("properties")
                if properties.__class__ is dict:
                    level += 1
                    in_part = max(in_part, level)
                    names[part] += len(properties)
                    optional[part] += _optional(schema, properties)
            if plan.enum and schema["enum"].__class__ is list:
                members = schema["enum"]
                values += len(members)
                characters += sum(len(member) for member in members if isinstance(member, str))
                if len(members) > largest:
                    largest, self.largest_enum = len(members), frame
            if plan.ref and isinstance(schema["$ref"], str):
                self.refs.append(frame)
            bound = schema.get("maxItems")
            if bound.__class__ is int and bound > 0:
                max_items += bound
            for keyword, holds in plan.children:
                held = schema[keyword]
                is_part = keyword in _DEFINITIONS
                if keyword in _UNIONS:
                    _add(self.unions, frame)
                    if keyword == "anyOf" and held.__class__ is list:
                        branches = max(branches, len(held))
                elif is_part and above is not None:
                    _add(self.definitions, frame)
                for key, member in _members(held, holds):
                    if member.__class__ is not dict:
                        if member.__class__ is bool:
                            self.booleans.append((member, depth, level, frame, keyword, key))
                        continue
                    keys = tuple(member)
                    inner = plan_of(keys) or learn(keys)
                    if keyword == "properties" and _is_union(member):
                        unions[part] += 1
                    if not inner.typed:
                        self.untyped.append((member, depth, level, frame, keyword, key))
                    if is_part:
                        names.append(0)
                        optional.append(0)
                        unions.append(0)
                        there = (member, depth, 0, frame, keyword, key)
                        stack.append((there, inner, len(names) - 1))
                    elif inner.counted or (inner.typed and names_object(member["type"])):
                        stack.append(((member, depth, level, frame, keyword, key), inner, part))
        return {
            "levels-below-root": below_root,
            "levels-of-parts": in_part,
            "properties": sum(names),
            "properties-of-part": max(names),
            "enum-values": values,
            "enum-characters": characters,
            "optional-parameters": sum(optional),
            "optional-parameters-of-root": optional[0],
            "union-parameters": sum(unions),
            "union-parameters-of-root": unions[0],
            "max-items": max_items,
            "any-of-branches": branches,
        }

    def concerned(self) -> tuple[Part, ...]:
        """The rules that may have something to say: budgets only when some reading is over one."""
        plans = self._plans
        values = self.values
        for reading, least in plans.least_limits:
            if values[reading] > least:
                return plans.measures
        return plans.measures_without_readings

    def is_longer_than(self, limit: int) -> bool:
        """Whether the compact JSON text of the document has more characters."""
        from schemaguard import data  # noqa: PLC0415  (circular)

        text = data.dumps(self.root, limit)
        return text is None or len(text) > limit

    def target(self, schema: Any) -> Any:
        """What a schema's own `$ref` leads to (`refs.Target`), or None."""
        if self._resolver is None:
            from schemaguard.refs import Resolver  # noqa: PLC0415  (circular)

            self._resolver = Resolver(self.root, self._plans)
        return self._resolver.of(schema)

    def closing_refs(self, breaks: frozenset[str]) -> list[Frame]:
        """The schemas whose `$ref` closes a circle.

        Each schema is entered once: the first path to it counts.

        Args:
            breaks: members of `BREAKS`; circles through one of these are fine.
        """
        if not self.refs:
            return []
        # A leaf is in no circle, and has no frame.
        frames = {id(frame[0]): frame for frame in self._frames}
        found = []
        open_: set[int] = set()
        done: set[int] = set()
        said: set[int] = set()
        # Edges that are cut leave schemas that no path reaches: all are starts, the root first.
        for start in self._frames:
            if id(start[0]) in done:
                continue
            open_.add(id(start[0]))
            path = [(start, self._edges(start[0], breaks), False)]
            while path:
                frame, edges, _ = path[-1]
                for member, is_ref in edges:
                    there = id(member)
                    if there in open_:
                        last = frame if is_ref else _last_ref(path, there)
                        if last is not None and (is_ref or id(last) not in said):
                            said.add(id(last))
                            found.append(last)
                    elif there not in done and there in frames:
                        open_.add(there)
                        path.append((frames[there], self._edges(member, breaks), is_ref))
                        break
                else:
                    path.pop()
                    open_.discard(id(frame[0]))
                    done.add(id(frame[0]))
        return found

    def _edges(self, schema: dict[str, Any], breaks: frozenset[str]) -> Iterator[tuple[Any, bool]]:
        """What a schema leads to, and whether by `$ref`; without what makes a circle fine."""
        required = schema.get("required")
        needed = set(filter(_is_name, required)) if required.__class__ is list else set()
        cut = set(_DEFINITIONS)
        if "items" in breaks:
            cut |= {"additionalProperties", "patternProperties"}
            if not schema.get("minItems"):
                cut.add("items")
        if "anyOf" in breaks:
            cut |= _UNIONS
        for keyword in schema:
            if keyword not in self._plans.entered or keyword in cut:
                continue
            for tokens, member in children(schema, keyword):
                if keyword != "properties" or tokens[1] in needed or "optional" not in breaks:
                    yield member, False
        target = self.target(schema)
        if target is not None and not target.problem:
            yield target.schema, True


def _add(frames: list[Frame], frame: Frame) -> None:
    """Add a place once, though two of its keywords ask for it."""
    if not frames or frames[-1] is not frame:
        frames.append(frame)


def _last_ref(path: list[tuple[Frame, Any, bool]], there: int) -> Frame | None:
    """The last schema on a circle that leads on by `$ref`, where it is no `$ref` that closes it.

    A value from Python may hold one object at two places; one of them is then below a reference
    that the path to the other went through.

    Args:
        path: frames, their edges, and whether a `$ref` led there.
        there: where the circle closes, by `id`.
    """
    for at in range(len(path) - 1, 0, -1):
        if id(path[at][0][0]) == there:
            return None
        if path[at][2]:
            return path[at - 1][0]
    return None


def _is_name(value: object) -> bool:
    return isinstance(value, str)


def _optional(schema: dict[str, Any], properties: dict[str, Any]) -> int:
    """How many of the properties may be left out."""
    required = schema.get("required")
    if required.__class__ is not list:
        return len(properties)
    return len(properties.keys() - set(filter(_is_name, required)))


def _is_union(schema: dict[str, Any]) -> bool:
    kind = schema.get("type")
    return "anyOf" in schema or (kind.__class__ is list and len(kind) > 1)


def children(schema: dict[str, Any], keyword: str) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """The subschemas under a keyword, and the tokens that lead to them.

    Args:
        schema: the schema; what is malformed in it is passed over.
        keyword: a keyword that holds schemas.
    """
    for key, member in _members(schema.get(keyword), _HOLDS.get(keyword, "")):
        yield ((keyword,) if key is None else (keyword, key)), member


def _members(held: Any, holds: str) -> Iterable[tuple[str | int | None, Any]]:
    """The schemas that a keyword holds, each with its name or index; None where it is the only."""
    kind = held.__class__
    if holds == SCHEMA_MAP:
        if kind is not dict:
            return ()
        try:
            "".join(held)
        except TypeError:  # a key that is no name is another rule's to say
            return [(name, member) for name, member in held.items() if isinstance(name, str)]
        members: Iterable[tuple[str, Any]] = held.items()
        return members
    if kind is list:
        return enumerate(held) if holds in (SCHEMAS, ITEMS) else ()
    return ((None, held),) if holds in (SCHEMA, ITEMS) else ()

"""Use of every budget, with the places that use most of it. Counted only when somebody asks.

The walk of a check needs totals alone; this one keeps locations. It visits what the check visits
(the profile's keywords that hold schemas), in document order, and stops at the same hard stop.
"""

from __future__ import annotations

from heapq import nlargest

from schemaguard import data
from schemaguard.keywords import DEPENDENCIES, SCHEMA_MAP, names_object
from schemaguard.measured import READINGS
from schemaguard.plan import compiled
from schemaguard.report import ERROR, BudgetUse, Contributor, pointer_of
from schemaguard.walk import COUNTED_NAMES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from schemaguard.document import Document, Limits
    from schemaguard.plan import Plans
    from schemaguard.profiles import Profile
    from schemaguard.walk import Frame

#: How many contributors a budget names.
TOP = 5
#: Contributors are weeded out when so many have gathered.
_GATHER = 256
#: A contributor with a longer pointer is given the place above it.
_LONGEST_POINTER = 1 << 16
#: How much of a document that goes over the hard stop is counted.
_SOME_NODES = 100_000


class _Tally:
    """The sum (or the largest) of what the places of a document use, and the top places."""

    __slots__ = ("_floor", "_largest", "_places", "used")

    def __init__(self, *, largest: bool = False) -> None:
        self._largest = largest
        self._floor = 0  # less than this is not among the top places
        self._places: list[tuple[int, int, Frame | None, tuple[str, ...]]] = []
        self.used = 0

    def add(self, amount: int, frame: Frame | None, tokens: tuple[str, ...] = ()) -> None:
        if not self._largest:
            self.used += amount
        elif amount > self.used:
            self.used = amount
        if amount <= self._floor:
            return
        # Earlier places win among equals: the second member counts down.
        self._places.append((amount, -len(self._places), frame, tokens))
        if len(self._places) >= _GATHER:
            self._places = self._top()
            self._floor = self._places[-1][0]

    def _top(self) -> list[tuple[int, int, Frame | None, tuple[str, ...]]]:
        kept = nlargest(TOP, self._places, key=lambda place: place[:2])
        return [(amount, -i, frame, tokens) for i, (amount, _, frame, tokens) in enumerate(kept)]

    def use(self, name: str, limit: int | None) -> BudgetUse:
        top = tuple(
            Contributor(pointer_of(frame, tokens, _LONGEST_POINTER), amount)
            for amount, _, frame, tokens in self._top()
        )
        return BudgetUse(name, self.used, limit, top)


def measure(document: Document, profile: Profile, limits: Limits) -> tuple[BudgetUse, ...]:
    """Use and limit of each budget.

    Args:
        document: what was checked.
        profile: gives the limits, and which keywords are entered.
        limits: the hard stops; their use is reported beside the profile's.

    Returns:
        One `BudgetUse` each for object-depth (levels below the root), properties, enum-entries,
        characters, largest-enum (entries of one enum), nesting (levels, root included), bytes
        (UTF-8; of a parsed value: of its compact JSON text) and nodes (JSON values); then those
        that only this profile has: the readings of its rules, and what an engine would make.
    """
    tallies = _Tallies(document.value if document.readable else None, compiled(profile), limits)
    tallies.shared = document.text is None
    if document.readable:
        try:
            tallies.count()
        except Exception:
            if document.text is not None:
                raise  # a fault of ours: text is plain JSON
            tallies.complete = False  # a type that lies about itself, or a value that changes
    nbytes = document.nbytes
    if nbytes is None and document.text is None and tallies.complete:
        text = data.dumps(document.value, limits.max_bytes)
        nbytes = None if text is None else len(text.encode("utf-8", "surrogatepass"))
    # A limit that no rule looks at is none.
    rules = tallies.plans.budget_rules
    budgets = {name: limit for name, limit in profile.budgets.items() if name in rules}
    read = _read(document, tallies, limits)
    properties = read.pop("properties", None)
    if properties is not None and properties.limit is not None:
        # The same count by the same name.
        budgets["properties"] = min(properties.limit, budgets.get("properties", properties.limit))
    return (
        *_tallied(tallies, budgets, limits, nbytes),
        *read.values(),
        *_worked(document, tallies.plans),
    )


#: Of a limit above which there is a warning, where the one of an error is another or none.
WARNED = " (warning)"
#: Characters of the compact JSON text.
LENGTH = "schema-characters"
#: What a reading counts as a budget does, though under another name.
SAME = {"object-depth": "levels-below-root", "enum-entries": "enum-values"}


def _read(document: Document, tallies: _Tallies, limits: Limits) -> dict[str, BudgetUse]:
    """The readings of what providers count, of profiles that have some; they name no places.

    It is an error to be over the limit in each reading of a rule, and a warning in one.
    """
    found = _limits(tallies.plans)
    lengths = [p for p in tallies.plans.measures if p.rule.name in ("long-schema", "long-values")]
    if not (found or lengths):
        return {}
    from schemaguard.measured import Measured  # noqa: PLC0415  (only profiles with such rules)

    counts: dict[str, int] = {}
    if document.readable and tallies.complete:
        try:
            counts = dict(Measured(document.value, tallies.plans).values)
            text = data.dumps(document.value, limits.max_bytes) if lengths else None
            if text is not None:
                counts[LENGTH] = len(text)
        except Exception:
            if document.text is not None:
                raise  # a fault of ours: text is plain JSON
    for part in lengths:
        if part.rule.name == "long-schema":
            found[LENGTH] = part.setting["limit"]
        elif counts.get("enum-values", 0) > part.setting["entries"]:  # few may be longer
            found["enum-characters"] = part.setting["limit"]
    return {
        name: BudgetUse(name, counts.get(name.removesuffix(WARNED)), limit, ())
        for name, limit in found.items()
    }


def _limits(plans: Plans) -> dict[str, int]:
    """Reading → limit; one with `WARNED` where a warning comes earlier than the error."""
    firm: dict[str, int] = {}
    early: dict[str, int] = {}
    for part in plans.measures:
        # SG540 is about one reading alone, so its limit is that of the other rule, or a doubt.
        is_error = plans.profile.severities[part.rule.code] == ERROR
        for reading in part.setting.get("readings", ()):
            known = firm if is_error else early
            known[reading] = min(part.setting["limit"], known.get(reading, part.setting["limit"]))
    made = {}
    for reading in READINGS:
        if reading in firm:
            made[reading] = firm[reading]
        if reading in early and early[reading] != firm.get(reading):
            made[reading + WARNED] = early[reading]
    return made


def _worked(document: Document, plans: Plans) -> tuple[BudgetUse, ...]:
    """The budgets of what an engine would have to make, of profiles that have some."""
    if not plans.work_limits:
        return ()
    from schemaguard import estimate  # noqa: PLC0415  (only profiles that count work need it)

    try:
        return estimate.uses(document.value if document.readable else None, plans.work_limits)
    except Exception:
        if document.text is not None:
            raise  # a fault of ours: text is plain JSON
        return ()  # a type that lies about itself, or a value that changes


def _tallied(
    tallies: _Tallies, budgets: Mapping[str, int], limits: Limits, nbytes: int | None
) -> tuple[BudgetUse, ...]:
    return (
        tallies.depth.use("object-depth", budgets.get("object-depth")),
        tallies.properties.use("properties", budgets.get("properties")),
        tallies.entries.use("enum-entries", budgets.get("enum-entries")),
        tallies.characters.use("characters", budgets.get("characters")),
        tallies.largest.use("largest-enum", budgets.get("largest-enum")),
        tallies.nesting.use("nesting", budgets.get("nesting")),
        BudgetUse("bytes", nbytes, limits.max_bytes, tallies.text.use("", None).top),
        tallies.nodes.use("nodes", limits.max_nodes),
    )


class _Tallies:
    """One counting walk over a document."""

    def __init__(self, root: Any, plans: Plans, limits: Limits) -> None:
        self.root = root
        self.plans = plans
        self.max_nodes = limits.max_nodes
        self.complete = True
        self.shared = False
        self.depth = _Tally(largest=True)
        self.properties = _Tally()
        self.entries = _Tally()
        self.characters = _Tally()
        self.largest = _Tally(largest=True)
        self.nesting = _Tally(largest=True)
        self.text = _Tally()
        self.nodes = _Tally()

    def count(self) -> None:
        if self.shared:
            # Parts that contain themselves or multiply: some of the walk is enough to say where.
            values = data.size(self.root)
            if values is None or values > self.max_nodes:
                self.max_nodes = min(self.max_nodes, _SOME_NODES)
        self.nodes.add(1, None)
        stack: list[Frame] = [(self.root, 0, 1, None, None, None)]
        while stack:
            if self.nodes.used > self.max_nodes:
                self.complete = False
                return
            frame = stack.pop()
            if frame[0].__class__ is dict:
                self._schema(frame, stack)
        self.complete = self.nodes.used <= self.max_nodes

    def _schema(self, frame: Frame, stack: list[Frame]) -> None:
        schema, depth, level, *_ = frame
        nodes = len(schema)
        deepest = level
        characters = 0
        text = 0
        is_object = (
            "properties" in schema
            or "patternProperties" in schema
            or names_object(schema.get("type"))
        )
        if is_object:
            self.depth.add(depth, frame)
            depth += 1
        children: list[Frame] = []
        for keyword, value in schema.items():
            kind = value.__class__
            if isinstance(keyword, str):
                text += len(keyword)
            if kind is str:
                text += len(value)
            holds = self.plans.entered.get(keyword) if isinstance(keyword, str) else None
            if holds == SCHEMA_MAP and kind is dict:
                nodes += len(value)
                if keyword == "properties":
                    self.properties.add(len(value), frame)
                if keyword in COUNTED_NAMES:
                    characters += sum(len(name) for name in value if isinstance(name, str))
                children.extend(
                    (member, depth, level + 1, frame, keyword, name)
                    for name, member in value.items()
                )
            elif holds == DEPENDENCIES and kind is dict:
                nodes += len(value)
                children.extend(
                    (member, depth, level + 1, frame, keyword, name)
                    for name, member in value.items()
                )
            elif holds is not None and kind is dict:
                children.append((value, depth, level + 1, frame, keyword, None))
            elif holds is not None and kind is list:
                nodes += len(value)
                children.extend(
                    (member, depth, level + 1, frame, keyword, index)
                    for index, member in enumerate(value)
                )
            elif kind is list or kind is dict:
                inside, nesting, _ = data.faults(value, self.max_nodes, 1)
                nodes += inside
                deepest = max(deepest, level + nesting)
        characters += self._values(schema, frame)
        self.characters.add(characters, frame)
        self.nesting.add(deepest, frame)
        self.text.add(text, frame)
        self.nodes.add(nodes, frame)
        stack.extend(reversed(children))

    def _values(self, schema: dict[str, Any], frame: Frame) -> int:
        """Characters of `enum` and `const`; counts the entries on the way."""
        characters = 0
        members = schema.get("enum")
        if members.__class__ is list:
            self.entries.add(len(members), frame, ("enum",))
            self.largest.add(len(members), frame, ("enum",))
            characters += sum(len(m) for m in members if isinstance(m, str))
        if isinstance(schema.get("const"), str):
            characters += len(schema["const"])
        return characters

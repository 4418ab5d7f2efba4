"""The traversal engine: one queue, running totals, dispatch by key sequence.

It knows no rule by name.

Two drivers share the plans of a compiled profile (`schemaguard.plan`):

* `is_clean` asks whether there is anything to say at all. It keeps no locations and stops at the
first   doubt. Most schemas that reach a server are clean, so this is the speed that a server sees.
* `collect` runs when there was a doubt. It visits in the contract's order (breadth first, maps
sorted   by code point), keeps a parent link for each place, and records every finding.

A doubt is not a finding: `is_clean` may be wrong in one direction only, and then `collect` finds
nothing. Nothing here recurses; a pointer is built only when somebody asks for it.
"""

from __future__ import annotations

from collections import deque

from schemaguard import data, refs
from schemaguard.keywords import (
    DEPENDENCIES,
    ITEMS,
    KEYWORDS,
    SCHEMA,
    SCHEMA_MAP,
    SCHEMAS,
    TYPE_NAMES,
    is_encodable,
    is_types,
    is_unique_strings,
    names_object,
)
from schemaguard.patterns import patterns_of, share
from schemaguard.plan import ALWAYS, IF_TYPED, NO_LIMIT, Plans
from schemaguard.report import ERROR, Diagnostic, tokens_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from schemaguard.plan import Part, Plan
    from schemaguard.profiles import Grounds
    from schemaguard.rules import Rule

    #: Where a schema stands, as the walk carries it: (schema, object depth, nesting level, parent
    #: frame, keyword, key). The root has no parent; `key` is None when the keyword holds one
    #: schema.
    Frame = tuple[Any, int, int, "Frame | None", str | None, str | int | None]

#: A walk of so many turns asks whether some were spent on the same schema (see `checked_size`).
MANY_TURNS = 1 << 16

#: Diagnostics that are kept; more are counted.
MAX_DIAGNOSTICS = 1_000


def is_clean(root: object, plans: Plans, max_nodes: int) -> bool:
    """Whether the profile has nothing to say about the document.

    Args:
        root: the document.
        plans: the compiled profile.
        max_nodes: hard stop: JSON values.

    Raises:
        TooManyNodes: beyond so many values, and there was nothing to say until then.
    """
    return is_sound(root, plans, max_nodes) and (
        plans.enforcement is None or plans.enforcement.is_silent(root)
    )


def is_sound(root: object, plans: Plans, max_nodes: int) -> bool:
    """The same, but for what `Plans.enforcement` says, which is asked where all else is clean."""
    plan_of = plans.cache.get
    learn = plans.learn
    type_names = TYPE_NAMES
    leaf_types = _LEAF_TYPES
    type_lists = _TYPE_LISTS
    nesting_limit = plans.nesting_limit
    properties = entries = characters = patterns_cost = deepest = 0
    nodes = 1
    checkpoint = max_nodes // 2
    referring: list[dict[str, Any]] = []
    patterns: set[str] = set()
    identifiers = 0
    # A batch is what is left of what one keyword holds, with object depth and level. Depth first,
    # the stack stays as small as the document is deep: a million entries would wake the collector.
    batches: list[tuple[Any, int, int]] = [(iter((root,)), 0, 1)]
    while batches:
        members, depth, level = batches.pop()
        if level > deepest:  # noqa: PLR1730  (a call to max costs more than all of this line)
            deepest = level
        if nodes > checkpoint:
            checkpoint = checked_size(root, max_nodes)
        for schema in members:
            if schema.__class__ is not dict:
                if schema is True or schema is False:
                    continue
                return False
            keys = tuple(schema)
            plan = plan_of(keys) or learn(keys)
            nodes += len(keys)
            if not plan.sound or level > nesting_limit:
                return False
            if plan.only_text is not None:  # a type and a description: the commonest schema of all
                kind = schema["type"]
                text = schema[plan.only_text]
                if (
                    kind.__class__ is str
                    and kind in leaf_types
                    and text.__class__ is str
                    and text.isascii()
                ):
                    continue

            # The schema's own keywords.
            is_object = plan.object
            if plan.typed:
                kind = schema["type"]
                if kind.__class__ is str and kind in type_names:
                    is_object = is_object or kind == "object"
                elif kind.__class__ is list:
                    try:
                        says_object = type_lists.get(tuple(kind))
                    except TypeError:  # a member that cannot be hashed
                        return False
                    if says_object is None:
                        if not is_types(kind):
                            return False
                        says_object = type_lists[tuple(kind)] = "object" in kind
                    nodes += len(kind)
                    is_object = is_object or says_object
                else:
                    return False
            for keyword, well_formed in plan.shapes:
                if not well_formed(schema[keyword]):
                    return False
            for name in plan.texts:
                value = schema[name]
                if value.__class__ is not str or not value.isascii():
                    inside, deep = data.weigh(value, max_nodes - nodes)
                    nodes += inside
                    if nodes > checkpoint:
                        checkpoint = checked_size(root, max_nodes)
                    if inside < 0 or level + deep > nesting_limit:
                        return False
            inner = depth
            if is_object or not plan.simple:
                for keyword, rule, limit in plan.values:
                    if rule.check(schema[keyword], limit):
                        return False
                for part in plan.parts:
                    if part.rule.check(schema, part.setting):
                        return False
                if plan.patterned:
                    patterns_cost += sum(map(share, set(patterns_of(schema)) - patterns))
                    patterns.update(patterns_of(schema))
                    if patterns_cost > plans.patterns_limit:
                        return False
                exact = plan.object and requires_what_it_declares(schema)
                if plan.required:
                    if not exact and not is_unique_strings(schema["required"]):
                        return False
                    nodes += len(schema["required"])
                if is_object:
                    if depth > plans.depth_limit:
                        return False
                    inner += 1
                if plan.closed == ALWAYS or (is_object and plan.closed == IF_TYPED):
                    for check in plans.object_checks:
                        if check(schema):
                            return False
                    if not exact:
                        for check in plans.member_checks:
                            if check(schema):
                                return False
                if plan.enum:
                    count, length, deep = _weigh_enum(schema["enum"], plans, max_nodes - nodes)
                    if count < 0 or level + deep > nesting_limit:
                        return False
                    entries += len(schema["enum"])
                    nodes += count
                    characters += length
                if plan.const and isinstance(schema["const"], str):
                    characters += len(schema["const"])
                if plan.ref:
                    referring.append(schema)
                if plan.identifier and schema is not root:
                    identifiers += 1

            # Its children, a batch for each keyword; then the rest of this batch.
            if not plan.children:
                continue
            batches.append((members, depth, level))
            for keyword, holds in plan.children:
                held = schema[keyword]
                if held.__class__ is bool and holds in (SCHEMA, ITEMS):
                    continue
                if holds == SCHEMA_MAP:
                    if held.__class__ is not dict:
                        return False
                    try:
                        names = "".join(held)
                    except TypeError:
                        return False
                    if not names.isascii() and not is_encodable(names):
                        return False
                    nodes += len(held)
                    if keyword in COUNTED_NAMES:
                        characters += len(names)
                        if keyword == "properties":
                            properties += len(held)
                            if properties > plans.property_limit:
                                return False
                    batches.append((iter(held.values()), inner, level + 1))
                elif holds == DEPENDENCIES:
                    schemas = _dependency_schemas(held)
                    if schemas is None:
                        return False
                    nodes += len(held) + sum(len(m) for m in held.values() if m.__class__ is list)
                    batches.append((iter(schemas), inner, level + 1))
                elif held.__class__ is list and holds != SCHEMA:
                    if not held:
                        return False
                    nodes += len(held)
                    batches.append((iter(held), inner, level + 1))
                elif holds == SCHEMAS:
                    return False
                else:
                    batches.append((iter((held,)), inner, level + 1))
            break
    if nodes > checkpoint:
        checked_size(root, max_nodes)
    if (
        entries > plans.enum_limit
        or characters > plans.character_limit
        or (identifiers and referring)
    ):
        return False
    if referring:
        return refs.is_clean(root, referring, deepest, plans) and _is_affordable(root, plans)
    if plans.ends_with_root:
        return refs.is_plain_root(root)
    is_sound = not plans.checks_root or refs.is_plain_root(root)
    return is_sound and _is_affordable(root, plans)


def _is_affordable(root: object, plans: Plans) -> bool:
    """Whether the document as a whole is within the profile's limits, and the root as it wants."""
    for part in plans.tops:
        if part.rule.check(root, part.setting):
            return False
    if plans.measures:
        from schemaguard import measured  # noqa: PLC0415  (only profiles that count need it)

        if not measured.is_clean(root, plans):
            return False
    if not plans.work_limits:
        return True
    from schemaguard import estimate  # noqa: PLC0415  (only profiles that count work need it)

    return not estimate.overspent(root, plans.work_limits)


_LEAF_TYPES = TYPE_NAMES - {"object"}
#: Well-formed arrays of type names → whether they have "object". There are 13,699 at the most.
_TYPE_LISTS: dict[tuple[str, ...], bool] = {}

#: The maps whose names count as characters (contract rule 29).
COUNTED_NAMES = frozenset({"properties", "$defs", "definitions"})


def requires_what_it_declares(schema: dict[str, Any]) -> bool:
    """Whether `required` lists `properties`, in order: what most authors and generators write.

    One comparison in C. It proves the list well formed, and no rule about members can speak.
    """
    declared = schema.get("properties")
    return declared.__class__ is dict and schema.get("required") == list(declared)


def _dependency_schemas(held: object) -> list[Any] | None:
    """The members of `dependencies` that are schemas; None when something is to be said."""
    if held.__class__ is not dict:
        return None
    schemas = []
    for name, member in held.items():
        if not isinstance(name, str) or not is_encodable(name):
            return None
        if member.__class__ is not list:
            schemas.append(member)
        elif not is_unique_strings(member):
            return None
    return schemas


def _weigh_enum(members: object, plans: Plans, room: int) -> tuple[int, int, int]:
    """Nodes, characters and nesting of an `enum`; nodes are -1 when something is to be said.

    The usual enum is all strings: one join counts the characters and proves the types.
    """
    if members.__class__ is not list:
        return -1, 0, 0
    count = len(members)
    try:
        text = "".join(members)
    except TypeError:
        nodes, nesting = data.weigh(members, room)
        text = "".join(m for m in members if isinstance(m, str))
        return nodes, len(text), nesting
    if count > plans.long_enum_entries and len(text) > plans.long_enum_limit:
        return -1, 0, 0
    if not text.isascii() and not is_encodable(text):
        return -1, 0, 0
    return count, len(text), 1


class TooManyNodes(Exception):  # noqa: N818  (caught in this package; it is no error of ours)
    """The document has more JSON values than it may, or contains itself; `.rule` says which."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        super().__init__(rule.name)


def checked_size(root: object, max_nodes: int) -> int:
    """No limit any more, once it is known that the document keeps to `max_nodes`.

    Asked once, when a walk has gone on for a while: a value that contains itself, or that shares
    parts which multiply, is then known for what it is without walking on to the limit.

    Raises:
        TooManyNodes: it does not keep to it.
    """
    values = data.size(root)
    if values is None:
        raise TooManyNodes(data.rule_of("cyclic-value"))
    if values > max_nodes:
        raise TooManyNodes(data.rule_of("too-many-nodes"))
    return NO_LIMIT


class Findings:
    """What `collect` found.

    Attributes:
        diagnostics: the first ones, at most the cap.
        total: all of them.
        ok: no error among all of them.
        complete: no hard stop ended the walk.
    """

    __slots__ = (
        "cap",
        "complete",
        "diagnostics",
        "grounds",
        "ok",
        "plans",
        "severities",
        "subject",
        "total",
    )

    def __init__(self, plans: Plans, cap: int = MAX_DIAGNOSTICS) -> None:
        self.plans = plans
        self.grounds = plans.profile.grounds
        self.severities = plans.profile.severities
        self.subject = plans.profile.subject
        self.cap = cap
        self.diagnostics: list[Diagnostic] = []
        self.total = 0
        self.ok = True
        self.complete = True

    def add(
        self,
        rule: Rule,
        frame: Frame | None,
        tokens: tuple[str | int, ...] = (),
        offset: int | None = None,
        grounds: Grounds | None = None,
        **filled: object,
    ) -> None:
        """Record one finding at `tokens` below the frame's schema."""
        self.put(rule, frame, tokens, filled, offset, grounds)

    def put(
        self,
        rule: Rule,
        frame: Frame | None,
        tokens: tuple[str | int, ...],
        filled: dict[str, object],
        offset: int | None = None,
        grounds: Grounds | None = None,
    ) -> None:
        """The same; `filled` is the finding's from then on."""
        code = rule.code
        severity = self.severities.get(code, ERROR)
        self.total += 1
        if severity == ERROR:
            self.ok = False
        if self.total <= self.cap:
            filled["subject"] = self.subject
            grounds = grounds or self.grounds.get(code)
            self.diagnostics.append(
                Diagnostic(rule, severity, filled, frame, tokens, offset, grounds)
            )

    def stop(self, rule: Rule, max_nodes: int) -> None:
        """Record the hard stop that ended the walk; it is kept even where the cap is reached."""
        self.complete = False
        if self.diagnostics and len(self.diagnostics) >= self.cap:
            self.diagnostics.pop()
        self.total += 1
        self.ok = False
        if len(self.diagnostics) < self.cap:
            filled = {"detail": f"{max_nodes:,}", "subject": self.subject}
            self.diagnostics.append(Diagnostic(rule, ERROR, filled))

    def count(self, rule: Rule, number: int) -> None:
        """Count findings of a rule that are not kept."""
        self.total += number
        if self.severities[rule.code] == ERROR:
            self.ok = False

    def add_named(
        self,
        name: str,
        frame: Frame | None,
        tokens: tuple[str | int, ...] = (),
    ) -> None:
        """The same for a rule that is known by name; one that the profile lacks says nothing."""
        rule = self.plans.by_name.get(name)
        if rule is not None:
            self.add(rule, frame, tokens)


def collect(root: object, plans: Plans, found: Findings, max_nodes: int) -> None:
    """Add every finding, in the contract's order.

    Args:
        root: the document.
        plans: the compiled profile.
        found: takes the findings.
        max_nodes: hard stop: JSON values.
    """
    _Collector(root, plans, found, max_nodes).run()


class _Collector:
    """One ordered walk.

    The queue holds batches, one for each keyword that holds schemas: a batch is taken apart when
    its turn comes, so that a map of a million members costs one entry, not a million.
    """

    def __init__(self, root: object, plans: Plans, found: Findings, max_nodes: int) -> None:
        self.root = root
        self.plans = plans
        self.found = found
        self.max_nodes = max_nodes
        self.deepest = 0
        self.turns = 0
        self.ask_at = MANY_TURNS
        self.stop_at = max_nodes
        self.visited: set[int] = set()
        self.nodes = 1
        self.properties = self.entries = self.characters = 0
        self.patterns: set[str] = set()
        self.patterns_cost = 0
        self.uncrossed = {"properties", "enum-entries", "characters", "patterns-cost"}
        self.ref_frames: list[Frame] = []
        self.identifier: Frame | None = None
        #: (members, their keys in order or None when they are by index, object depth, level,
        #: parent, keyword)
        self.queue: deque[tuple[Any, Any, int, int, Frame | None, str | None]] = deque()

    def run(self) -> None:
        try:
            self._walk()
        except TooManyNodes as stop:
            self.found.stop(stop.rule, self.max_nodes)
        else:
            where = (self.ref_frames, self.identifier, self.deepest)
            refs.collect(self.root, *where, self.plans, self.found)
            if self.root.__class__ in (dict, bool):
                self._parts(None, self.root, self.plans.tops)
            if self.plans.measures and self.found.complete:
                self._measures()
            if self.plans.work_limits and self.found.complete:
                self._work()
            # What is refused is not handed to the engine.
            if self.plans.enforcement and self.found.ok and self.found.complete:
                self.plans.enforcement.add(self.root, self.found)

    def _measures(self) -> None:
        """Say what a provider counts, and has too much of."""
        from schemaguard import measured  # noqa: PLC0415  (only profiles that count need it)

        for part, (frame, tokens, filled) in measured.findings(self.root, self.plans):
            self.found.add(part.rule, frame, tokens, grounds=part.grounds, **filled)

    def _work(self) -> None:
        """Say what an engine would have to make too much of, where most of it is."""
        from schemaguard import estimate  # noqa: PLC0415  (only profiles that count work need it)

        for use in estimate.overspent(self.root, self.plans.work_limits):
            rule = self.plans.budget_rules[use.name]
            place = tokens_of(use.top[0].pointer) if use.top else ()
            self.found.add(rule, None, place, limit=use.limit, cost=use.used)

    def _walk(self) -> None:
        self._turn((self.root, 0, 1, None, None, None))
        queue = self.queue
        while queue:
            members, keys, depth, level, parent, keyword = queue.popleft()
            if keys is None:
                frame = (members, depth, level, parent, keyword, None)
                self._turn(frame)
            else:
                self._batch(members, keys, depth, level, parent, keyword)

    def _count(self, nodes: int) -> None:
        self.nodes += nodes
        if self.nodes > self.stop_at:
            self.ask_at = self.stop_at = checked_size(self.root, self.max_nodes)

    def _turn(self, frame: Frame) -> None:
        schema = frame[0]
        if schema.__class__ is dict:
            keys = tuple(schema)
            self.visit(frame, self.plans.cache.get(keys) or self.plans.learn(keys))
        elif schema is not True and schema is not False:
            self._not_a_schema(frame)

    def _batch(
        self,
        members: Any,
        keys: Any,
        depth: int,
        level: int,
        parent: Frame | None,
        keyword: str | None,
    ) -> None:
        """One turn for each member; leaves with nothing to say are settled without one."""
        found = self.found
        plan_of = self.plans.cache.get
        leaf_types = _LEAF_TYPES
        settle = level <= self.plans.nesting_limit
        # What the object rules say about a leaf depends on its keys alone: when no more diagnostics
        # are kept, it is enough to count the leaves that say object.
        may_count = settle and depth <= self.plans.depth_limit
        counting = may_count and found.total >= found.cap
        nodes = objects = 0
        for key in keys:
            member = members[key]
            if member.__class__ is not dict:
                if member is not True and member is not False:
                    self._not_a_schema((member, depth, level, parent, keyword, key))
                continue
            names = tuple(member)
            plan = plan_of(names) or self.plans.learn(names)
            settled = False
            if settle and plan.leaf:
                kind = member["type"] if plan.typed else "null"
                if kind.__class__ is str:
                    settled = kind in leaf_types or (counting and kind == "object")
                if settled and plan.annotated:
                    for name in plan.texts:
                        value = member[name]
                        if value.__class__ is not str or not value.isascii():
                            settled = False
                    for name, well_formed in plan.shapes:
                        if not well_formed(member[name]):
                            settled = False
            if settled:
                nodes += len(names)
                if kind == "object":
                    objects += 1
            else:
                self.visit((member, depth, level, parent, keyword, key), plan)
                counting = may_count and found.total >= found.cap
        for rule, number in self.plans.leaf_findings if objects else ():
            found.count(rule, number * objects)
        self._count(nodes)

    def _not_a_schema(self, frame: Frame) -> None:
        if not self._impure(frame, (), frame[0]) and self.plans.not_a_schema is not None:
            self.found.add(self.plans.not_a_schema, frame)

    def visit(self, frame: Frame, plan: Plan) -> None:
        """All checks of one schema, in the order of contract rule 6, then its children."""
        schema, depth, level, parent, _keyword, _key = frame
        plans = self.plans
        self.deepest = max(self.deepest, level)
        self.turns += 1
        self.visited.add(id(schema))
        if self.turns == self.ask_at:
            self.ask_at *= 2
            if len(self.visited) < self.turns:  # parts are shared, or contain themselves
                self.ask_at = self.stop_at = checked_size(self.root, self.max_nodes)
        self._count(len(schema))
        if not plan.sound:
            self._unsound(frame, plan)
        if plan.identifier and parent is not None and self.identifier is None:
            self.identifier = frame
        if plan.ref:
            self.ref_frames.append(frame)

        is_object = plan.object
        if plan.typed:
            kind = schema["type"]
            if kind.__class__ is not str or kind not in TYPE_NAMES:
                if not is_types(kind):
                    self._malformed(frame, ("type",), "types", kind)
                elif kind.__class__ is list:
                    self._count(len(kind))
            is_object = is_object or names_object(kind)
        exact = plan.object and requires_what_it_declares(schema)
        if plan.required:
            if exact or is_unique_strings(schema["required"]):
                self._count(len(schema["required"]))
            else:
                self._malformed(frame, ("required",), "unique-strings", schema["required"])
        for keyword, well_formed in plan.shapes:
            if not well_formed(schema[keyword]):
                self._malformed(frame, (keyword,), KEYWORDS[keyword].shape, schema[keyword])
        if plan.values:
            self._values(frame, plan)
        if plan.parts:
            self._parts(frame, schema, plan.parts)
        deepest = level
        for name in plan.texts:
            value = schema[name]
            if value.__class__ is not str or not value.isascii():
                deepest = max(deepest, level + self._data(frame, (name,), value))

        if is_object:
            # Each level below is over the limit too; only the one that crosses it is worth saying.
            if depth == plans.depth_limit + 1:
                self._over("object-depth", frame)
            depth += 1
        if plan.closed == ALWAYS or (is_object and plan.closed == IF_TYPED):
            self._object(frame, exact)
        if plan.enum:
            deepest = max(deepest, level + self._enum(frame, schema["enum"]))
        if plan.const and isinstance(schema["const"], str):
            self.characters += len(schema["const"])
        if level == plans.nesting_limit + 1 or level <= plans.nesting_limit < deepest:
            self._over("nesting", frame)
        for keyword, holds in plan.children:
            if schema[keyword] is not False or holds not in (SCHEMA, ITEMS):
                self._children(frame, keyword, holds, depth, level + 1)
        if self.uncrossed:
            self._totals(frame)

    # ---------------------------------------------------------------------------------- one node

    def _unsound(self, frame: Frame, plan: Plan) -> None:
        """Keys that are no JSON names, and keywords that the profile refuses outright."""
        for key in frame[0]:
            if not isinstance(key, str):
                self._bad_name(frame, (), key)
            elif not is_encodable(key):
                self._bad_name(frame, (key,), key)
        for rule, keyword in plan.present:
            self.found.add(rule, frame, (keyword,), keyword=keyword)

    def _bad_name(self, frame: Frame, tokens: tuple[str | int, ...], name: object) -> None:
        if isinstance(name, str):
            self.found.add(data.rule_of("lone-surrogate"), frame, tokens, detail="in a name")
        else:
            detail = type(name).__name__
            self.found.add(data.rule_of("non-string-key"), frame, tokens, detail=detail)

    def _values(self, frame: Frame, plan: Plan) -> None:
        """The rules about values; patterns are added up, and measured no more when far too dear."""
        schema = frame[0]
        if self.patterns_cost > 4 * self.plans.patterns_limit:
            self.found.complete = False
            return
        for keyword, rule, limit in plan.values:
            for tokens, filled in rule.check(schema[keyword], limit):
                self.found.add(rule, frame, (keyword, *tokens), **filled)
        if plan.patterned:
            self.patterns_cost += sum(map(share, set(patterns_of(schema)) - self.patterns))
            self.patterns.update(patterns_of(schema))

    def _parts(self, frame: Frame | None, schema: Any, parts: tuple[Part, ...]) -> None:
        """What a provider wants of one schema."""
        for part in parts:
            for tokens, filled in part.rule.check(schema, part.setting):
                self.found.add(part.rule, frame, tokens, grounds=part.grounds, **filled)

    def _malformed(
        self, frame: Frame, tokens: tuple[str | int, ...], shape: str | None, value: object
    ) -> None:
        """A value without its shape: the rule of the shape that claims it speaks."""
        if self._impure(frame, tokens, value):
            return
        for rule in self.plans.shape_rules.get(shape or "", ()):
            if rule.check(value):
                self.found.add(rule, frame, tokens)
                return

    def _impure(self, frame: Frame, tokens: tuple[str | int, ...], value: object) -> bool:
        """Whether the value itself is no JSON, which is then said instead of "malformed"."""
        before = self.found.total
        self._data(frame, tokens, value)
        return self.found.total > before

    def _data(self, frame: Frame, tokens: tuple[str | int, ...], value: object) -> int:
        """Check a value that is data; returns how deep it nests."""
        room = self.max_nodes - self.nodes
        nodes, nesting, faults = data.faults(value, room, max(1, self.found.cap))
        self._count(nodes)
        for name, path, detail in faults:
            self.found.add(data.rule_of(name), frame, tokens + path, detail=detail)
        return nesting

    def _object(self, frame: Frame, exact: bool) -> None:
        """The object rules; the two maps of an object are looked at between them (rule 10)."""
        schema = frame[0]
        self._say(frame, self.plans.object_rules)
        for keyword in ("properties", "patternProperties"):
            if keyword in schema and schema[keyword].__class__ is not dict:
                self._malformed(frame, (keyword,), "map", schema[keyword])
        if not exact:
            self._say(frame, self.plans.member_rules)

    def _say(self, frame: Frame, rules: tuple[Rule, ...]) -> None:
        found = self.found
        for rule in rules:
            said = rule.check(frame[0])
            if said and found.total >= found.cap:
                found.count(rule, len(said))
                continue
            for tokens, filled in said:
                found.add(rule, frame, tokens, **filled)

    def _enum(self, frame: Frame, members: object) -> int:
        """Count an `enum`, and hold a long one of strings to fewer characters."""
        if members.__class__ is not list:
            return 0
        plans = self.plans
        self.entries += len(members)
        nesting = self._data(frame, ("enum",), members)
        strings = [m for m in members if isinstance(m, str)]
        length = sum(map(len, strings))
        self.characters += length
        if (
            len(strings) == len(members)
            and len(strings) > plans.long_enum_entries
            and length > plans.long_enum_limit
        ):
            self.found.add(
                plans.budget_rules["long-enum-characters"],
                frame,
                ("enum",),
                limit=plans.long_enum_limit,
                entries=plans.long_enum_entries,
            )
        return nesting

    # ---------------------------------------------------------------------------------- children

    def _children(self, frame: Frame, keyword: str, holds: str, depth: int, level: int) -> None:
        """Queue what a keyword holds; say it when the container is malformed (rules 21 to 24)."""
        held = frame[0][keyword]
        keys: Any = None
        if holds == SCHEMA_MAP:
            if held.__class__ is not dict:
                # The two maps of an object were looked at with the object.
                if keyword not in ("properties", "patternProperties"):
                    self._malformed(frame, (keyword,), "map", held)
                return
            keys = self._names(frame, keyword, held)
            self._count(len(held))
            if keyword == "properties":
                self.properties += len(held)
        elif holds == DEPENDENCIES:
            if held.__class__ is not dict:
                self._malformed(frame, (keyword,), "dependencies", held)
                return
            keys = self._dependencies(frame, keyword, held)
        elif held.__class__ is list and holds != SCHEMA:
            if not held:
                self._malformed(frame, (keyword,), KEYWORDS[keyword].shape, held)
                return
            self._count(len(held))
            keys = range(len(held))
        elif holds == SCHEMAS:
            self._malformed(frame, (keyword,), KEYWORDS[keyword].shape, held)
            return
        self.queue.append((held, keys, depth, level, frame, keyword))

    def _dependencies(self, frame: Frame, keyword: str, held: dict[Any, Any]) -> list[str]:
        """The names of `dependencies` that hold schemas; arrays of names are checked here."""
        self._count(len(held))
        schemas = []
        for name in self._names(frame, keyword, held):
            member = held[name]
            if member.__class__ is not list:
                schemas.append(name)
                continue
            if is_unique_strings(member):
                self._count(len(member))
            else:
                self._malformed(frame, (keyword, name), "unique-strings", member)
        return schemas

    def _names(self, frame: Frame, keyword: str, members: dict[Any, Any]) -> list[str]:
        """The names of a map, sorted by code point and counted; what is no name is said."""
        try:
            names = sorted(members)
            text = "".join(names)
        except TypeError:
            names = sorted(name for name in members if isinstance(name, str))
            text = "".join(names)
            for name in members:
                if not isinstance(name, str):
                    self._bad_name(frame, (keyword,), name)
        if keyword in COUNTED_NAMES:
            self.characters += len(text)
        if not text.isascii() and not is_encodable(text):
            for name in names:
                if not is_encodable(name):
                    self._bad_name(frame, (keyword, name), name)
        return names

    # ---------------------------------------------------------------------------------- totals

    def _over(self, budget: str, frame: Frame) -> None:
        rule = self.plans.budget_rules.get(budget)
        if rule is not None:
            self.found.add(rule, frame, limit=self.plans.profile.budgets[budget])

    def _totals(self, frame: Frame) -> None:
        """The budgets over the whole document, each said once: where it was crossed (rule 29)."""
        plans = self.plans
        for budget, used, limit in (
            ("properties", self.properties, plans.property_limit),
            ("enum-entries", self.entries, plans.enum_limit),
            ("characters", self.characters, plans.character_limit),
            ("patterns-cost", self.patterns_cost, plans.patterns_limit),
        ):
            if used > limit and budget in self.uncrossed:
                self.uncrossed.discard(budget)
                self._over(budget, frame)

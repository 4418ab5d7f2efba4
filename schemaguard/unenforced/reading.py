"""The analysis: one walk over a document, the way xgrammar reads it.

At every schema that the engine comes to, one keyword decides; see `leaves.winner_of`. What loses
is not entered: all that it says is lost with it. What a schema of one sequence of keywords and one
type can have to say is worked out once and kept: see `schemaguard.unenforced.plans`.
"""

from __future__ import annotations

from schemaguard.reads import resolve
from schemaguard.unenforced import plans
from schemaguard.unenforced.ending import Graph
from schemaguard.unenforced.facts import draft_of, facts_of
from schemaguard.unenforced.leaves import closed, winner_of
from schemaguard.unenforced.plans import IMPOSSIBLE, LIST, MAP, NAMES, ONE, ONE_OF_A_LIST

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from schemaguard.unenforced.facts import Facts
    from schemaguard.unenforced.plans import Plan
    from schemaguard.walk import Frame

#: Losses of one document; what has more is not read to the end.
MOST = 10_000

#: Rules about what the engine refuses as soon as it reads a schema, whether or not it writes it.
_AT_READING = frozenset(
    {"contradictory-bounds", "unreachable-count", "false-schema", "enum-of-nothing"}
    | {"unreadable-number", "unreadable-form"}
)


class Loss:
    """What is lost, narrowed or wrong at one schema.

    Attributes:
        name: of the rule that says it.
        frame: where the schema stands; see `schemaguard.walk.Frame`.
        keywords: what is lost there.
        data: fills the message.
        tokens: steps from the schema to what is meant; the keyword where it is one.
    """

    __slots__ = ("data", "frame", "keywords", "name", "tokens")

    def __init__(
        self,
        name: str,
        frame: Frame,
        keywords: tuple[str, ...],
        data: dict[str, Any],
        tokens: tuple[str | int, ...] | None = None,
    ) -> None:
        self.name = name
        self.frame = frame
        self.keywords = keywords
        self.data = data
        if tokens is None:
            tokens = keywords if len(keywords) == 1 else ()
        self.tokens = tokens


def losses(root: Any, version: str | None = None) -> list[Loss]:
    """What a version of xgrammar drops or narrows of a document, or cannot make a grammar of.

    Args:
        root: the document, well formed as the shape rules have it.
        version: of xgrammar; None for the newest that is known.
    """
    return read(root, facts_of(version))


def read(root: Any, facts: Facts, most: int = MOST) -> list[Loss]:
    """The same, of a version whose facts are at hand; the walk ends with `most` losses or more."""
    if root.__class__ is not dict:
        top: Frame = (root, 0, 0, None, None, None)
        return [Loss("false-schema", top, (), {"keyword": "the root"})] if root is False else []
    return _Reader(root, facts, most).read()


class _Reader:
    """One walk."""

    __slots__ = (
        "draft",
        "facts",
        "follows",
        "found",
        "impossible",
        "known",
        "most",
        "root",
        "stack",
        "unwritten",
        "ways",
    )

    def __init__(self, root: dict[str, Any], facts: Facts, most: int) -> None:
        self.root = root
        self.facts = facts
        self.most = most
        self.draft = draft_of(root)
        self.follows = True  # references
        self.known = plans.known(facts.version, self.draft)
        self.found: list[Loss] = []
        self.stack: list[tuple[Frame, Plan]] = []
        #: Schemas that the engine reads and writes nothing of: those of `allOf`, and of names.
        self.unwritten: list[Frame] = []
        #: What references need; most documents have none.
        self.ways: _Ways | None = None
        #: Schemas that no value satisfies, by identity: what is said of them.
        self.impossible: dict[int, Loss] | None = None

    def read(self) -> list[Loss]:
        """Walk, each schema before what it holds, in the order of the document."""
        self._enter((self.root, 0, 0, None, None, None), self.root)
        self._walk()
        if self.ways is not None or self.impossible:
            self._judge()
        if self.unwritten:
            self._read_unwritten()
        return self.found

    def _walk(self) -> None:
        facts, stack, found = self.facts, self.stack, self.found
        most = self.most
        while stack and len(found) < most:
            frame, plan = stack.pop()
            schema = frame[0]
            if self.ways is not None and not self.ways.is_first(frame):
                continue
            for name, keywords, data in plan.losses:
                found.append(Loss(name, frame, keywords, data))
            for look in plan.looks:
                for name, keywords, data in look(schema, facts):
                    found.append(Loss(name, frame, keywords, data))
            for check in plan.checks:
                for name, keywords, data in check(self, schema):
                    found.append(Loss(name, frame, keywords, data))
                    if name == IMPOSSIBLE:
                        self.impossible = self.impossible or {}
                        self.impossible[id(schema)] = found[-1]
            for keyword, holds in plan.children:
                held = schema[keyword]
                if holds == MAP:
                    if held.__class__ is dict:
                        self._enter_all(reversed(held.items()), frame, keyword)
                elif holds == ONE:
                    if held.__class__ is dict:
                        inside = self._plan_of(held)
                        if not inside.quiet:
                            stack.append(((held, 0, 0, frame, keyword, None), inside))
                elif holds == LIST:
                    if held.__class__ is list:
                        self._enter_all(reversed(list(enumerate(held))), frame, keyword)
                elif holds == ONE_OF_A_LIST:
                    if held.__class__ is list and len(held) == 1:
                        self._enter_closed((held[0], 0, 0, frame, keyword, 0), (keyword, 0))
                    elif held.__class__ is list:
                        rows = enumerate(held)
                        self.unwritten += [(m, 0, 0, frame, keyword, i) for i, m in rows]
                elif holds == NAMES:
                    if held.__class__ is dict:
                        self.unwritten.append((self._of_strings(held), 0, 0, frame, keyword, None))
                else:
                    self._follow(frame, held)

    def _of_strings(self, schema: dict[str, Any]) -> dict[str, Any]:
        """A schema of names as it is read: of strings, where it says no type."""
        if "type" in schema or winner_of(schema, self.facts) is not None:
            return schema
        return {"type": "string", **schema}

    def _read_unwritten(self) -> None:
        """Find for what the engine refuses a schema although it would write nothing of that part.

        References and patterns are left alone there until something is written.
        """
        reader = _Reader(self.root, self.facts, self.most)
        reader.follows = False
        waiting = self.unwritten
        while waiting and len(reader.found) < self.most:
            for frame in waiting:
                if frame[0] is False:
                    said = {"keyword": str(frame[4])}
                    reader.found.append(Loss("false-schema", frame, (), said))
                elif self.ways is None or self.ways.is_first(frame):
                    reader._enter(frame, frame[0])
            reader.unwritten = []
            reader._walk()
            waiting = reader.unwritten
        self.found += [loss for loss in reader.found if _is_at_reading(loss)]

    def _enter(self, frame: Frame, schema: Any) -> None:
        """Queue a schema in which there may be something to say."""
        if schema.__class__ is dict:
            plan = self._plan_of(schema)
            if not plan.quiet:
                self.stack.append((frame, plan))

    def _plan_of(self, schema: dict[str, Any]) -> Plan:
        kind = schema.get("type")
        plan = self.known.get((tuple(schema), kind)) if kind.__class__ is str else None
        return plan or plans.plan_of(schema, self.known, self.facts, self.draft)

    def _enter_all(self, members: Iterable[tuple[Any, Any]], frame: Frame, keyword: str) -> None:
        """The same for what a list or a map holds: most of it is quiet, and costs one look."""
        known = self.known
        for key, member in members:
            if member.__class__ is dict:
                kind = member.get("type")
                plan = known.get((tuple(member), kind)) if kind.__class__ is str else None
                if plan is None:
                    plan = plans.plan_of(member, known, self.facts, self.draft)
                if not plan.quiet:
                    self.stack.append(((member, 0, 0, frame, keyword, key), plan))
            elif member is False:
                said = {"keyword": keyword}
                self.found.append(Loss("false-schema", frame, (keyword,), said, (keyword, key)))

    def _enter_closed(self, frame: Frame, tokens: tuple[str | int, ...]) -> None:
        """The same for what a reference or an `allOf` of one leads to: it is closed there."""
        schema = frame[0]
        if schema is False:
            said = {"keyword": str(tokens[0])}
            self.found.append(Loss("false-schema", frame, (str(tokens[0]),), said, ()))
        if schema.__class__ is dict and closed(schema) is not schema:
            name = "closed-object" if schema["type"] == "object" else "closed-array"
            self.found.append(Loss(name, frame, ("type",), {}))
        self._enter(frame, schema)

    def _follow(self, frame: Frame, reference: Any) -> None:
        """Enter what a reference leads to, the first time."""
        if not self.follows:
            return
        if self.ways is None:
            self.ways = _Ways()
        target = self.ways.target(self.root, frame, reference)
        if target is not None:
            self._enter_closed(target, ("$ref",))

    def _judge(self) -> None:
        """Say what cannot end, and what is impossible for the document as a whole."""
        if not self.impossible and not (self.ways and self.ways.go_round(self.root)):
            return
        graph = Graph(self.root, self.facts)
        if self.ways is not None:
            for node in graph.endless():
                frame = self.ways.referring.get(node)
                if frame is not None:
                    said = {"target": frame[0]["$ref"]}
                    self.found.append(Loss("endless-recursion", frame, ("$ref",), said))
        for node in graph.causes(frozenset(self.impossible or ())):
            if self.impossible:
                self.impossible[node].name = "impossible-schema"


def _is_at_reading(loss: Loss) -> bool:
    """Whether the engine refuses a schema for it that it writes nothing of."""
    if loss.name == "unreachable-count" and loss.keywords == ("minProperties",):
        return "propertyNames" not in loss.frame[0]  # there it counts on more names
    return loss.name in _AT_READING


class _Ways:
    """References that were followed, so that each schema is looked at once.

    Attributes:
        referring: schemas with a reference, by identity: where they stand.
    """

    __slots__ = ("_followed", "_seen", "_targets", "referring")

    def __init__(self) -> None:
        self.referring: dict[int, Frame] = {}
        #: Reference → identity of what it leads to.
        self._followed: dict[str, int] = {}
        self._seen: set[int] = set()
        self._targets: dict[int, Frame] = {}

    def is_first(self, frame: Frame) -> bool:
        """Whether a schema is not looked at elsewhere, where a reference led to it."""
        node = id(frame[0])
        if self._targets.get(node, frame) is not frame:
            return False
        self._seen.add(node)
        return True

    def target(self, root: Any, frame: Frame, reference: Any) -> Frame | None:
        """Where a reference leads to, the first time; else None."""
        self.referring[id(frame[0])] = frame
        if not isinstance(reference, str) or reference in self._followed:
            return None
        found = resolve(root, reference)
        self._followed[reference] = 0 if found is None else id(found[0])
        if found is None or id(found[0]) in self._seen or found[0] is root:
            return None
        above: Frame | None = None
        for token in found[1][:-1]:
            above = (None, 0, 0, above, str(token), None)
        made: Frame = (found[0], 0, 0, above, str(found[1][-1]), None)
        return self._targets.setdefault(id(found[0]), made) if made[0].__class__ is dict else made

    def go_round(self, root: Any) -> bool:
        """Whether some reference leads to where it stands in, by itself or by others."""
        targets = {id(root), *self._followed.values()}
        left: dict[int, int] = dict.fromkeys(targets, 0)
        leads: dict[int, set[int]] = {}
        for frame in self.referring.values():
            reference = frame[0]["$ref"]
            node: Frame | None = frame
            while node is not None and id(node[0]) not in targets:
                node = node[3]
            start = id(root) if node is None else id(node[0])
            end = self._followed.get(reference, 0) if isinstance(reference, str) else 0
            if end not in leads.setdefault(start, set()):
                leads[start].add(end)
                left[end] = left.get(end, 0) + 1
        ready = [start for start, count in left.items() if not count]
        for start in ready:
            for end in leads.get(start, ()):
                left[end] -= 1
                if not left[end]:
                    ready.append(end)
        return len(ready) < len(left)

"""One attempt to fix a schema: rounds of findings, rewrites, and checks of what they offer."""

from __future__ import annotations

from collections import Counter

from schemaguard import data
from schemaguard.fix.context import Contexts
from schemaguard.fix.draft import find, unshared
from schemaguard.fix.links import Links
from schemaguard.fix.rewrites import (
    OF_BOOLEANS,
    OF_THE_OBJECT,
    REFUSING,
    rank,
    rewrites_for,
)
from schemaguard.fix.rewrites.base import Change, Place, Refusal
from schemaguard.preflight import check
from schemaguard.report import tokens_of
from schemaguard.rules import PRESENCE, SHAPE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from schemaguard.fix.draft import History, Tokens
    from schemaguard.fix.result import Edit
    from schemaguard.plan import Plans
    from schemaguard.report import Diagnostic, Report

    #: What tells one finding from another, as long as nothing around it moves: code, pointer,
    #: keyword, property.
    Key = tuple[str, str, str, str]

#: Rounds, and single trials in them. A schema of a tool takes a handful; of a small one, with
#: hundreds of references that are each written in place, it may be more.
MAX_ROUNDS = 100
MOST_ROUNDS = 1_000
MAX_VALUES_CHECKED = 1_000_000
MAX_TRIALS = 400
#: After so many findings of a rule that could not be answered, the others are taken for the same.
MAX_FAILURES = 20

#: JSON values that a draft may have: so many times those of the schema, and some.
MAX_GROWTH = 4
MIN_ROOM = 2_000

STOPPED = "that was many changes; fixing again goes on from here"
NO_WAY = "no rewrite that keeps the meaning is known"


class Finding:
    """Findings of one rule about one keyword of one schema.

    Attributes:
        tokens: where the schema stands.
        diagnostic: the first of them.
        keys: of all of them.
    """

    __slots__ = ("diagnostic", "keys", "tokens")

    def __init__(self, tokens: Tokens, diagnostic: Diagnostic) -> None:
        self.tokens = tokens
        self.diagnostic = diagnostic
        self.keys: list[Key] = []


class Attempt:
    """One attempt to fix a schema.

    Attributes:
        root: the schema so far.
        reports: of the check, by profile.
        edits, lossy_edits: what was done.
        refused: why a finding was not answered.
        needs_lossy: the findings that a lossy step would answer.
        exposed: findings whose answer let a profile see more than before.
    """

    def __init__(
        self,
        root: Any,
        plans: list[Plans],
        *,
        lossy: bool,
        library: Mapping[str, Any],
        history: History,
        forbidden: Iterable[Key] = (),
    ) -> None:
        self.root = root
        self._forbidden = dict.fromkeys(forbidden, "what it would expose is refused as well")
        self.refused: dict[Key, str] = dict(self._forbidden)
        self.exposed: set[Key] = set()
        self._plans = plans
        self._lossy = lossy
        self._library = library
        self._history = history
        self.edits: list[Edit] = []
        self.lossy_edits: list[Edit] = []
        self.needs_lossy: set[Key] = set()
        self._trials = MAX_TRIALS
        self._lost = Links(root).lost
        size = data.size(root) or 1
        self._room = MIN_ROOM + MAX_GROWTH * size
        self._rounds = max(MAX_ROUNDS, min(MOST_ROUNDS, MAX_VALUES_CHECKED // size))
        self.reports = self._check(root)

    def _check(self, root: Any) -> list[Report]:
        # The check may tell schemas apart by identity, and a draft has some of them twice.
        root = unshared(root)
        return [check(root, plan.profile) for plan in self._plans]

    def totals(self) -> list[int]:
        """Errors by profile."""
        return [errors_of(report) for report in self.reports]

    def run(self) -> None:
        """Change until nothing helps."""
        # What was dropped may have been what stood in the way of the rest.
        for lossy in (False, True, False) if self._lossy else (False,):
            for _ in range(self._rounds):
                if not self._round(lossy):
                    break
            else:
                self._stop()

    def _stop(self) -> None:
        """Say of what is left that it was not looked at again: another run may do more."""
        for report in self.reports:
            for diagnostic in report.errors:
                self.refused[key_of(diagnostic)] = STOPPED

    def _is_too_large(self, root: Any, changes: list[Change]) -> bool:
        """Whether a draft has grown out of proportion.

        What is written in the place of references, with references in it, doubles at each level.
        """
        size = data.size(root) or 0
        if any(change.whole for change in changes):  # what is brought in is as large as it is
            self._room = max(self._room, MIN_ROOM + MAX_GROWTH * size)
        return size > self._room

    def _forget_refusals(self) -> None:
        self.refused = dict(self._forbidden)

    def _round(self, lossy: bool) -> bool:
        """Answer the first rule's findings that can be answered; False when there are none."""
        groups: dict[tuple[int, str, str, int], list[tuple[Key, Diagnostic]]] = {}
        for number, report in enumerate(self.reports):
            for diagnostic in report.errors:
                key = key_of(diagnostic)
                if key in self.refused and not (lossy and key in self.needs_lossy):
                    continue
                group = (rank(diagnostic.name), diagnostic.name, key[2], number)
                groups.setdefault(group, []).append((key, diagnostic))
        return any(self._answer(groups[group], lossy) for group in sorted(groups))

    def _answer(self, findings: list[tuple[Key, Diagnostic]], lossy: bool) -> bool:
        # Deepest first: a change may move what is below its place, and nothing else.
        answered = sorted(_by_place(self.root, findings), key=lambda f: -len(f.tokens))
        contexts = Contexts(self.root)
        if self._together(answered, contexts, lossy):
            return True
        for failed, finding in enumerate(answered, 1):
            if self._alone(finding, contexts, lossy):
                return True
            if failed == MAX_FAILURES:
                said = self.refused.get(finding.keys[0], NO_WAY)
                for other in answered[failed:]:
                    self._refuse(other, said)
                break
        return False

    def _together(self, findings: list[Finding], contexts: Contexts, lossy: bool) -> bool:
        for choice in range(2):
            root, changes, keys = self.root, [], []
            for finding in findings:
                offers = self._offers(root, finding, contexts, lossy)
                if not offers:
                    continue
                change = offers[min(choice, len(offers) - 1)]
                root = self._applied(root, finding.tokens, change)
                changes.append(change)
                keys += finding.keys
                if change.whole:  # places may have moved
                    break
            if not changes:
                return False
            if self._accept(root, changes, keys):
                return True
        return False

    def _alone(self, finding: Finding, contexts: Contexts, lossy: bool) -> bool:
        offers = self._offers(self.root, finding, contexts, lossy)
        for change in offers:
            if self._trials <= 0:
                self._refuse(finding, "too many changes were tried before this one")
                return False
            self._trials -= 1
            root = self._applied(self.root, finding.tokens, change)
            if self._accept(root, [change], finding.keys):
                return True
        if offers:
            if lossy:
                self.needs_lossy.difference_update(finding.keys)
            self._refuse(finding, self._why_not(finding, offers[0]))
        return False

    def _refuse(self, finding: Finding, reason: str) -> None:
        self.refused.update(dict.fromkeys(finding.keys, reason))

    def _offers(self, root: Any, finding: Finding, contexts: Contexts, lossy: bool) -> list[Change]:
        """The changes for one finding; why there are none is noted."""
        schema = _at(root, finding.tokens)
        diagnostic = finding.diagnostic
        if schema.__class__ is not dict and diagnostic.name not in OF_BOOLEANS:
            self._refuse(finding, "it is no object")
            return []
        _, _, keyword, name = finding.keys[0]
        place = Place(
            root=root,
            tokens=finding.tokens,
            schema=schema,
            code=diagnostic.code,
            keyword=keyword,
            property=name,
            history=self._history,
            contexts=contexts,
            library=self._library,
        )
        changes: list[Change] = []
        reasons: list[str] = []
        rewrites = rewrites_for(diagnostic.name, keyword)
        if not rewrites:
            reasons.append(f"it takes somebody who knows the tool: {diagnostic.fix}".rstrip("."))
        for rewrite in rewrites:
            for outcome in rewrite(place):
                if isinstance(outcome, Refusal):
                    reasons.append(outcome.reason)
                else:
                    changes.append(outcome)
        offered = [change for change in changes if not change.lossy]
        dropping = [change for change in changes if change.lossy]
        if lossy:
            offered += dropping
        elif dropping:
            self.needs_lossy.update(finding.keys)
            reasons.append(f"only a lossy step would do: {dropping[0].edits[0].what}")
        if not offered:
            self._refuse(finding, "; ".join(dict.fromkeys(reasons)) or NO_WAY)
        return offered

    def _applied(self, root: Any, tokens: Tokens, change: Change) -> Any:
        return change.schema if change.whole else self._history.at(root, tokens, change.schema)

    def _accept(self, root: Any, changes: list[Change], keys: list[Key]) -> bool:
        """Take a changed schema if it is better; see the module's first words."""
        if self._is_too_large(root, changes):
            return False
        lost = Links(root).lost
        if lost > self._lost:  # a reference would lead to nothing
            return False
        reports = self._check(root)
        opened = {change.leaves_open for change in changes} - {None}
        if opened and any(d.pointer in opened for d in _open_objects(reports)):
            return False
        exposes = any(change.exposes for change in changes)
        if not _is_better(self.reports, reports, keys, exposes):
            return False
        if exposes:
            self.exposed.update(keys)
        self.root = root
        self._lost = lost
        self.reports = reports
        for change in changes:
            (self.lossy_edits if change.lossy else self.edits).extend(change.edits)
        self._forget_refusals()
        return True

    def _why_not(self, finding: Finding, change: Change) -> str:
        """What is wrong with a change that was not taken."""
        root = self._applied(self.root, finding.tokens, change)
        if self._is_too_large(root, [change]):
            return "the schema would become many times as large"
        if Links(root).lost > self._lost:
            return "a reference leads into it, and would lead to nothing"
        for diagnostic in _open_objects(self._check(root)):
            if diagnostic.pointer == change.leaves_open:
                return "only a lossy step would close it: it says that other names are welcome"
        for before, after in zip(self.reports, self._check(root), strict=True):
            if errors_of(after) > errors_of(before):
                known = Counter(map(key_of, before.errors))
                for diagnostic in after.errors:
                    if not known[key_of(diagnostic)]:
                        return f"{after.profile} would refuse it: {diagnostic.message}"
        return "what could be done without harm does not help"


def _open_objects(reports: list[Report]) -> list[Diagnostic]:
    return [d for report in reports for d in report.errors if d.name == "open-object"]


def errors_of(report: Report) -> int:
    """How many errors there are; all findings beyond those that are kept count as errors."""
    if report.ok:
        return 0
    return len(report.errors) + (report.total - len(report.diagnostics))


def key_of(diagnostic: Diagnostic) -> Key:
    """What tells a finding from others."""
    filled = diagnostic.data
    keyword = filled.get("keyword", "")
    if not keyword and diagnostic.rule.on[0] in (PRESENCE, SHAPE):
        keyword = tokens_of(diagnostic.pointer)[-1:]
        keyword = keyword[0] if keyword else ""
    name = filled.get("property", "")
    return diagnostic.code, diagnostic.pointer, str(keyword), str(name)


def _by_place(root: Any, findings: Iterable[tuple[Key, Diagnostic]]) -> list[Finding]:
    """Findings by the schema that they are about, and the keyword."""
    found: dict[tuple[Tokens, str], Finding] = {}
    for key, diagnostic in findings:
        steps = tokens_of(key[1])
        if diagnostic.name in OF_THE_OBJECT:
            steps = steps[:-2]
        elif diagnostic.name in REFUSING or diagnostic.rule.on[0] == SHAPE:
            steps = steps[:-1]  # the keyword may hold a schema of its own
        tokens, _, _ = find(root, steps)
        found.setdefault((tokens, key[2]), Finding(tokens, diagnostic)).keys.append(key)
    return list(found.values())


def _at(root: Any, tokens: Tokens) -> Any:
    for token in tokens:
        try:
            root = root[token]
        except (KeyError, IndexError, TypeError):
            return None
    return root


def _is_better(before: list[Report], after: list[Report], keys: list[Key], exposes: bool) -> bool:
    """Whether nobody has more errors, and somebody fewer."""
    names = {(code, keyword) for code, _, keyword, _ in keys}
    progress = False
    for old, new in zip(before, after, strict=True):
        less = _about(new, names) < _about(old, names)
        progress = progress or less or errors_of(new) < errors_of(old)
        if errors_of(new) > errors_of(old) and not (exposes and less):
            return False
    return progress


def _about(report: Report, names: set[tuple[str, str]]) -> int:
    return sum(1 for d in report.errors if (key_of(d)[0], key_of(d)[2]) in names)

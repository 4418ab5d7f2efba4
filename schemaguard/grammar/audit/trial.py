"""One constraint on trial: its witnesses are judged, and the engine is asked about each.

The engine is asked about texts of whole instances. An instance that reaches the constraint's place
and that the engine does write is the base; witnesses are the base with one value replaced, so that
what the engine makes of them is about that value.
"""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

from schemaguard.errors import cut, printable
from schemaguard.grammar.audit import spelling, witnesses
from schemaguard.grammar.audit.blame import Blame
from schemaguard.grammar.audit.judge import STANDARD_FORMATS
from schemaguard.grammar.audit.maker import Maker, Template
from schemaguard.grammar.audit.parts import NoInstance
from schemaguard.grammar.audit.result import (
    DROPPED,
    ENFORCED,
    OVER_CONSTRAINED,
    UNTESTED,
    AuditedConstraint,
)
from schemaguard.grammar.audit.writing import PLAIN, same

if TYPE_CHECKING:
    from collections.abc import Iterable

    from schemaguard.grammar.audit.constraints import Constraint, Place
    from schemaguard.grammar.audit.engines import Grammar
    from schemaguard.grammar.audit.judge import Judge
    from schemaguard.grammar.audit.path import Paths
    from schemaguard.grammar.audit.writing import Writing

#: Instances that are made in search of one that reaches a place, is valid and can be written.
BASES = 8

#: Witnesses of one constraint: proposals that are judged, and how many of each kind are tried.
PROPOSALS = 200
TRIED = 40

#: Work of the judge (`Judge.spent`) for the witnesses of all constraints together, and for those of
#: one at most. What is proposed first counts most; a few proposals are always judged.
SPENT_ON_ALL = 600_000
SPENT_ON_ONE = 8_000
LEAST_PROPOSALS = 8


class Finding:
    """What is known of one constraint. `over` is what a keyword is blamed for by others, too."""

    __slots__ = (
        "dropped",
        "hidden",
        "kept",
        "over",
        "over_text",
        "reason",
        "refused",
        "shared",
        "through",
    )

    def __init__(self) -> None:
        self.dropped: str | None = None  # the smallest text
        self.over: str | None = None  # JSON of an instance
        self.over_text: str | None = None  # how the style would write it, if it can
        self.through = 0  # instances that break it and can be written
        self.refused = 0  # and those that cannot
        self.kept = 0  # valid ones that can be written
        self.hidden = False  # only the name of a property hidden from the engine gets past it
        self.shared = False  # none of them breaks it alone
        self.reason = ""

    def leak(self, text: str) -> None:
        """Note an invalid instance that gets through."""
        self.through += 1
        if self.dropped is None or (len(text), text) < (len(self.dropped), self.dropped):
            self.dropped = text

    def narrow(self, instance: str, text: str | None) -> None:
        """Note a valid instance that cannot be written, and a text of the style for it, if any."""
        known = self.over
        # One that the engine refuses says more than one that no engine could write.
        rank = (text is None, len(instance), instance)
        if known is None or rank < (self.over_text is None, len(known), known):
            self.over, self.over_text = instance, text


class Court:
    """Judge and engine, and what was found so far: one audit.

    Attributes:
        tried: how many texts the engine was asked about.
        share: work of the judge on the witnesses of one constraint.
        findings: pointer → keyword → what was found.
        written: valid instances that the engine writes, for questions about spelling.
    """

    def __init__(
        self,
        judge: Judge,
        grammar: Grammar,
        places: list[Place],
        constraints: list[Constraint],
        seed: int,
        writing: Writing = PLAIN,
    ) -> None:
        self.judge = judge
        self.writing = writing
        self.grammar = grammar
        self.maker = Maker(judge, seed)
        self.seed = seed
        self.tried = 0
        self.share = min(SPENT_ON_ONE, SPENT_ON_ALL // max(len(constraints), 1))
        self.findings: dict[str, dict[str, Finding]] = {place.pointer: {} for place in places}
        for constraint in constraints:
            self.finding(constraint.place, constraint.keyword)
        self._blame = Blame(places)
        self.written: list[Any] = []
        self._accepted: dict[str, bool] = {}
        self._blamed: dict[str, tuple[Place, str]] = {}

    def accepts(self, text: str) -> bool:
        """Whether the engine lets the text be written; asked once."""
        known = self._accepted.get(text)
        if known is None:
            self.tried += 1
            known = self._accepted[text] = self.grammar.accepts(text)
        return known

    def writes(self, instance: Any, *, invalid: bool = False) -> str | None:
        """A text with which the engine writes the instance, or None.

        Args:
            instance: to be written.
            invalid: it should not be, so fewer spellings will do.
        """
        readings = self.writing.readings
        try:
            for text in self.writing.texts(instance, all_of_them=not invalid):
                if self.accepts(text) and any(same(read, instance) for read in readings(text)):
                    return text
        except spelling.Unspeakable:
            pass
        return None

    def leaks(self, instance: Any) -> str | None:
        """A text with which the engine writes an invalid instance, whoever reads it, or None."""
        text = self.writes(instance, invalid=True)
        if text is None:
            return None
        others = (read for read in self.writing.readings(text) if not same(read, instance))
        return text if self.is_invalid(others) else None

    def is_invalid(self, readings: Iterable[Any]) -> bool:
        """Whether all readings of a text are invalid. Readers differ in what they strip."""
        return all(self.judge.is_valid(value) is False for value in readings)

    def finding(self, place: Place, keyword: str) -> Finding:
        """What is known of a keyword at a place."""
        return self.findings[place.pointer].setdefault(keyword, Finding())

    def blame(self, instance: Any, place: Place, keyword: str) -> None:
        """Note a valid instance that the engine does not write, with the keyword at fault.

        Args:
            instance: made for the keyword.
            place: where the keyword is.
            keyword: to blame where nothing better is found.
        """
        try:
            witness = spelling.compact(instance)
        except spelling.Unspeakable:
            return
        text = self._text(instance)
        if text is None:
            members = instance if isinstance(instance, dict) else {}
            path = tuple(name for name in members if self._text({name: members[name]}) is None)
            at_fault, name = self._blame.at(path[:1], instance, keyword, place)
            self.finding(at_fault, name).narrow(witness, None)
            return
        if witness not in self._blamed:
            self._blamed[witness] = self._blame.of(
                self.grammar, text, instance, keyword, place, self.writing
            )
        at_fault, name = self._blamed[witness]
        self.finding(at_fault, name).narrow(witness, text)

    def _text(self, instance: Any) -> str | None:
        """The first text of the style that is read back as the instance, or None."""
        readings = self.writing.readings
        try:
            for text in self.writing.texts(instance, all_of_them=True):
                if any(same(read, instance) for read in readings(text)):
                    return text
        except spelling.Unspeakable:
            pass
        return None

    def base(self, place: Place, *, other: bool = False) -> Base:
        """An instance that reaches the place: valid and writable if there is one.

        Args:
            place: to be reached.
            other: on its second route.
        """
        best = Base(None, valid=False, written=False)
        undecided = False
        route = place.route(other=other)
        for attempt in range(BASES):
            rng = random.Random(f"{self.seed} {place.pointer} {attempt}")  # noqa: S311
            try:
                template = self.maker.template(route, rng, full=attempt % 2 == 1)
            except NoInstance:
                continue
            verdict = self.judge.is_valid(template.instance)
            undecided = undecided or verdict is None
            written = bool(verdict) and self.writes(template.instance) is not None
            if verdict and not written:
                self.blame(template.instance, place, "type")
            if best.template is None or (bool(verdict), written) > (best.valid, best.written):
                best = Base(template, valid=bool(verdict), written=written)
            if written:
                break
        best.undecided = undecided
        if best.written and best.template is not None and len(self.written) < 200:
            self.written.append(best.template.instance)
        return best


class Base:
    """An instance with a hole at a place.

    Attributes:
        template: None when none could be made.
        valid: the judge says that the instance is valid.
        written: and the engine writes it.
        undecided: of some instance the judge could not tell.
    """

    __slots__ = ("template", "undecided", "valid", "written")

    def __init__(self, template: Template | None, *, valid: bool, written: bool) -> None:
        self.template = template
        self.valid = valid
        self.written = written
        self.undecided = False


def trial(court: Court, base: Base, constraint: Constraint) -> None:
    """Fill the finding of a constraint; what is another keyword's fault goes to that one's.

    Args:
        court: of this audit.
        base: for the constraint's place.
        constraint: what is on trial.
    """
    finding = court.finding(constraint.place, constraint.keyword)
    template = base.template
    if template is None:
        finding.reason = "no instance was found that gets here"
        return
    lone, shared, undecided = _broken(court, template, constraint)
    for instance, _value in lone[:TRIED]:
        _ask_invalid(court, instance, finding)
    if lone and finding.dropped is None:
        _smuggle(court, template, lone, finding)
    if not lone:
        finding.shared = True
        for instance, _value in shared[:TRIED]:
            _ask_invalid(court, instance, finding)
    if base.written:
        _ask_valid(court, template, constraint, finding)
    elif finding.dropped is None:
        finding.refused = 0  # refused, but perhaps for what refuses the base
        if not base.valid and base.undecided:
            finding.reason = "the judge cannot decide"
        elif not base.valid:
            finding.reason = "no valid instance was found that gets here"
        else:
            finding.reason = "no valid instance that gets here can be written"
    if not lone and not shared and not finding.reason:
        finding.reason = _why_nothing(constraint, court.judge, undecided=undecided)


def retrial(court: Court, base: Base, constraint: Constraint) -> None:
    """Ask again about a constraint that nothing got past, with instances on its second route."""
    finding = court.finding(constraint.place, constraint.keyword)
    if base.template is None or finding.dropped is not None:
        return
    lone, _shared, _undecided = _broken(court, base.template, constraint)
    for instance, _value in lone[:TRIED]:
        _ask_invalid(court, instance, finding)


def _why_nothing(constraint: Constraint, judge: Judge, *, undecided: bool) -> str:
    value = constraint.value
    if constraint.keyword == "format" and value not in judge.formats and value in STANDARD_FORMATS:
        return f"the judge has no checker for the format {value}"
    if undecided:
        return "the judge cannot decide"
    if any(place.step[0] == "anyOf" for place in constraint.place.way()):
        return "no instance was found that breaks it: another alternative may cover it"
    return "no instance was found that breaks it"


def _broken(
    court: Court, template: Template, constraint: Constraint
) -> tuple[list[tuple[Any, Any]], list[tuple[Any, Any]], bool]:
    """Invalid instances that break the constraint: alone, and among others.

    Returns:
        Pairs of instance and value, the shortest first, and whether the judge failed to decide.
    """
    lone: list[tuple[str, Any, Any]] = []
    invalid: list[tuple[str, Any, Any]] = []
    undecided = False
    for value, size in _different(court, witnesses.breaking(constraint, template, court.maker)):
        instance = template.filled(value)
        valid = court.judge.is_valid(instance)
        undecided = undecided or valid is None
        if valid is not False:
            continue
        alone = court.judge.is_valid_without(constraint, instance)
        undecided = undecided or alone is None
        (lone if alone else invalid).append((size, instance, value))
    shared = []
    if not lone:
        shared = [row for row in invalid if constraint.is_in(court.judge.broken(row[1]))]
    return _by_size(lone), _by_size(shared), undecided


def _by_size(found: list[tuple[str, Any, Any]]) -> list[tuple[Any, Any]]:
    found.sort(key=lambda row: (len(row[0]), row[0]))
    return [(instance, value) for _size, instance, value in found]


def _different(court: Court, values: Iterable[Any]) -> Iterable[tuple[Any, str]]:
    """Each value once, with its text, until the judge has done enough."""
    judge = court.judge
    start = judge.spent
    seen: set[str] = set()
    for value in values:
        try:
            text = json.dumps(value, ensure_ascii=False)
        except (ValueError, RecursionError):
            continue
        if text not in seen:
            seen.add(text)
            yield value, text
        spent = judge.spent - start
        if len(seen) == PROPOSALS or (spent > court.share and len(seen) >= LEAST_PROPOSALS):
            return


def _ask_invalid(court: Court, instance: Any, finding: Finding) -> None:
    text = court.leaks(instance)
    if text is None:
        finding.refused += 1
    else:
        finding.leak(text)


def _smuggle(
    court: Court, template: Template, lone: list[tuple[Any, Any]], finding: Finding
) -> None:
    """Try the smallest broken instance with the property's name hidden from the engine."""
    instance, _value = lone[0]
    steps = [index for index, key in enumerate(template.path) if isinstance(key, str)]
    if not steps:
        return
    good = template.instance
    for key in template.path[: steps[-1] + 1]:
        good = good[key]
    for text in court.writing.smuggled(instance, template.path, good):
        if not court.accepts(text):
            continue
        readings = court.writing.readings(text)
        if any(same(read, instance) for read in readings) and court.is_invalid(readings):
            finding.leak(text)
            finding.hidden = True


def _ask_valid(court: Court, template: Template, constraint: Constraint, finding: Finding) -> None:
    tried = 0
    for value, _text in _different(court, witnesses.keeping(constraint, template, court.maker)):
        instance = template.filled(value)
        if not court.judge.is_valid(instance):
            continue
        tried += 1
        if court.writes(instance) is not None:
            finding.kept += 1
        else:
            court.blame(instance, constraint.place, constraint.keyword)
        if tried == TRIED:
            return


def open_ends(court: Court, base: Base, place: Place) -> None:
    """Try what the schema leaves open: members that no keyword mentions."""
    template = base.template
    if template is None or not base.written:
        return
    for keyword, value in witnesses.extras(template, court.maker, place.pointer):
        instance = template.filled(value)
        if court.judge.is_valid(instance) and court.writes(instance) is None:
            court.blame(instance, place, keyword)


def verdict(
    place: Place, keyword: str, finding: Finding, paths: Paths, writing: Writing
) -> AuditedConstraint:
    """The verdict on a constraint."""
    text: str | None = None
    asked = finding.through + finding.refused
    ways = f"broken in {asked} way{'s' * (asked != 1)}"
    if finding.dropped is not None:
        name, text = DROPPED, finding.dropped
        witness: str | None = writing.witness(text)
        reason = f"{ways}, {finding.through} of which can be written"
        if finding.hidden:
            reason = "only with a name spelt with an escape, or written twice, does one get through"
        if finding.over is not None:
            reason += f"; and the valid {cut(finding.over, 80)} cannot be written"
    elif finding.over is not None:
        name, witness, text = OVER_CONSTRAINED, finding.over, finding.over_text
        reason = "this valid instance cannot be written"
        if text is None:
            reason += ": no text of this style is read back as it"
        if asked:
            reason += f"; {ways}, all refused"
    elif finding.refused:
        name, witness = ENFORCED, None
        reason = f"{ways}{', but never alone' * finding.shared}, all refused"
    else:
        name, witness = UNTESTED, None
        reason = finding.reason or "no instance was found that breaks it"
    return AuditedConstraint(
        pointer=place.pointer,
        keyword=keyword,
        verdict=name,
        witness=witness,
        reason=printable(reason),
        path=paths.of(text),
        output=None if text is None else writing.output(text),
    )

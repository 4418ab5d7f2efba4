"""One constraint on trial: its witnesses are judged, and the engine is asked about each.

The engine is asked about texts of whole instances. An instance that reaches the constraint's place
and that the engine does write is the base; witnesses are the base with one value replaced, so that
what the engine makes of them is about that value.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from schemaguard.data import equal
from schemaguard.errors import cut, printable
from schemaguard.grammar.audit import witnesses
from schemaguard.grammar.audit.judge import STANDARD_FORMATS
from schemaguard.grammar.audit.result import (
    DROPPED,
    ENFORCED,
    OVER_CONSTRAINED,
    UNTESTED,
    AuditedConstraint,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from schemaguard.grammar.audit.constraints import Constraint, Place
    from schemaguard.grammar.audit.court import Base, Court, Finding
    from schemaguard.grammar.audit.judge import Judge
    from schemaguard.grammar.audit.maker import Template
    from schemaguard.grammar.audit.path import Paths
    from schemaguard.grammar.audit.writing import Writing

#: Witnesses of one constraint: proposals that are judged, and how many of each kind are tried.
PROPOSALS = 200
TRIED = 40

#: What is proposed first counts most: so many proposals are always judged, and so many that break
#: the constraint tried, however long they are.
LEAST_PROPOSALS = 8
AIMED = 10


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
    for instance, _value in lone:
        _ask_invalid(court, instance, finding)
    if lone and finding.dropped is None:
        _smuggle(court, template, lone, finding)
    if not lone:
        finding.shared = True
        for instance, _value in shared:
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


def retrial(court: Court, template: Template, constraint: Constraint) -> None:
    """Ask again about a constraint that nothing got past, by another route or another name."""
    finding = court.finding(constraint.place, constraint.keyword)
    if finding.dropped is not None:
        return
    lone, _shared, _undecided = _broken(court, template, constraint)
    for instance, _value in lone:
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
        Pairs of instance and value, at most `TRIED`, the shortest first; and whether the judge
        failed to decide.
    """
    lone: list[tuple[str, Any, Any]] = []
    invalid: list[tuple[str, Any, Any]] = []
    undecided = False
    for value, text in _different(court, witnesses.breaking(constraint, template, court.maker)):
        instance = template.filled(value)
        valid = court.judge.is_valid(instance)
        undecided = undecided or valid is None
        if valid is not False:
            continue
        alone = court.judge.is_valid_without(constraint, instance)
        undecided = undecided or alone is None
        (lone if alone else invalid).append((text, instance, value))
    shared = []
    if not lone:
        shared = [row for row in invalid if constraint.is_in(court.judge.broken(row[1]))]
    return _chosen(lone), _chosen(shared), undecided


def _chosen(found: list[tuple[str, Any, Any]]) -> list[tuple[Any, Any]]:
    """Those that are tried, the shortest first."""
    by_size = sorted(found[AIMED:], key=_size)
    tried = sorted([*found[:AIMED], *by_size[: TRIED - AIMED]], key=_size)
    return [(instance, value) for _text, instance, value in tried]


def _size(row: tuple[str, Any, Any]) -> tuple[int, str]:
    return len(row[0]), row[0]


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
    """Try broken instances with the property's name hidden from the engine.

    Of each type of value the smallest: what other names may have decides which gets through.
    """
    steps = [index for index, key in enumerate(template.path) if isinstance(key, str)]
    if not steps:
        return
    good = template.instance
    for key in template.path[: steps[-1] + 1]:
        good = good[key]
    for instance in {type(value): instance for instance, value in reversed(lone)}.values():
        for text in court.writing.smuggled(instance, template.path, good):
            if not court.accepts(text):
                continue
            readings = court.writing.readings(text)
            if any(equal(read, instance) for read in readings) and court.is_invalid(readings):
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

"""One schema, one engine: the whole audit."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import schemaguard
from schemaguard.errors import CompileError, printable
from schemaguard.grammar.audit import engines, result, spelling
from schemaguard.grammar.audit.constraints import constraints, places
from schemaguard.grammar.audit.court import Court
from schemaguard.grammar.audit.gate import gate
from schemaguard.grammar.audit.judge import Judge
from schemaguard.grammar.audit.overlaps import renamed
from schemaguard.grammar.audit.path import Paths
from schemaguard.grammar.audit.sampling import sample
from schemaguard.grammar.audit.search import MAX_STEPS, walk
from schemaguard.grammar.audit.styles import writing_of
from schemaguard.grammar.audit.trial import open_ends, retrial, trial, verdict
from schemaguard.report import Accepted, Report

if TYPE_CHECKING:
    from schemaguard.grammar.audit.constraints import Constraint
    from schemaguard.grammar.audit.engines import Engine, Grammar
    from schemaguard.grammar.audit.result import AuditedConstraint, AuditResult, Spelling
    from schemaguard.grammar.audit.search import Walk
    from schemaguard.grammar.audit.writing import Writing

#: Outputs that are decoded at random.
SAMPLES = 16

#: Seconds of work on one schema, after which the constraints that are left stay untested.
BUDGET = 10.0

#: Those are not seconds of a clock, so that the same seed gives the same result: keywords that the
#: judge applies in one, and what a text for the engine counts for: the larger the schema, the more
#: alternatives the engine keeps in mind, so it counts for one more with so many characters.
WORK_A_SECOND = 100_000
WORK_A_TEXT = 10
CHARACTERS = 2_000

#: Why constraints that were not reached are untested.
OUT_OF_BUDGET = "the budget was spent before it was reached"


def audit(
    schema: Any,
    engine: str | Engine = "xgrammar",
    style: str = "json",
    seed: int = 0,
    *,
    samples: int = SAMPLES,
    steps: int = MAX_STEPS,
    budget: float = BUDGET,
) -> AuditResult:
    """Find out what an engine enforces of a schema.

    Args:
        schema: what `schemaguard.check` takes; or its report, under any profile; or an `Accepted`.
        engine: one of `ENGINES`, or an `engines.Engine` of the caller's own.
        style: how the engine writes an instance, one of `STYLES`: plain JSON, or the arguments of
            a call in a style of calls, which may be named by a server's parser.
        seed: of everything that is made at random; the same seed gives the same result.
        samples: outputs that are decoded at random and judged.
        steps: that are taken at most in search of dead ends.
        budget: seconds of work on constraints, counted in steps of what is done and not by a clock;
            constraints that are not reached by then are "untested". Compiling and the search for
            dead ends have bounds of their own.

    Raises:
        ValueError: there is no such engine or style, or `samples` or `budget` is negative.
        MissingExtra: the engine is not installed.
    """
    if style not in engines.STYLES:
        raise ValueError(f"no style {style!r}; there are: {', '.join(engines.STYLES)}")
    call = engines.call_of(style)
    style = style if call is None else call.style
    if isinstance(samples, bool) or not isinstance(samples, int) or samples < 0:
        raise ValueError(f"samples must be a number of outputs, not {samples!r}")
    if isinstance(budget, bool) or not isinstance(budget, (int, float)) or not budget >= 0:
        raise ValueError(f"budget must be a number of seconds, not {budget!r}")
    chosen = engines.engine(engine) if isinstance(engine, str) else engine
    about: dict[str, Any] = {"engine": chosen.name, "style": style, "seed": seed}
    accepted = schema
    if type(schema) is not Accepted:
        if type(schema) is not Report:
            schema = schemaguard.check(schema, profile=gate(chosen.name))
        accepted = schema.accepted
        if accepted is None:
            first = schema.errors[0]
            reason = f"{first.code} {first.name}: {first.message}"
            return result.AuditResult(verdict=result.REFUSED, reason=printable(reason), **about)
    try:
        grammar = engines.grammar_of(chosen, accepted, call)
    except CompileError as error:
        return result.AuditResult(verdict=result.REFUSED, reason=printable(str(error)), **about)
    # Its own copy, which the judge changes: the profile has bounded its depth.
    root = json.loads(accepted.text)
    work_a_text = WORK_A_TEXT + len(accepted.text) // CHARACTERS
    bounds = _Bounds(samples, steps, budget * WORK_A_SECOND, work_a_text)
    return _audited(root, grammar, writing_of(call, root), bounds, about)


class _Bounds(NamedTuple):
    samples: int
    steps: int
    work: float  # on constraints
    work_a_text: int


def _audited(
    root: Any, grammar: Grammar, writing: Writing, bounds: _Bounds, about: dict[str, Any]
) -> AuditResult:
    judge = Judge(root)
    found, complete = places(judge)
    every = constraints(found, judge)
    court = Court(judge, grammar, found, every, about["seed"], writing)
    owned: dict[str, list[Constraint]] = {}
    for constraint in every:
        owned.setdefault(constraint.place.pointer, []).append(constraint)
    for place in found:
        own = owned.get(place.pointer, ())
        if judge.spent + court.tried * bounds.work_a_text > bounds.work:
            complete = False
            for constraint in own:
                court.finding(place, constraint.keyword).reason = OUT_OF_BUDGET
            continue
        base = court.base(place)
        for constraint in own:
            trial(court, base, constraint)
        open_ends(court, base, place)
        again = [base.template] if own and base.template is not None else []
        again = [shared for one in again for shared in renamed(one, place, court.maker)]
        if own and place.has_other():
            other = court.base(place, other=True).template
            again += [] if other is None else [other]
        for template in again:
            for constraint in own:
                retrial(court, template, constraint)
    walked = walk(grammar, bounds.steps, writing)
    sampled = sample(court, bounds.samples, every, walked)
    paths = Paths(grammar)
    audited = [
        verdict(place, keyword, finding, paths, writing)
        for place in found
        for keyword, finding in court.findings[place.pointer].items()
    ]
    spelt = _spellings(court)
    return result.AuditResult(
        **_overall(audited, walked, writing, paths),
        constraints=audited,
        spelling=spelt,
        tried=court.tried,
        sampled=sampled,
        searched=walked.states,
        complete=complete and walked.complete,
        **about,
    )


def _overall(
    audited: list[AuditedConstraint], walked: Walk, writing: Writing, paths: Paths
) -> dict[str, Any]:
    """The verdict on the schema, why, and a witness with its path."""
    for name, why, text in (
        (result.DEAD_END, walked.why, walked.dead_end),
        (result.BROKEN_JSON, writing.unreadable, walked.broken),
    ):
        if text is not None:
            witness = writing.output(text) or text
            return {"verdict": name, "reason": why, "witness": witness, "path": paths.of(text)}
    for name, constraint_verdict in (
        (result.LEAKS, result.DROPPED),
        (result.OVER_CONSTRAINED, result.OVER_CONSTRAINED),
    ):
        rows = [row for row in audited if row.verdict == constraint_verdict]
        if rows:
            row = min(rows, key=lambda row: (len(row.witness or ""), row.witness or ""))
            count = f"{len(rows)} of {len(audited)} constraints are {constraint_verdict}"
            return {"verdict": name, "reason": count, "witness": row.witness, "path": row.path}
    untested = sum(row.verdict == result.UNTESTED for row in audited)
    held = f"{len(audited)} constraints, none dropped, none too narrow"
    held += f", {untested} untested" if untested else ""
    return {"verdict": result.EXACT, "reason": held}


def _spellings(court: Court) -> list[Spelling]:
    """The freedoms of spelling that the engine takes away, each with the smallest witness."""
    found: dict[str, tuple[str, str]] = {}
    writing = court.writing
    for instance in court.written:
        written = court.writes(instance)
        if written is None:
            continue
        for freedom, text in writing.variants(instance):
            known = found.get(freedom)
            if (known is None or len(text) < len(known[0])) and not court.accepts(text):
                found[freedom] = (text, written)
    return [
        result.Spelling(
            freedom=freedom,
            witness=writing.inside(found[freedom][0]),
            written=writing.inside(found[freedom][1]),
        )
        for freedom in spelling.FREEDOMS
        if freedom in found
    ]

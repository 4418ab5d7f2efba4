"""One schema, one engine: the whole audit."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import schemaguard
from schemaguard.errors import CompileError, printable
from schemaguard.grammar.audit import engines, result, spelling
from schemaguard.grammar.audit.constraints import constraints, places
from schemaguard.grammar.audit.judge import Judge
from schemaguard.grammar.audit.sampling import sample
from schemaguard.grammar.audit.search import walk
from schemaguard.grammar.audit.trial import Court, open_ends, retrial, trial, verdict
from schemaguard.grammar.compiler import ENGINE_PROFILE
from schemaguard.report import Accepted, Report

if TYPE_CHECKING:
    from schemaguard.grammar.audit.constraints import Constraint
    from schemaguard.grammar.audit.engines import Grammar
    from schemaguard.grammar.audit.result import AuditedConstraint, AuditResult, Spelling
    from schemaguard.grammar.audit.search import Walk

#: Outputs that are decoded at random.
SAMPLES = 16

#: Work of the judge (`Judge.spent`) and texts for the engine, after which the constraints that are
#: left stay untested: some twenty seconds each.
MAX_SPENT = 2_000_000
MAX_TRIED = 200_000


def audit(
    schema: Any,
    engine: str = "xgrammar",
    style: str = "json",
    seed: int = 0,
    *,
    samples: int = SAMPLES,
) -> AuditResult:
    """Find out what an engine enforces of a schema.

    Args:
        schema: what `schemaguard.check` takes; or its report, under any profile; or an `Accepted`.
        engine: one of `ENGINES`.
        style: how the engine writes an instance, one of `STYLES`.
        seed: of everything that is made at random; the same seed gives the same result.
        samples: outputs that are decoded at random and judged.

    Raises:
        ValueError: there is no such engine or style, or `samples` is negative.
        MissingExtra: the engine is not installed.
    """
    if style not in engines.STYLES:
        raise ValueError(f"no style {style!r}; there are: {', '.join(engines.STYLES)}")
    if isinstance(samples, bool) or not isinstance(samples, int) or samples < 0:
        raise ValueError(f"samples must be a number of outputs, not {samples!r}")
    chosen = engines.engine(engine)
    about: dict[str, Any] = {"engine": chosen.name, "style": style, "seed": seed}
    accepted = schema
    if type(schema) is not Accepted:
        if type(schema) is not Report:
            schema = schemaguard.check(schema, profile=ENGINE_PROFILE)
        accepted = schema.accepted
        if accepted is None:
            first = schema.errors[0]
            reason = f"{first.code} {first.name}: {first.message}"
            return result.AuditResult(verdict=result.REFUSED, reason=printable(reason), **about)
    try:
        grammar = chosen.compile(accepted)
    except CompileError as error:
        return result.AuditResult(verdict=result.REFUSED, reason=printable(str(error)), **about)
    # Its own copy, which the judge changes: the profile has bounded its depth.
    return _audited(json.loads(accepted.text), grammar, samples, about)


def _audited(root: Any, grammar: Grammar, samples: int, about: dict[str, Any]) -> AuditResult:
    judge = Judge(root)
    found, complete = places(judge)
    every = constraints(found, judge)
    court = Court(judge, grammar, found, every, about["seed"])
    owned: dict[str, list[Constraint]] = {}
    for constraint in every:
        owned.setdefault(constraint.place.pointer, []).append(constraint)
    for place in found:
        own = owned.get(place.pointer, ())
        if court.tried > MAX_TRIED or judge.spent > MAX_SPENT:
            complete = False
            for constraint in own:
                court.finding(place, constraint.keyword).reason = "the audit ended before it"
            continue
        base = court.base(place)
        for constraint in own:
            trial(court, base, constraint)
        open_ends(court, base, place)
        if own and place.has_other():
            base = court.base(place, other=True)
            for constraint in own:
                retrial(court, base, constraint)
    walked = walk(grammar)
    sampled = sample(court, samples, every, walked)
    audited = [
        verdict(place, keyword, finding)
        for place in found
        for keyword, finding in court.findings[place.pointer].items()
    ]
    spelt = _spellings(court)
    name, reason, witness = _overall(audited, walked)
    return result.AuditResult(
        verdict=name,
        reason=reason,
        witness=witness,
        constraints=audited,
        spelling=spelt,
        tried=court.tried,
        sampled=sampled,
        searched=walked.states,
        complete=complete and walked.complete,
        **about,
    )


def _overall(audited: list[AuditedConstraint], walked: Walk) -> tuple[str, str, str | None]:
    """The verdict on the schema, why, and a witness."""
    if walked.dead_end is not None:
        return result.DEAD_END, walked.why, walked.dead_end
    if walked.broken is not None:
        return result.BROKEN_JSON, "this can be written and is not JSON", walked.broken
    for name, constraint_verdict in (
        (result.LEAKS, result.DROPPED),
        (result.OVER_CONSTRAINED, result.OVER_CONSTRAINED),
    ):
        rows = [row for row in audited if row.verdict == constraint_verdict]
        if rows:
            witness = min((row.witness or "" for row in rows), key=lambda text: (len(text), text))
            count = f"{len(rows)} of {len(audited)} constraints are {constraint_verdict}"
            return name, count, witness
    untested = sum(row.verdict == result.UNTESTED for row in audited)
    held = f"{len(audited)} constraints, none dropped, none too narrow"
    return result.EXACT, held + (f", {untested} untested" if untested else ""), None


def _spellings(court: Court) -> list[Spelling]:
    """The freedoms of spelling that the engine takes away, each with the smallest witness."""
    found: dict[str, tuple[str, str]] = {}
    for instance in court.written:
        written = court.writes(instance)
        if written is None:
            continue
        for freedom, text in spelling.variants(instance):
            known = found.get(freedom)
            if (known is None or len(text) < len(known[0])) and not court.accepts(text):
                found[freedom] = (text, written)
    return [
        result.Spelling(freedom=freedom, witness=found[freedom][0], written=found[freedom][1])
        for freedom in spelling.FREEDOMS
        if freedom in found
    ]

"""Schemas on their way into a tag: checked, without what a style does not bear, within a budget."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import schemaguard
from schemaguard.document import DEFAULT_LIMITS, Document
from schemaguard.errors import SchemaChanged, cut
from schemaguard.estimate import estimate
from schemaguard.grammar import engine
from schemaguard.grammar.compiler import ENGINE_PROFILE
from schemaguard.grammar.tags.building import refusal_of
from schemaguard.grammar.tags.findings import (
    DEAR,
    MARKUP,
    NODE_MILLISECONDS,
    REFUSED,
    TAG_MILLISECONDS,
    Finding,
    survey,
)
from schemaguard.preflight import as_document
from schemaguard.report import tokens_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from schemaguard.grammar.tags.building import Shape
    from schemaguard.grammar.tags.findings import Survey
    from schemaguard.grammar.tags.policy import Policy
    from schemaguard.grammar.tags.styles import Style
    from schemaguard.report import Report

#: What `estimate` says of a schema without anything dear in it.
_PLAIN_SECONDS = 0.024

#: Kinds of findings that do not go into a tag.
_TAKEN_OUT = (REFUSED, DEAR, MARKUP)

#: So often what was taken out of a schema may uncover something else that has to go.
_MAX_ROUNDS = 16


class Fitted:
    """What became of one schema.

    Attributes:
        text: as it goes into the tag; None when it does not.
        why: it does not, or is not whole; "" when it is.
        dear: it does not because of what it costs.
        report: of the check that decided.
        out: what was taken out of it.
        findings: all that its style makes of it.
    """

    __slots__ = ("dear", "findings", "out", "report", "text", "why")

    def __init__(
        self,
        report: Report,
        *,
        text: str | None = None,
        why: str = "",
        dear: bool = False,
        out: Sequence[Finding] = (),
        findings: Sequence[Finding] = (),
    ) -> None:
        self.report = report
        self.text = text
        self.why = why
        self.dear = dear
        self.out = out
        self.findings = findings


class Fitter:
    """Fits the schemas of one request into one tag, in the order of the request.

    Args:
        style: of the tag.
        policy: what is to be done with what does not fit.
        shape: of the tag.
        trial: ask xgrammar about each schema.
    """

    def __init__(self, style: Style, policy: Policy, shape: Shape, *, trial: bool) -> None:
        self._style = style
        self._policy = policy
        self._shape = shape
        self._trial = trial
        self._spent = 0.0
        self._paid: set[str] = set()

    def fit(self, schema: Any, profile: str | None) -> Fitted:
        """Check a schema, and take out what has to go.

        Args:
            schema: as the request has it.
            profile: that has to accept it, beside the engine's; None for none.

        Raises:
            MissingExtra: xgrammar is not installed, and is to be asked.
        """
        report, text = accepted(schema, profile)
        if text is None:
            return Fitted(report, why=f"its schema is rejected: {first(report)}")
        made, surveyed = self._fit(report, text)
        if made.dear and surveyed.patterned and self._policy.dear == "loosen":
            said = "the tools before it leave no time to compile a pattern"
            patterns = [
                Finding("no-time", DEAR, at, ("pattern",), said) for at in surveyed.patterned
            ]
            made, surveyed = self._fit(report, text, patterns)
        if made.text is not None:
            self._spent += self._price(surveyed, made.text)
            self._paid.add(made.text)
        return made

    def _fit(
        self, report: Report, text: str, more: Sequence[Finding] = ()
    ) -> tuple[Fitted, Survey]:
        """Take out what a style does not bear, and more, until nothing is left to take out.

        The engine goes by one keyword of a node alone: without it, it goes by the next.
        """
        excludes = self._policy.exclude_special_tokens is True
        out: list[Finding] = []
        for _ in range(_MAX_ROUNDS):
            surveyed = survey(self._style, json.loads(text), excludes=excludes)
            found = [finding for finding in surveyed.findings if finding.kind in _TAKEN_OUT]
            stuck = next(filter(self._is_stuck, found), None)
            if stuck is not None:
                where = cut(stuck.pointer, 256) or "the root"
                return Fitted(report, why=f"{stuck.message} (at {where})"), surveyed
            found += more
            more = ()
            if not found:
                return self._checked(report, surveyed, text, out), surveyed
            again, loose = accepted(without(text, found), None)
            if loose is None:
                why = f"what is left of its schema is rejected: {first(again)}"
                return Fitted(again, why=why), surveyed
            text = loose
            out += found
        return Fitted(report, why="its keywords hide one another too deep"), surveyed

    def _is_stuck(self, finding: Finding) -> bool:
        """Whether a finding cannot be ended by taking keywords out, or may not be."""
        if finding.kind in (DEAR, MARKUP):
            return self._policy.dear != "loosen"
        return not finding.keywords or self._policy.unfit != "relax"

    def _checked(
        self, report: Report, surveyed: Survey, text: str, out: Sequence[Finding]
    ) -> Fitted:
        """A schema that its style bears, if xgrammar takes it and its time is not spent."""
        refusal = refusal_of(self._style, text, self._shape) if self._trial else None
        if refusal is not None:
            return Fitted(report, why=f"xgrammar refuses its schema: {refusal}")
        # What one schema may cost is for the engine's profile to say.
        if self._spent and self._spent + self._price(surveyed, text) > TAG_MILLISECONDS:
            said = "the tools before it take about a second to compile"
            return Fitted(report, why=said, dear=True)
        why = f"{len(out)} taken out: {out[0].message}" if out else ""
        return Fitted(report, text=text, why=why, out=out, findings=surveyed.findings)

    def _price(self, surveyed: Survey, text: str) -> float:
        """Milliseconds that a schema adds to the compilation; one seen before is free.

        A call of harmony can be written in three ways, which cost about twice as much as one.
        """
        if text in self._paid:
            return 0.0
        ways = 2 if self._style.name == "harmony" else 1
        dear = max(0.0, estimate(text).seconds - _PLAIN_SECONDS) * 1000
        return surveyed.nodes * ways * NODE_MILLISECONDS[self._style.content] + dear


def accepted(schema: Any, profile: str | None) -> tuple[Report, str | None]:
    """The report that decided, and the text of a schema that both profiles accept."""
    # A string is data here, not JSON text.
    source = as_document(schema, DEFAULT_LIMITS) if schema.__class__ is dict else Document(schema)
    if profile is not None:
        report = schemaguard.check(source, profile=profile)
        if not report.ok:
            return report, None
    report = schemaguard.check(source, profile=ENGINE_PROFILE)
    try:
        passed = report.accepted
    except SchemaChanged:
        return report, None
    return report, None if passed is None else passed.text


def first(report: Report) -> str:
    """The first error of a report, in a line."""
    if not report.errors:
        return "it was changed while it was checked"
    error = report.errors[0]
    where = cut(error.pointer, 256) or "the root"
    return engine.one_line(f"{error.code} {error.name} under {report.profile}, at {where}")


def without(text: str, findings: Iterable[Finding]) -> Any:
    """A schema without the keywords of findings."""
    schema = json.loads(text)
    for finding in findings:
        node = schema
        for token in tokens_of(finding.pointer):
            if node.__class__ is dict and token not in node:
                break  # what held it is out already
            node = node[int(token)] if node.__class__ is list else node[token]
        else:
            for keyword in finding.keywords:
                node.pop(keyword, None)
    return schema

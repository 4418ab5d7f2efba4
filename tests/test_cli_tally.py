"""What a run keeps of a report, and what it counts."""

from __future__ import annotations

import json
import pickle

import pytest
from command import GOOD, OPEN
from file_reports import REPORTS, flooded
from hypothesis import given

from schemaguard.cli.tally import Tally, slim
from schemaguard.lint import check_text
from schemaguard.render import FORMATS, renderer
from schemaguard.render.common import summary


@given(REPORTS)
def test_the_formats_say_the_same_of_what_is_kept_as_of_the_whole(reports):
    kept = [slim(report) for report in reports]
    for form in FORMATS:
        render = renderer(form)
        assert render(kept) == render(reports)


@given(REPORTS)
def test_the_formats_say_the_same_of_what_comes_from_another_process(reports):
    sent = pickle.loads(  # noqa: S301  (our own)
        pickle.dumps([slim(report, text=True) for report in reports])
    )
    for form in FORMATS:
        render = renderer(form)
        assert render(sent) == render(reports)
    assert renderer("text")(sent, show_source=True) == renderer("text")(reports, show_source=True)
    findings = [tool.findings for report in reports for tool in report.tools]
    assert [tool.findings for report in sent for tool in report.tools] == findings


def test_budgets_that_are_kept_are_those_of_the_schema_also_from_another_process():
    report = check_text("x.json", OPEN)
    kept = slim(report, budgets=True)
    sent = pickle.loads(pickle.dumps(kept))  # noqa: S301  (our own)
    for there in (kept, sent):
        assert there.tools[0].report.budgets == report.tools[0].report.budgets
        assert there.tools[0].report.document.value is None


@pytest.mark.parametrize("text", [GOOD, OPEN, "{", '{"a": 1, "a": 2, "type": "object"}'])
def test_neither_the_text_nor_a_schema_is_kept(text):
    kept = slim(check_text("x.json", text))
    assert getattr(kept.document, "text", None) is None
    assert all(part.value is None for part in getattr(kept.document, "parts", ()))
    for tool in kept.tools:
        assert tool.report.document.value is None
        assert tool.report.diagnostics == ()


@given(REPORTS)
def test_the_last_line_of_the_summary_is_that_of_the_formats(reports):
    tally = Tally("error", "dynamo-2026-11-30")
    for report in reports:
        tally.add(report)
    assert tally.summary().splitlines()[-1] == summary(reports)
    assert tally.failing is not all(report.ok for report in reports)


def test_the_summary_groups_by_rule_the_most_frequent_first_and_counts_the_rest():
    schema = {"type": "object", "properties": {"a": {"type": "object"}, "b": {"not": {}}}}
    tally = Tally("error", "dynamo-2026-11-30")
    tally.add(check_text("x.json", json.dumps(schema)))
    assert tally.summary().splitlines()[0] == (
        "2 SG401 open-object, 2 SG402 optional-property, 1 SG201 unsupported-keyword"
    )


def test_findings_that_are_not_kept_fail_a_strict_run_whatever_they_are():
    (report,) = flooded(5, 0)
    strict, lax = Tally("note", "dynamo-2026-11-30"), Tally("error", "dynamo-2026-11-30")
    strict.add(report)
    lax.add(report)
    assert strict.failing
    assert lax.failing is not report.ok

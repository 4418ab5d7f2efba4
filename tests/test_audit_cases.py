"""Audits against what was measured by hand: the engine cases, and witnesses on real schemas."""

from __future__ import annotations

import functools
import gzip
import json
import re
import sys
from pathlib import Path

import pytest

pytest.importorskip("xgrammar")

import recheck

from schemaguard.grammar import audit

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared"
CASES = SHARED / "cases" / "engines.jsonl"
CORPORA = SHARED / "corpora"
ARGUED = ROOT / "docs" / "audit.md"

pytestmark = pytest.mark.skipif(
    not CASES.exists(), reason="the cases are not here: ../shared/cases"
)


@functools.cache
def cases():
    """(id, what xgrammar 0.2.9 was measured to do, audit) of the cases that say."""
    sys.path.insert(0, str(CASES.parent))
    from expand import expand

    found = []
    for line in CASES.read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        measured = re.search(r"xgrammar [^:;]*0\.2\.9: ([^;]*)", case["notes"])
        schema = expand(case["schema"])
        if measured and not isinstance(schema, list):
            found.append((case["id"], measured[1], audit.audit(schema)))
    return found


def argued():
    """The ids of the cases whose difference is argued."""
    return set(re.findall(r"ENG-\d{3}", ARGUED.read_text(encoding="utf-8")))


def test_the_audit_agrees_with_what_was_measured_or_the_difference_is_argued():
    differing = {}
    for name, measured, result in cases():
        verdicts = {row.verdict for row in result.constraints}
        found = (
            result.verdict == "refused",
            "dropped" in verdicts,
            "over-constrained" in verdicts,
        )
        stated = (
            "raises" in measured,
            bool(re.search(r"lets bad|bad \d/\d through", measured)),
            bool(re.search(r"blocks good|good \d/\d ok", measured)),
        )
        if found != stated:
            differing[name] = (stated, found)

    assert len(cases()) > 80
    assert set(differing) <= argued(), {k: v for k, v in differing.items() if k not in argued()}
    assert len(differing) < 0.35 * len(cases())


def test_every_leak_that_was_measured_is_found_where_there_is_a_grammar():
    leaking = [
        (name, result)
        for name, measured, result in cases()
        if re.search(r"lets bad|bad \d/\d through", measured) and result.verdict != "refused"
    ]

    assert len(leaking) > 15
    for name, result in leaking:
        assert any(row.verdict == "dropped" for row in result.constraints), name


def sampled(file, every, source=""):
    with gzip.open(CORPORA / file, "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    return [record for record in records if record["source"].startswith(source)][::every]


def audited(records):
    """Counts of verdicts on constraints; every witness is checked by the second program."""
    counts = dict.fromkeys(("enforced", "dropped", "over-constrained", "untested"), 0)
    faults = []
    for record in records:
        result = audit.audit(record["schema"])
        faults += [
            f"{record['id']}: {f}" for f in recheck.faults(record["schema"], result.as_dict())
        ]
        for verdict, count in result.counts().items():
            counts[verdict] += count
    assert faults == []
    return counts


def test_witnesses_on_real_tools_hold_and_little_is_untested():
    counts = audited(sampled("tools.jsonl.gz", 40, "mcp_"))

    assert sum(counts.values()) > 200
    assert counts["untested"] < 0.03 * sum(counts.values())
    assert counts["enforced"] > 0.8 * sum(counts.values())


def test_witnesses_on_groups_of_the_test_suite_hold():
    counts = audited(sampled("schemas.jsonl.gz", 30, "json_schema_test_suite"))

    assert min(counts["enforced"], counts["dropped"], counts["over-constrained"]) > 2


@pytest.mark.slow
def test_witnesses_hold_on_all_kinds_of_schemas():
    for corpus in ("tools.jsonl.gz", "schemas.jsonl.gz"):
        # Hundreds of alternatives take minutes; benchmarks/enforcement.py has the patience.
        records = sampled(corpus, 150)
        audited([record for record in records if len(json.dumps(record["schema"])) < 5_000])

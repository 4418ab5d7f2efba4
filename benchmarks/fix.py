"""Claim: of the real tools, at least 90 % pass `openai-strict` and `dynamo` after a safe fix.

Every tool of the corpus is fixed for each profile, without lossy steps. Of each that a profile
still refuses there is a reason; fixing again changes nothing; keys keep their order; the text that
is written says what the fixed schema says, and a text that needs no edit stays as it was.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from fixed_schemas import keeps_order
from measure import report

import schemaguard
from schemaguard import envelopes, fix, profiles
from schemaguard.fix.files import fix_text

if TYPE_CHECKING:
    from collections.abc import Iterator

CORPORA = Path(__file__).resolve().parents[1].parent / "shared" / "corpora"
REAL = ("mcp_", "agent_", "cassettes_", "cookbook_", "fixtures_", "bench_tau")
BARRED = ("openai-strict", "dynamo")
BAR = 0.9


def records(name: str) -> Iterator[dict[str, Any]]:
    """The records of a corpus file."""
    with gzip.open(CORPORA / name, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def tools() -> list[Any]:
    """The schemas of real tools: single ones, those of requests and of MCP servers, each once."""
    found = [r["schema"] for r in records("tools.jsonl.gz") if r["source"].startswith(REAL)]
    bodies = [record["body"] for record in records("requests.jsonl.gz")]
    bodies += [json.loads(path.read_text()) for path in sorted(CORPORA.glob("mcp-*/*.json"))]
    for body in bodies:
        unpacked = envelopes.unpack(body)
        found += [t.schema for t in unpacked.tools if t.role == "parameters" and not t.encoded]
    return list({json.dumps(schema): schema for schema in found}.values())


def survey(schemas: list[Any], profile: str) -> dict[str, Any]:
    """Fix all schemas for a profile, and count."""
    before = after = changed = 0
    reasons: Counter[str] = Counter()
    faults: Counter[str] = Counter()
    began = time.process_time()
    spent = 0.0
    for schema in schemas:
        text = json.dumps(schema)
        before += schemaguard.check(schema, profile).ok
        start = time.process_time()
        result = fix.to_profile(schema, profile)
        spent += time.process_time() - start
        after += result.ok
        changed += result.changed
        if result.ok != schemaguard.check(result.schema, profile).ok:
            faults["a verdict that the check does not share"] += 1
        if not result.ok:
            first = result.remaining[0]
            reasons[f"{first.code}: {first.reason[:100]}"] += 1
            faults["no reason"] += not all(left.reason for left in result.remaining)
        if json.dumps(schema) != text:
            faults["the schema that was passed in is another"] += 1
        if not keeps_order(schema, result.schema):
            faults["keys out of order"] += 1
        again = fix.to_profile(result.schema, profile)
        if again.changed or json.dumps(again.schema) != json.dumps(result.schema):
            faults["fixing again changes something"] += 1
        if not result.edits and result.schema != schema:
            faults["changed without an edit"] += 1
        for form in (text, json.dumps(schema, indent=2)):
            written = fix_text("a.json", form, profile, as_="schema")
            if not written.tools:
                faults["a text that cannot be written"] += 1
            elif json.dumps(json.loads(written.after or "")) != json.dumps(result.schema):
                faults["a text that says something else"] += 1
            elif not result.changed and written.after != form:
                faults["a text that was changed for nothing"] += 1
    return {
        "before": round(before / len(schemas), 4),
        "after": round(after / len(schemas), 4),
        "changed": changed,
        "fix_ms_per_tool": round(1000 * spent / len(schemas), 3),
        "cpu_s": round(time.process_time() - began, 1),
        "faults": {name: count for name, count in faults.items() if count},
        "first reasons": dict(reasons.most_common(12)),
    }


def main() -> None:
    """Measure and report."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--every", type=int, default=1, help="take each n-th tool")
    parser.add_argument("--profiles", default=",".join(profiles.names()))
    options = parser.parse_args()
    schemas = tools()[:: options.every]
    found = {name: survey(schemas, name) for name in options.profiles.split(",")}
    holds = all(found[name]["after"] >= BAR for name in BARRED if name in found)
    holds = holds and not any(numbers["faults"] for numbers in found.values())
    claim = "90 % of the real tools pass openai-strict and dynamo after a fix without lossy steps"
    report(claim, holds, {"tools": len(schemas), "profiles": found})


if __name__ == "__main__":
    main()

"""Claim: an audit says of nearly every constraint what the engine makes of it, and is right.

* Of the constraints of real tools, under 3 % stay untested.
* Every witness holds when a second program checks it that knows xgrammar and jsonschema alone.
* The audit of a median real tool takes at most a second, compiling included.

Real tools are those of MCP servers, agents, SDKs and recorded traffic in the corpora; the groups
of the JSON Schema Test Suite are counted beside them. Prints JSON with the share of constraints by
keyword; `--markdown` prints the tables of docs/enforcement.md instead. Needs the corpora.
"""

from __future__ import annotations

import argparse
import gzip
import json
import statistics
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import recheck
from measure import report

from schemaguard.grammar import audit

if TYPE_CHECKING:
    from collections.abc import Iterator

CORPORA = Path(__file__).resolve().parents[1].parent / "shared" / "corpora"
REAL = ("mcp_", "agent_", "cassettes_", "cookbook_", "fixtures_", "bench_tau")
SUITE = "json_schema_test_suite"
VERDICTS = ("enforced", "dropped", "over-constrained", "untested")

MOST_UNTESTED = 0.03
MOST_SECONDS = 1.0


def records(*files: str) -> Iterator[dict[str, Any]]:
    """The records of corpus files."""
    for name in files:
        with gzip.open(CORPORA / name, "rt", encoding="utf-8") as lines:
            yield from map(json.loads, lines)


def survey(schemas: list[dict[str, Any]]) -> dict[str, Any]:
    """Audit schemas and count what is found."""
    verdicts: Counter[str] = Counter()
    by_keyword: dict[str, Counter[str]] = {}
    reasons: Counter[str] = Counter()
    seconds: list[float] = []
    witnesses = 0
    faults: list[str] = []
    for record in schemas:
        began = time.perf_counter()
        audited = audit.audit(record["schema"])
        seconds.append(time.perf_counter() - began)
        verdicts[audited.verdict] += 1
        for row in audited.constraints:
            by_keyword.setdefault(row.keyword, Counter())[row.verdict] += 1
            witnesses += row.witness is not None
            if row.verdict == "untested":
                reasons[row.reason] += 1
        found = recheck.faults(record["schema"], audited.as_dict())
        faults.extend(f"{record['id']}: {fault}" for fault in found)
    total: Counter[str] = sum(by_keyword.values(), Counter())
    count = total.total()
    return {
        "schemas": len(schemas),
        "verdicts": dict(sorted(verdicts.items())),
        "constraints": count,
        "share": {verdict: round(total[verdict] / count, 4) for verdict in VERDICTS},
        "by keyword": {
            keyword: {verdict: counts[verdict] for verdict in VERDICTS}
            for keyword, counts in sorted(by_keyword.items())
        },
        "untested because": dict(reasons.most_common()),
        "witnesses": witnesses,
        "faults": faults,
        "seconds": {
            "median": round(statistics.median(seconds), 4),
            "p99": round(sorted(seconds)[int(0.99 * len(seconds))], 3),
            "most": round(max(seconds), 2),
        },
    }


def markdown(name: str, found: dict[str, Any]) -> str:
    """A table of shares by keyword."""
    lines = [
        f"## {name}",
        "",
        f"{found['schemas']:,} schemas: "
        + ", ".join(f"{count:,} {verdict}" for verdict, count in found["verdicts"].items())
        + f". {found['constraints']:,} constraints:",
        "",
        "| keyword | " + " | ".join(VERDICTS) + " |",
        "| --- |" + " ---: |" * len(VERDICTS),
    ]
    rows = {**found["by keyword"]}
    for keyword, counts in rows.items():
        cells = [f"{counts[verdict]:,}" if counts[verdict] else "" for verdict in VERDICTS]
        lines.append(f"| `{keyword}` | " + " | ".join(cells) + " |")
    shares = [f"{found['share'][verdict]:.1%}" for verdict in VERDICTS]
    lines.append("| **all** | " + " | ".join(f"**{share}**" for share in shares) + " |")
    lines += ["", "Untested because:", ""]
    lines += [f"- {count:,}: {reason}" for reason, count in found["untested because"].items()]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--every", type=int, default=1, help="take every Nth schema")
    options = parser.parse_args()
    if not CORPORA.is_dir():
        sys.exit("the corpora are not here: ../shared/corpora")
    everything = list(records("tools.jsonl.gz", "schemas.jsonl.gz"))
    real = [record for record in everything if record["source"].startswith(REAL)]
    suite = [record for record in everything if record["source"] == SUITE]
    audit.audit(True)  # what is loaded once does not count
    found = {
        "real tools": survey(real[:: options.every]),
        "JSON Schema Test Suite": survey(suite[:: options.every]),
    }
    if options.markdown:
        for name, part in found.items():
            print(markdown(name, part))
        return
    tools = found["real tools"]
    holds = (
        tools["share"]["untested"] < MOST_UNTESTED
        and tools["seconds"]["median"] <= MOST_SECONDS
        and not any(part["faults"] for part in found.values())
    )
    claim = "under 3 % untested, every witness holds, a median real tool takes at most 1 s"
    report(claim, holds, found)


if __name__ == "__main__":
    main()

r"""Claim: schemaguard is right about every settled provider case that it has a profile for.

The cases are schemas, tools and requests from public reports, with the verdict of each provider;
they are in `../shared/cases/providers.jsonl` or in the file that is named on the command line. A
verdict is settled when it is accept, reject or degrade and is documented or was observed. Beside
it, four peers answer the same cases, nothing is claimed about them, and `docs/peers.md` says what
the columns mean. They live in `.venv/peers`; those that are not there are left out::

    python -m venv .venv/peers
    .venv/peers/bin/pip install schemafit==0.5.1 mcp-strict-check==0.1.0 openai-agents==0.24.0 \
        'pydantic-ai-slim[bedrock,groq]==2.68.0' anthropic==2.14.0

For each program and provider: "right"; "wrong" (it refuses what the provider takes); "missed" (it
passes what the provider refuses or ignores a part of). A program that sends another schema and
tells nobody is none of these: "repaired" where the provider refuses the original or ignores a part
of it ("repaired_accepted" of them pass our profile), "altered" where the provider takes it. And
"placed": the right refusals with a finding at the very pointer of the case. Each answer that is not
right is listed; the claim leaves out those that are declined, with the reason. With `--markdown`
the table of `docs/peers.md` is printed instead.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from measure import report

from schemaguard import check, lint, profiles

#: Seconds for all peers and all cases.
PATIENCE = 300.0
ROOT = Path(__file__).resolve().parents[1]
CASES = ROOT.parent / "shared" / "cases" / "providers.jsonl"
PEERS = ROOT / ".venv" / "peers" / "bin" / "python"

#: Provider of the cases → profile, where they differ.
PROFILES = {"bedrock-claude-strict": "bedrock-strict"}
SETTLED = ("documented", "observed")
#: What we do not follow: case and provider → why.
DECLINED = {
    (
        "prov-052",
        "gemini-json",
    ): "how much `maxItems` Gemini bears differs by model and date: a warning"
}


def profile_of(provider: str) -> str | None:
    """Our profile for a provider of the cases, if there is one."""
    name = PROFILES.get(provider, provider)
    return name if name in profiles.names() else None


def ours(value: Any, kind: str, profile: str) -> dict[str, Any]:
    """What schemaguard says of a case."""
    found: list[Any]
    if kind == "schema":
        checked = check(value, profile)
        ok, found = checked.ok, list(checked.diagnostics)
    else:
        of_file = lint.check_value("case", value, profile)
        ok = of_file.ok
        found = [*of_file.findings, *(f for tool in of_file.tools for f in tool.findings)]
    told = found if ok else [f for f in found if f.severity == "error"]
    return {
        "verdict": "refused" if not ok else "remarked" if found else "passed",
        "pointers": sorted({f.pointer for f in told}),
        "says": [str(f)[:300] for f in told],
    }


def mark(expected: str, verdict: str) -> str:
    """How an answer compares with what the provider does.

    A remark is not a refusal: it is right where the provider accepts, and where it ignores a part.
    """
    if verdict == "rewritten":
        return "altered" if expected == "accept" else "repaired"
    if expected == "reject":
        return "right" if verdict == "refused" else "missed"
    if verdict == "refused":
        return "wrong"
    return "missed" if expected == "degrade" and verdict == "passed" else "right"


def peers(cases: list[dict[str, Any]]) -> dict[str, Any]:
    """Their versions and answers; empty when they are not installed."""
    if not PEERS.exists():
        return {"versions": {}, "answers": {}}
    asked = [{key: case[key] for key in ("id", "input", "schema")} for case in cases]
    done = subprocess.run(
        [str(PEERS), str(Path(__file__).with_name("peer_verdicts.py"))],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    answers: dict[str, Any] = json.loads(done.stdout)
    return answers


def compared(
    cases: list[dict[str, Any]], answers: dict[str, dict[str, Any]]
) -> tuple[dict[str, dict[str, int]], list[dict[str, Any]]]:
    """Counts by provider, and the answers that are not right."""
    counts: dict[str, dict[str, int]] = {}
    rest = []
    for case in cases:
        for provider, expected in case["expected"].items():
            answer = answers.get(provider, {}).get(case["id"])
            if answer is None or not is_settled(expected):
                continue
            row = counts.setdefault(provider, {})
            found = mark(expected["verdict"], answer["verdict"])
            row[found] = row.get(found, 0) + 1
            at = expected.get("at")
            if found == "right" and answer["verdict"] == "refused" and at in answer["pointers"]:
                row["placed"] = row.get("placed", 0) + 1
            profile = profile_of(provider)
            if found == "repaired" and profile is not None:
                passes = all(check(schema, profile).ok for schema in answer["schemas"])
                row["repaired_accepted"] = row.get("repaired_accepted", 0) + passes
            if found != "right":
                rest.append(
                    {
                        "case": case["id"],
                        "provider": provider,
                        "expected": expected["verdict"],
                        "at": at,
                        "mark": found,
                        "says": answer["says"][:3],
                    }
                )
    return counts, rest


def is_settled(expected: dict[str, Any]) -> bool:
    """Whether a verdict of the cases counts."""
    return expected["verdict"] != "unknown" and expected["basis"] in SETTLED


def cell(row: dict[str, int] | None) -> str:
    """The counts of one program and provider, for people."""
    if row is None:
        return "-"
    told = "/".join(str(row.get(key, 0)) for key in ("right", "wrong", "missed"))
    silent = [f"{row[key]} {key}" for key in ("repaired", "altered") if row.get(key)]
    return ", ".join([told, *silent])


def table(settled: dict[str, int], counts: dict[str, dict[str, dict[str, int]]]) -> str:
    """A Markdown table: a row for each provider, a column for each program."""
    totals: dict[str, dict[str, int]] = {name: {} for name in counts}
    for name, rows in counts.items():
        for row in rows.values():
            for key, count in row.items():
                totals[name][key] = totals[name].get(key, 0) + count
    lines = [["provider", "verdicts", *counts], ["---"] * (len(counts) + 2)]
    lines += [
        [f"`{p}`", str(n), *(cell(rows.get(p)) for rows in counts.values())]
        for p, n in sorted(settled.items())
        if n
    ]
    lines.append(["all", str(sum(settled.values())), *(cell(totals[name]) for name in counts)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    """Ask everybody, compare and print."""
    arguments = [word for word in sys.argv[1:] if word != "--markdown"]
    path = Path(arguments[0]) if arguments else CASES
    cases = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    settled: dict[str, int] = {}
    for case in cases:
        for provider, expected in case["expected"].items():
            settled[provider] = settled.get(provider, 0) + is_settled(expected)
    own = {
        provider: {case["id"]: ours(case["schema"], case["input"], profile) for case in cases}
        for provider in settled
        if (profile := profile_of(provider)) is not None
    }
    said = peers(cases)
    programs = {"schemaguard": own, **said["answers"]}
    found = {name: compared(cases, answers) for name, answers in programs.items()}
    rest = [
        row for row in found["schemaguard"][1] if (row["case"], row["provider"]) not in DECLINED
    ]
    if "--markdown" in sys.argv:
        print(table(settled, {name: rows for name, (rows, _) in found.items()}))
        return
    holds = bool(own) and not rest
    report(
        __doc__.split("\n")[0],
        holds,
        {
            "cases": len(cases),
            "settled": {p: n for p, n in sorted(settled.items()) if n},
            "versions": said["versions"],
            "counts": {name: dict(sorted(rows.items())) for name, (rows, _) in found.items()},
            "declined": {" ".join(pair): why for pair, why in DECLINED.items()},
            "not_right": {name: rest for name, (_, rest) in found.items()},
        },
    )


if __name__ == "__main__":
    main()

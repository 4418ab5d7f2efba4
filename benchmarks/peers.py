r"""Claim: schemaguard names what is wrong in each of ten files, with its line and column.

Nine of them with the default profile, the tenth (the pattern) with profile `xgrammar`. Four other
linters read the same files, those under `benchmarks/peer_files`, and what they say is printed
beside it; nothing is claimed about them, and `docs/peers.md` says what the rows mean. They are
looked for in `.venv/peers`; those that are not there are left out::

    python -m venv .venv/peers
    .venv/peers/bin/pip install check-jsonschema==0.39.0 sourcemeta-jsonschema==17.3.0 \
        schemafit==0.5.1 mcp-strict-check==0.1.0

For each program and file: the exit status; the verdict: "named" when a finding is about what is
wrong with the file, "other" when there are only others, "nothing" when there are none, "failed"
when there was no answer that can be read, or none in time; whether a finding about it has a line
and column, and its pointer; and all findings, but for those that sourcemeta has about any schema
without title, description and examples.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from measure import report

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: Seconds for one program and one file.
PATIENCE = 30.0
ROOT = Path(__file__).resolve().parents[1]
FILES = Path(__file__).resolve().parent / "peer_files"
PEERS = ROOT / ".venv" / "peers" / "bin"
DIALECT = "https://json-schema.org/draft/2020-12/schema"
PROVIDERS = "openai,anthropic,gemini,mistral,cohere"
STYLE = {"top_level_title", "top_level_description", "top_level_examples"}

#: File → words of a finding that is about what is wrong with it: in its code, message or pointer.
DEFECTS = {
    "dangling-ref.json": "unknown_local_ref|dangling",
    "deep.json": "nest",
    "draft-4.json": "exclusiveMinimum",
    "duplicate-key.json": "duplicate",
    "mcp-tools-list.json": "open-object|additionalProperties|additional-properties",
    "nan.json": "NaN|parse the JSON",
    "one-of.json": "one-?of",
    "openai-request.json": "unknown-type|dict",
    "pattern.json": "pattern",
    "remote-ref.json": "external|remote",
}


class Said:
    """A finding of a program: its code and message, and where, as far as the program tells."""

    def __init__(
        self, code: str, message: str, pointer: str | None, place: list[int] | None = None
    ) -> None:
        self.code = code
        self.message = message
        self.pointer = pointer
        self.place = place if place and all(place) else None

    def __str__(self) -> str:
        where = ":".join(map(str, self.place)) + " " if self.place else ""
        return f"{where}{self.code} {self.pointer or ''}: {self.message}"


def of_schemaguard(answer: Any) -> Iterator[Said]:
    """Findings of the file and of its tools."""
    for file in answer["files"]:
        for found in sum((t["diagnostics"] for t in file["tools"]), file["diagnostics"]):
            code = f"{found['code']} {found['name']}"
            yield Said(code, found["message"], found["pointer"], [found["line"], found["column"]])


def of_check_jsonschema(answer: Any) -> Iterator[Said]:
    """Its places are JSON paths."""
    # When all is well there are no lists.
    for found in [*answer.get("errors", ()), *answer.get("parse_errors", ())]:
        yield Said("", found["message"], found.get("path"))


def of_sourcemeta(answer: Any) -> Iterator[Said]:
    """A file that it cannot read is an object of another form."""
    if "error" in answer:
        yield Said("", answer["error"], None, [answer["line"], answer["column"]])
    for found in answer.get("errors", ()):
        if found["id"] not in STYLE:
            pointer = "".join(f"/{token}" for token in found["schemaLocation"])
            yield Said(found["id"], found["message"], pointer, found["position"][:2])


def of_schemafit(answer: Any) -> Iterator[Said]:
    """By provider."""
    for providers in answer.values():
        for provider, verdict in providers.items():
            for found in verdict["findings"]:
                code = f"{provider} {found['severity']} {found['rule_id']}"
                yield Said(code, found["reason"], found["json_pointer"])


def of_mcp_strict_check(answer: Any) -> Iterator[Said]:
    """Those that are no verdicts (`ambiguous`) are not findings here, as in its own text."""
    for found in answer["findings"]:
        code = f"{found['severity']} {found['code']}"
        yield Said(code, found["message"], found["json_pointer"])


def commands(file: str) -> dict[str, tuple[list[str], Callable[[Any], Iterator[Said]]]]:
    """Name → command line in the folder of the files, and reader of its JSON."""
    ours = [sys.executable, "-m", "schemaguard", "check", "--isolated", "--output-format", "json"]
    holds_tools = '"tools"' in (FILES / file).read_text(encoding="utf-8")
    found: dict[str, tuple[list[str], Callable[[Any], Iterator[Said]]]] = {
        "schemaguard": ([*ours, file], of_schemaguard),
        "schemaguard --profile xgrammar": ([*ours, "--profile", "xgrammar", file], of_schemaguard),
    }
    peers = {
        "check-jsonschema": (
            ["check-jsonschema", "--check-metaschema", "--output-format", "json", file],
            of_check_jsonschema,
        ),
        "jsonschema": (
            ["jsonschema", "lint", "--json", "--default-dialect", DIALECT, file],
            of_sourcemeta,
        ),
        "schemafit": (
            ["schemafit", "lint", "--format", "json", "--provider", PROVIDERS, file],
            of_schemafit,
        ),
        "mcp-strict-check": (
            ["mcp-strict-check", "--json", "--tools" if holds_tools else "--schema", file],
            of_mcp_strict_check,
        ),
    }
    for name, (arguments, reader) in peers.items():
        program = PEERS / arguments[0]
        if program.exists():
            found[name] = ([str(program), *arguments[1:]], reader)
    return found


def tried(arguments: list[str], reader: Callable[[Any], Iterator[Said]], file: str) -> Any:
    """What one program says of one file."""
    answer: dict[str, Any] = {
        "exit": None,
        "verdict": "failed",
        "position": False,
        "pointer": None,
        "says": [],
    }
    try:
        done = subprocess.run(
            arguments,
            cwd=FILES,
            env={**os.environ, "NO_COLOR": "1", "PYTHONPATH": str(ROOT)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )
        answer["exit"] = done.returncode
        said = list(reader(json.loads(done.stdout)))
    except (subprocess.TimeoutExpired, ValueError, KeyError, TypeError):
        return answer
    about = re.compile(DEFECTS[file], re.IGNORECASE)
    named = [s for s in said if about.search(f"{s.code} {s.message} {s.pointer}")]
    return answer | {
        "verdict": "named" if named else "other" if said else "nothing",
        "position": any(s.place for s in named),
        "pointer": next((s.pointer for s in named if s.pointer), None),
        "says": [str(s) for s in said],
    }


def main() -> None:
    """Try and print."""
    found = {
        file: {name: tried(*command, file) for name, command in commands(file).items()}
        for file in DEFECTS
    }
    holds = True
    for file, row in found.items():
        ours = row["schemaguard --profile xgrammar" if file == "pattern.json" else "schemaguard"]
        holds = holds and ours["verdict"] == "named" and ours["position"] and ours["exit"] == 1
    report(__doc__.split("\n")[0], holds, {"files": found})


if __name__ == "__main__":
    main()

"""Claim: `schemaguard check` of one small file costs at most 60 ms of CPU over a bare interpreter.

And a fifth of what `check-jsonschema --check-metaschema` costs over the same interpreter; over
1,000 tools of 35 subschemas, a file each, one process is 20 times as quick as that one; and the
memory of a run does not grow with the number of files. How much quicker it is with smaller tools,
where opening files and starting up count for more, and with real ones, which are small and nearly
all have findings to place and print, is measured too, and nothing is claimed about it.

Each candidate is a process of its own, in turn; the figures are the CPU time of the child, bytecode
already compiled: the least of all rounds for start-up, medians of ratios within a round for the
rest. `check-jsonschema` is looked for in `.venv/peers`; without it, only the claims
without it are held::

    python -m venv .venv/peers && .venv/peers/bin/pip install check-jsonschema

The tools are generated, or schemas of the corpus beside the repository, where that is there; both
programs read the very same files, as JSON Schemas. All output goes to /dev/null.
"""

from __future__ import annotations

import gzip
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import documents
from measure import report

ROUNDS = 25
LONG_ROUNDS = 3
FILES = 1_000
LIMIT_MS = 60.0
#: Memory of a run over all files, over that of a tenth of them.
FLAT = 1.10

ROOT = Path(__file__).resolve().parents[1]
PEER = ROOT / ".venv" / "peers" / "bin"
CORPUS = ROOT.parent / "shared" / "corpora" / "tools.jsonl.gz"
#: Bytecode is written by the first round and read by the others, as on any machine in use.
ENVIRONMENT = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}

SMALL = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}


def spent(arguments: list[str]) -> float:
    """CPU milliseconds of a process."""
    quiet = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_WRONLY, 0) for fd in (1, 2)]
    pid = os.posix_spawn(arguments[0], arguments, ENVIRONMENT, file_actions=quiet)
    _, _, usage = os.wait4(pid, 0)
    return (usage.ru_utime + usage.ru_stime) * 1000


#: A child's `ru_maxrss` starts from what its parent had; this does not. Linux only.
PEAK = """
import sys
from schemaguard.cli import main
main(["check", "-q", "--jobs", "1", *sys.argv[1:]])
lines = open("/proc/self/status").read().splitlines()
sys.stderr.write(next(line.split()[1] for line in lines if line.startswith("VmHWM")))
"""


def peak(paths: list[str]) -> int:
    """Peak memory of a check, in KiB."""
    done = subprocess.run(
        [sys.executable, "-c", PEAK, *paths],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        check=True,
    )
    return int(done.stderr)


def tools() -> dict[str, list[Any]]:
    """Name of a set → its schemas."""
    sets: dict[str, list[Any]] = {
        "medium": [documents.medium()] * FILES,
        "small": [documents.small()] * FILES,
    }
    if CORPUS.exists():
        with gzip.open(CORPUS, "rt", encoding="utf-8") as lines:
            # Spread over the whole corpus, which is sorted by source.
            rows = [line for number, line in enumerate(lines) if number % 10 == 0]
        sets["real"] = [json.loads(row)["schema"] for row in rows[:FILES]]
    return sets


def write(schemas: list[Any], folder: Path) -> list[str]:
    """A file for each."""
    folder.mkdir()
    paths = []
    for number, schema in enumerate(schemas):
        path = folder / f"{number:04}.json"
        path.write_text(json.dumps(schema, indent=2), encoding="utf-8")
        paths.append(str(path))
    return paths


def start_up(folder: Path) -> tuple[dict[str, float], bool]:
    """The cost of one small file."""
    path = str(folder / "small.json")
    Path(path).write_text(json.dumps({**SMALL, "additionalProperties": False}), encoding="utf-8")
    candidates = {
        "bare": [sys.executable, "-c", "pass"],
        "schemaguard": [sys.executable, "-m", "schemaguard", "check", path],
    }
    if (PEER / "check-jsonschema").exists():
        candidates["bare peer"] = [str(PEER / "python"), "-c", "pass"]
        peer = [str(PEER / "python"), "-m", "check_jsonschema", "--check-metaschema", path]
        candidates["check-jsonschema"] = peer
    least = dict.fromkeys(candidates, float("inf"))
    for _ in range(ROUNDS):
        for name, arguments in candidates.items():
            least[name] = min(least[name], spent(arguments))
    ours = least["schemaguard"] - least["bare"]
    numbers = {"schemaguard_ms_over_bare": round(ours, 1)}
    holds = ours <= LIMIT_MS
    if "check-jsonschema" in least:
        theirs = least["check-jsonschema"] - least["bare peer"]
        numbers["check_jsonschema_ms_over_bare"] = round(theirs, 1)
        numbers["ratio"] = round(theirs / ours, 1)
        holds = holds and theirs >= 5 * ours
    return numbers, holds


def many(paths: list[str]) -> dict[str, float]:
    """The cost of many files."""
    check = [sys.executable, "-m", "schemaguard", "check", "--jobs", "1"]
    ours, theirs = [], []
    for _ in range(LONG_ROUNDS):
        ours.append(spent([*check, *paths]))
        if (PEER / "check-jsonschema").exists():
            peer = [str(PEER / "python"), "-m", "check_jsonschema", "--check-metaschema"]
            theirs.append(spent([*peer, *paths]))
    numbers: dict[str, float] = {
        "files": len(paths),
        "kB_a_file": round(sum(map(os.path.getsize, paths)) / len(paths) / 1000, 1),
        "schemaguard_ms": round(statistics.median(ours)),
        "memory_over_a_tenth": round(peak(paths) / peak(paths[: len(paths) // 10]), 3),
    }
    if theirs:
        numbers["check_jsonschema_ms"] = round(statistics.median(theirs))
        ratio = statistics.median(b / a for a, b in zip(ours, theirs, strict=True))
        numbers["ratio"] = round(ratio, 1)
    return numbers


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        one, holds = start_up(folder)
        found = {kind: many(write(schemas, folder / kind)) for kind, schemas in tools().items()}
    holds = holds and found["medium"].get("ratio", 20) >= 20
    holds = holds and all(numbers["memory_over_a_tenth"] <= FLAT for numbers in found.values())
    report(__doc__.split("\n")[0], holds, {"one_file": one, "many_files": found})


if __name__ == "__main__":
    main()

"""Audit the catalogue with every version of every engine, and write what was found.

Run it from the repository: `make capabilities`. It takes a minute or two for a version on one core.
Versions are installed into folders of their own below `.venv/engines`, without what they depend on:
that comes from the environment that this runs in. Each is audited in a process with limits; a case
that ends it is noted, and the audit goes on behind it.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import capabilities_page

from schemaguard import capabilities
from schemaguard.capabilities import catalogue, deriving, stored

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ROOT / ".venv" / "engines"
WHERE = Path(capabilities.__file__).parent

#: What is audited, the oldest first. 0.2.8 is what vLLM 0.32 carries.
VERSIONS = {
    "xgrammar": ("0.1.32", "0.2.3", "0.2.7", "0.2.8", "0.2.9"),
    "llguidance": ("1.9.1",),
    "outlines-core": ("0.2.14",),
}

#: Seconds for one case, and for a process to start.
MAX_SECONDS = 60.0


def install(engine: str, version: str) -> Path:
    """The folder that an engine is in, which is made where it is not there."""
    folder = FOLDERS / f"{engine}-{version}"
    if not folder.is_dir():
        part = folder.with_name(f"{folder.name}.part")
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
        command += ["--disable-pip-version-check", "--only-binary=:all:", "--target", str(part)]
        subprocess.run([*command, f"{engine}=={version}"], check=True)  # noqa: S603
        part.rename(folder)
    return folder


class Process:
    """`schemaguard.grammar.audit.batch` with one version of an engine."""

    def __init__(self, engine: str, folder: Path) -> None:
        path = os.pathsep.join([str(folder), str(ROOT)])
        self._process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-m", "schemaguard.grammar.audit.batch", engine],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": path},
            text=True,
        )
        self._answers: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        self.name = json.loads(self._answer() or '""')

    def _read(self) -> None:
        for line in self._process.stdout or ():
            self._answers.put(line)
        self._answers.put("")

    def _answer(self) -> str:
        return self._answers.get(timeout=MAX_SECONDS)

    def ask(self, key: str, schema: Any) -> tuple[str, list[list[str]]] | None:
        """Verdicts, or None when the process has ended.

        Raises:
            queue.Empty: it takes too long.
        """
        try:
            print(json.dumps([key, schema]), file=self._process.stdin, flush=True)
        except BrokenPipeError:
            return None
        line = self._answer()
        if not line:
            self._process.wait(MAX_SECONDS)
            return None
        _, verdict, constraints = json.loads(line)
        return verdict, constraints

    def end(self) -> int:
        """End it, whatever it is doing; its exit status, negative for a signal."""
        self._process.kill()
        return self._process.wait()


def audit(engine: str, version: str, cases: dict[str, Any]) -> dict[str, stored.Found]:
    """Key → what a version of an engine makes of the case."""
    folder = install(engine, version)
    found: dict[str, stored.Found] = {}
    waiting = list(cases)
    process = None
    while waiting:
        key = waiting[0]
        fresh = process is None
        if process is None:
            process = Process(engine, folder)
            if process.name != f"{engine} {version}":
                raise RuntimeError(f"{folder} has {process.name or 'nothing that runs'}")
        try:
            answer, failure = process.ask(key, cases[key]), "crashed"
        except queue.Empty:
            answer, failure = None, "timeout"
        if answer is None:
            if process.end() > 0:
                raise RuntimeError(f"the audit of {key!r} fails with {engine} {version}")
            process = None
            if not fresh:
                continue  # again, alone: it may be for what was before it
            print(f"{engine} {version}: {failure}: {key}", file=sys.stderr)
            answer = failure, []
        found[key] = (answer[0], {(row[0], row[1]): row[2] for row in answer[1]})
        waiting.pop(0)
    if process is not None:
        process.end()
    return found


def written(value: dict[str, Any], member: str) -> str:
    """JSON with one line for each entry of a member, so that differences can be read."""
    rest = {key: held for key, held in value.items() if key != member}
    head = json.dumps(rest, ensure_ascii=False)[:-1]
    pairs = value[member].items() if isinstance(value[member], dict) else enumerate(value[member])
    lines = [
        f"{json.dumps(key, ensure_ascii=False)}: " * isinstance(key, str)
        + json.dumps(held, ensure_ascii=False, separators=(",", ":"))
        for key, held in pairs
    ]
    opening, closing = "{}" if isinstance(value[member], dict) else "[]"
    inside = ",\n".join(lines)
    return f"{head}, {json.dumps(member)}: {opening}\n{inside}\n{closing}}}\n"


def write(engine: str, found: dict[str, dict[str, stored.Found]], date: str) -> None:
    """Write both files of an engine."""
    about = {"engine": engine, "date": date, "command": "make capabilities"}
    raw = stored.pack(found, **about)
    (WHERE / f"{engine}.audited.json").write_text(written(raw, "cases"), encoding="utf-8")
    tables: list[dict[str, Any]] = []
    which = {}
    for version, audits in found.items():
        table = deriving.table(audits)
        if table not in tables:
            tables.append(table)
        which[version] = tables.index(table)
    small = {**about, "versions": which, "tables": tables}
    (WHERE / f"{engine}.json").write_text(written(small, "tables"), encoding="utf-8")


def main() -> None:
    """Audit, and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", choices=tuple(VERSIONS), action="append")
    parser.add_argument("--jobs", type=int, default=2, help="versions audited at the same time")
    parser.add_argument(
        "--tables", action="store_true", help="audit nothing; make the tables of what is stored"
    )
    options = parser.parse_args()
    cases = catalogue.cases()
    for engine in options.engine or VERSIONS:
        date = datetime.now(UTC).date().isoformat()
        if options.tables:
            order = capabilities.versions(engine)
            found = {version: capabilities.audited(engine, version) for version in order}
            date = json.loads((WHERE / f"{engine}.json").read_text(encoding="utf-8"))["date"]
        else:
            with ThreadPoolExecutor(options.jobs) as pool:
                order = VERSIONS[engine]
                audits = pool.map(lambda version, of=engine: audit(of, version, cases), order)
                found = dict(zip(order, audits, strict=True))
        write(engine, found, date)
        print(f"capabilities: {engine} {', '.join(found)}: {len(cases):,} schemas each")
    capabilities.load.cache_clear()
    capabilities._stored.cache_clear()  # noqa: SLF001 - what was read before it was written
    (ROOT / "docs" / "capabilities.md").write_text(capabilities_page.page(), encoding="utf-8")


if __name__ == "__main__":
    main()

"""A baseline: the findings that are known, so that only new ones fail.

A JSON object, sorted, that a version control system merges line by line::

    {"version": 1, "findings": [
      {"path": "a.json", "tool": "search", "pointer": "/inputSchema", "code": "SG401", "count": 1}
    ]}

`path` starts from the configuration's folder; a server is `mcp:COMMAND`, an object `python:NAME`.
`pointer` starts from the tool when the tool has a name, so tools can be moved about in their file.
A finding that a report counts but does not keep has the code "more", and its tool's place. What
says that something was not understood is never known: it would hide everything in there.
"""

from __future__ import annotations

import hashlib
import os

from schemaguard.config import ConfigError
from schemaguard.document import Limits, read
from schemaguard.errors import printable
from schemaguard.select import ALWAYS_SAID, from_root, without

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TypeAlias

    from schemaguard.lint import CheckedTool, FileReport, Finding

    #: Path, tool or "", pointer, code.
    Key: TypeAlias = tuple[str, str, str, str]

VERSION = 1
#: The code of findings that are counted but not kept.
MORE = "more"

#: How the names of what is no file start: they are as they were given.
_NO_FILES = ("mcp:", "python:")

_LIMITS = Limits(max_bytes=64 << 20, max_depth=16, max_nodes=10_000_000)
#: Longer names and pointers, which only a hostile file has, are cut, and told apart by a hash.
_LONGEST = 1_000


class Baseline:
    """What is known, and how much of it was not found again.

    Args:
        counts: how often each finding is known.
        root: folder that the paths start from.
    """

    def __init__(self, counts: dict[Key, int], root: str) -> None:
        self._left = dict(counts)
        self._root = root
        self._seen: set[str] = set()

    def apply(self, file: FileReport) -> FileReport:
        """The report without the findings that are known."""
        path = _place(file, self._root)
        self._seen.add(_short(path))

        def known(finding: Finding, tool: CheckedTool | None) -> bool:
            return bool(self._take(_key(path, finding, tool), 1))

        def known_hidden(tool: CheckedTool, count: int) -> int:
            return self._take(_more(path, tool), count)

        return without(file, known, known_hidden)

    def _take(self, key: Key, count: int) -> int:
        taken = min(self._left.get(key, 0), count)
        if taken:
            self._left[key] -= taken
        return taken

    def removable(self) -> list[tuple[Key, int]]:
        """What is known, but was not found again in a file that was checked, or is gone."""
        gone: dict[str, bool] = {}
        for path, *_ in self._left:
            if path not in gone:
                there = path.startswith(_NO_FILES) or os.path.lexists(
                    os.path.join(self._root, path)
                )
                gone[path] = path in self._seen or not there
        return sorted((k, n) for k, n in self._left.items() if n and gone[k[0]])


def counts(files: Iterable[FileReport], root: str) -> dict[Key, int]:
    """How often each finding that can be known is in some reports."""
    found: dict[Key, int] = {}
    for file in files:
        path = _place(file, root)
        rows: list[tuple[Finding, CheckedTool | None]] = [(f, None) for f in file.findings]
        rows.extend((finding, tool) for tool in file.tools for finding in tool.findings)
        for finding, tool in rows:
            if finding.code not in ALWAYS_SAID:
                key = _key(path, finding, tool)
                found[key] = found.get(key, 0) + 1
        for tool in file.tools:
            hidden = tool.report.total - len(tool.findings)
            if hidden:
                key = _more(path, tool)
                found[key] = found.get(key, 0) + hidden
    return found


def _place(file: FileReport, root: str) -> str:
    """What a report is called in a baseline."""
    form = getattr(file.document, "format", "")
    return f"{form}:{file.path}" if f"{form}:" in _NO_FILES else from_root(file.path, root)


def _key(path: str, finding: Finding, tool: CheckedTool | None) -> Key:
    code = finding.code if finding.code not in ALWAYS_SAID else ""
    if tool is None or tool.name is None:
        return _short(path), "", _short(finding.pointer), code
    pointer = finding.pointer.removeprefix(tool.pointer)
    return _short(path), _short(tool.name), _short(pointer), code


def _more(path: str, tool: CheckedTool) -> Key:
    if tool.name is None:
        return _short(path), "", _short(tool.pointer), MORE
    return _short(path), _short(tool.name), "", MORE


def _short(text: str) -> str:
    # Half a surrogate pair is in names of files that are not UTF-8; strict JSON has no word for it.
    text = text.encode("utf-8", "backslashreplace").decode()
    if len(text) <= _LONGEST:
        return text
    digest = hashlib.sha256(text.encode()).hexdigest()
    return f"{text[:_LONGEST]}... sha256:{digest}"


def dumps(known: dict[Key, int]) -> str:
    """The text of a baseline file: one finding a line, sorted."""
    import json  # noqa: PLC0415  (only where a baseline is written)

    lines = [
        json.dumps(dict(zip(("path", "tool", "pointer", "code"), key, strict=True), count=count))
        for key, count in sorted(known.items())
    ]
    rows = "".join(f"\n  {line}," for line in lines).removesuffix(",")
    return f'{{"version": {VERSION}, "findings": [{rows}\n]}}\n'


def load(path: str, root: str) -> Baseline:
    """The baseline of a file.

    Args:
        path: of the file.
        root: folder that the paths in it start from.

    Raises:
        ConfigError: it cannot be read or is no baseline.
    """
    try:
        with open(path, "rb") as file:
            content = file.read(_LIMITS.max_bytes + 1)
    except OSError as error:
        reason = printable(error.strerror or type(error).__name__)
        raise ConfigError(f"baseline {printable(path)}: {reason}") from error
    document = read(content, _LIMITS)
    if document.faults:
        fault = document.faults[0]
        what = printable(f"{fault.name} {fault.detail}".strip())
        raise ConfigError(f"baseline {printable(path)}: not JSON: {what}")
    table = document.value
    if not isinstance(table, dict) or table.get("version") != VERSION:
        raise ConfigError(
            f"baseline {printable(path)}: not a baseline of version {VERSION}; "
            "make one with `schemaguard baseline`"
        )
    known: dict[Key, int] = {}
    rows = table.get("findings")
    for row in rows if isinstance(rows, list) else [None]:
        key, count = _row(row)
        if key is None:
            what = "a finding has path, tool, pointer, code and count"
            raise ConfigError(f"baseline {printable(path)}: {what}")
        known[key] = known.get(key, 0) + count
    return Baseline(known, root)


def _row(row: object) -> tuple[Key | None, int]:
    if not isinstance(row, dict):
        return None, 0
    path, tool, pointer, code = (row.get(name) for name in ("path", "tool", "pointer", "code"))
    count = row.get("count")
    if (
        isinstance(path, str)
        and isinstance(tool, str)
        and isinstance(pointer, str)
        and isinstance(code, str)
        and count.__class__ is int
        and count > 0
    ):
        return (path, tool, pointer, code), count
    return None, 0


__all__ = ["MORE", "Baseline", "counts", "dumps", "load"]

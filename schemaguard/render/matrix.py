"""A matrix of tools and profiles as text, JSON or Markdown; `matrix_page` has the HTML."""

from __future__ import annotations

import re

from schemaguard.errors import counted, cut
from schemaguard.matrix import ACCEPTED, DEGRADED, REJECTED, VERDICTS, WARNED
from schemaguard.render import MAX_SHOWN, common
from schemaguard.render.markdown import code
from schemaguard.report import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from schemaguard.conflicts import Conflict
    from schemaguard.lint import Finding
    from schemaguard.matrix import Cell, Matrix, Row

    #: Conflicts of a row, by its index.
    Conflicts = Mapping[int, list[Conflict]]

_SHOWN = 200
#: Of a line of text; a longer word is not broken.
_WIDTH = 80
#: Words of a line, and what is quoted or is a command as one of them.
_words = re.compile(r"`[^`]*`\S*|\S+").findall
#: What a reason names when several servers have it.
_SERVER = "the server"
#: How a cell of a table is marked: not by colour alone.
MARKS = {ACCEPTED: "✓", WARNED: "!", DEGRADED: "~", REJECTED: "✗"}


def label(row: Row) -> str:
    """What a row is called, cut; not yet safe."""
    if row.pointer is None:
        return "all tools of the file together"
    if row.name is not None:
        return f"tool '{cut(row.name, _SHOWN)}'"
    return f"#{cut(row.pointer, _SHOWN)}"


def reason(cell: Cell) -> str:
    """Code, place and message of the first finding, cut; not yet safe."""
    return "" if cell.first is None else _reason(cell.first, cell.first.message)


def _reason(first: Finding, message: str) -> str:
    pointer = cut(first.pointer, _SHOWN)
    return f"{first.code} {first.name} #{pointer}: {cut(message, MAX_SHOWN)}"


def grouped(matrix: Matrix, row: Row) -> Iterator[tuple[str, list[str], list[Cell], str]]:
    """The verdicts that are not "accepted", those with the same reason together.

    Returns:
        Verdict, labels of the columns, their cells, and the reason, which is not yet safe.
    """
    for verdict in VERDICTS[1:]:
        groups: dict[object, list[tuple[str, Cell]]] = {}
        for column, cell in zip(matrix.labels, row.cells, strict=True):
            if cell.verdict == verdict:
                groups.setdefault(_without_subject(cell.first), []).append((column, cell))
        for group in groups.values():
            cells = [cell for _, cell in group]
            yield verdict, [column for column, _ in group], cells, _reason_of(cells)


def _without_subject(first: Finding | None) -> object:
    if first is None:
        return None
    return first.code, first.pointer, say(first.rule.message, {**first.data, "subject": ""})


def _reason_of(cells: list[Cell]) -> str:
    """What several say for the same reason, whoever each of them is."""
    first = cells[0].first
    if first is None:
        return ""
    subjects = {cell.first.data.get("subject") for cell in cells if cell.first is not None}
    if len(subjects) == 1:
        return reason(cells[0])
    return _reason(first, say(first.rule.message, {**first.data, "subject": _SERVER}))


def text(matrix: Matrix, conflicts: Conflicts, *, counts: bool = True) -> str:
    """A block for each row, and a table that counts the tools, unless that is not wanted."""
    lines = [*_lines(matrix, conflicts), *(_counts(matrix) if counts else ())]
    return "".join(f"{line}\n" for line in lines)


def _lines(matrix: Matrix, conflicts: Conflicts) -> Iterator[str]:
    for index, row in enumerate(matrix.rows):
        yield f"{common.safe_path(row.path)}: {common.safe(label(row))}"
        columns = zip(matrix.labels, row.cells, strict=True)
        accepted = [column for column, cell in columns if cell.verdict == ACCEPTED]
        if accepted:
            yield from _wrapped(ACCEPTED, _listed(accepted))
        for verdict, named, cells, why in grouped(matrix, row):
            more = [f" (+{c.total - 1:,})" if c.total > 1 else "" for c in cells]
            yield from _wrapped(verdict, _listed([n + m for n, m in zip(named, more, strict=True)]))
            yield from _wrapped("", _words(common.safe(why)))
        for conflict in conflicts.get(index, ()):
            one, other = (common.safe(cut(s, 2 * MAX_SHOWN)) for s in conflict.sentences)
            yield from _wrapped("conflict", _words(one))
            yield from _wrapped("", _words(other))
            yield from _wrapped("", _words(f"way out: {common.safe(conflict.way_out)}"))
        yield ""


def _counts(matrix: Matrix) -> Iterator[str]:
    """A table over the tools; what is said of all of them together is no tool."""
    tools = sum(row.pointer is not None for row in matrix.rows)
    named = all(row.name is not None for row in matrix.rows if row.pointer is not None)
    heading = counted(tools, "tool" if named else "schema")
    width = max(map(len, (heading, *matrix.labels)))
    yield f"{heading:<{width}}  {'  '.join(f'{verdict:>8}' for verdict in VERDICTS)}"
    for column, counts in zip(matrix.labels, matrix.counts(), strict=True):
        numbers = "  ".join(f"{counts[verdict]:>8,}" for verdict in VERDICTS)
        yield f"{column:<{width}}  {numbers}"


def _listed(names: Sequence[str]) -> list[str]:
    return [*(f"{name}," for name in names[:-1]), names[-1]]


def _wrapped(head: str, words: Sequence[str]) -> Iterator[str]:
    """Words in lines of a terminal's width, below each other after the head of the first."""
    start = f"  {head:<9} "
    line = start
    for word in words:
        # At the start of a line, `::` is a command to GitHub's runner.
        if len(line) + len(word) > _WIDTH and line.strip() and not word.startswith("::"):
            yield line.rstrip()
            line = " " * len(start)
        line += f"{word} "
    if line.strip():
        yield line.rstrip()


def json(matrix: Matrix, conflicts: Conflicts) -> str:
    """Version 1; keys are only ever added."""
    return common.dumps(
        {
            "version": 1,
            "profiles": [profile.id for profile in matrix.profiles],
            "rows": [
                {
                    "path": common.sound(row.path),
                    "tool": None if row.name is None else _string(row.name),
                    "pointer": None if row.pointer is None else _string(row.pointer),
                    "cells": {
                        profile.id: _cell(cell)
                        for profile, cell in zip(matrix.profiles, row.cells, strict=True)
                    },
                    "conflicts": [_conflict(c) for c in conflicts.get(index, ())],
                }
                for index, row in enumerate(matrix.rows)
            ],
            "counts": _counted(matrix, together=False),
            "together": _counted(matrix, together=True),
        }
    )


def _counted(matrix: Matrix, *, together: bool) -> dict[str, dict[str, int]]:
    counts = matrix.counts(together=together)
    return {p.id: count for p, count in zip(matrix.profiles, counts, strict=True)}


def _cell(cell: Cell) -> dict[str, Any]:
    first = None if cell.first is None else _finding(cell.first)
    return {"verdict": cell.verdict, "total": cell.total, "first": first}


def _finding(finding: Finding) -> dict[str, Any]:
    known = finding.grounds
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity,
        "pointer": _string(finding.pointer),
        "message": _string(finding.message),
        "line": finding.line,
        "column": finding.column,
        "basis": None if known is None else known.basis,
        "source": None if known is None else _string(known.source),
        "date": None if known is None else known.date,
    }


def _conflict(conflict: Conflict) -> dict[str, Any]:
    return {
        "asking": list(conflict.asking),
        "refusing": list(conflict.refusing),
        "pointer": _string(conflict.pointer),
        "asked_at": _string(conflict.asked_at),
        "message": _string(conflict.message),
        "code": conflict.code,
        "against": conflict.against,
        "way_out": conflict.way_out,
    }


def _string(value: str) -> str:
    return common.sound(cut(value, 2 * MAX_SHOWN))


def markdown(matrix: Matrix, conflicts: Conflicts) -> str:
    """One table, and below it the reasons and the conflicts of each row."""
    return "".join(f"{line}\n" for line in _page(matrix, conflicts))


def _page(matrix: Matrix, conflicts: Conflicts) -> Iterator[str]:
    yield "## schemaguard matrix"
    yield ""
    yield ", ".join(f"{MARKS[verdict]} {verdict}" for verdict in VERDICTS)
    yield ""
    yield f"| Tool | {' | '.join(map(_plain, matrix.labels))} |"
    yield f"| :--- |{' :---: |' * len(matrix.profiles)}"
    for row in matrix.rows:
        marks = " | ".join(MARKS[cell.verdict] for cell in row.cells)
        yield f"| {code(label(row))} | {marks} |"
    for index, row in enumerate(matrix.rows):
        if all(cell.first is None for cell in row.cells):
            continue
        yield ""
        yield f"### {code(f'{common.relative(row.path)}: {label(row)}')}"
        yield ""
        for verdict, named, _, why in grouped(matrix, row):
            names = ", ".join(f"**{_plain(name)}**" for name in named)
            yield f"- {MARKS[verdict]} {names} {verdict}: {code(why)}"
        for conflict in conflicts.get(index, ()):
            said = code(cut(conflict.message, 2 * MAX_SHOWN))
            yield f"- **conflict**: {said}; way out: {code(conflict.way_out)}"


def _plain(column: str) -> str:
    """The name of a column; one of somebody's own may have anything in it that can be printed."""
    return column if column.replace("-", "").replace(".", "").isalnum() else code(column)


def html(matrix: Matrix, conflicts: Conflicts) -> str:
    """A page; see `matrix_page`."""
    from schemaguard.render.matrix_page import page  # noqa: PLC0415  (only when asked for)

    return page(matrix, conflicts)


FORMATS = {"text": text, "json": json, "markdown": markdown, "html": html}

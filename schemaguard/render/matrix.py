"""A matrix of tools and profiles as text, JSON or Markdown; `matrix_page` has the HTML."""

from __future__ import annotations

from schemaguard.errors import cut
from schemaguard.matrix import ACCEPTED, DEGRADED, REJECTED, VERDICTS, WARNED
from schemaguard.render import MAX_SHOWN, common
from schemaguard.render.markdown import code

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
#: Of a list of names in text; what quotes a schema is one line, to be searched.
_WIDTH = 80
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
    first = cell.first
    if first is None:
        return ""
    pointer = cut(first.pointer, _SHOWN)
    return f"{first.code} {first.name} #{pointer}: {cut(first.message, MAX_SHOWN)}"


def text(matrix: Matrix, conflicts: Conflicts) -> str:
    """A block for each row, and a table that counts."""
    return "".join(f"{line}\n" for line in _lines(matrix, conflicts))


def _lines(matrix: Matrix, conflicts: Conflicts) -> Iterator[str]:
    width = max(map(len, matrix.labels))
    for index, row in enumerate(matrix.rows):
        yield f"{common.safe_path(row.path)}: {common.safe(label(row))}"
        named = [
            column
            for column, cell in zip(matrix.labels, row.cells, strict=True)
            if cell.verdict == ACCEPTED
        ]
        if named:
            yield from _wrapped(f"  {ACCEPTED:<9} ", named)
        for verdict in VERDICTS[1:]:
            for column, cell in zip(matrix.labels, row.cells, strict=True):
                if cell.verdict == verdict:
                    said = common.safe(reason(cell))
                    more = f" (+{cell.total - 1:,})" if cell.total > 1 else ""
                    yield f"  {verdict:<9} {column:<{width}}  {said}{more}"
        for conflict in conflicts.get(index, ()):
            where = common.safe(cut(conflict.pointer, _SHOWN))
            yield f"  conflict  #{where}: {common.safe(cut(conflict.message, 2 * MAX_SHOWN))}"
            yield f"            way out: {common.safe(conflict.way_out)}"
        yield ""
    yield f"{'':<{width}}  {'  '.join(f'{verdict:>8}' for verdict in VERDICTS)}"
    for column, counts in zip(matrix.labels, matrix.counts(), strict=True):
        numbers = "  ".join(f"{counts[verdict]:>8,}" for verdict in VERDICTS)
        yield f"{column:<{width}}  {numbers}"


def _wrapped(head: str, names: Sequence[str]) -> Iterator[str]:
    """Names in lines of a terminal's width, below each other after the head of the first."""
    line = head
    for index, name in enumerate(names):
        word = name if index == len(names) - 1 else f"{name},"
        if len(line) + len(word) > _WIDTH and line.strip():
            yield line.rstrip()
            line = " " * len(head)
        line += f"{word} "
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
            "counts": {
                profile.id: counts
                for profile, counts in zip(matrix.profiles, matrix.counts(), strict=True)
            },
        }
    )


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
        for column, cell in zip(matrix.labels, row.cells, strict=True):
            if cell.verdict != ACCEPTED:
                said = f"{MARKS[cell.verdict]} **{_plain(column)}** {cell.verdict}"
                yield f"- {said}: {code(reason(cell))}"
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

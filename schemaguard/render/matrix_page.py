"""A matrix as one HTML page: no script, nothing from elsewhere, every name escaped."""

from __future__ import annotations

from html import escape

from schemaguard.errors import cut, printable
from schemaguard.matrix import ACCEPTED, VERDICTS
from schemaguard.render import MAX_SHOWN, common
from schemaguard.render.matrix import MARKS, label, reason

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from schemaguard.matrix import Cell, Matrix, Row
    from schemaguard.render.matrix import Conflicts

_STYLE = """
:root { color-scheme: light dark; --edge: #8884; --ok: #1a7f37; --warn: #9a6700; --part: #8250df;
  --bad: #cf222e; }
@media (prefers-color-scheme: dark) { :root { --ok: #3fb950; --warn: #d29922; --part: #bc8cff;
  --bad: #ff7b72; } }
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem; }
h1 { font-size: 1.3rem; }
.grid { overflow: auto; max-height: 80vh; border: 1px solid var(--edge); }
table { border-collapse: collapse; }
th, td { border: 1px solid var(--edge); padding: .25rem .5rem; text-align: center; }
thead th { position: sticky; top: 0; background: Canvas; z-index: 2; vertical-align: bottom; }
thead th span { writing-mode: vertical-rl; transform: rotate(180deg); white-space: nowrap; }
tbody th { position: sticky; left: 0; background: Canvas; text-align: left; font-weight: normal;
  z-index: 1; max-width: 28rem; overflow-wrap: anywhere; }
.accepted { color: var(--ok); } .warned { color: var(--warn); }
.degraded { color: var(--part); } .rejected { color: var(--bad); font-weight: bold; }
a { color: inherit; text-decoration: none; display: block; }
section { margin-top: 1.5rem; } section:target { outline: 2px solid Highlight; padding: .5rem; }
li { overflow-wrap: anywhere; } code { white-space: pre-wrap; }
small { opacity: .75; }
"""

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def page(matrix: Matrix, conflicts: Conflicts) -> str:
    """The page: a table of marks, each a link to the reasons below."""
    return "".join(f"{line}\n" for line in _lines(matrix, conflicts))


def _lines(matrix: Matrix, conflicts: Conflicts) -> Iterator[str]:
    yield '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
    yield '<meta name="viewport" content="width=device-width">'
    yield f"<title>schemaguard matrix</title>\n<style>{_STYLE}</style>"
    yield "<h1>Who accepts which tool</h1>"
    legend = (f'<span class="{v}">{MARKS[v]} {v}</span>' for v in VERDICTS)
    yield f"<p>{' &nbsp; '.join(legend)}</p>"
    yield '<div class="grid" tabindex="0"><table>\n<thead><tr><th scope="col">tool</th>'
    labels = matrix.labels
    for profile, column, counts in zip(matrix.profiles, labels, matrix.counts(), strict=True):
        said = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS)
        yield f'<th scope="col" title="{_text(profile.id)}: {said}">'
        yield f"<span>{_text(column)}</span></th>"
    yield "</tr></thead>\n<tbody>"
    for index, row in enumerate(matrix.rows):
        yield f'<tr><th scope="row">{_text(label(row))}<br><small>{_path(row)}</small></th>'
        for column, cell in zip(labels, row.cells, strict=True):
            yield _mark(cell, index, column)
        yield "</tr>"
    yield "</tbody></table></div>"
    for index, row in enumerate(matrix.rows):
        if any(cell.first is not None for cell in row.cells):
            yield from _reasons(matrix, row, index, conflicts)
    yield "</html>"


def _mark(cell: Cell, index: int, column: str) -> str:
    mark = f'<span aria-hidden="true">{MARKS[cell.verdict]}</span>'
    named = f'title="{cell.verdict}" aria-label="{_text(column)}: {cell.verdict}"'
    if cell.first is None:
        return f'<td class="{cell.verdict}" {named}>{mark}</td>'
    return f'<td class="{cell.verdict}"><a href="#row-{index}" {named}>{mark}</a></td>'


def _reasons(matrix: Matrix, row: Row, index: int, conflicts: Conflicts) -> Iterator[str]:
    yield f'<section id="row-{index}"><h2>{_text(label(row))}</h2>'
    yield f"<p><small>{_path(row)}</small></p><ul>"
    for column, cell in zip(matrix.labels, row.cells, strict=True):
        if cell.verdict == ACCEPTED or cell.first is None:
            continue
        more = f" <small>(+{cell.total - 1:,})</small>" if cell.total > 1 else ""
        known = cell.first.grounds
        ground = "" if known is None else f" <small>[{_text(common.grounds(known))}]</small>"
        yield (
            f'<li><span class="{cell.verdict}">{MARKS[cell.verdict]} {cell.verdict}</span> by '
            f"<b>{_text(column)}</b>: <code>{_text(reason(cell))}</code>{more}{ground}</li>"
        )
    yield "</ul>"
    for conflict in conflicts.get(index, ()):
        yield f"<p><b>Conflict.</b> {_text(cut(conflict.message, 2 * MAX_SHOWN))}. "
        yield f"Way out: {_text(conflict.way_out)}.</p>"
    yield "</section>"


def _path(row: Row) -> str:
    return _text(cut(common.sound(row.path), MAX_SHOWN))


def _text(text: str) -> str:
    """The text, with nothing in it that is HTML, a control character or turns lines around."""
    return escape(printable(text))

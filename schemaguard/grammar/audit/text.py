"""The schema, line by line, with a mark at each constraint: what text outputs are made of."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from schemaguard._frozen import Frozen
from schemaguard.errors import cut
from schemaguard.grammar.audit import result
from schemaguard.grammar.audit.tree import nodes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schemaguard.grammar.audit.result import AuditedConstraint, AuditResult

#: verdict on a constraint → the word in the margin.
MARKS = {
    result.ENFORCED: "ok",
    result.DROPPED: "DROPPED",
    result.OVER_CONSTRAINED: "OVER-CONSTRAINED",
    result.UNTESTED: "untested",
}

#: What the marks of findings mean, by verdict.
LEGEND = {
    result.DROPPED: "an invalid instance gets through",
    result.OVER_CONSTRAINED: "a valid instance cannot be written",
    result.UNTESTED: "nothing can be said",
}

#: Characters of data, and of a witness, that are shown.
MAX_DATA = 80
MAX_WITNESS = 200


class Line(Frozen):
    """A line of the schema.

    Attributes:
        verdict: of the constraint on the line, the gravest of several; or None.
        text: the line, as it is in the schema: not safe to print.
        notes: what is to be said below it; neither are they.
    """

    __slots__ = ("notes", "text", "verdict")

    verdict: str | None
    text: str
    notes: tuple[str, ...]

    def __init__(self, text: str, verdict: str | None = None, notes: tuple[str, ...] = ()) -> None:
        self._fill(text=text, verdict=verdict, notes=notes)


def lines(schema: Any, audited: AuditResult) -> Iterator[Line]:
    """The lines of a schema, with what was found about each.

    Args:
        schema: parsed JSON, the one that was audited.
        audited: its audit.
    """
    closing: list[str] = []  # a line for each value that is open
    for node in nodes(schema, audited):
        while len(closing) > node.level:
            yield Line(closing.pop())
        indent = "  " * node.level
        name = f"{json.dumps(node.key, ensure_ascii=False)}: " if isinstance(node.key, str) else ""
        comma = "" if node.last else ","
        if node.inside:
            opening, end = "[]" if node.is_list else "{}"
            yield _line(f"{indent}{name}{opening}", node.rows)
            closing.append(f"{indent}{end}{comma}")
        else:
            yield _line(f"{indent}{name}{cut(node.data, MAX_DATA)}{comma}", node.rows)
    while closing:
        yield Line(closing.pop())


def _line(text: str, rows: list[AuditedConstraint]) -> Line:
    if not rows:
        return Line(text)
    notes: list[str] = []
    for row in rows:
        if row.verdict != result.ENFORCED:
            if row.witness is not None:
                notes.append(cut(row.witness, MAX_WITNESS))
            notes.append(row.reason)
    verdict = min((row.verdict for row in rows), key=result.CONSTRAINT_VERDICTS.index)
    return Line(text, verdict, tuple(notes))


__all__ = ["MARKS", "Line", "lines"]

"""The schema, line by line, with a mark at each constraint: what text outputs are made of."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from schemaguard._frozen import Frozen
from schemaguard.errors import cut
from schemaguard.grammar.audit import result
from schemaguard.keywords import DATA, DEPENDENCIES, ITEMS, KEYWORDS, SCHEMA, SCHEMAS
from schemaguard.report import escape

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schemaguard.grammar.audit.result import AuditedConstraint, AuditResult

#: verdict on a constraint → the word in the margin.
MARKS = {
    result.ENFORCED: "ok",
    result.DROPPED: "DROPPED",
    result.OVER_CONSTRAINED: "NARROW",
    result.UNTESTED: "untested",
}

#: Characters of data, and of a witness, that are shown.
MAX_DATA = 80
MAX_WITNESS = 200


class Line(Frozen):
    """A line of the schema.

    Attributes:
        verdict: of the constraint on the line, or None.
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
    found = {(row.pointer, row.keyword): row for row in audited.constraints}
    stack: list[_Item | Line] = [_Item(schema, SCHEMA, "", "", 0, "")]
    while stack:
        item = stack.pop()
        if isinstance(item, Line):
            yield item
            continue
        indent, value = "  " * item.level, item.value
        row = found.get((item.owner, item.keyword))
        if value is False:
            row = row or found.get((item.pointer, "false"))
        members = _members(item)
        if members is None:
            yield _line(f"{indent}{item.name}{_data(value)}{item.comma}", row)
            continue
        opening, closing = ("[", "]") if isinstance(value, list) else ("{", "}")
        if not members:
            yield _line(f"{indent}{item.name}{opening}{closing}{item.comma}", row)
            continue
        yield _line(f"{indent}{item.name}{opening}", row)
        stack.append(Line(f"{indent}{closing}{item.comma}"))
        members[-1].comma = ""
        stack.extend(reversed(members))


class _Item:
    """A value that is still to be written."""

    __slots__ = ("comma", "holds", "keyword", "level", "name", "owner", "pointer", "value")

    def __init__(
        self, value: Any, holds: str, name: str, pointer: str, level: int, owner: str
    ) -> None:
        self.value = value
        self.holds = holds
        self.name = name
        self.pointer = pointer
        self.level = level
        self.owner = owner  # pointer of the schema whose keyword this is the value of
        self.keyword = ""
        self.comma = "," if level else ""


def _members(item: _Item) -> list[_Item] | None:
    """What is inside a value that holds schemas; None for data."""
    value, below = item.value, item.level + 1
    if isinstance(value, dict) and item.holds != DATA:
        members = []
        for key, member in value.items():
            holds = SCHEMA
            if item.holds == SCHEMA:
                holds = KEYWORDS[key].holds if key in KEYWORDS else DATA
                if holds == ITEMS:
                    holds = SCHEMAS if isinstance(member, list) else SCHEMA
            elif item.holds == DEPENDENCIES and isinstance(member, list):
                holds = DATA
            name = json.dumps(key, ensure_ascii=False) + ": "
            inner = _Item(member, holds, name, f"{item.pointer}/{escape(key)}", below, "")
            if item.holds == SCHEMA:
                inner.owner, inner.keyword = item.pointer, key
            members.append(inner)
        return members
    if isinstance(value, list) and item.holds == SCHEMAS:
        return [
            _Item(member, SCHEMA, "", f"{item.pointer}/{index}", below, "")
            for index, member in enumerate(value)
        ]
    return None


def _data(value: Any) -> str:
    return cut(json.dumps(value, ensure_ascii=False), MAX_DATA)


def _line(text: str, row: AuditedConstraint | None) -> Line:
    if row is None:
        return Line(text)
    notes: tuple[str, ...] = ()
    if row.verdict != result.ENFORCED:
        notes = (row.reason,)
        if row.witness is not None:
            notes = (cut(row.witness, MAX_WITNESS), *notes)
    return Line(text, row.verdict, notes)


__all__ = ["MARKS", "Line", "lines"]

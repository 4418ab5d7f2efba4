"""Tools by profiles: who accepts, warns, ignores or rejects what, and the first reason.

`add` takes what a file holds; each schema and all tools of the file together become rows, and each
profile is a column.
"""

from __future__ import annotations

from schemaguard import lint
from schemaguard._frozen import Frozen
from schemaguard.report import ERROR, WARNING
from schemaguard.rules import TOOL, TOOLSET

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from schemaguard.conflicts import Conflict
    from schemaguard.lint import CheckedTool, FileReport, Finding
    from schemaguard.profiles import Profile
    from schemaguard.sources import Source

ACCEPTED = "accepted"
WARNED = "warned"
DEGRADED = "degraded"
REJECTED = "rejected"

#: What a cell says, the worst last.
VERDICTS = (ACCEPTED, WARNED, DEGRADED, REJECTED)

#: What looking for conflicts may cost (`conflicts.Work`): half a minute of a processor, or less.
MAX_WORK = 6_000_000

#: SG232: the provider takes the keyword and does not enforce it.
IGNORED = "SG232"


class Cell(Frozen):
    """What one profile says of one row.

    Attributes:
        verdict: one of `VERDICTS`. "degraded": accepted, and a part of it is silently ignored.
        first: the first finding that makes it so; None when accepted.
        total: how many findings there are.
    """

    __slots__ = ("first", "total", "verdict")

    verdict: str
    first: Finding | None
    total: int

    def __init__(self, verdict: str, first: Finding | None, total: int) -> None:
        self._fill(verdict=verdict, first=first, total=total)


class Row(Frozen):
    """One schema, or all tools of a file together.

    Attributes:
        path: of the file.
        name: of the tool, or None.
        pointer: JSON Pointer of the tool; None for all tools of the file together.
        schema: the schema, or None.
        cells: one a profile.
    """

    __slots__ = ("cells", "name", "path", "pointer", "schema")

    path: str
    name: str | None
    pointer: str | None
    schema: Any
    cells: tuple[Cell, ...]

    def __init__(
        self, path: str, name: str | None, pointer: str | None, schema: Any, cells: Iterable[Cell]
    ) -> None:
        self._fill(path=path, name=name, pointer=pointer, schema=schema, cells=tuple(cells))


class Matrix:
    """Rows and columns.

    Attributes:
        profiles: the columns.
        rows: in the order of the files and of the tools in them.
    """

    def __init__(self, profiles: Sequence[Profile], prefix: str = "") -> None:
        """Start an empty matrix.

        Args:
            profiles: the columns.
            prefix: what a client puts in front of the names of tools.
        """
        self.profiles = tuple(profiles)
        self.rows: list[Row] = []
        self._prefix = prefix

    def add(self, source: Source, as_: str | None = None) -> FileReport:
        """Check what a source holds with every profile.

        Args:
            source: the file.
            as_: read it as this kind (`envelopes.KINDS`).

        Returns:
            What the first profile says; what is wrong with the file itself is in it.
        """
        reports = [
            lint.check_source(source, profile, as_=as_, prefix=self._prefix)
            for profile in self.profiles
        ]
        columns = [_by_tool(report) for report in reports]
        for index, tool in enumerate(reports[0].tools):
            cells = [
                _cell(column[index], report.tools[index])
                for column, report in zip(columns, reports, strict=True)
            ]
            schema = tool.report.document.value
            self.rows.append(Row(source.path, tool.name, tool.pointer, schema, cells))
        together = [column[-1] for column in columns]
        if any(together):
            cells = [_cell(findings, None) for findings in together]
            self.rows.append(Row(source.path, None, None, None, cells))
        return reports[0]

    @property
    def labels(self) -> tuple[str, ...]:
        """What the columns are called: plain names, dated ones where two have the same."""
        plain = [profile.name for profile in self.profiles]
        return tuple(p.name if plain.count(p.name) == 1 else p.id for p in self.profiles)

    def counts(self, *, together: bool = False) -> list[dict[str, int]]:
        """How many tools have each verdict, for each profile.

        Args:
            together: count the rows about all tools of a file instead.
        """
        made: list[dict[str, int]] = [dict.fromkeys(VERDICTS, 0) for _ in self.profiles]
        for row in self.rows:
            if (row.pointer is None) != together:
                continue
            for count, cell in zip(made, row.cells, strict=True):
                count[cell.verdict] += 1
        return made

    def conflicts(self, most: int) -> tuple[dict[int, list[Conflict]], int, int]:
        """Where the demands of profiles contradict each other.

        Args:
            most: how many schemas are looked at; each is fixed many times over.

        Returns:
            Index of a row → its conflicts; how many schemas were not looked at; and how many of
            those that were are too large for that, or not looked at to the end.
        """
        from schemaguard.conflicts import Work, conflicts  # noqa: PLC0415  (not all want them)

        schemas = [index for index, row in enumerate(self.rows) if row.pointer is not None]
        chosen = schemas[:most]
        found = {}
        large = 0
        room = MAX_WORK
        for done, index in enumerate(chosen):
            # What one schema leaves is for those after it.
            share = room // (len(chosen) - done)
            work = Work(share)
            made = conflicts(self.rows[index].schema, self.profiles, work)
            room -= share - max(work.left, 0)
            large += work.left < 0
            if made:
                found[index] = made
        return found, len(schemas) - len(chosen), large

    @property
    def worst(self) -> str:
        """The worst verdict of all cells."""
        ranks = {cell.verdict for row in self.rows for cell in row.cells}
        return next((v for v in reversed(VERDICTS) if v in ranks), ACCEPTED)


def _by_tool(report: FileReport) -> list[list[Finding]]:
    """The findings about tools of each tool; last, those about all of them together."""
    made: list[list[Finding]] = [[] for _ in range(len(report.tools) + 1)]
    places = {tool.pointer: index for index, tool in enumerate(report.tools)}
    for finding in report.findings:
        if finding.rule.on[0] not in (TOOL, TOOLSET):
            continue
        pointer = finding.pointer
        while finding.rule.on[0] == TOOL and pointer and pointer not in places:
            pointer = pointer.rpartition("/")[0]
        index = places.get(pointer, -1) if finding.rule.on[0] == TOOL else -1
        made[index].append(finding)
    return made


def _cell(about: list[Finding], tool: CheckedTool | None) -> Cell:
    """The verdict over what is said of a tool and of its schema."""
    findings = [*about, *(tool.findings if tool else ())]
    total = len(about) + (tool.report.total if tool else 0)
    rejected = any(f.severity == ERROR for f in about) or (tool is not None and not tool.ok)
    first = next((f for f in findings if f.severity == ERROR), None)
    if rejected:
        return Cell(REJECTED, first, total)
    first = next((f for f in findings if f.code == IGNORED), None)
    if first is not None:
        return Cell(DEGRADED, first, total)
    first = next((f for f in findings if f.severity == WARNING), None)
    return Cell(ACCEPTED if first is None else WARNED, first, total)

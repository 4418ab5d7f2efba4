"""Counts over a run, and reports without what only their making needed."""

from __future__ import annotations

from schemaguard.errors import counted
from schemaguard.lint import CheckedTool, FileReport
from schemaguard.render.common import hidden, verdict
from schemaguard.sources import Part, Source

_RANK = {"note": 0, "warning": 1, "error": 2}
#: How many rules the summary lists.
_TOP = 8


class Tally:
    """What a run has found so far.

    Args:
        fail_on: the least severity that fails.
        profile: its dated name.

    Attributes:
        failing: something was at least that severe.
        last: findings of the last report.
    """

    def __init__(self, fail_on: str, profile: str) -> None:
        self._profile = profile
        self.failing = False
        self.files = self.tools = self.accepted = self.findings = self.last = 0
        self._least = _RANK[fail_on]
        self._codes: dict[tuple[str, str], int] = {}

    def add(self, file: FileReport) -> FileReport:
        """Count a report, and return it."""
        self.files += 1
        self.tools += len(file.tools)
        more = hidden(file)
        self.last = more
        self.accepted += sum(tool.ok for tool in file.tools)
        for findings in (file.findings, *(tool.findings for tool in file.tools)):
            self.last += len(findings)
            for finding in findings:
                row = finding.code, finding.name
                self._codes[row] = self._codes.get(row, 0) + 1
                if _RANK[finding.severity] >= self._least:
                    self.failing = True
        self.findings += self.last
        # How severe those are that are not kept is not known: a strict run fails for them.
        if not file.ok or (more and self._least < _RANK["error"]):
            self.failing = True
        return file

    def summary(self) -> str:
        """One line on everything, after one on the rules when there were findings."""
        by = {self._profile} if self.tools else set()
        line = verdict(self.accepted, self.tools, self.files, self.findings, by)
        if not self._codes:
            return line
        rows = sorted(self._codes.items(), key=lambda row: (-row[1], row[0]))
        parts = [f"{count:,} {code} {name}" for (code, name), count in rows[:_TOP]]
        rest = sum(count for _, count in rows[_TOP:])
        if rest:
            parts.append(f"{rest:,} of {counted(len(rows) - _TOP, 'other rule')}")
        return f"{', '.join(parts)}\n{line}"


def slim(file: FileReport, *, text: bool = False, budgets: bool = False) -> FileReport:
    """The report without its document and schemas: what the formats need, and no more.

    A run over many files keeps one of these for each, and other processes send them.

    Args:
        file: the report.
        text: keep the text of the file, for excerpts.
        budgets: count the budgets of each schema, and keep them.
    """
    document = file.document
    source = None
    if document is not None and (text or document.fault_count or not document.readable):
        unread = () if document.readable else (Part("", None, readable=False),)
        kept = document.text if text else None
        source = Source(file.path, "", kept, unread, document.faults, document.fault_count)
    tools = []
    for tool in file.tools:
        if budgets:
            _ = tool.report.budgets  # counted when first asked for
        tools.append(CheckedTool(tool.name, tool.pointer, tool.findings, tool.report.bare()))
    return FileReport(file.path, file.kind, tuple(tools), file.findings, source)

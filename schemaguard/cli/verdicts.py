"""What `schemaguard audit` writes, format by format: text as it comes, all else at the end."""

from __future__ import annotations

import json
import os

from schemaguard.cli.tally import slim
from schemaguard.errors import cut
from schemaguard.grammar.audit import text
from schemaguard.grammar.audit.page import Page
from schemaguard.render import common, renderer
from schemaguard.render.color import painter, use_color

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, Protocol

    from schemaguard.cli.output import Output
    from schemaguard.grammar.audit import AuditResult
    from schemaguard.lint import CheckedTool, FileReport

    class Writer(Protocol):
        """Writes audits."""

        def file(self, report: FileReport) -> None:
            """A file, after its schemas."""

        def schema(self, report: FileReport, tool: CheckedTool, audited: AuditResult) -> None:
            """One schema of it."""

        def end(self) -> None:
            """After all files."""


#: Columns of the margin, where no mark is longer.
_MARGIN = 10

_STYLES = {"dropped": "error", "over-constrained": "warning", "untested": "note"}


def writer(form: str, output: Output, color: str) -> Writer:
    """The writer of a format.

    Args:
        form: "text", "json", "html", or one of `render.FORMATS`, for findings.
        output: where it writes.
        color: "always", "never" or "auto"; for text.
    """
    if form == "text":
        return _Text(output, color)
    if form == "json":
        return _Json(output)
    return _Html(output) if form == "html" else _Findings(output, form)


class _Text:
    """The schema with its marks, below a line that says how it stands."""

    def __init__(self, output: Output, color: str) -> None:
        self._output = output
        self._paint = painter(use_color(color, output.stream, os.environ))
        self._shown: set[str] = set()

    def file(self, report: FileReport) -> None:
        pass

    def schema(self, report: FileReport, tool: CheckedTool, audited: AuditResult) -> None:
        self._output.write("".join(f"{line}\n" for line in self._lines(report, tool, audited)))

    def end(self) -> None:
        legend = [
            f"{text.MARKS[verdict]}: {meaning}"
            for verdict, meaning in text.LEGEND.items()
            if verdict in self._shown
        ]
        if legend:
            self._output.write(f"{'; '.join(legend)}\n")

    def _lines(self, report: FileReport, tool: CheckedTool, audited: AuditResult) -> Iterator[str]:
        paint, safe = self._paint, common.safe
        named = "" if tool.name is None else f" tool '{safe(cut(tool.name, 200))}'"
        verdict = paint("fix" if audited.verdict == "exact" else "error", audited.verdict)
        path = paint("path", common.safe_path(report.path))
        yield f"{path}{named}: {verdict}: {safe(audited.reason)}"
        schema = _schema(tool, audited)
        lines = [] if schema is None else list(text.lines(schema, audited))
        verdicts = {line.verdict for line in lines if line.verdict is not None}
        self._shown |= verdicts
        width = max([_MARGIN, *(len(text.MARKS[verdict]) + 2 for verdict in verdicts)])
        if audited.witness is not None:
            witness = safe(cut(audited.witness, text.MAX_WITNESS)) or "(the empty text)"
            yield f"{'':{width}}{witness}"
        if schema is None:
            return
        for line in lines:
            mark = "" if line.verdict is None else text.MARKS[line.verdict]
            margin = f"{mark:>{width - 2}}  "
            if line.verdict in _STYLES:
                margin = paint(_STYLES[line.verdict], margin)
            yield margin + safe(line.text)
            for note in line.notes:
                yield f"{'':{width}}{'':{len(line.text) - len(line.text.lstrip())}}^ {safe(note)}"
        for row in audited.spelling:
            yield f"{'':{width}}{row.freedom}: not {safe(cut(row.witness, 200))}"
        if not audited.complete:
            yield f"{'':{width}}some of this ended at a bound before it was through"


class _Json:
    """All there is, in one object."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._rows: list[dict[str, Any]] = []

    def file(self, report: FileReport) -> None:
        pass

    def schema(self, report: FileReport, tool: CheckedTool, audited: AuditResult) -> None:
        about = {"path": report.path, "tool": tool.name, "pointer": tool.pointer}
        self._rows.append(_sound({**about, **audited.as_dict()}))

    def end(self) -> None:
        self._output.write(common.dumps({"version": 1, "schemas": self._rows}), utf_8=True)


class _Html:
    """A page for people."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._page = Page()

    def file(self, report: FileReport) -> None:
        pass

    def schema(self, report: FileReport, tool: CheckedTool, audited: AuditResult) -> None:
        schema = _schema(tool, audited)
        self._page.add(report.path, tool.name, tool.pointer, schema, audited)

    def end(self) -> None:
        self._output.write(self._page.text(), utf_8=True)


class _Findings:
    """A format of `check`: the reports have the findings, see `schemaguard.cli.audit`."""

    def __init__(self, output: Output, form: str) -> None:
        self._output = output
        self._render = renderer(form)
        self._files: list[FileReport] = []

    def file(self, report: FileReport) -> None:
        self._files.append(slim(report))

    def schema(self, report: FileReport, tool: CheckedTool, audited: AuditResult) -> None:
        pass

    def end(self) -> None:
        self._output.write(self._render(self._files), utf_8=True)


def _schema(tool: CheckedTool, audited: AuditResult) -> Any:
    """The schema that was audited; None where there was no grammar."""
    accepted = tool.report.accepted
    if accepted is None or audited.verdict == "refused":
        return None
    return json.loads(accepted.text)


def _sound(value: Any) -> Any:
    """The strings of a result as strict readers of JSON take them. A result is not deep."""
    if isinstance(value, str):
        return common.sound(value)
    if isinstance(value, list):
        return [_sound(member) for member in value]
    if isinstance(value, dict):
        return {key: _sound(member) for key, member in value.items()}
    return value

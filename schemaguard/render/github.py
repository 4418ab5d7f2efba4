"""`--output-format github`: workflow commands, which GitHub Actions shows beside the code.

GitHub shows the first ten errors, ten warnings and ten notices of a step; the log has them all.
"""

from __future__ import annotations

from schemaguard.render import common

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from schemaguard.lint import CheckedTool, FileReport, Finding

_COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}


def render(files: Sequence[FileReport]) -> str:
    """One command a line, by position."""
    lines: list[str] = []
    for file in files:
        lines.extend(_command(file.path, *row) for row in common.ordered(file))
        hidden = common.hidden(file)
        if hidden:
            lines.append(
                f"::notice title=schemaguard,{_file(file.path)}::{common.not_shown(hidden)}"
            )
    return "".join(line + "\n" for line in lines)


def _command(path: str, finding: Finding, tool: CheckedTool | None) -> str:
    said = f"{finding.name}  {common.place(finding, tool)}: {common.message(finding)}"
    if finding.fix:
        said += f"\n{common.fix(finding)}"
    return (
        f"::{_COMMANDS[finding.severity]} title=schemaguard ({finding.code}),"
        f"{_file(path)}{_region(finding)}::{_data(said)}"
    )


def _file(path: str) -> str:
    return f"file={_property(common.safe(common.relative(path)))}"


def _region(finding: Finding) -> str:
    """Lines, and columns only within one: GitHub drops an annotation that has them for several."""
    if finding.line is None:
        return ""
    if finding.end_line is None or finding.end_line == finding.line:
        end = "" if finding.end_column is None else f",endColumn={finding.end_column}"
        return f",line={finding.line},endLine={finding.line},col={finding.column}{end}"
    return f",line={finding.line},endLine={finding.end_line}"


# As `command.ts` of actions/toolkit escapes, and actions/runner reads: `%` first.


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")

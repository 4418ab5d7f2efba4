"""`--output-format text`: one line a finding, for people and for editors that jump to a line."""

from __future__ import annotations

from schemaguard.errors import cut, printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from schemaguard.lint import FileReport, Finding

#: A pointer or a name longer than this is cut.
_SHOWN = 200


def render(files: Sequence[FileReport]) -> str:
    """`PATH:LINE:COLUMN: CODE NAME  tool 'TOOL' > #POINTER: MESSAGE`, a line each."""
    lines: list[str] = []
    for file in files:
        lines.extend(_line(file.path, finding, None) for finding in file.findings)
        for tool in file.tools:
            lines.extend(_line(file.path, finding, tool.name) for finding in tool.findings)
            hidden = tool.report.total - len(tool.findings)
            if hidden:
                lines.append(f"{printable(file.path)}: {hidden:,} more findings are not shown")
    return "".join(line + "\n" for line in lines)


def summary(files: Sequence[FileReport]) -> str:
    """One sentence for standard error."""
    tools = [tool for file in files for tool in file.tools]
    rejected = sum(not tool.ok for tool in tools)
    findings = sum(tool.report.total for tool in tools) + sum(len(f.findings) for f in files)
    return (
        f"{len(tools) - rejected} of {len(tools)} schemas accepted in "
        f"{len(files)} file{'s' * (len(files) != 1)}; "
        f"{findings} finding{'s' * (findings != 1)}"
    )


def _line(path: str, finding: Finding, tool: str | None) -> str:
    where = printable(path)
    if finding.line is not None:
        where += f":{finding.line}:{finding.column}"
    named = "" if tool is None else f"tool '{printable(cut(tool, _SHOWN))}' > "
    pointer = printable(cut(finding.pointer, _SHOWN))
    said = printable(finding.message)
    return f"{where}: {finding.code} {finding.name}  {named}#{pointer}: {said}"

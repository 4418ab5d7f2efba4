"""`--output-format text`: one line a finding, for people and for editors that jump to a line."""

from __future__ import annotations

from schemaguard.render import common
from schemaguard.render.color import painter
from schemaguard.render.common import summary
from schemaguard.report import ERROR

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from schemaguard.lint import CheckedTool, FileReport, Finding
    from schemaguard.render.source import Source

__all__ = ["render", "summary"]


def render(
    files: Sequence[FileReport],
    *,
    color: bool = False,
    show_source: bool = False,
    show_fixes: bool = False,
    budgets: bool = False,
) -> str:
    """`PATH:LINE:COLUMN: CODE NAME  tool 'TOOL' > #POINTER: MESSAGE`, a line each, by position.

    A severity other than "error" follows the name in brackets. Nothing at all for files without
    findings.

    Args:
        files: what was found.
        color: whether to use ANSI colours; see `color.use_color`.
        show_source: below each line, the piece of the file that it is about.
        show_fixes: below each line, what to do about it, and how it is known.
        budgets: below each file, a table of the budgets of each schema.
    """
    paint = painter(color)
    lines: list[str] = []
    for file in files:
        where = common.safe_path(file.path)
        source = _source(file) if show_source else None
        for finding, tool in common.ordered(file):
            lines.append(_line(where, finding, tool, paint))
            if source is not None:
                lines.extend(_excerpt(source, finding, paint))
            if show_fixes and finding.fix:
                lines.append(f"      {paint('fix', 'fix:')} {common.fix(finding)}")
            if show_fixes and finding.grounds is not None:
                lines.append(f"      {paint('dim', 'why:')} {common.grounds(finding.grounds)}")
        hidden = common.hidden(file)
        if hidden:
            lines.append(f"{paint('path', where)}: {common.not_shown(hidden)}")
        if budgets:
            from schemaguard.render.usage import table  # noqa: PLC0415  (only when asked for)

            for tool in file.tools:
                lines.extend(table(where, tool, paint))
    return "".join(line + "\n" for line in lines)


def _line(
    path: str, finding: Finding, tool: CheckedTool | None, paint: Callable[[str, str], str]
) -> str:
    place = "" if finding.line is None else f":{finding.line}:{finding.column}"
    code = paint(finding.severity, finding.code)
    aside = "" if finding.severity == ERROR else f" ({finding.severity})"
    return (
        f"{paint('path', path)}{place}: {code} {finding.name}{aside}  "
        f"{common.place(finding, tool)}: {common.message(finding)}"
    )


def _source(file: FileReport) -> Source | None:
    from schemaguard.render.source import Source  # noqa: PLC0415  (only when asked for)

    document = file.document
    return None if document is None or document.text is None else Source(document.text)


def _excerpt(source: Source, finding: Finding, paint: Callable[[str, str], str]) -> Iterator[str]:
    both = source.excerpt(finding)
    if both is not None:
        shown, marks = both
        yield f"{paint('dim', f'{finding.line:>5} |')} {shown}".rstrip()
        yield f"{paint('dim', '      |')} {paint(finding.severity, marks)}"

"""`--output-format junit`: XML that every CI server shows among the tests.

An error is a failed case. A warning or a note is a passed one that says something: the exit status
does not fail for it either. A file without findings is one passed case, or CI would say that
nothing was tested.
"""

from __future__ import annotations

import os

from schemaguard.errors import cut, printable
from schemaguard.render import MAX_SHOWN, common
from schemaguard.report import ERROR

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from schemaguard.lint import CheckedTool, FileReport, Finding

# What XML 1.0 cannot carry even as a reference, beside what `printable` escapes.
_ILLEGAL = {0xFFFE: "\\ufffe", 0xFFFF: "\\uffff"}


def render(files: Sequence[FileReport]) -> str:
    """One suite a file. ASCII, so that it is what its first line says in any encoding."""
    rows = [(file, common.ordered(file)) for file in files]
    tests = sum(len(found) or 1 for _, found in rows)
    failures = sum(_failures(found) for _, found in rows)
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuites name="schemaguard" tests="{tests}" failures="{failures}" errors="0">',
    ]
    for file, found in rows:
        lines.extend(_suite(file, found))
    lines.append("</testsuites>")
    return "".join(line + "\n" for line in lines)


def _failures(found: list[tuple[Finding, CheckedTool | None]]) -> int:
    return sum(finding.severity == ERROR for finding, _ in found)


def _suite(file: FileReport, found: list[tuple[Finding, CheckedTool | None]]) -> Iterator[str]:
    path = common.relative(file.path)
    classname = _xml(os.path.splitext(path)[0])
    yield (
        f'  <testsuite name="{_xml(path)}" tests="{len(found) or 1}" '
        f'failures="{_failures(found)}" errors="0">'
    )
    if not found:
        yield f'    <testcase name="schemaguard" classname="{classname}"/>'
    seen: dict[str, int] = {}
    for finding, tool in found:
        # A server that sees a name twice may drop the second case, so the code alone will not do.
        name = f"{finding.code} #{cut(finding.pointer, MAX_SHOWN)}"
        seen[name] = seen.get(name, 0) + 1
        if seen[name] > 1:
            name += f" ({seen[name]})"
        where = "" if finding.line is None else f' line="{finding.line}" column="{finding.column}"'
        yield f'    <testcase name="{_xml(name)}" classname="{classname}"{where}>'
        yield from _outcome(path, finding, tool)
        yield "    </testcase>"
    hidden = common.hidden(file)
    if hidden:
        yield f"    <system-out>{common.not_shown(hidden)}</system-out>"
    yield "  </testsuite>"


def _outcome(path: str, finding: Finding, tool: CheckedTool | None) -> Iterator[str]:
    at = "" if finding.line is None else f":{finding.line}:{finding.column}"
    message = common.message(finding)
    text = _xml(
        f"{path}{at}: {finding.code} {finding.name}  {common.place(finding, tool)}: {message}"
    )
    if finding.fix:
        text += f"\nfix: {_xml(common.fix(finding))}"
    if finding.severity == ERROR:
        yield f'      <failure message="{_xml(message)}" type="{finding.name}">{text}</failure>'
    else:
        yield f"      <system-out>{finding.severity}: {text}</system-out>"


def _xml(text: str) -> str:
    """A name from a stranger as character data or in a quoted attribute."""
    shown = printable(text).translate(_ILLEGAL)
    for char, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;")):
        shown = shown.replace(char, entity)
    shown = shown.replace("##", "#&#35;")  # see `common.safe`
    return shown.encode("ascii", "xmlcharrefreplace").decode()

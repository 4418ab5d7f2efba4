"""`--output-format markdown`: for the summary page of a CI step, such as `$GITHUB_STEP_SUMMARY`.

Every character that Markdown, HTML or GitHub's additions (mathematics, mentions, links) could take
for more than itself is written as a numeric entity; no table is split at one.
"""

from __future__ import annotations

from schemaguard.errors import cut, printable
from schemaguard.render import MAX_SHOWN, common

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from schemaguard.lint import CheckedTool, FileReport, Finding

#: UTF-8 bytes of all tables. GitHub drops a summary of more than 1 MiB.
_ROOM = 1_000_000
#: A name or a pointer longer than this is cut.
_SHOWN = 200

_HEAD = (
    "| Place | Severity | Rule | Tool | Pointer | Finding |\n"
    "| ---: | :--- | :--- | :--- | :--- | :--- |\n"
)
_ENTITIES = {ord(char): f"&#{ord(char)};" for char in "&<>|`*_~[]\\$@#:"}


def render(files: Sequence[FileReport]) -> str:
    """A heading that sums up, then a table for each file with findings, by position.

    The tables end, and the last line says so, before they grow too large for GitHub.
    """
    page = [f"## schemaguard: {common.summary(files)}\n"]
    profile = common.profile_of(files)
    if profile is not None:
        page.append(f"\nProfile: `{profile}`\n")
    room = _ROOM
    hidden = 0
    for file in files:
        rows = common.ordered(file)
        hidden += common.hidden(file)
        for number, (finding, tool) in enumerate(rows):
            if room < 0:
                hidden += len(rows) - number
                break
            part = _row(finding, tool)
            if not number:
                part = f"\n### {code(common.relative(file.path))}\n\n{_HEAD}{part}"
            room -= len(part.encode())
            page.append(part)
    if hidden:
        page.append(f"\n{common.not_shown(hidden)}\n")
    return "".join(page)


def _row(finding: Finding, tool: CheckedTool | None) -> str:
    place = "" if finding.line is None else f"{finding.line}:{finding.column}"
    name = "" if tool is None or tool.name is None else code(cut(tool.name, _SHOWN))
    pointer = code("#" + cut(finding.pointer, _SHOWN))
    said = escaped(cut(finding.message, MAX_SHOWN))
    if finding.fix:
        said += f"<br>{escaped(cut(finding.fix, MAX_SHOWN))}"
    rule = f"{finding.code} {finding.name}"
    return f"| {place} | {finding.severity} | {rule} | {name} | {pointer} | {said} |\n"


def code(text: str) -> str:
    """Text as it is, in one line of a page: nothing in it is Markdown or HTML."""
    return f"<code>{escaped(text)}</code>"


def escaped(text: str) -> str:
    """Text of which nothing is Markdown or HTML, in one line."""
    return printable(text).translate(_ENTITIES).replace("www.", "www&#46;")

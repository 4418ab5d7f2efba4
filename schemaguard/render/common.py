"""What the formats share: the order of findings, the words for one, and harmless strings."""

from __future__ import annotations

import os
import re

from schemaguard.errors import counted, cut, printable
from schemaguard.render import MAX_SHOWN
from schemaguard.rules import plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from schemaguard.lint import CheckedTool, FileReport, Finding
    from schemaguard.profiles import Grounds

#: A name or a pointer longer than this is cut in a line of text.
_SHOWN = 200


def ordered(file: FileReport) -> list[tuple[Finding, CheckedTool | None]]:
    """All findings of a file by position; those at one place stay in the profile's order."""
    rows: list[tuple[Finding, CheckedTool | None]] = [(finding, None) for finding in file.findings]
    rows.extend((finding, tool) for tool in file.tools for finding in tool.findings)
    rows.sort(key=lambda row: (row[0].line or 0, row[0].column or 0))
    return rows


def hidden(file: FileReport) -> int:
    """How many findings there are beyond those that the reports keep."""
    hidden = sum(tool.report.total - len(tool.findings) for tool in file.tools)
    return hidden + hidden_faults(file)


def hidden_faults(file: FileReport) -> int:
    """How many of them are about the text of the file itself."""
    document = file.document
    return 0 if document is None else document.fault_count - len(document.faults)


def not_shown(count: int) -> str:
    """What is said of hidden findings."""
    return f"{count:,} more finding{'s are' if count > 1 else ' is'} not shown"


def summary(files: Sequence[FileReport]) -> str:
    """One sentence on everything."""
    tools = [tool for file in files for tool in file.tools]
    accepted = sum(tool.ok for tool in tools)
    findings = sum(
        len(file.findings) + hidden_faults(file) + sum(tool.report.total for tool in file.tools)
        for file in files
    )
    return verdict(
        accepted, len(tools), len(files), findings, {tool.report.profile for tool in tools}
    )


def verdict(accepted: int, schemas: int, files: int, findings: int, profiles: set[str]) -> str:
    """One sentence on everything; a profile is named where there is one for all."""
    by = f" by {safe(profiles.pop())}" if len(profiles) == 1 else ""
    return (
        f"{accepted:,} of {counted(schemas, 'schema')} in {counted(files, 'file')} accepted{by}; "
        f"{counted(findings, 'finding')}"
    )


def profile_of(files: Sequence[FileReport]) -> str | None:
    """Dated name of the profile of a run; None when nothing was held to one."""
    return next((tool.report.profile for file in files for tool in file.tools), None)


def safe(text: str) -> str:
    r"""The text as part of a line that a terminal shows and a CI runner reads.

    GitHub's and Azure's runners obey `##[…]` and `##vso[…]` anywhere in a line of a log, so the
    second of two `#` is escaped like a control character.
    """
    return printable(text).replace("##", "#\\u0023")


def safe_path(path: str) -> str:
    """A path at the start of such a line, where `::` starts a workflow command."""
    shown = safe(path)
    return "./" + shown if shown.lstrip().startswith("::") else shown


def place(finding: Finding, tool: CheckedTool | None) -> str:
    """`tool 'NAME' > #POINTER`, safe and of bounded length."""
    name = None if tool is None else tool.name
    named = "" if name is None else f"tool '{cut(name, _SHOWN)}' > "
    return safe(f"{named}#{cut(finding.pointer, _SHOWN)}")


def message(finding: Finding) -> str:
    """The finding's message, safe and of bounded length."""
    return safe(cut(finding.message, MAX_SHOWN))


def fix(finding: Finding) -> str:
    """The finding's fix, safe and of bounded length."""
    return safe(cut(finding.fix, MAX_SHOWN))


def grounds(known: Grounds) -> str:
    """How a fact is known, in one line: "observed 2026-09-01: docker/docker-agent#4106"."""
    return safe(cut(f"{known.basis} {known.date}: {known.source}", MAX_SHOWN))


#: A link to a page outside docs/rules, and any other.
_outside = re.compile(r"\[([^\]]*)\]\(\.\./([^)]*)\)").sub
_link = re.compile(r"\[([^\]]*)\]\([^)]*\)").sub


_blank = re.compile(r"(?<!\{)\{(\w+)[^{}]*\}").sub


def unfilled(template: str) -> str:
    """A rule's sentence for people: what a finding fills in is named in capitals."""
    return plain(_blank(lambda field: field[1].upper(), template))


def unlinked(text: str) -> str:
    """The text of a rule's page where no link can be followed: where one leads is said.

    Links to other rules are the code of the rule already.
    """
    return _link(r"\1", _outside(r"\1 (docs/\2)", text))


def relative(path: str) -> str:
    """The path as CI servers compare it: forward slashes, no leading `./`."""
    path = path.replace(os.sep, "/")
    while path.startswith("./"):
        path = path[2:].lstrip("/")
    return path


def sound(text: str) -> str:
    """The text with half surrogate pairs as "?": strict JSON readers refuse the whole document.

    They are in names of files that are not UTF-8, and in parsed values.
    """
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def brief(text: str) -> str:
    """What of a text that may be long goes into JSON."""
    return sound(cut(text, MAX_SHOWN))


def dumps(value: Any) -> str:
    r"""JSON and a newline. ASCII, so that any terminal and any pipe carries it.

    `##` is written `#\u0023`, the same string to every reader of JSON; see `safe` for why.
    """
    import json  # noqa: PLC0415  (not every format writes JSON)

    return json.dumps(value, indent=2).replace("##", "#\\u0023") + "\n"

"""`--output-format sarif`: SARIF 2.1.0, for code scanning services.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html. What is ours is in property bags.
"""

from __future__ import annotations

import os
import re
from urllib.parse import quote

import schemaguard
from schemaguard.errors import cut, printable
from schemaguard.render import MAX_SHOWN, common
from schemaguard.render.fingerprints import Fingerprints
from schemaguard.report import ERROR
from schemaguard.rules import RULES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from schemaguard.lint import CheckedTool, FileReport, Finding
    from schemaguard.rules import Rule

_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)


#: GitHub refuses a run with more. Where there are more, errors come first.
_MAX_RESULTS = 25_000

_placeholder = re.compile(r"\{[0-9]+\}").search


def render(files: Sequence[FileReport]) -> str:
    """One log with one run; `results` is there, and empty, when nothing was found.

    The driver's rules are those that have results. Findings that the reports do not keep, or that
    are too many for GitHub, are counted in a notification of the invocation.
    """
    rows = [(file.path, *row) for file in files for row in common.ordered(file)]
    hidden = sum(common.hidden(file) for file in files) + max(len(rows) - _MAX_RESULTS, 0)
    if len(rows) > _MAX_RESULTS:
        rows.sort(key=lambda row: row[1].severity != ERROR)
        rows = rows[:_MAX_RESULTS]
    levels = {finding.code: finding.severity for _, finding, _ in reversed(rows)}
    codes = sorted(levels)
    index = {code: number for number, code in enumerate(codes)}
    fingerprints = Fingerprints()
    run: dict[str, Any] = {
        "tool": {
            "driver": {
                "name": "schemaguard",
                "version": schemaguard.__version__,
                "rules": [_rule(RULES[code], levels[code]) for code in codes],
            }
        },
        "columnKind": "unicodeCodePoints",
        "results": [_result(*row, index, fingerprints) for row in rows],
        "properties": {"profile": common.profile_of(files)},
    }
    if hidden:
        note = {"level": "warning", "message": {"text": common.not_shown(hidden)}}
        run["invocations"] = [{"executionSuccessful": True, "toolExecutionNotifications": [note]}]
    return common.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]})


def _rule(rule: Rule, level: str) -> dict[str, Any]:
    why = [" ".join(part.split()) for part in common.unlinked(rule.why).split("\n\n")]
    text = [*why, f"Fix: {common.unfilled(rule.fix)}"]
    markdown = list(text)
    # An example that starts with "@" is the name of one too long to write down.
    for title, example in (("Bad", rule.bad), ("Good", rule.good)):
        if not example.startswith("@"):
            text.append(f"{title}: {printable(example)}")
            markdown.append(f"{title}:\n\n```json\n{printable(example)}\n```")
    return {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": why[0]},
        "fullDescription": {"text": " ".join(why)},
        "help": {"text": "\n\n".join(text), "markdown": "\n\n".join(markdown)},
        "defaultConfiguration": {"level": level},
        "properties": {"since": rule.since},
    }


def _result(
    path: str,
    finding: Finding,
    tool: CheckedTool | None,
    index: dict[str, int],
    fingerprints: Fingerprints,
) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": {"uri": _uri(path)}}
    if finding.line is not None:
        physical["region"] = _region(finding)
    name = None if tool is None else tool.name
    pointer = common.sound(cut(finding.pointer, MAX_SHOWN))
    return {
        "ruleId": finding.code,
        "ruleIndex": index[finding.code],
        "level": finding.severity,  # the three words are SARIF's own
        "message": {"text": _message(f"{common.place(finding, tool)}: {common.message(finding)}")},
        "locations": [
            {
                "physicalLocation": physical,
                "logicalLocations": [{"fullyQualifiedName": pointer, "kind": "property"}],
            }
        ],
        "partialFingerprints": {"schemaguard/v1": fingerprints.of(path, finding)},
        "properties": {
            "tool": None if name is None else common.sound(cut(name, MAX_SHOWN)),
            "fix": common.fix(finding),
            "grounds": None if finding.grounds is None else common.grounds(finding.grounds),
        },
    }


def _region(finding: Finding) -> dict[str, Any]:
    region = {"startLine": finding.line, "startColumn": finding.column}
    if finding.end_line is not None:
        region.update(endLine=finding.end_line, endColumn=finding.end_column)
    return region


def _message(text: str) -> str:
    """A message in which no name is a placeholder `{0}` or a link `[text](address)`.

    Escaped as sections 3.11.5 and 3.11.6 say, where it matters and nowhere else: not every viewer
    undoes it.
    """
    if _placeholder(text):
        text = text.replace("{", "{{").replace("}", "}}")
    if "](" in text:
        text = text.replace("[", "\\[").replace("]", "\\]")
    return text


def _uri(path: str) -> str:
    """A URI reference: relative for a relative path, percent-encoded bytes."""
    path = common.relative(path)
    try:
        data = path.encode("utf-8", "surrogateescape")  # as the file system has them
    except UnicodeEncodeError:
        data = path.encode("utf-8", "surrogatepass")
    encoded = quote(data, safe="/")
    if path.startswith("/"):
        return "file://" + encoded
    if os.path.isabs(path):  # a drive
        return "file:///" + encoded.replace("%3A", ":", 1)
    return encoded

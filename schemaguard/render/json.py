"""`--output-format json`: version 1; keys are only ever added."""

from __future__ import annotations

import schemaguard
from schemaguard.render.common import brief, dumps, hidden_faults, profile_of, sound

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from schemaguard.lint import CheckedTool, FileReport, Finding


def render(files: Sequence[FileReport]) -> str:
    """One JSON object and a newline.

    The diagnostics of a tool are in the profile's order: the first error is the one that a server
    which stops at the first would report.
    """
    return dumps(
        {
            "version": 1,
            "tool": {"name": "schemaguard", "version": schemaguard.__version__},
            "profile": profile_of(files),
            "files": [_file(file) for file in files],
        }
    )


def _file(file: FileReport) -> dict[str, Any]:
    document = file.document
    readable = document is None or document.readable
    return {
        "path": sound(file.path),
        "kind": file.kind,
        "ok": file.ok,
        "complete": readable and all(tool.report.complete for tool in file.tools),
        "total": len(file.findings) + hidden_faults(file),
        "tools": [_tool(tool) for tool in file.tools],
        "diagnostics": [_finding(finding) for finding in file.findings],
    }


def _tool(tool: CheckedTool) -> dict[str, Any]:
    return {
        "name": None if tool.name is None else brief(tool.name),
        "pointer": brief(tool.pointer),
        "ok": tool.ok,
        "total": tool.report.total,
        "complete": tool.report.complete,
        "profile": tool.report.profile,
        "diagnostics": [_finding(finding) for finding in tool.findings],
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity,
        "pointer": brief(finding.pointer),
        "message": brief(finding.message),
        "fix": brief(finding.fix),
        "grounds": _grounds(finding),
        "line": finding.line,
        "column": finding.column,
        "end_line": finding.end_line,
        "end_column": finding.end_column,
    }


def _grounds(finding: Finding) -> dict[str, str] | None:
    known = finding.grounds
    if known is None:
        return None
    return {"basis": known.basis, "source": brief(known.source), "date": known.date}

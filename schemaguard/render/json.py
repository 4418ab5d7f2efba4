"""`--output-format json`: version 1; keys are only ever added."""

from __future__ import annotations

import json

from schemaguard.errors import cut
from schemaguard.render import MAX_SHOWN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from schemaguard.lint import FileReport, Finding


def render(files: Sequence[FileReport]) -> str:
    """One JSON object and a newline. ASCII, so that any terminal and any pipe carries it."""
    return json.dumps({"version": 1, "files": [_file(file) for file in files]}, indent=2) + "\n"


def _file(file: FileReport) -> dict[str, Any]:
    return {
        "path": file.path,
        "kind": file.kind,
        "ok": file.ok,
        "tools": [
            {
                "name": None if tool.name is None else cut(tool.name, MAX_SHOWN),
                "pointer": cut(tool.pointer, MAX_SHOWN),
                "ok": tool.ok,
                "total": tool.report.total,
                "complete": tool.report.complete,
                "profile": tool.report.profile,
                "diagnostics": [_finding(finding) for finding in tool.findings],
            }
            for tool in file.tools
        ],
        "diagnostics": [_finding(finding) for finding in file.findings],
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity,
        "pointer": cut(finding.pointer, MAX_SHOWN),
        "message": finding.message,
        "fix": finding.fix,
        "line": finding.line,
        "column": finding.column,
    }

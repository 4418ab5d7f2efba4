"""`--output-format gitlab`: a Code Quality report.

https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format. There is no place in it
for findings that the reports do not keep.
"""

from __future__ import annotations

from schemaguard.render import common
from schemaguard.render.fingerprints import Fingerprints

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from schemaguard.lint import CheckedTool, FileReport, Finding

_SEVERITIES = {"error": "major", "warning": "minor", "note": "info"}


def render(files: Sequence[FileReport]) -> str:
    """A JSON array, `[]` when nothing was found. Paths are relative to the working directory."""
    fingerprints = Fingerprints()
    return common.dumps(
        [
            _issue(file.path, finding, tool, fingerprints)
            for file in files
            for finding, tool in common.ordered(file)
        ]
    )


def _issue(
    path: str, finding: Finding, tool: CheckedTool | None, fingerprints: Fingerprints
) -> dict[str, Any]:
    said = f"{common.place(finding, tool)}: {common.message(finding)}"
    return {
        # GitLab does not show the name of the check, so the description starts with the code.
        "description": f"{finding.code} {finding.name}  {said}",
        "check_name": finding.code,
        "fingerprint": fingerprints.of(path, finding),
        "severity": _SEVERITIES[finding.severity],
        # A line is required: the first stands for none.
        "location": {
            "path": common.sound(common.relative(path)),
            "lines": {"begin": finding.line or 1},
        },
    }

"""`schemaguard budgets PATH…`: how much of each budget the schemas use, accepted or not."""

from __future__ import annotations

import os

from schemaguard.cli.options import add_inputs, add_jobs, add_output
from schemaguard.cli.output import Output
from schemaguard.cli.run import Run, settings, warn
from schemaguard.errors import printable
from schemaguard.render import MAX_SHOWN
from schemaguard.render.color import painter, use_color

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

    from schemaguard.lint import CheckedTool, FileReport


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommand's options."""
    parser.description = (
        "Show use and limit of each budget of each schema, with what uses most of it. Status 1 is "
        "for files in which nothing could be measured."
    )
    add_inputs(parser)
    add_jobs(parser)
    parser.add_argument(
        "--output-format", "--output", dest="output", choices=("text", "json"), default="text"
    )
    parser.add_argument("--color", choices=("auto", "always", "never"), default="auto")
    add_output(parser)
    parser.set_defaults(run=run, budgets=True)


def run(options: argparse.Namespace) -> int:
    """Print a table, or one JSON object, for each schema."""
    work = Run(options, settings(options))
    rows: list[dict[str, Any]] = []
    unmeasured = False
    with Output(options.output_file) as output, work:
        paint = painter(use_color(options.color, output.stream, os.environ))
        for report in work.reports():
            unmeasured = not _said(report) or unmeasured
            if options.output == "json":
                rows.extend(_row(report, tool) for tool in report.tools)
                continue
            from schemaguard.render.common import safe_path  # noqa: PLC0415
            from schemaguard.render.usage import table  # noqa: PLC0415

            where = safe_path(report.path)
            for tool in report.tools:
                output.write("".join(f"{line}\n" for line in table(where, tool, paint)))
        if options.output == "json":
            from schemaguard.render.common import dumps  # noqa: PLC0415

            output.write(dumps({"version": 1, "schemas": rows}))
    if work.failed:
        return 2
    return 1 if unmeasured else 0


def _said(report: FileReport) -> bool:
    """Whether there was something to measure; what was wrong with the file is said."""
    for finding in report.findings:
        what = f"{report.path}: {finding.code} {finding.name}: {finding.message[:MAX_SHOWN]}"
        warn(printable(what))
    return bool(report.tools)


def _row(report: FileReport, tool: CheckedTool) -> dict[str, Any]:
    from schemaguard.render.common import brief  # noqa: PLC0415  (only for JSON)

    return {
        "path": brief(report.path),
        "tool": None if tool.name is None else brief(tool.name),
        "pointer": brief(tool.pointer),
        "profile": tool.report.profile,
        "budgets": [
            {
                "name": use.name,
                "counts": _what(use.name),
                "used": use.used,
                "limit": use.limit,
                "top": [{"pointer": brief(c.pointer), "amount": c.amount} for c in use.top],
            }
            for use in tool.report.budgets
        ],
    }


def _what(name: str) -> str | None:
    """What a reading counts; None of other budgets, whose names say it."""
    from schemaguard.budgets import WARNED  # noqa: PLC0415  (only for JSON)
    from schemaguard.measured import READINGS  # noqa: PLC0415  (only for JSON)

    return READINGS.get(name.removesuffix(WARNED))

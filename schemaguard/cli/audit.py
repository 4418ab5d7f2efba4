"""`schemaguard audit PATH…`: what the engine enforces of each schema, and what it drops."""

from __future__ import annotations

import argparse
import os
import sys

from schemaguard.cli.options import add_inputs, add_output
from schemaguard.cli.output import Output
from schemaguard.cli.run import Run, said, settings
from schemaguard.errors import cut
from schemaguard.render.color import painter, use_color

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from schemaguard.grammar.audit import AuditResult
    from schemaguard.lint import CheckedTool, FileReport

#: What `--fail-on` takes: verdicts on schemas and on constraints.
FAILURES = ("dropped", "over-constrained", "untested", "dead-end", "broken-json", "refused")

#: Columns of the margin.
_MARGIN = 10

_STYLES = {"dropped": "error", "over-constrained": "warning", "untested": "note"}


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommand's options."""
    parser.description = (
        "Find out what the engine enforces of each schema: for every constraint, instances that "
        "break it and valid ones around its boundary are tried on the compiled grammar. Needs the "
        "extra `xgrammar`. Status 1 is for what --fail-on names, and for files without a schema."
    )
    add_inputs(parser)
    group = parser.add_argument_group("audit")
    group.add_argument("--engine", choices=("xgrammar",), default="xgrammar")
    group.add_argument("--style", choices=("json",), default="json", help="how outputs are written")
    group.add_argument("--seed", type=_number, default=0, metavar="N", help="of what is random")
    group.add_argument(
        "--samples", type=_number, default=16, metavar="N", help="outputs decoded at random"
    )
    group.add_argument(
        "--fail-on",
        action="append",
        type=_failures,
        default=[],
        metavar="WHAT",
        help=f"with commas between: {', '.join(FAILURES)}",
    )
    group = parser.add_argument_group("output")
    group.add_argument("--output-format", choices=("text", "json"), default="text")
    group.add_argument("--color", choices=("auto", "always", "never"), default="auto")
    add_output(parser)
    parser.set_defaults(run=run)


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise argparse.ArgumentTypeError("a number")
    return int(text)


def _failures(text: str) -> list[str]:
    words = [word.strip() for word in text.split(",") if word.strip()]
    unknown = [word for word in words if word not in FAILURES]
    if unknown or not words:
        raise argparse.ArgumentTypeError(f"one of: {', '.join(FAILURES)}")
    return words


def run(options: argparse.Namespace) -> int:
    """Audit every schema; one after the other is written as it is done."""
    from schemaguard.grammar.compiler import ENGINE_PROFILE  # noqa: PLC0415  (loads the engine)

    # Whether a profile accepts a schema is `check`'s business: the engine's own does.
    options.profile = options.profile or ENGINE_PROFILE
    failing = {word for words in options.fail_on for word in words}
    work = Run(options, settings(options))
    rows: list[dict[str, Any]] = []
    failed = nothing = False
    count = 0
    with Output(options.output_file) as output, work:
        paint = painter(use_color(options.color, output.stream, os.environ))
        for report in work.reports():
            nothing = not said(report) or nothing
            for tool, audited in _audits(report, options):
                count += 1
                failed = failed or bool(failing & _verdicts(audited))
                if options.output_format == "json":
                    rows.append(_row(report, tool, audited))
                else:
                    output.write(
                        "".join(f"{line}\n" for line in _text(report, tool, audited, paint))
                    )
        if options.output_format == "json":
            from schemaguard.render.common import dumps  # noqa: PLC0415

            output.write(dumps({"version": 1, "schemas": rows}), utf_8=True)
    if options.output_format == "text" and count > 1:
        print(f"{count:,} schemas audited", file=sys.stderr)
    if work.failed:
        return 2
    return 1 if failed or nothing else 0


def _audits(
    report: FileReport, options: argparse.Namespace
) -> Iterator[tuple[CheckedTool, AuditResult]]:
    from schemaguard.grammar.audit import audit  # noqa: PLC0415  (loads the engine)

    for tool in report.tools:
        yield (
            tool,
            audit(
                tool.report,
                engine=options.engine,
                style=options.style,
                seed=options.seed,
                samples=options.samples,
            ),
        )


def _verdicts(audited: AuditResult) -> set[str]:
    return {audited.verdict, *(row.verdict for row in audited.constraints)}


def _text(
    report: FileReport,
    tool: CheckedTool,
    audited: AuditResult,
    paint: Callable[[str, str], str],
) -> Iterator[str]:
    """The schema with its marks, below a line that says how it stands."""
    from schemaguard.grammar.audit import text  # noqa: PLC0415  (loads the engine)
    from schemaguard.render.common import safe, safe_path  # noqa: PLC0415

    named = "" if tool.name is None else f" tool '{safe(cut(tool.name, 200))}'"
    style = "fix" if audited.verdict == "exact" else "error"
    verdict = paint(style, audited.verdict)
    yield paint("path", safe_path(report.path)) + f"{named}: {verdict}: {safe(audited.reason)}"
    if audited.witness is not None:
        yield f"{'':{_MARGIN}}{safe(cut(audited.witness, text.MAX_WITNESS)) or '(the empty text)'}"
    accepted = tool.report.accepted
    if accepted is None or audited.verdict == "refused":
        return
    import json  # noqa: PLC0415

    for line in text.lines(json.loads(accepted.text), audited):
        mark = "" if line.verdict is None else text.MARKS[line.verdict]
        margin = f"{mark:>{_MARGIN - 2}}  "
        if line.verdict in _STYLES:
            margin = paint(_STYLES[line.verdict], margin)
        yield margin + safe(line.text)
        for note in line.notes:
            yield f"{'':{_MARGIN}}{'':{len(line.text) - len(line.text.lstrip())}}^ {safe(note)}"
    for row in audited.spelling:
        yield f"{'':{_MARGIN}}{row.freedom}: not {safe(cut(row.witness, 200))}"
    if not audited.complete:
        yield f"{'':{_MARGIN}}some of this ended at a bound before it was through"


def _row(report: FileReport, tool: CheckedTool, audited: AuditResult) -> dict[str, Any]:
    return {
        "path": _string(report.path),
        "tool": None if tool.name is None else _string(tool.name),
        "pointer": _string(tool.pointer),
        **_sound(audited.as_dict()),
    }


def _sound(value: Any) -> Any:
    """The strings of a result as strict readers of JSON take them."""
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, list):
        return [{key: _sound(member) for key, member in row.items()} for row in value]
    if isinstance(value, dict):
        return {key: _sound(member) for key, member in value.items()}
    return value


def _string(text: str) -> str:
    from schemaguard.render.common import sound  # noqa: PLC0415

    return sound(text)

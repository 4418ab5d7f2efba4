"""`schemaguard audit PATH…`: what the engine enforces of each schema, and what it drops."""

from __future__ import annotations

import argparse
import sys

from schemaguard.capabilities import ENGINES
from schemaguard.cli.options import add_inputs, add_output
from schemaguard.cli.output import Output
from schemaguard.cli.run import Run, said, settings
from schemaguard.config import ConfigError
from schemaguard.errors import cut, nearest, printable
from schemaguard.render import FORMATS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from schemaguard.grammar.audit import AuditResult
    from schemaguard.report import Report

#: Formats that are an audit's own, and those that list its findings as `check` lists its own.
OWN = ("text", "json", "html")
FINDINGS = tuple(name for name in FORMATS if name not in OWN)

#: Seconds that `--budget` takes at most.
MAX_BUDGET = 86_400

#: What `--fail-on` takes: verdicts on schemas and on constraints.
FAILURES = ("dropped", "over-constrained", "untested", "dead-end", "broken-json", "refused")


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommand's options."""
    parser.description = (
        "Find out what the engine enforces of each schema: for every constraint, instances that "
        "break it and valid ones around its boundary are tried on the compiled grammar. Needs the "
        "engine's extra: `xgrammar`, `llguidance` or `outlines`. Exit status: 0 done, whatever was "
        "found, unless --fail-on asks; 1 for what --fail-on names and, with any --fail-on, for "
        "schemas that were refused and so not audited; 1, too, for files without a schema; 2 the "
        "run failed."
    )
    add_inputs(parser)
    group = parser.add_argument_group("audit")
    group.add_argument("--engine", choices=ENGINES, default="xgrammar")
    group.add_argument(
        "--style",
        default="json",
        metavar="STYLE",
        help="how outputs are written: json, or calls by style or by a server's parser",
    )
    group.add_argument("--seed", type=_number, default=0, metavar="N", help="of what is random")
    group.add_argument(
        "--samples", type=_number, default=16, metavar="N", help="outputs decoded at random"
    )
    group.add_argument(
        "--budget",
        type=_seconds,
        default=10.0,
        metavar="SECONDS",
        help="work on one schema, counted in steps; what it does not reach is untested",
    )
    group.add_argument(
        "--fail-on",
        action="append",
        type=_failures,
        default=[],
        metavar="WHAT",
        help=f"status 1 for these, with commas between: {', '.join(FAILURES)}; `refused` goes "
        "without saying",
    )
    group = parser.add_argument_group("output")
    group.add_argument(
        "--output-format",
        choices=(*OWN, *FINDINGS),
        default="text",
        metavar="FORMAT",
        help=", ".join((*OWN, *FINDINGS)),
    )
    group.add_argument("--color", choices=("auto", "always", "never"), default="auto")
    add_output(parser)
    parser.set_defaults(run=run)


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise argparse.ArgumentTypeError("a number")
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= MAX_BUDGET:
        raise argparse.ArgumentTypeError(f"seconds up to {MAX_BUDGET:,}")
    return seconds


def _failures(text: str) -> list[str]:
    words = [word.strip() for word in text.split(",") if word.strip()]
    unknown = [word for word in words if word not in FAILURES]
    if unknown or not words:
        raise argparse.ArgumentTypeError(f"one of: {', '.join(FAILURES)}")
    return words


def run(options: argparse.Namespace) -> int:
    """Audit every schema; text is written as it is done."""
    from schemaguard.cli.verdicts import writer  # noqa: PLC0415  (loads the engine)
    from schemaguard.grammar.audit import gate  # noqa: PLC0415  (same)

    _check_style(options.style)
    # Whether a profile accepts a schema is `check`'s business, unless one is named here.
    named = options.profile is not None
    options.profile = options.profile or gate.PROFILE
    failing = {word for words in options.fail_on for word in words}
    audits = _Audits(options)
    listed = options.output_format in FINDINGS
    work = Run(options, settings(options), refine=audits.refine if listed else None)
    work.profile = gate.asking(work.profile, named=named)
    if not named:
        work.profile = gate.unpriced(work.profile, options.engine)
    nothing = False
    with Output(options.output_file) as output, work:
        written = writer(options.output_format, output, options.color)
        for report in work.reports():
            nothing = not said(report) or nothing
            if not listed:
                for tool in report.tools:
                    written.schema(report, tool, audits.of(tool.report))
            written.file(report)
        written.end()
    if options.output_format == "text" and audits.count > 1:
        print(f"{audits.count:,} schemas audited", file=sys.stderr)
    unseen = audits.refused if failing else 0
    if unseen:
        which = "1 schema was" if unseen == 1 else f"{unseen:,} schemas were"
        print(f"{which} refused and not audited: status 1 with --fail-on", file=sys.stderr)
    if work.failed:
        return 2
    return 1 if nothing or unseen or failing & audits.verdicts else 0


def _check_style(style: str) -> None:
    from schemaguard.grammar.audit import STYLES  # noqa: PLC0415  (loads the engine)

    if style not in STYLES:
        what = f"no style {printable(cut(style, 80))!r}{nearest(style, STYLES)}"
        raise ConfigError(f"{what}; there are: {', '.join(STYLES)}")


class _Audits:
    """Audits as the command line wants them.

    Attributes:
        count: how many there were.
        refused: how many of them there is no audit of, because no grammar was made.
        verdicts: that any schema or constraint has got.
    """

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self.count = 0
        self.refused = 0
        self.verdicts: set[str] = set()

    def of(self, report: Report) -> AuditResult:
        """The audit of a schema that was checked."""
        from schemaguard.grammar.audit import audit  # noqa: PLC0415  (loads the engine)

        options = self._options
        audited = audit(
            report,
            engine=options.engine,
            style=options.style,
            seed=options.seed,
            samples=options.samples,
            budget=options.budget,
        )
        self.count += 1
        self.refused += audited.verdict == "refused"
        self.verdicts.add(audited.verdict)
        self.verdicts.update(row.verdict for row in audited.constraints)
        return audited

    def refine(self, report: Report) -> Report:
        """The report with what its audit found."""
        from schemaguard.grammar.audit.findings import diagnostics  # noqa: PLC0415  (same)

        return report.with_diagnostics(diagnostics(report.accepted, self.of(report)))

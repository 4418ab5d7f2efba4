"""`schemaguard check PATH…`: check schemas, tool definitions, requests and `tools/list` answers."""

from __future__ import annotations

import os
import sys

from schemaguard.cli.options import add_compile, add_inputs, add_jobs, add_output, add_selection
from schemaguard.cli.output import Output
from schemaguard.cli.progress import Progress
from schemaguard.cli.run import Run, settings
from schemaguard.cli.tally import Tally, slim
from schemaguard.config import FAIL_ON, ConfigError
from schemaguard.errors import nearest, printable
from schemaguard.render import FORMATS, renderer
from schemaguard.render.color import use_color

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from schemaguard.config import Config

FORMAT_VARIABLE = "SCHEMAGUARD_OUTPUT_FORMAT"


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommand's options."""
    parser.description = (
        "Check JSON Schemas, tool definitions, requests and tools/list answers. Every tool is "
        "checked as if it were strict."
    )
    add_inputs(parser)
    add_compile(parser)
    add_jobs(parser)
    add_selection(parser)
    parser.add_argument(
        "--baseline", metavar="FILE", help="findings that are known; see `schemaguard baseline`"
    )
    group = parser.add_argument_group("output")
    group.add_argument(
        "--output-format", choices=FORMATS, metavar="FORMAT", help=", ".join(FORMATS)
    )
    add_output(parser)
    group.add_argument("--show-source", action="store_true", help="text: the place in the file")
    what = "text: what to do about it, and how it is known"
    group.add_argument("--show-fixes", action="store_true", help=what)
    group.add_argument("--budgets", action="store_true", help="text: how much of each is used")
    group.add_argument("--color", choices=("auto", "always", "never"), default="auto")
    group.add_argument("-q", "--quiet", action="store_true", help="no summary, no progress")
    group = parser.add_argument_group("exit status")
    group.add_argument(
        "--fail-on", choices=FAIL_ON, help="the least severity that fails (default: error)"
    )
    group.add_argument("--exit-zero", action="store_true", help="findings do not fail")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Check; findings go to standard output or the file, all else to standard error."""
    config = settings(options)
    form = _format(options, config)
    fail_on = options.fail_on or config.fail_on or "error"
    work = Run(options, config, options.baseline or config.baseline)
    tally = Tally(fail_on, work.profile.id)
    progress = Progress(tally, wanted=not options.quiet)
    work.before_warning = progress.clear
    try:
        with Output(options.output_file) as output, work:
            if form == "text":
                _text(options, work, tally, output, progress)
            else:
                kept = []
                for report in work.reports():
                    kept.append(slim(tally.add(report)))
                    progress.step()
                progress.clear()
                output.write(renderer(form)(kept), utf_8=True)
    finally:
        progress.clear()
    work.leftovers()
    if form == "text" and not options.quiet and (tally.files or not work.failed):
        print(tally.summary(), file=sys.stderr)
    if work.failed:
        return 2
    return 1 if tally.failing and not options.exit_zero else 0


def _text(
    options: argparse.Namespace, work: Run, tally: Tally, output: Output, progress: Progress
) -> None:
    """A file's findings are written when it is done: nothing is kept."""
    render = renderer("text")
    color = use_color(options.color, output.stream, os.environ)
    for report in work.reports():
        tally.add(report)
        if tally.last or options.budgets:
            progress.clear()
            output.write(
                render(
                    [report],
                    color=color,
                    show_source=options.show_source,
                    show_fixes=options.show_fixes,
                    budgets=options.budgets,
                )
            )
        progress.step()


def _format(options: argparse.Namespace, config: Config) -> str:
    """The command line, then the environment, then the configuration."""
    if options.output_format is not None:
        return str(options.output_format)
    named = os.environ.get(FORMAT_VARIABLE)
    if named:
        if named not in FORMATS:
            what = f"{FORMAT_VARIABLE}: no format {printable(named[:80])!r}"
            raise ConfigError(f"{what}; there are: {', '.join(FORMATS)}{nearest(named, FORMATS)}")
        return named
    return config.output_format or "text"

"""`schemaguard baseline PATH…`: write down what is known, so that only new findings fail."""

from __future__ import annotations

import sys

from schemaguard.cli.options import add_compile, add_inputs, add_jobs, add_output, add_selection
from schemaguard.cli.output import Output
from schemaguard.cli.run import Run, settings, warn
from schemaguard.errors import counted, printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommand's options."""
    parser.description = (
        "Print a baseline: what `schemaguard check --baseline FILE` is to be quiet about. What "
        "could not be understood is never part of it."
    )
    add_inputs(parser)
    add_compile(parser)
    add_jobs(parser)
    add_selection(parser)
    add_output(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the baseline of all findings; status 1 when some cannot be part of one."""
    from schemaguard.baseline import counts, dumps  # noqa: PLC0415  (the parser needs neither)
    from schemaguard.select import ALWAYS_SAID  # noqa: PLC0415

    config = settings(options)
    work = Run(options, config)
    known: dict[tuple[str, str, str, str], int] = {}
    left_out = 0
    with Output(options.output_file) as output, work:
        for report in work.reports():
            for key, count in counts([report], config.root).items():
                known[key] = known.get(key, 0) + count
            about = [f for tool in report.tools for f in tool.findings]
            for finding in (*report.findings, *about):
                if finding.code in ALWAYS_SAID:
                    left_out += 1
                    what = f"{report.path}: {finding.code} {finding.name}: {finding.message[:200]}"
                    warn(f"not in the baseline: {printable(what)}")
        output.write(dumps(known))
    total = sum(known.values())
    print(f"{counted(total, 'finding')} in the baseline", file=sys.stderr)
    if work.failed:
        return 2
    return 1 if left_out else 0

"""`schemaguard matrix PATH…`: which profile accepts which tool, and where their demands clash."""

from __future__ import annotations

import argparse

from schemaguard import config as configuration
from schemaguard import profiles
from schemaguard.cli.options import add_inputs, add_output
from schemaguard.cli.output import Output
from schemaguard.cli.run import Run, said, settings, warn
from schemaguard.errors import counted
from schemaguard.matrix import DEGRADED, REJECTED, VERDICTS, WARNED, Matrix
from schemaguard.render.matrix import FORMATS, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from schemaguard.config import Config
    from schemaguard.profiles import Profile

#: So many schemas are looked at for conflicts, unless more are asked for.
_MOST = 20

#: Profiles that are there to be extended, and those of engines: not asked unless they are named.
_UNASKED = frozenset({"basic", "xgrammar", "vllm", "sglang", "llguidance"})


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommand's options."""
    parser.description = (
        "Show for each tool who accepts, warns, silently ignores a part, or rejects it, with the "
        "first reason; and where the demands of two contradict each other, with a way out."
    )
    add_inputs(parser, one_profile=False)
    parser.add_argument(
        "--for",
        dest="profiles",
        action="append",
        default=[],
        metavar="PROFILE",
        help="the columns, with commas between them; default: every provider",
    )
    parser.add_argument(
        "--conflicts",
        type=_count,
        default=_MOST,
        metavar="N",
        help=f"look for contradictions in so many schemas (default {_MOST}, 0 for none)",
    )
    parser.add_argument(
        "--output-format",
        "--output",
        dest="output",
        choices=tuple(FORMATS),
        default="text",
        help=", ".join(FORMATS),
    )
    add_output(parser)
    parser.add_argument("-q", "--quiet", action="store_true", help="text: no counts; no notes")
    parser.add_argument(
        "--fail-on",
        choices=(WARNED, DEGRADED, REJECTED),
        help="status 1 when a cell is as bad as that (default: never)",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the matrix."""
    config = settings(options)
    chosen = _chosen(options, config)
    prefix = options.tool_prefix or config.tool_prefix or ""
    matrix = Matrix(chosen, prefix)
    unchecked = False
    with Run(options, config) as work:
        for report in work.reports():
            if report.document is None:
                continue
            made = matrix.add(report.document, options.kind)  # type: ignore[arg-type]
            unchecked = not said(made) or unchecked
        failed = work.failed
    if matrix.rows:
        found, left, large = matrix.conflicts(options.conflicts)
        if left and options.conflicts and not options.quiet:
            warn(f"not looked at for conflicts: {counted(left, 'schema')} more; --conflicts N")
        if large and not options.quiet:
            what = counted(large, "schema")
            warn(f"not looked at for conflicts, or not to the end: {what}, too large")
        with Output(options.output_file) as output:
            if options.output == "text":
                output.write(text(matrix, found, counts=not options.quiet))
            else:
                output.write(FORMATS[options.output](matrix, found), utf_8=True)
    if failed:
        return 2
    if unchecked:
        return 1
    limit = options.fail_on
    return 1 if limit and VERDICTS.index(matrix.worst) >= VERDICTS.index(limit) else 0


def _count(text: str) -> int:
    """A number of schemas."""
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise argparse.ArgumentTypeError("a number from 0")
    return int(text)


def _chosen(options: argparse.Namespace, config: Config) -> list[Profile]:
    names = [name.strip() for given in options.profiles for name in given.split(",")]
    names = [name for name in names if name] or [
        *(name for name in profiles.names() if name not in _UNASKED),
        *config.profiles,
    ]
    basis = options.min_basis or config.min_basis
    made: dict[str, Profile] = {}
    for name in names:
        profile = configuration.profile_of(name, config)
        # What is the same is one column; what only has the same name would hide the other.
        if made.setdefault(profile.id, profile) != profile:
            raise configuration.ConfigError(f"two profiles are both {profile.id}: rename one")
    chosen = list(made.values())
    return chosen if basis is None else [profile.at_least(basis) for profile in chosen]

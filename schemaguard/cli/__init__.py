"""The command `schemaguard`: one module a subcommand, thin over the library.

Exit status: 0 nothing found, 1 findings, 2 the run itself failed (usage, a file that cannot be
read).
"""

from __future__ import annotations

import argparse
import os
import sys

from schemaguard.cli import check
from schemaguard.errors import SchemaguardError, printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


class _Version(argparse.Action):
    """Looks the version up only when it is asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object, **__: object) -> None:
        import schemaguard  # noqa: PLC0415

        print(f"schemaguard {schemaguard.__version__}")
        parser.exit()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="schemaguard",
        description="Preflight for the JSON Schemas of LLM tools.",
        epilog="exit status: 0 nothing found, 1 findings, 2 the run itself failed",
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    check.add_to(commands)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit status.

    Args:
        arguments: without the program's name; those of the process when None.
    """
    options = _parser().parse_args(arguments)
    try:
        status: int = options.run(options)
        sys.stdout.flush()
    except SchemaguardError as error:
        print(f"schemaguard: {printable(str(error))}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # The reader went away (`| head`): nothing is left to say, and nobody to say it to.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 2
    except KeyboardInterrupt:
        print("schemaguard: interrupted", file=sys.stderr)
        return 130
    return status

"""`schemaguard check FILE…`: check schemas, tool definitions, requests and `tools/list` answers."""

from __future__ import annotations

import sys

from schemaguard import lint
from schemaguard.document import DEFAULT_LIMITS
from schemaguard.errors import printable
from schemaguard.plan import compiled
from schemaguard.preflight import DEFAULT_PROFILE
from schemaguard.render import text

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any


def add_to(commands: Any) -> None:
    """Declare the subcommand."""
    parser = commands.add_parser(
        "check",
        help="check files",
        description="Check JSON Schemas, tool definitions, requests and tools/list answers. Every "
        "tool is checked as if it were strict.",
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="a JSON file, or - for stdin")
    parser.add_argument(
        "--profile", default=DEFAULT_PROFILE, metavar="NAME", help="default: %(default)s"
    )
    parser.add_argument("--output-format", choices=("text", "json"), default="text")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Check the files; findings go to standard output, all else to standard error."""
    compiled(options.profile)  # an unknown profile fails before any file is read
    reports = []
    unreadable = False
    for path in options.files:
        try:
            content = _read(path)
        except OSError as error:
            unreadable = True
            reason = error.strerror or type(error).__name__
            print(f"schemaguard: {printable(path)}: {printable(reason)}", file=sys.stderr)
            continue
        reports.append(lint.check_text(path, content, options.profile))
    if options.output_format == "json":
        from schemaguard.render import json  # noqa: PLC0415  (only where it is asked for)

        sys.stdout.write(json.render(reports))
    else:
        _write(text.render(reports))
        print(text.summary(reports), file=sys.stderr)
    if unreadable:
        return 2
    return 0 if all(report.ok for report in reports) else 1


def _read(path: str) -> bytes:
    """A file's content, and one byte more than is allowed at the most: the reader then says so."""
    most = DEFAULT_LIMITS.max_bytes + 1
    if path == "-":
        return sys.stdin.buffer.read(most)
    with open(path, "rb") as file:
        return file.read(most)


def _write(rendered: str) -> None:
    """Write text to a terminal or pipe of any encoding."""
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(rendered.encode(encoding, "backslashreplace").decode(encoding))

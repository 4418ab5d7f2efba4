"""The options that the subcommands over files share."""

from __future__ import annotations

import argparse

from schemaguard.config import AUTO, MAX_JOBS
from schemaguard.envelopes.result import KINDS
from schemaguard.profiles.parts import BASES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def add_inputs(parser: argparse.ArgumentParser, *, one_profile: bool = True) -> None:
    """What to check, and where the configuration is.

    Args:
        parser: takes the options.
        one_profile: the schemas are held to one profile.
    """
    parser.add_argument(
        "files",
        nargs="*",
        metavar="PATH",
        help="a file, a folder, path.py:object, package.module:object; - is stdin",
    )
    group = parser.add_argument_group("inputs")
    group.add_argument(
        "--stdin-filename", metavar="PATH", help="what to call standard input, for rules by path"
    )
    group.add_argument(
        "--as", dest="kind", choices=KINDS, metavar="KIND", help=f"read as: {', '.join(KINDS)}"
    )
    group.add_argument(
        "--mcp", action="append", default=[], metavar="COMMAND", help="ask an MCP server over stdio"
    )
    group.add_argument(
        "--mcp-url", action="append", default=[], metavar="URL", help="ask an MCP server over HTTP"
    )
    group.add_argument(
        "--force-exclude",
        action="store_true",
        help="apply `exclude` to files that are named, too (hooks name them)",
    )
    group = parser.add_argument_group(
        "configuration", "schemaguard.toml, or [tool.schemaguard] of the nearest pyproject.toml"
    )
    if one_profile:
        what = "who is to accept the schemas; a name, or a .toml file"
        group.add_argument("--profile", metavar="NAME", help=what)
    group.add_argument("--min-basis", choices=BASES, help="only what is known at least so firmly")
    group.add_argument(
        "--tool-prefix",
        metavar="TEXT",
        help="what a client puts in front of tool names: mcp__server__ for one",
    )
    group.add_argument("--config", metavar="FILE", help="this file, instead of the nearest")
    group.add_argument("--isolated", action="store_true", help="no configuration file")


def add_jobs(parser: argparse.ArgumentParser) -> None:
    """For what needs no more of a report than other processes send: not the schemas."""
    parser.add_argument(
        "--jobs", type=_jobs, metavar="N", help="processes that check files; auto: as it pays"
    )


def add_compile(parser: argparse.ArgumentParser) -> None:
    """For what reports findings: a schema that does not compile is one."""
    parser.add_argument(
        "--compile",
        action="store_true",
        help="compile what is accepted, too: needs the extra `xgrammar`",
    )


def add_selection(parser: argparse.ArgumentParser) -> None:
    """Which rules speak."""
    group = parser.add_argument_group(
        "rules", "RULES are codes, starts of codes or names, with commas between them"
    )
    for name, purpose in (
        ("--select", "only these"),
        ("--ignore", "not these"),
        ("--extend-select", "these, too"),
        ("--extend-ignore", "nor these"),
    ):
        group.add_argument(name, action=_Words, metavar="RULES", help=purpose)


def add_output(parser: argparse.ArgumentParser) -> None:
    """Where the results go."""
    parser.add_argument("-o", "--output-file", metavar="FILE", help="written whole or not at all")


def _jobs(text: str) -> int | str:
    """A number of processes, or "auto"."""
    if text == AUTO:
        return AUTO
    if not (text.isascii() and text.isdigit() and 0 < int(text[:9]) <= MAX_JOBS):
        raise argparse.ArgumentTypeError(f"a number from 1 to {MAX_JOBS}, or {AUTO}")
    return int(text)


class _Words(argparse.Action):
    """Words with commas between them; the option may be repeated."""

    def __call__(
        self,
        _parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        _option: str | None = None,
    ) -> None:
        words = [word.strip() for word in values.split(",") if word.strip()]
        setattr(namespace, self.dest, [*(getattr(namespace, self.dest) or ()), *words])

"""The command `schemaguard`: one module a subcommand, thin over the library.

Exit status: 0 nothing found, 1 findings, 2 the run itself failed (usage, configuration, a file that
cannot be read), 130 interrupted. A start-up pays for one subcommand: the others are not imported.
"""

from __future__ import annotations

import argparse
import os
import sys
from importlib import import_module

from schemaguard.errors import SchemaguardError, printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any, NoReturn

#: subcommand → (its module, what it is for).
COMMANDS = {
    "check": ("check", "check files"),
    "baseline": ("baseline", "write down the findings of today, so that only new ones fail"),
    "fix": ("fix", "change files so that a profile accepts their schemas"),
    "matrix": ("matrix", "show which provider accepts which tool"),
    "audit": ("audit", "find out what the engine enforces of each schema, and what it drops"),
    "cost": ("cost", "say what compiling each schema costs"),
    "budgets": ("budgets", "show how much of each budget the schemas use"),
    "tag": ("tag", "show the structural tag of a request, and what it enforces"),
    "warm": ("warm", "compile known tools ahead of a server"),
    "score": ("score", "say how right recorded tool calls are"),
    "rule": ("rule", "explain one rule"),
    "rules": ("rules", "list the rules"),
    "profiles": ("profiles", "list the profiles, or show one with its numbers"),
    "completion": ("completion", "print a completion script for a shell"),
}

#: Set to anything but "" to see where an internal error comes from.
TRACEBACK = "SCHEMAGUARD_TRACEBACK"


class _Formatter(argparse.HelpFormatter):
    """Finds the terminal's width without `shutil`: one is made for each option that is declared."""

    def __init__(self, prog: str, width: int | None = None) -> None:
        super().__init__(prog, width=width or _columns() - 2)


def _columns() -> int:
    columns = os.environ.get("COLUMNS", "")
    if columns.isascii() and columns.isdigit() and int(columns[:6]) >= 20:
        return int(columns[:6])
    try:
        return max(20, os.get_terminal_size(sys.__stdout__.fileno()).columns)  # type: ignore[union-attr]
    except (AttributeError, OSError, ValueError):  # no terminal
        return 80


class Parser(argparse.ArgumentParser):
    """Whose errors say what was perhaps meant, and cannot move the cursor: they quote arguments."""

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As of the base class."""
        options, left = self.parse_known_args(args, namespace)
        if left:
            known = set(self._option_string_actions)
            speaker = self
            for action in self._actions:
                if action.nargs == argparse.PARSER and isinstance(action.choices, dict):
                    for own in action.choices.values():
                        known.update(own._option_string_actions)  # noqa: SLF001  (of its class)
                        if len(action.choices) == 1:  # the command that was asked for
                            speaker = own
            near = _meant(left[0], known) if left[0].startswith("-") else ""
            speaker.error(f"unrecognized arguments: {' '.join(left)}{near}")
        return options

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError as error:
            error.message += _meant(value, action.choices or ())
            raise

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and exit with status 2."""
        self.print_usage(sys.stderr)
        self.exit(2, f"{self.prog}: error: {printable(message)}\n")


def _meant(word: object, choices: Iterable[object]) -> str:
    from schemaguard.errors import nearest  # noqa: PLC0415  (only after a mistake)

    return nearest(str(word).partition("=")[0], map(str, choices))


class _Version(argparse.Action):
    """Looks the version up only when it is asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object, **__: object) -> None:
        import schemaguard  # noqa: PLC0415

        print(f"schemaguard {schemaguard.__version__}")
        parser.exit()


def parser(command: str | None = None) -> Parser:
    """The parser of the command line.

    Args:
        command: the subcommand to declare, alone; None declares all of them.
    """
    made = Parser(
        prog="schemaguard",
        description="Preflight for the JSON Schemas of LLM tools.",
        epilog="exit status: 0 nothing found, 1 findings, 2 the run itself failed",
        allow_abbrev=False,
        formatter_class=_Formatter,
    )
    made.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    commands = made.add_subparsers(
        title="commands", metavar="COMMAND", required=True, prog=made.prog
    )
    for name in COMMANDS if command is None else (command,):
        module, purpose = COMMANDS[name]
        own = commands.add_parser(
            name, help=purpose, allow_abbrev=False, formatter_class=_Formatter
        )
        import_module(f"schemaguard.cli.{module}").declare(own)
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit status.

    Args:
        arguments: without the program's name; those of the process when None.
    """
    given = sys.argv[1:] if arguments is None else list(arguments)
    try:
        options = parser(given[0] if given and given[0] in COMMANDS else None).parse_args(given)
        status: int = options.run(options)
        if sys.stdout is not None:
            sys.stdout.flush()
    except SchemaguardError as error:
        return _fail(printable(str(error)))
    except BrokenPipeError:
        # The reader went away (`| head`): nothing is left to say, and nobody to say it to.
        _abandon_output()
        return 2
    except KeyboardInterrupt:
        _fail("interrupted")
        return 130
    except OSError as error:
        _abandon_output()
        place = f"{printable(str(error.filename))}: " if error.filename else ""
        return _fail(f"{place}{printable(error.strerror or type(error).__name__)}")
    except Exception as error:
        if os.environ.get(TRACEBACK):
            raise
        what = printable(f"{type(error).__name__}: {error}")[:300]
        return _fail(f"internal error: {what} (this is a bug; {TRACEBACK}=1 shows where)")
    return status


def _fail(message: str) -> int:
    """One line on standard error; its being closed is no reason for another error."""
    try:  # noqa: SIM105  (contextlib is an import that no start-up needs)
        print(f"schemaguard: {message}", file=sys.stderr, flush=True)
    except OSError:
        pass
    return 2


def _abandon_output() -> None:
    """Let what is still to be written go nowhere, so that the interpreter's exit is quiet too."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (AttributeError, OSError, ValueError):
                os.dup2(nowhere, stream.fileno())
    except (AttributeError, OSError, ValueError):
        pass

"""`schemaguard fix PATH… --for PROFILE`: change files so that a profile accepts their schemas."""

from __future__ import annotations

import difflib
import os
import signal
import stat
import sys
from contextlib import contextmanager

from schemaguard import config as configuration
from schemaguard.cli.output import Output
from schemaguard.cli.run import STDIN, content_of, settings, warn
from schemaguard.envelopes.result import KINDS
from schemaguard.errors import MissingExtra, SchemaguardError, counted, cut, printable
from schemaguard.fix.files import fix_source, fix_text
from schemaguard.preflight import DEFAULT_PROFILE
from schemaguard.sources import SourceError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator
    from typing import Any

    from schemaguard.config import Config
    from schemaguard.fix.files import FileFix, ToolFix
    from schemaguard.profiles import Profile

_SHOWN = 200  # characters of a pointer


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommand's options."""
    parser.description = (
        "Change schemas so that a profile accepts them, without changing what they mean: the order "
        "of keys, comments, indentation and line endings stay. Files are replaced in one step."
    )
    parser.add_argument(
        "files", nargs="*", metavar="PATH", help="a file, a folder; - is stdin, fixed on stdout"
    )
    group = parser.add_argument_group("fixing")
    group.add_argument(
        "--for",
        dest="profiles",
        action="append",
        default=[],
        metavar="PROFILE",
        help="who is to accept the schemas; several with commas between them",
    )
    group.add_argument(
        "--lossy",
        action="store_true",
        help="also drop what is refused and cannot be said otherwise; the description says it then",
    )
    group.add_argument(
        "--bundle",
        action="append",
        default=[],
        metavar="FILE",
        help="a document that references lead to; what they name is brought in; repeatable",
    )
    group = parser.add_argument_group("inputs")
    group.add_argument("--stdin-filename", metavar="PATH", help="what to call standard input")
    group.add_argument("--as", dest="kind", choices=KINDS, metavar="KIND", help="read as this")
    group.add_argument(
        "--force-exclude",
        action="store_true",
        help="apply `exclude` to files that are named, too (hooks name them)",
    )
    group = parser.add_argument_group("configuration")
    group.add_argument("--config", metavar="FILE", help="this file, instead of the nearest")
    group.add_argument("--isolated", action="store_true", help="no configuration file")
    group = parser.add_argument_group("output")
    group.add_argument("--diff", action="store_true", help="show the changes and write nothing")
    group.add_argument(
        "--check", action="store_true", help="write nothing; status 1 when something would change"
    )
    group.add_argument("-q", "--quiet", action="store_true", help="only what is left")
    parser.set_defaults(run=run, mcp=[], mcp_url=[])


def run(options: argparse.Namespace) -> int:
    """Fix; what was done goes to standard output, what is left to standard error."""
    config = settings(options)
    work = _Fixing(options, config)
    done: set[str] = set()
    with _ending_in_order():
        for path in work.paths():
            place = path if path == STDIN else os.path.realpath(path)
            if place not in done:  # a patch that says things twice does not apply
                done.add(place)
                work.fix(path)
    return work.end()


@contextmanager
def _ending_in_order() -> Iterator[None]:
    """Let `kill` end the run as Ctrl-C does, so that no half of a file is left behind."""

    def end(number: int, _: object) -> None:
        raise SystemExit(128 + number)

    try:
        before = signal.signal(signal.SIGTERM, end)
    except ValueError:  # not the main thread, which alone is told
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


class _Fixing:
    """One run."""

    def __init__(self, options: argparse.Namespace, config: Config) -> None:
        self._options = options
        self._config = config
        self._dry = options.diff or options.check
        self._profiles = _profiles(options, config)
        self._library: dict[str, Any] = {}
        if options.bundle:
            from schemaguard.fix.bundle import library_of  # noqa: PLC0415  (needs referencing)

            self._library = library_of(options.bundle)
        self._failed = False
        self._walked: set[str] = set()  # files that a folder stood for, and nobody named
        self._recognised = not any(os.path.isdir(given) for given in options.files)
        self._files = self._changed = self._edits = self._lossy = self._left = 0

    def paths(self) -> Iterator[str]:
        """The files that the arguments name."""
        from schemaguard.sources import files  # noqa: PLC0415  (an import that --help can spare)

        config = self._config
        named = {os.path.normpath(given) for given in self._options.files}
        for given in self._options.files:
            if given == STDIN or _is_object(given):
                yield given
                continue
            try:
                found = list(
                    files.find(
                        [given],
                        include=config.include or files.INCLUDE,
                        exclude=config.exclude,
                        respect_gitignore=config.respect_gitignore,
                        force_exclude=self._options.force_exclude,
                        root=config.root,
                    )
                )
            except OSError as error:
                self._unreadable(error.filename or given, error.strerror or type(error).__name__)
                continue
            if not found and os.path.isdir(given):
                self._unreadable(given, "no file to fix in this folder")
            if os.path.isdir(given):
                self._walked.update({*map(os.path.normpath, found)} - named)
            yield from found

    def _unreadable(self, path: str, reason: str) -> None:
        self._failed = True
        warn(f"{printable(path)}: {printable(reason)}")

    def fix(self, path: str) -> None:
        """Fix one file; what cannot be read is said, and the run goes on."""
        label = path
        if path == STDIN:
            label = self._options.stdin_filename or path
        try:
            if path != STDIN and _is_object(path):
                self._said(self._look(path), aside=False)
                return
            if path != STDIN and not stat.S_ISREG(os.stat(path).st_mode):
                self._unreadable(path, "no regular file, so that it cannot be replaced")
                return
            content = content_of(path)
            made = fix_text(
                label,
                content,
                self._profiles,
                lossy=self._options.lossy,
                library=self._library,
                as_=self._options.kind,
                prefix=self._config.tool_prefix or "",
            )
        except OSError as error:
            self._unreadable(path, error.strerror or type(error).__name__)
            return
        except (SourceError, MissingExtra) as error:
            self._unreadable(path, str(error).removeprefix(f"{path}: "))
            return
        if made.foreign and os.path.normpath(path) in self._walked:
            return  # a folder holds files that are none of our business
        self._recognised = self._recognised or not made.foreign
        writes = made.changed and not self._dry
        if writes and path != STDIN and not self._write(path, content, made):
            self._files += 1
            return
        self._said(made, aside=path == STDIN)
        if path == STDIN and not self._dry:
            with Output(None) as output:
                output.write(made.after or "", utf_8=True)

    def _look(self, target: str) -> FileFix:
        """What is to be said of a Python object, which is read only."""
        from schemaguard.sources import python  # noqa: PLC0415  (only where it is asked for)

        kind = self._options.kind
        return fix_source(
            python.load(target), self._profiles, as_=kind, prefix=self._config.tool_prefix or ""
        )

    def _said(self, made: FileFix, *, aside: bool) -> None:
        self._files += 1
        self._changed += made.changed
        self._say(made, aside=aside)

    def _write(self, path: str, content: bytes, made: FileFix) -> bool:
        """Replace a file; where that fails it stays, is said, and the others are still fixed."""
        mark = "\ufeff" if content.startswith(b"\xef\xbb\xbf") else ""
        try:
            _replace(path, content, mark + (made.after or ""))
        except SchemaguardError as error:
            self._failed = True
            warn(str(error))
            return False
        except OSError as error:
            self._unreadable(path, error.strerror or type(error).__name__)
            return False
        return True

    def _say(self, made: FileFix, *, aside: bool) -> None:
        """Say what was done; on standard error where standard output has something else."""
        quiet = self._options.quiet or self._options.diff
        for tool in made.tools:
            result = tool.result
            self._edits += len(result.edits)
            self._lossy += len(result.lossy)
            self._left += len(result.remaining)
            for edit in (*result.edits, *result.lossy):
                if edit.lossy or not quiet:
                    lossy = " (lossy)" if edit.lossy else ""
                    line = f"{_place(made, tool, edit.pointer)}: {edit.code}{lossy} {edit.what}"
                    print(printable(line), file=sys.stderr if quiet or aside else sys.stdout)
            for left in result.remaining:
                where = _place(made, tool, left.pointer)
                line = f"{where}: {left.profile}: {left.code} {left.message}; not fixed: "
                print(printable(line + left.reason), file=sys.stderr)
        self._left += len(made.about) + len(made.problems)
        for left in made.about:
            where = f"{made.path}: #{cut(left.pointer, _SHOWN)}"
            line = f"{where}: {left.profile}: {left.code} {left.message}; not fixed: {left.reason}"
            print(printable(line), file=sys.stderr)
        for pointer, reason in made.problems:
            line = f"{made.path}: #{cut(pointer, _SHOWN)}: not fixed: {reason}"
            print(printable(line), file=sys.stderr)
        if self._options.diff and made.changed:
            sys.stdout.write(_diff(made))

    def end(self) -> int:
        """Sum up; returns the exit status."""
        if not self._recognised and not self._failed:
            folder = next(given for given in self._options.files if os.path.isdir(given))
            self._unreadable(folder, "no tool and no schema in the files of this folder")
        if not self._options.quiet and (self._files or not self._failed):
            done = "would be changed" if self._dry else "changed"
            lossy = f", {self._lossy:,} lossy" if self._lossy else ""
            print(
                f"{counted(self._files, 'file')}, {self._changed:,} {done}: "
                f"{counted(self._edits, 'edit')}{lossy}, "
                f"{self._left:,} left",
                file=sys.stderr,
            )
        if self._failed:
            return 2
        return 1 if self._left or (self._dry and self._changed) else 0


def _is_object(path: str) -> bool:
    """Whether a path that is no file names a Python object."""
    if ":" not in path or os.path.lexists(path):
        return False
    from schemaguard.sources import python  # noqa: PLC0415  (only where it is asked for)

    return python.is_target(path)


def _replace(path: str, content: bytes, text: str) -> None:
    with Output(path) as output:
        output.write(text)
        if content_of(path) != content:
            raise SchemaguardError(f"{printable(path)}: it was changed while it was fixed")


def _profiles(options: argparse.Namespace, config: Config) -> list[Profile]:
    names = [name.strip() for given in options.profiles for name in given.split(",")]
    names = [name for name in names if name] or [config.profile or DEFAULT_PROFILE]
    profiles = [configuration.profile_of(name, config) for name in dict.fromkeys(names)]
    own = (config.select, config.ignore, config.extend_select, config.extend_ignore)
    if not (any(own) or config.severity or config.select == ()):
        return profiles
    from schemaguard.select import Layer, adjusted  # noqa: PLC0415  (only where it is needed)

    # What the check is not asked for is not fixed, and not left.
    where = printable(config.path or "configuration")
    ignored = (*(config.ignore or ()), *config.extend_ignore)
    layer = Layer(where, config.select, ignored, config.extend_select)
    return [adjusted(profile, [layer], config.severity) for profile in profiles]


def _place(made: FileFix, tool: ToolFix, pointer: str) -> str:
    named = f"tool '{cut(tool.name, _SHOWN)}' > " if tool.name else ""
    return f"{made.path}: {named}#{cut(tool.pointer + pointer, _SHOWN)}"


def _diff(made: FileFix) -> str:
    """A unified diff, with the line endings of the file."""
    old = (made.before or "").splitlines(keepends=True)
    new = (made.after or "").splitlines(keepends=True)
    name = printable(made.path)
    lines = []
    for line in difflib.unified_diff(old, new, name, name):
        ended = line.endswith("\n")
        lines.append(line if ended else line + "\n\\ No newline at end of file\n")
    text = "".join(lines)
    return text.encode("utf-8", "backslashreplace").decode()

"""A run over files: the settings that count, and one report after the other.

Reports are handed on as they are made, so that a run over any number of files needs the memory of
one.
"""

from __future__ import annotations

import os
import sys
import time

from schemaguard import config as configuration
from schemaguard import lint
from schemaguard.document import DEFAULT_LIMITS
from schemaguard.errors import MissingExtra, printable
from schemaguard.plan import compiled
from schemaguard.preflight import DEFAULT_PROFILE
from schemaguard.rules import TOOL, TOOLSET
from schemaguard.sources import SourceError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Iterator
    from types import TracebackType
    from typing import Self

    from schemaguard.baseline import Baseline
    from schemaguard.cli.workers import Workers
    from schemaguard.config import Config
    from schemaguard.lint import FileReport, Refine
    from schemaguard.profiles import Profile
    from schemaguard.select import Ignores
    from schemaguard.sources import Source

STDIN = "-"


def _is_folder(given: str) -> bool:
    return given != STDIN and os.path.isdir(given)


def _is_foreign(report: FileReport) -> bool:
    """Whether a file was read and is nothing that holds schemas."""
    return report.kind is None and {f.name for f in report.findings} == {"nothing-to-check"}


_BINARY = getattr(os, "O_BINARY", 0)


def _nothing() -> None:
    pass


#: A run that takes longer than so many seconds gets help, when nobody says how many processes it
#: is to be: to start one takes about a twentieth of a second.
_ALONE = 1.0
#: More are seldom of use: what they find is sorted, counted and written by one.
_MOST_USEFUL = 8


def _useful_processes() -> int:
    try:
        processors = len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        processors = os.cpu_count() or 1
    return min(processors, _MOST_USEFUL) if sys.executable else 1


def warn(message: str) -> None:
    """One line on standard error. The message must be safe to print."""
    print(f"schemaguard: {message}", file=sys.stderr)


def said(report: FileReport) -> bool:
    """Whether a file has schemas; what is wrong with it is said on standard error."""
    from schemaguard.render import MAX_SHOWN  # noqa: PLC0415  (only for a command that asks)

    for finding in report.findings:
        if finding.rule.on[0] in (TOOL, TOOLSET):
            continue  # about its tools, not about the file
        what = f"{report.path}: {finding.code} {finding.name}: {finding.message[:MAX_SHOWN]}"
        warn(printable(what))
    return bool(report.tools)


def settings(options: argparse.Namespace) -> Config:
    """The configuration that a command line asks for.

    Raises:
        ConfigError: it is wrong, or the inputs do not go together.
    """
    _check_inputs(options)
    if options.config is not None:
        if options.isolated:
            raise configuration.ConfigError("--config and --isolated exclude each other")
        return configuration.load(options.config)
    if options.isolated:
        return configuration.Config(None, os.getcwd())
    # "path.py:object" is a file as far as its place goes; a module's name is in the working folder.
    return configuration.discover([path for path in _labels(options) if path != STDIN])


def _labels(options: argparse.Namespace) -> list[str]:
    return [options.stdin_filename or p if p == STDIN else p for p in options.files]


def _check_inputs(options: argparse.Namespace) -> None:
    wrong = None
    if options.stdin_filename is not None and STDIN not in options.files:
        wrong = "--stdin-filename is for standard input: name - as well"
    elif not (options.files or options.mcp or options.mcp_url):
        wrong = "nothing to check: name files or folders, - for standard input, or an MCP server"
    elif options.files.count(STDIN) > 1:
        wrong = "standard input (-) can be read once"
    if wrong is not None:
        raise configuration.ConfigError(wrong)


class Run:
    """One run, as a context manager: the processes that it has started end with it.

    Attributes:
        config: the configuration.
        profile: with the rules that were chosen.
        failed: something could not be read, and was said.
        wants_text, wants_budgets: what the output needs of a report besides its findings.
        before_warning: called before that is said.

    Args:
        options: of the command line.
        config: see `settings`.
        baseline: path of the baseline to hold findings against; None for none.
        refine: what makes of each schema's report the one that counts; None: `--compile` says.

    Raises:
        ConfigError: the settings are wrong.
        ProfileError: there is no such profile.
    """

    def __init__(
        self,
        options: argparse.Namespace,
        config: Config,
        baseline: str | None = None,
        refine: Refine | None = None,
    ) -> None:
        self.config = config
        self.failed = False
        self.before_warning: Callable[[], None] = _nothing
        self.wants_text = bool(getattr(options, "show_source", False))
        self.wants_budgets = bool(getattr(options, "budgets", False))
        self._options = options
        name = getattr(options, "profile", None) or config.profile or DEFAULT_PROFILE
        known = configuration.profile_of(name, config)
        basis = getattr(options, "min_basis", None) or config.min_basis
        self.profile = self._chosen(known if basis is None else known.at_least(basis))
        self._prefix = getattr(options, "tool_prefix", None) or config.tool_prefix or ""
        compiled(self.profile)
        # Files of folders; and those of them that are named as well, which count as named.
        self._walked: set[str] = set()
        self._walked_and_named: set[str] = set()
        self._jobs: int | str = 1
        if hasattr(options, "jobs"):  # other commands want the schemas, which are here alone
            self._jobs = options.jobs or config.jobs or configuration.AUTO
        self._workers: Workers | None = None
        self._refine = refine
        if self._jobs in {1, configuration.AUTO}:
            self._engine()  # that it is missing is said before any work
        self._ignores: Ignores | None = None
        if config.per_file_ignores:
            from schemaguard.select import Ignores  # noqa: PLC0415  (only where there are some)

            where = f"{printable(config.path or '')}: per-file-ignores"
            self._ignores = Ignores(config.per_file_ignores, config.root, where)
        self._baseline: Baseline | None = None
        if baseline is not None:
            from schemaguard.baseline import load  # noqa: PLC0415  (only where there is one)

            self._baseline = load(baseline, config.root)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._workers is not None:
            self._workers.end(killed=kind is not None)

    def _engine(self) -> Refine | None:
        """What compiles accepted schemas, when that was asked for."""
        if self._refine is None and getattr(self._options, "compile", False):
            from schemaguard.cli.engine import asked  # noqa: PLC0415  (loads the engine)

            self._refine = asked()
        return self._refine

    def _chosen(self, profile: Profile) -> Profile:
        config, options = self.config, self._options
        given = {
            name: getattr(options, name, None)
            for name in ("select", "ignore", "extend_select", "extend_ignore")
        }
        own = (config.select, config.ignore, config.extend_select, config.extend_ignore)
        if not (any(own) or any(given.values()) or config.severity or config.select == ()):
            return profile
        from schemaguard.select import Layer, adjusted  # noqa: PLC0415  (only where it is needed)

        where = printable(config.path or "configuration")
        layers = [
            Layer(where, own[0], (*(own[1] or ()), *own[3]), own[2]),
            Layer(
                "command line",
                given["select"],
                [*(given["ignore"] or ()), *(given["extend_ignore"] or ())],
                given["extend_select"] or (),
            ),
        ]
        return adjusted(profile, layers, config.severity)

    def reports(self) -> Iterator[FileReport]:
        """What is found, file by file; what cannot be read is said and left out."""
        recognised = False
        named: set[str] = set()
        for path, report in self._answers(self._paths()):
            if isinstance(report, str):
                self.unreadable(path, report)
                continue
            if os.path.normpath(path) in self._walked:
                # A folder holds files that are none of our business: those are passed over.
                if _is_foreign(report):
                    continue
                recognised = True
            elif not _is_foreign(report):
                named.add(os.path.normpath(path))
            yield self._reduced(report)
        recognised = recognised or not named.isdisjoint(self._walked_and_named)
        if self._walked and not recognised and not self.failed:
            folder = next(path for path in self._options.files if os.path.isdir(path))
            self.unreadable(folder, "no tool and no schema in the files of this folder")
        for text, is_url in self._servers():
            try:
                source = _ask(text, is_url=is_url)
            except (SourceError, MissingExtra) as error:
                # The message names the server, and a URL without what may be a secret in it.
                self.failed = True
                self.before_warning()
                warn(printable(str(error)))
                continue
            self._engine()
            yield self._reduced(self._check_source(source))

    def _servers(self) -> Iterator[tuple[str, bool]]:
        for command in self._options.mcp:
            yield command, False
        for url in self._options.mcp_url:
            yield url, True

    def _paths(self) -> Iterator[str]:
        seen: set[str] = set()
        folders = {given for given in self._options.files if _is_folder(given)}
        named = {os.path.normpath(given) for given in self._options.files if given not in folders}
        for given in self._options.files:
            try:
                for path in self._found(given):
                    same = os.path.normpath(path)
                    if given in folders:
                        (self._walked_and_named if same in named else self._walked).add(same)
                    if same not in seen:
                        seen.add(same)
                        yield path
            except OSError as error:
                self.unreadable(error.filename or given, error.strerror or type(error).__name__)

    def _found(self, given: str) -> Iterable[str]:
        """The files that a path stands for."""
        force = self._options.force_exclude
        is_folder = _is_folder(given)
        if not is_folder and not force:
            return (given,)
        from schemaguard.sources import files  # noqa: PLC0415  (few runs need it)

        config = self.config
        label = self._options.stdin_filename if given == STDIN else given
        found = list(
            files.find(
                [label or given],
                include=config.include or files.INCLUDE,
                exclude=config.exclude,
                respect_gitignore=config.respect_gitignore,
                force_exclude=force,
                root=config.root,
            )
        )
        if is_folder and not found and not force:
            self.unreadable(given, "no file to check in this folder")
        return (given,) if found and not is_folder else found

    def _answers(self, paths: Iterator[str]) -> Iterator[tuple[str, FileReport | str]]:
        """What is found in each file, in their order, by as many processes as it takes."""
        jobs, alone = self._jobs, 0.0
        if not isinstance(jobs, int):
            # An engine in each would take seconds and gigabytes: that has to be asked for.
            compiles = getattr(self._options, "compile", False)
            jobs, alone = 1 if compiles else _useful_processes(), _ALONE
        if jobs == 1 or alone:
            until = time.monotonic() + alone
            for path in paths:
                yield path, self.look(path)
                if jobs > 1 and time.monotonic() > until:
                    break
            else:
                return
        from schemaguard.cli.workers import Workers, in_messages  # noqa: PLC0415  (long runs)

        self._workers = Workers(jobs, self._options, self.config)
        yield from self._workers.answers(in_messages(paths), self.look)

    def look(self, path: str) -> FileReport | str:
        """What is found in one file, whatever is ignored or known; or why it cannot be read."""
        label = self._options.stdin_filename if path == STDIN else None
        self._engine()
        try:
            source = self._elsewhere(path)
            if source is not None:
                return self._check_source(source)
            content = content_of(path)
            return self._check(label or path, content)
        except OSError as error:
            return error.strerror or type(error).__name__
        except (SourceError, MissingExtra) as error:
            return str(error)

    def _elsewhere(self, path: str) -> Source | None:
        """What a path that is no file stands for."""
        if ":" not in path or os.path.lexists(path):
            return None
        from schemaguard.sources import python  # noqa: PLC0415  (only where it is asked for)

        return python.load(path) if python.is_target(path) else None

    def _check_source(self, source: Source) -> FileReport:
        kind = self._options.kind
        return lint.check_source(
            source, self.profile, as_=kind, refine=self._refine, prefix=self._prefix
        )

    def _check(self, path: str, content: bytes) -> FileReport:
        report = self._check_text(path, content, self.profile)
        if self._ignores is not None and any(t.report.truncated for t in report.tools):
            # What is ignored must not take the places of what is not: leave it out from the start.
            from schemaguard.select import reduced  # noqa: PLC0415

            profile = reduced(self.profile, self._ignores.whole_file(path))
            report = self._check_text(path, content, profile)
        return report

    def _check_text(self, path: str, content: bytes, profile: Profile) -> FileReport:
        kind = self._options.kind
        return lint.check_text(
            path, content, profile, as_=kind, refine=self._refine, prefix=self._prefix
        )

    def _reduced(self, report: FileReport) -> FileReport:
        """Without what is ignored or known."""
        if self._ignores is not None:
            report = self._ignores.apply(report)
        if self._baseline is not None:
            report = self._baseline.apply(report)
        return report

    def unreadable(self, path: str, reason: str) -> None:
        """Say that something cannot be read; the run goes on and ends with status 2."""
        self.failed = True
        self.before_warning()
        warn(f"{printable(path)}: {printable(reason.removeprefix(f'{path}: '))}")

    def leftovers(self) -> None:
        """After the last report: say which ignores and which known findings are not needed."""
        if self._ignores is not None:
            for key, selector in self._ignores.unused():
                what = f'per-file-ignores "{key[:200]}": {selector[:80]} ignores nothing'
                warn(f"{printable(self.config.path or '')}: {printable(what)}")
        if self._baseline is not None:
            removable = self._baseline.removable()
            for (path, tool, pointer, code), count in removable[:_SHOWN]:
                place = f"tool '{tool[:100]}' > #{pointer[:200]}" if tool else f"#{pointer[:200]}"
                times = f" ({count} times)" if count > 1 else ""
                warn(f"baseline: {printable(f'{path[:200]}: {code} {place}')}{times} is fixed")
            if removable:
                more = f" ({len(removable) - _SHOWN:,} more)" if len(removable) > _SHOWN else ""
                warn(f"baseline: write it again to remove what is fixed{more}")


def _ask(text: str, *, is_url: bool) -> Source:
    """The tools of an MCP server.

    Raises:
        ConfigError: the command or the URL is none.
        MissingExtra, SourceError: see `sources.mcp`.
    """
    import shlex  # noqa: PLC0415  (few runs ask a server)

    try:
        from schemaguard.sources import mcp  # noqa: PLC0415  (an extra)

        return mcp.list_tools(url=text) if is_url else mcp.list_tools(shlex.split(text))
    except ValueError as error:
        option = "--mcp-url" if is_url else "--mcp"
        raise configuration.ConfigError(f"{option}: {error}") from error


#: How many fixed findings are listed.
_SHOWN = 10


def content_of(path: str) -> bytes:
    """A file's content, and one byte more than is allowed at the most: the reader then says so."""
    most = DEFAULT_LIMITS.max_bytes + 1
    if path == STDIN:
        return sys.stdin.buffer.read(most)
    # Not `open(…).read(most)`: it sets 16 MiB of memory aside for every small file.
    descriptor = os.open(path, os.O_RDONLY | _BINARY)
    try:
        size = os.fstat(descriptor).st_size
        content = os.read(descriptor, min(size + 1, most))
        if len(content) == size:
            return content
        # It is growing, or no regular file, and its size says nothing.
        parts = [content]
        left = most - len(content)
        while left and parts[-1]:
            parts.append(os.read(descriptor, min(left, 1 << 20)))
            left -= len(parts[-1])
        return b"".join(parts)
    finally:
        os.close(descriptor)

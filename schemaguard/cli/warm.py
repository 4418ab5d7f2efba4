"""`schemaguard warm PATH…`: compile the tools that a fleet knows, and write down how that went."""

from __future__ import annotations

import os
import sys
import time

from schemaguard.cli.options import add_inputs, add_output
from schemaguard.cli.output import Output
from schemaguard.cli.progress import Bar
from schemaguard.cli.run import Run, said, settings, warn
from schemaguard.cli.tokenizer import add_tokenizer, tokenizer
from schemaguard.config import ConfigError
from schemaguard.errors import counted, cut
from schemaguard.render import MAX_SHOWN
from schemaguard.render.color import painter, use_color

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator
    from typing import Any

    from schemaguard.grammar import Tokenizer
    from schemaguard.grammar.store import VerdictStore
    from schemaguard.grammar.warming import Warmed
    from schemaguard.lint import CheckedTool, FileReport
    from schemaguard.report import Accepted

#: Seconds for one call of the store: nobody waits for an answer here.
_STORE_TIMEOUT = 5.0

#: How many of the rows that took longest are printed; JSON has all.
_LONGEST = 20

#: Columns of the name of a tool.
_NAME = 40

#: How a tool may end.
COMPILED, KNOWN, REFUSED, REJECTED = "compiled", "known", "refused", "rejected"


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommand's options."""
    parser.description = (
        "Compile the tools of requests, definitions and tools/list answers, each in a worker with "
        "limits first, and write to the verdict store how that ended, so that a server with this "
        "store and tokenizer, and the default options of Compiler, need not find out. Status 1 is "
        "for tools that are rejected or refused, 2 also for a store that cannot be written to."
    )
    add_inputs(parser)
    add_tokenizer(parser)
    group = parser.add_argument_group("store")
    group.add_argument(
        "--store",
        metavar="PLACE",
        help="a file, or redis://, rediss:// or unix://; by default a file in the cache folder",
    )
    group = parser.add_argument_group("output")
    group.add_argument("--output-format", dest="output", choices=("text", "json"), default="text")
    add_output(parser)
    group.add_argument("--all", action="store_true", help="text: a row for every tool")
    group.add_argument("--color", choices=("auto", "always", "never"), default="auto")
    group.add_argument("-q", "--quiet", action="store_true", help="no summary, no progress")
    group = parser.add_argument_group("exit status")
    group.add_argument(
        "--exit-zero", action="store_true", help="tools that do not compile do not fail"
    )
    parser.set_defaults(run=run)


class _Tool:
    """A tool, and what became of it."""

    def __init__(self, report: FileReport, tool: CheckedTool) -> None:
        self.path = report.path
        self.name = tool.name
        self.pointer = tool.pointer
        self.accepted: Accepted | None = tool.report.accepted
        self.outcome = REJECTED
        self.reason: str | None = None
        self.message = ""
        self.at: str | None = None
        self.trial: float | None = None
        self.seconds = 0.0
        self.bytes = 0
        if self.accepted is None:
            first = tool.report.errors[0]
            self.message = f"{first.code} {first.name}: {cut(first.message, MAX_SHOWN)}"
            self.at = first.pointer

    def finish(self, done: Warmed) -> None:
        """Take over how compiling went."""
        self.seconds = done.seconds
        if done.error is not None:
            self.outcome, self.reason = REFUSED, done.error.reason
            self.message, self.at = done.error.message, done.error.pointer
        elif done.stats is not None:
            self.trial = done.stats.trial_seconds
            self.outcome = COMPILED if self.trial is not None else KNOWN
            self.bytes = done.stats.bytes

    @property
    def compiles(self) -> bool:
        return self.outcome in (COMPILED, KNOWN)


def run(options: argparse.Namespace) -> int:
    """Compile; the table goes to standard output or the file, all else to standard error."""
    began = time.perf_counter()
    work = Run(options, settings(options))
    vocabulary = tokenizer(options)
    store = _store(options.store)
    tools: list[_Tool] = []
    empty = False
    with store, Output(options.output_file) as output, work:
        for report in work.reports():
            empty = not said(report) or empty
            tools.extend(_Tool(report, tool) for tool in report.tools)
        _compile(tools, vocabulary, store, wanted=not options.quiet)
        seconds = time.perf_counter() - began
        if options.output == "json":
            from schemaguard.render.common import dumps  # noqa: PLC0415  (only for JSON)

            output.write(dumps(_object(tools, vocabulary, store, seconds)), utf_8=True)
        else:
            paint = painter(use_color(options.color, output.stream, os.environ))
            shown = tools if options.all else _longest(tools)
            output.write("".join(f"{line}\n" for line in _table(shown, paint)))
    stats = store.stats
    if stats.errors:
        warn(f"verdict store: {stats.last_error} ({counted(stats.errors, 'error')})")
    if not options.quiet and options.output == "text":
        print(_summary(tools, seconds), file=sys.stderr)
    if work.failed or stats.errors:
        return 2
    failing = empty or not all(tool.compiles for tool in tools)
    return 1 if failing and not options.exit_zero else 0


def _store(place: str | None) -> VerdictStore:
    from schemaguard.grammar.store import named  # noqa: PLC0415  (only here)

    try:
        return named(place, timeout=_STORE_TIMEOUT)
    except ValueError as error:
        raise ConfigError(f"--store: {error}") from error


def _compile(
    tools: list[_Tool], vocabulary: Tokenizer, store: VerdictStore, *, wanted: bool
) -> None:
    from schemaguard.grammar import Compiler  # noqa: PLC0415  (loads the engine)

    accepted = [(tool, tool.accepted) for tool in tools if tool.accepted is not None]
    if not accepted:
        return
    bar = Bar(len(accepted), wanted=wanted)
    waiting = iter(accepted)

    def on_done(done: Warmed) -> None:
        next(waiting)[0].finish(done)
        bar.step()

    try:
        with Compiler(vocabulary, isolation="process", store=store) as compiler:
            compiler.start()  # before the first trial, whose time it would be
            compiler.warm((schema for _, schema in accepted), on_done=on_done)
    finally:
        bar.clear()


# What is said -----------------------------------------------------------------------------------


def _longest(tools: list[_Tool]) -> list[_Tool]:
    """Those that do not compile, and those that took longest, in the order of the files."""
    good = sorted((tool for tool in tools if tool.compiles), key=lambda tool: -tool.seconds)
    kept = {id(tool) for tool in good[:_LONGEST]}
    return [tool for tool in tools if not tool.compiles or id(tool) in kept]


def _table(tools: list[_Tool], paint: Callable[[str, str], str]) -> Iterator[str]:
    from schemaguard.render.common import safe  # noqa: PLC0415  (only for text)

    if not tools:
        return
    yield paint("dim", f"{'tool':<{_NAME}} {'':<9}{'trial':>11}{'compile':>11}{'grammar':>12}")
    for tool in tools:
        name = cut(safe(tool.name or f"{tool.path}#{tool.pointer}"), _NAME - 3)
        row = f"{name:<{_NAME}} "
        if tool.compiles:
            made = tool.seconds - (tool.trial or 0.0)
            trial = "" if tool.trial is None else _milliseconds(tool.trial)
            row += f"{tool.outcome:<9}{trial:>11}{_milliseconds(made):>11}{_size(tool.bytes):>12}"
            yield row
            continue
        yield row + paint("error", tool.outcome)
        at = "" if tool.at is None else f" (at #{cut(tool.at, MAX_SHOWN)})"
        reason = "" if tool.reason is None else f"{tool.reason}: "
        yield safe(f"  {cut(tool.path, MAX_SHOWN)}#{cut(tool.pointer, MAX_SHOWN)}")
        yield safe(f"  {reason}{tool.message}{at}")


def _milliseconds(seconds: float) -> str:
    return f"{1000 * seconds:,.1f} ms"


def _size(size: int) -> str:
    return f"{size / 1024:,.0f} KiB"


def _summary(tools: list[_Tool], seconds: float) -> str:
    counts = dict.fromkeys((COMPILED, KNOWN, REFUSED, REJECTED), 0)
    for tool in tools:
        counts[tool.outcome] += 1
    parts = ", ".join(f"{count:,} {outcome}" for outcome, count in counts.items() if count)
    size = sum(tool.bytes for tool in tools)
    done = f"{size / 1048576:,.1f} MiB in {seconds:.1f} s"
    return f"{counted(len(tools), 'tool')}: {parts or 'none'}; {done}"


def _object(
    tools: list[_Tool], vocabulary: Tokenizer, store: VerdictStore, seconds: float
) -> dict[str, Any]:
    stats = store.stats
    return {
        "version": 1,
        "seconds": round(seconds, 6),
        "tokenizer": {
            "kind": vocabulary.kind,
            "vocab_size": vocabulary.vocab_size,
            "fingerprint": vocabulary.fingerprint,
        },
        "store": {
            "hits": stats.hits,
            "misses": stats.misses,
            "errors": stats.errors,
            "last_error": stats.last_error,
        },
        "tools": [_row(tool) for tool in tools],
    }


def _row(tool: _Tool) -> dict[str, Any]:
    from schemaguard.render.common import brief  # noqa: PLC0415  (only for JSON)

    return {
        "path": brief(tool.path),
        "tool": None if tool.name is None else brief(tool.name),
        "pointer": brief(tool.pointer),
        "outcome": tool.outcome,
        "reason": tool.reason,
        "message": brief(tool.message),
        "schema_pointer": None if tool.at is None else brief(tool.at),
        "seconds": round(tool.seconds, 6),
        "trial_seconds": None if tool.trial is None else round(tool.trial, 6),
        "grammar_bytes": tool.bytes,
    }

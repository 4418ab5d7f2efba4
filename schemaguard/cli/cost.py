"""`schemaguard cost PATH…`: what compiling each schema costs, estimated and measured."""

from __future__ import annotations

import os
from importlib.util import find_spec

from schemaguard._closing import Closing
from schemaguard.cli.options import add_inputs, add_output
from schemaguard.cli.output import Output
from schemaguard.cli.run import Run, said, settings
from schemaguard.cli.tokenizer import BYTES, add_tokenizer, tokenizer
from schemaguard.errors import MissingExtra, cut
from schemaguard.estimate import estimate, prefers_dynamic
from schemaguard.prices import VOCABULARY
from schemaguard.render import MAX_SHOWN
from schemaguard.render.color import painter, use_color

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator
    from typing import Any

    from schemaguard.estimate import Estimate
    from schemaguard.grammar.worker import Outcome
    from schemaguard.lint import CheckedTool, FileReport

#: Whose rules say what is too dear.
_PROFILE = "xgrammar"

#: Limits of one measurement: it is to show what a dear schema costs, so they are wide.
_SECONDS = 10.0
_MEMORY = 2 << 30

#: Steps of an output along which masks are measured, and outputs drawn at random.
_MASKS = 200
_SEEDS = 3

#: From where on time is shown in seconds, and no longer; memory in GiB, and no longer.
_LONG, _HOURS = 10.0, 7200.0
_LARGE, _TERABYTES = 10 << 30, 10 << 40

#: How much of a pointer is shown.
_SHOWN = 70


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommand's options."""
    parser.description = (
        "Say what compiling each schema costs: estimated for a vocabulary of "
        f"{VOCABULARY:,} tokens, and measured with the engine at hand, in a process with limits; "
        "and which parts cost most. What is measured is the vocabulary of --tokenizer, by default "
        "the 256 bytes: far less than the estimate, and no check of it. Status 1 is for schemas "
        "that are too dear, or did not compile, and for files without a schema."
    )
    add_inputs(parser)
    add_tokenizer(parser, default=BYTES)
    group = parser.add_argument_group("measurement")
    group.add_argument(
        "--no-measure", action="store_true", help="the estimate alone: needs no engine"
    )
    group = parser.add_argument_group("output")
    group.add_argument("--output-format", choices=("text", "json"), default="text")
    group.add_argument("--color", choices=("auto", "always", "never"), default="auto")
    add_output(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """One schema after the other; each is written as it is done."""
    options.profile = options.profile or _PROFILE
    work = Run(options, settings(options))
    rows: list[dict[str, Any]] = []
    nothing = dear = False
    with _Meter(options) as meter, Output(options.output_file) as output, work:
        paint = painter(use_color(options.color, output.stream, os.environ))
        for report in work.reports():
            nothing = not said(report) or nothing
            for tool in report.tools:
                found = _Cost(report, tool, meter)
                dear = dear or found.is_dear
                if options.output_format == "json":
                    rows.append(_row(found))
                else:
                    output.write("".join(f"{line}\n" for line in _text(found, meter, paint)))
        if options.output_format == "json":
            from schemaguard.render.common import dumps  # noqa: PLC0415  (only for JSON)

            output.write(dumps({"version": 1, **meter.about(), "schemas": rows}), utf_8=True)
    if work.failed:
        return 2
    return 1 if nothing or dear else 0


class _Meter(Closing):
    """Measures in a worker process; without an engine, when that is asked for, not at all."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._workers: Any = None
        self.vocabulary: Any = None
        self._place = options.tokenizer
        self.worst: float | None = None
        if options.no_measure:
            return
        if find_spec("xgrammar") is None:  # to import it takes seconds, and the worker does
            raise MissingExtra(
                "measuring needs xgrammar: pip install 'schemaguard-preflight[xgrammar]'; the "
                "estimate alone, with --no-measure, does not"
            )
        from schemaguard.grammar.compiler import MAX_WHITESPACE  # noqa: PLC0415  (the engine)
        from schemaguard.grammar.worker import Limits, Workers  # noqa: PLC0415

        self.vocabulary = tokenizer(options)
        self._workers = Workers(
            self.vocabulary,
            {"any_whitespace": True, "strict_mode": True, "max_whitespace_cnt": MAX_WHITESPACE},
            limits=Limits(seconds=_SECONDS, memory_bytes=_MEMORY),
        )

    def close(self) -> None:
        """End the worker, if there is one."""
        if self._workers is not None:
            self._workers.close()

    def measure(self, text: str) -> Outcome | None:
        """The worst of some runs, each with other outputs; None when nothing is measured.

        The first run compiles; the others find the grammar and fill masks.
        """
        if self._workers is None:
            return None
        first: Outcome = self._workers.run(text, masks=_MASKS)
        worst = first.mask_seconds
        for seed in range(1, _SEEDS):
            if first.reason is not None:
                break
            again: Outcome = self._workers.run(text, masks=_MASKS, seed=seed)
            if again.reason is not None:
                return again
            worst = max(worst or 0.0, again.mask_seconds or 0.0)
        self.worst = worst
        return first

    @property
    def over(self) -> str:
        """What was measured over; who named no tokenizer compares it with another estimate."""
        size = f"{self.vocabulary.vocab_size:,} tokens"
        if self._place != BYTES:
            return size
        return f"over bytes, {size}; --tokenizer FILE measures over yours"

    def about(self) -> dict[str, Any]:
        """What the numbers are for, as JSON."""
        measured = None
        if self.vocabulary is not None:
            measured = {"kind": self.vocabulary.kind, "vocab_size": self.vocabulary.vocab_size}
        return {"estimated_for": {"vocab_size": VOCABULARY}, "measured_with": measured}


class _Cost:
    """What is known of one schema."""

    def __init__(self, report: FileReport, tool: CheckedTool, meter: _Meter) -> None:
        self.path = report.path
        self.name = tool.name
        self.pointer = tool.pointer
        self.estimate: Estimate = estimate(tool.report)
        self.dear = [error for error in tool.report.errors if error.code.startswith("SG8")]
        self.outcome: Outcome | None = None
        self.mask: float | None = None
        text = _text_of(tool)
        if text is not None:
            self.outcome = meter.measure(text)
            if self.outcome is not None and self.outcome.reason is None:
                self.mask = meter.worst

    @property
    def is_dear(self) -> bool:
        failed = self.outcome is not None and self.outcome.reason is not None
        return bool(self.dear) or failed


def _text_of(tool: CheckedTool) -> str | None:
    """The schema as the engine gets it; None when it has no JSON text."""
    from schemaguard import data  # noqa: PLC0415  (only here)

    document = tool.report.document
    if document.text is not None:
        return document.text
    return data.dumps(document.value, 1 << 24) if document.readable else None


# What is said -----------------------------------------------------------------------------------


def _text(found: _Cost, meter: _Meter, paint: Callable[[str, str], str]) -> Iterator[str]:
    from schemaguard.render.common import safe, safe_path  # noqa: PLC0415  (only for text)

    name = "" if found.name is None else f"tool '{cut(found.name, _SHOWN)}' > "
    heading = safe(f"{name}#{cut(found.pointer, _SHOWN)}")
    yield f"{paint('path', safe_path(found.path))}: {heading}"
    guess = found.estimate
    least = "" if guess.complete else "at least "
    on_demand = prefers_dynamic(guess) and not found.is_dear
    yield (
        f"  estimated {least}{_time(guess.seconds)}, {_size(guess.bytes)}, {guess.rules:,} rules"
        f" ({VOCABULARY:,} tokens){'; would be compiled on demand' if on_demand else ''}"
    )
    outcome = found.outcome
    if outcome is not None and outcome.reason is None:
        mask = "" if found.mask is None else f", worst mask {1000 * found.mask:,.2f} ms"
        yield (
            f"  measured  {_time(outcome.seconds)}, {_size(outcome.peak_bytes)}{mask}"
            f" ({meter.over})"
        )
    elif outcome is not None:
        why = safe(f"{outcome.reason}: {cut(outcome.message, MAX_SHOWN)}")
        yield f"  measured  {paint('error', why)}"
    for error in found.dear:
        where = cut(error.pointer_within(_SHOWN), _SHOWN)
        what = safe(f"{error.code} {error.name} at #{where}: {cut(error.message, MAX_SHOWN)}")
        yield f"  {paint('error', what)}"
    for pointer, share in guess.contributors:
        yield paint("dim", safe(f"  {100 * share:>5.0f} % #{cut(pointer, _SHOWN)}"))


def _time(seconds: float) -> str:
    """What is far too dear is told apart no further: nobody waits for it."""
    if seconds < _LONG:
        return f"{1000 * seconds:,.0f} ms"
    return f"{seconds:,.0f} s" if seconds < _HOURS else f"over {_HOURS / 3600:.0f} hours"


def _size(size: int) -> str:
    """As with time: more than any machine has is one thing."""
    if size < _LARGE:
        return f"{size / (1 << 20):,.0f} MiB"
    return f"{size / (1 << 30):,.0f} GiB" if size < _TERABYTES else f"over {_TERABYTES >> 40} TiB"


def _row(found: _Cost) -> dict[str, Any]:
    from schemaguard.render.common import brief  # noqa: PLC0415  (only for JSON)

    guess, outcome = found.estimate, found.outcome
    measured = None
    if outcome is not None:
        measured = {
            "reason": outcome.reason,
            "message": brief(outcome.message),
            "seconds": round(outcome.seconds, 6),
            "bytes": outcome.peak_bytes,
            "grammar_bytes": outcome.bytes,
            "mask_seconds": None if found.mask is None else round(found.mask, 6),
        }
    return {
        "path": brief(found.path),
        "tool": None if found.name is None else brief(found.name),
        "pointer": brief(found.pointer),
        "estimate": {
            "seconds": round(guess.seconds, 6),
            "bytes": guess.bytes,
            "rules": guess.rules,
            "complete": guess.complete,
            "on_demand": prefers_dynamic(guess),
        },
        "measured": measured,
        "findings": [
            {
                "code": error.code,
                "name": error.name,
                "message": brief(error.message),
                "pointer": brief(error.pointer_within(MAX_SHOWN)),
            }
            for error in found.dear
        ],
        "contributors": [
            {"pointer": brief(pointer), "share": round(share, 4)}
            for pointer, share in guess.contributors
        ],
    }

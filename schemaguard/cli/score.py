"""`schemaguard score LOG`: how right recorded tool calls are."""

from __future__ import annotations

import argparse

from schemaguard.cli.options import add_output
from schemaguard.cli.output import Output
from schemaguard.cli.progress import Bar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from schemaguard.score import Comparison, Score, Trigger

_NO_PROFILE = "none"


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommand's options."""
    parser.description = (
        "Say how right recorded tool calls are. A log is a verifier's results.jsonl, or JSON Lines "
        "of request and response, plain or gzip. Status 1 is for less than --min-accuracy, and for "
        "a log without any record."
    )
    parser.add_argument("log", nargs="?", metavar="FILE", help="results to score")
    group = parser.add_argument_group("inputs")
    group.add_argument(
        "--samples", metavar="FILE", help="a verifier's samples.jsonl, for results without requests"
    )
    group.add_argument(
        "--baseline",
        metavar="FILE",
        help="results of the official API: precision, recall and F1 of calling tools at all",
    )
    group.add_argument(
        "--compare",
        nargs=2,
        metavar="FILE",
        help="score two runs over the same requests: is the difference more than noise?",
    )
    group.add_argument(
        "--profile",
        default="xgrammar",
        metavar="NAME",
        help="whose rejections are the schema's fault; none: only what is no schema",
    )
    group = parser.add_argument_group("output")
    group.add_argument(
        "--min-accuracy",
        type=_share,
        metavar="SHARE",
        help="status 1 when schema_accuracy is less, 0 to 1",
    )
    group.add_argument("--output-format", choices=("text", "json", "markdown"), default="text")
    group.add_argument("-q", "--quiet", action="store_true", help="no progress bar")
    add_output(parser)
    parser.set_defaults(run=run)


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise argparse.ArgumentTypeError("a number from 0 to 1")
    return share


class _Meter(Bar):
    """A bar over the bytes of a file, with the requests so far."""

    def __init__(self, *, wanted: bool) -> None:
        super().__init__(1, wanted=wanted)
        self._requests = 0

    def reach(self, position: int, size: int, requests: int) -> None:
        """After each line."""
        self._done, self._total, self._requests = position - 1, size, requests
        self.step()

    def _line(self) -> str:
        bar = super()._line().partition("]")[0]
        share = self._done / max(self._total, 1)
        return f"{bar}] {share:.0%}, {self._requests:,} requests"


def run(options: argparse.Namespace) -> int:
    """Score one log, or two."""
    from schemaguard.config import ConfigError  # noqa: PLC0415
    from schemaguard.score import Comparison, Trigger, endings, score  # noqa: PLC0415

    if (options.log is None) == (options.compare is None):
        raise ConfigError("name one log to score, or two with --compare")
    profile = None if options.profile == _NO_PROFILE else options.profile
    with Output(options.output_file) as output:
        meter = _Meter(wanted=not options.quiet)
        try:
            official = None
            if options.baseline is not None:
                official = endings(options.baseline, progress=meter.reach)
            scores: list[tuple[Score, Trigger | None]] = []
            for path in options.compare or [options.log]:
                made = score(path, samples=options.samples, profile=profile, progress=meter.reach)
                scores.append((made, None if official is None else Trigger(made, official)))
        finally:
            meter.clear()
        comparison = None
        if options.compare is not None:
            comparison = Comparison(scores[0][0], scores[1][0])
        output.write(_WRITERS[options.output_format](scores, comparison))
    failed = any(_fails(made, options.min_accuracy) for made, _ in scores)
    return int(failed or (official is not None and not official.tally.requests))


def _fails(score: Score, least: float | None) -> bool:
    """Nothing read is no pass, and neither is an accuracy of nothing."""
    value = score.schema_accuracy.value
    return not score.tally.requests or (least is not None and (value is None or value < least))


def _json(scores: list[tuple[Score, Trigger | None]], comparison: Comparison | None) -> str:
    from schemaguard.render.common import dumps  # noqa: PLC0415
    from schemaguard.score import rendering  # noqa: PLC0415

    compared = None if comparison is None else rendering.comparison_as_dict(comparison)
    rows = [rendering.as_dict(made, trigger) for made, trigger in scores]
    return dumps({"version": 1, "scores": rows, "comparison": compared})


def _text(scores: list[tuple[Score, Trigger | None]], comparison: Comparison | None) -> str:
    from schemaguard.score import rendering  # noqa: PLC0415

    return rendering.text(scores, comparison)


def _markdown(scores: list[tuple[Score, Trigger | None]], comparison: Comparison | None) -> str:
    from schemaguard.score import rendering  # noqa: PLC0415

    return rendering.markdown(scores, comparison)


_WRITERS: dict[str, Callable[..., str]] = {"text": _text, "json": _json, "markdown": _markdown}

"""A log in, its score out: one pass, or two more where requests were run again."""

from __future__ import annotations

from array import array
from contextlib import ExitStack
from datetime import UTC, datetime

from schemaguard.score.intervals import F1, McNemar, Rate
from schemaguard.score.judging import Judge
from schemaguard.score.lines import LineError, Lines, value_of
from schemaguard.score.records import MAX_INDEX, Record, ShapeError
from schemaguard.score.samples import Samples
from schemaguard.score.tally import CALLED, FAIR, LEFT_OUT, SEEN, VALID, Tally

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    #: Called after each line with the bytes read, of how many, and the requests so far.
    Progress = Callable[[int, int, int], None]

DEFAULT_PROFILE = "xgrammar"


class Score:
    """What was found in a log.

    Attributes:
        path: of the log.
        profile: dated name of the profile that says which schemas are at fault, or None.
        tally: the counts.
        faults: lines that could not be read, by kind.
        first_fault: of each kind, the number of the first such line.
        superseded: records that a later run of the same request replaces.
        unjoined: records whose `data_index` cannot be used to join them.
        outcomes: a byte for each request by its index; bits of `schemaguard.score.tally`.
    """

    def __init__(self, path: str, profile: str | None) -> None:
        self.path = path
        self.profile = profile
        self.tally = Tally()
        self.faults: dict[str, int] = {}
        self.first_fault: dict[str, int] = {}
        self.superseded = self.unjoined = 0
        self.outcomes = bytearray()

    @property
    def schema_accuracy(self) -> Rate:
        """Answers in which every call is valid, of those that end with calls; the verifier's."""
        return Rate(self.tally.valid, self.tally.called)

    @property
    def schema_accuracy_fair(self) -> Rate:
        """The same without answers that only a faulty schema, or our limits, decide."""
        return Rate(self.tally.fair, self.tally.called - self.tally.left_out)

    def fault(self, kind: str, number: int) -> None:
        """Count a line that cannot be read."""
        self.faults[kind] = self.faults.get(kind, 0) + 1
        self.first_fault.setdefault(kind, number)


def score(
    path: str,
    *,
    samples: str | None = None,
    profile: str | None = DEFAULT_PROFILE,
    progress: Progress | None = None,
) -> Score:
    """Score a log.

    Args:
        path: JSON Lines, plain or gzip; see `schemaguard.score.records` for what a line may be.
        samples: a verifier's `samples.jsonl`, for lines without a request.
        profile: a schema that it rejects is at fault for what comes of it. None: a schema is at
            fault only where it is none, or cannot be used.
        progress: called after each line.

    Raises:
        ProfileError: there is no such profile.
        ScoreError: it is no regular file.
        OSError: it cannot be read.
    """
    with ExitStack() as stack:
        held = None if samples is None else stack.enter_context(Samples(samples))
        return _Reading(path, Judge(profile), held, progress).score()


def endings(path: str, *, progress: Progress | None = None) -> Score:
    """How the answers of a log ended, without a look at their calls: all that a baseline is for."""
    return _Reading(path, None, None, progress).score()


class _Reading:
    """The passes over a log."""

    def __init__(
        self, path: str, judge: Judge | None, samples: Samples | None, progress: Progress | None
    ) -> None:
        self._path = path
        self._judge = judge
        self._samples = samples
        self._progress = progress

    def score(self) -> Score:
        made = self._pass(None)
        if made is None:
            made = self._pass(self._latest())
        assert made is not None  # noqa: S101  (which lines count is known now)
        return made

    def _pass(self, latest: array[int] | None) -> Score | None:
        """Score what counts.

        Args:
            latest: index → number of the line that counts; None: each index comes once.

        Returns:
            None when an index came twice after all.
        """
        made = Score(self._path, None if self._judge is None else self._judge.profile)
        for number, record in self._records(made):
            index = record.index
            if index is not None and latest is not None and latest[index] != number:
                made.superseded += 1
                continue
            if not record.indexed and number <= MAX_INDEX:
                # Lines are in the order of the requests; an index that another line says is its.
                taken = made.outcomes if latest is None else latest
                index = None if number < len(taken) and taken[number] else number
            if index is None:
                made.unjoined += 1
            elif index >= len(made.outcomes):
                made.outcomes.extend(bytes(index + 1 - len(made.outcomes)))
            elif made.outcomes[index] and latest is None:
                return None
            if not record.has_request and self._samples is not None and index is not None:
                record.has_request, record.tools = self._samples.tools(index)
            outcome = made.tally.add(record, self._judge)
            if index is not None:
                made.outcomes[index] = outcome
        return made

    def _records(self, made: Score) -> Iterator[tuple[int, Record]]:
        with Lines(self._path) as lines:
            for number, line in lines:
                if self._progress is not None:
                    self._progress(lines.position, lines.size, made.tally.requests)
                try:
                    if isinstance(line, LineError):
                        raise line
                    record = Record(value_of(line))
                except LineError as fault:
                    made.fault(fault.kind, number)
                except ShapeError as fault:
                    made.fault(str(fault), number)
                else:
                    yield number, record

    def _latest(self) -> array[int]:
        """Index → number of the line with its latest run; of equal times the later line."""
        lines: array[int] = array("Q")
        times = array("d")
        for number, record in self._records(Score(self._path, None)):
            index = record.index
            if index is None:
                continue
            if index >= len(lines):
                more = index + 1 - len(lines)
                lines.frombytes(bytes(more * lines.itemsize))
                times.extend([float("-inf")] * more)
            time = _time(record.last_run)
            if time >= times[index]:
                lines[index], times[index] = number, time
        return lines


def _time(text: str) -> float:
    """Seconds of an ISO time, that of no zone as UTC; of anything else, before all of them."""
    try:
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (OverflowError, ValueError):
        return float("-inf")


# ------------------------------------------------------------------------------------------- joins


class Trigger:
    """Whether the model calls tools where the official one does: trigger similarity.

    Attributes:
        true_positive, false_positive, false_negative, true_negative: both end with calls, only the
            model, only the official one, neither.
        precision, recall: with intervals.
        f1: `tool_call_f1`.
        joined: how many requests are in both logs.
        official: the baseline.
    """

    def __init__(self, model: Score, official: Score) -> None:
        counts = _joined(model, official, CALLED, SEEN)
        self.true_positive, self.false_positive, self.false_negative, self.true_negative = counts
        self.joined = sum(counts)
        self.official = official
        self.precision = Rate(self.true_positive, self.true_positive + self.false_positive)
        self.recall = Rate(self.true_positive, self.true_positive + self.false_negative)
        self.f1 = F1(self.true_positive, self.false_positive, self.false_negative)


class Comparison:
    """Two runs over the same requests, on those that both answer with calls.

    Attributes:
        exact: of `schema_accuracy`.
        fair: of `schema_accuracy_fair`, without requests that either leaves out.
    """

    def __init__(self, first: Score, second: Score) -> None:
        self.exact = McNemar(*_joined(first, second, VALID, SEEN | CALLED))
        self.fair = McNemar(*_joined(first, second, FAIR, SEEN | CALLED, LEFT_OUT))


def _joined(
    first: Score, second: Score, wanted: int, needed: int, unwanted: int = 0
) -> tuple[int, int, int, int]:
    """Requests for which both, only the first, only the second, neither has the wanted bit.

    Args:
        first: a run.
        second: another.
        wanted: what is compared.
        needed: bits without which a request is left out.
        unwanted: bits with which it is.
    """
    pairs: dict[tuple[int, int], int] = {}
    for pair in zip(first.outcomes, second.outcomes, strict=False):
        pairs[pair] = pairs.get(pair, 0) + 1
    counts = [0, 0, 0, 0]
    for (a, b), count in pairs.items():
        if a & b & needed == needed and not (a | b) & unwanted:
            counts[(not a & wanted) * 2 + (not b & wanted)] += count
    return counts[0], counts[1], counts[2], counts[3]

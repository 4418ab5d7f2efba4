"""The counts of a run, in memory that does not grow with it.

Names in logs are strangers' words, so each table keeps a limited number of rows; what comes for
others is counted in one row without a name.
"""

from __future__ import annotations

from schemaguard.errors import cut
from schemaguard.score import judging
from schemaguard.score.records import TOOL_CALLS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable
    from typing import Any

    from schemaguard.score.judging import Judge, Verdict
    from schemaguard.score.records import Record

#: Rows of a table.
MAX_ROWS = 1_000
#: Characters of a name or a path that are kept.
MAX_NAME = 200
#: How often the nearest declared name is looked for, among how many, how long: it is slow.
_MAX_NEAREST = 100
_MAX_DECLARED = 128
_MAX_COMPARED = 100

# What is remembered of a request, in a byte.
SEEN, CALLED, VALID, FAIR, LEFT_OUT = 1, 2, 4, 8, 16


class Table:
    """Counts by key, with room for a limited number of keys.

    Attributes:
        rows: key → counts.
        others: the counts of keys for which there was no room.
    """

    def __init__(self, columns: int) -> None:
        self._columns = columns
        self.rows: dict[Hashable, list[int]] = {}
        self.others = [0] * columns

    def row(self, key: Hashable) -> list[int]:
        """The counts of a key, to be added to."""
        row = self.rows.get(key)
        if row is None:
            if len(self.rows) >= MAX_ROWS:
                return self.others
            row = self.rows[key] = [0] * self._columns
        return row

    def add(self, key: Hashable) -> None:
        """Count one in the first column."""
        self.row(key)[0] += 1

    def sorted(self) -> list[tuple[Any, list[int]]]:
        """The rows, the largest first count first; equal ones by key."""
        return sorted(self.rows.items(), key=lambda row: (-row[1][0], str(row[0])))


class Tally:
    """What was counted.

    Attributes:
        requests: records that count.
        failed: of them, without an answer.
        finish: table of finish reasons; None is an answer without one, or no answer.
        called: answers that end with "tool_calls".
        valid: of them, those in which every call is valid as the verifier has it.
        fair: of them, those in which every call is right.
        left_out_schema, left_out_undecided, without_request: of them, those that the fair count
            leaves out: their schema is at fault, the limits end it, their tools are not known.
        uncounted: answers that have calls and end otherwise; the verifier does not look at them.
        recorded: of the called, those with a verdict of a verifier in the log.
        recorded_valid: of those, valid ones.
        disagreements: of those, where ours differs.
        calls: table by fault: ok, model, schema, undecided.
        reasons: table of the model's faults by reason.
        constraints: table of (tool, keyword, path) of calls that break one.
        schema_faults: table of (tool, reason).
        tools: table by tool; columns: calls, valid, right, model, schema and undecided.
        unknown: table of names called that were not declared.
        nearest: of some of those, the nearest declared name, or None.
    """

    def __init__(self) -> None:
        self.requests = self.failed = self.called = self.valid = self.fair = 0
        self.left_out_schema = self.left_out_undecided = self.uncounted = 0
        self.recorded = self.recorded_valid = self.disagreements = self.without_request = 0
        self.calls = Table(1)
        self.finish = Table(1)
        self.reasons = Table(1)
        self.constraints = Table(1)
        self.schema_faults = Table(1)
        self.tools = Table(5)
        self.unknown = Table(1)
        self.nearest: dict[str, str | None] = {}

    @property
    def left_out(self) -> int:
        """Answers with calls that the fair count leaves out."""
        return self.left_out_schema + self.left_out_undecided + self.without_request

    def add(self, record: Record, judge: Judge | None) -> int:
        """Count a record.

        Args:
            record: to count.
            judge: None looks only at how the answer ended.

        Returns:
            What to remember of it: bits of this module.
        """
        self.requests += 1
        self.failed += not record.succeeded
        finish = record.finish
        self.finish.add(None if finish is None else cut(finish, MAX_NAME))
        if finish != TOOL_CALLS:
            self.uncounted += bool(record.calls) and isinstance(record.calls, list)
            return SEEN
        self.called += 1
        if judge is None:
            return SEEN | CALLED
        return SEEN | CALLED | self._answer(record, judge)

    def _answer(self, record: Record, judge: Judge) -> int:
        """Count an answer that ends with calls."""
        if not record.has_request:
            self.without_request += 1
            return LEFT_OUT
        calls = record.calls if isinstance(record.calls, list) else []
        valid = bool(calls)
        faults = set()
        if not calls:
            faults.add(judging.MODEL)
            self.reasons.add(judging.NO_CALL)
        for verdict in judge.answer(calls, record.tools):
            self._call(verdict, record)
            valid = valid and verdict.valid
            faults.add(verdict.fault)
        bits = VALID if valid else 0
        self.valid += valid
        if judging.SCHEMA in faults:
            self.left_out_schema += 1
            bits |= LEFT_OUT
        elif judging.UNDECIDED in faults:
            self.left_out_undecided += 1
            bits |= LEFT_OUT
        elif faults == {judging.OK}:
            self.fair += 1
            bits |= FAIR
        # The verifier leaves null for an empty list, and counts it as an error.
        if record.recorded is not None:
            self.recorded += 1
            self.recorded_valid += record.recorded
            self.disagreements += record.recorded is not valid
        return bits

    def _call(self, verdict: Verdict, record: Record) -> None:
        fault = verdict.fault
        self.calls.add(fault)
        name = None if verdict.tool is None else cut(verdict.tool, MAX_NAME)
        if fault == judging.MODEL:
            self.reasons.add(verdict.reason)
        if verdict.reason == judging.UNKNOWN_TOOL and name is not None:
            self._unknown(name, record.tools)
            return
        if name is None:
            return
        row = self.tools.row(name)
        row[0] += 1
        row[1] += verdict.valid
        row[2] += fault == judging.OK
        row[3] += fault == judging.MODEL
        row[4] += fault in (judging.SCHEMA, judging.UNDECIDED)
        if verdict.keyword:
            self.constraints.add((name, verdict.keyword, cut(verdict.path, MAX_NAME)))
        elif fault == judging.SCHEMA:
            self.schema_faults.add((name, verdict.reason))

    def _unknown(self, name: str, tools: Any) -> None:
        if name not in self.nearest and len(self.nearest) < _MAX_NEAREST:
            self.nearest[name] = _nearest(name[:_MAX_COMPARED], _names(tools))
        self.unknown.add(name)


def _nearest(name: str, declared: list[str]) -> str | None:
    """The declared name that looks most like another."""
    import difflib  # noqa: PLC0415  (only after a mistake)

    close = difflib.get_close_matches(name, declared, n=1)
    return close[0] if close else None


def _names(tools: Any) -> list[str]:
    """Names of declared tools, as far as the nearest is looked for."""
    found = []
    for tool in tools[:_MAX_DECLARED] if isinstance(tools, list) else ():
        function = tool.get("function") if isinstance(tool, dict) else None
        name = function.get("name") if isinstance(function, dict) else None
        if isinstance(name, str) and len(name) <= _MAX_COMPARED:
            found.append(name)
    return found

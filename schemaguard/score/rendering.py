"""A score as a dict for JSON, as text for a terminal, as Markdown for a page of CI."""

from __future__ import annotations

from schemaguard.errors import cut
from schemaguard.render.common import safe, sound
from schemaguard.render.markdown import escaped
from schemaguard.score.intervals import Rate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from schemaguard.score.intervals import F1, McNemar
    from schemaguard.score.scoring import Comparison, Score, Trigger
    from schemaguard.score.tally import Table

#: Rows of a table that text and Markdown show.
SHOWN_ROWS = 20
_SHOWN = 80

#: A heading, the names of columns, and rows of words.
Grid = tuple[str, tuple[str, ...], list[tuple[str, ...]]]


# -------------------------------------------------------------------------------------------- JSON


def as_dict(score: Score, trigger: Trigger | None = None) -> dict[str, Any]:
    """All that is known about a log."""
    tally = score.tally
    left_out = {
        "schema": tally.left_out_schema,
        "undecided": tally.left_out_undecided,
        "no_request": tally.without_request,
    }
    return {
        "path": sound(score.path),
        "profile": score.profile,
        "schema_accuracy": score.schema_accuracy.as_dict(),
        "schema_accuracy_fair": {**score.schema_accuracy_fair.as_dict(), "left_out": left_out},
        "trigger": None if trigger is None else _trigger(trigger),
        "requests": tally.requests,
        "failed": tally.failed,
        "finish": _counts(tally.finish),
        "finish_tool_calls": tally.called,
        "successful_tool_calls": tally.valid,
        "calls": _counts(tally.calls),
        "reasons": _counts(tally.reasons),
        "constraints": [
            {"tool": sound(tool), "keyword": sound(keyword), "path": sound(path), "count": count}
            for (tool, keyword, path), (count,) in tally.constraints.sorted()
        ],
        "unknown_tools": [
            {"name": sound(name), "nearest": _sound(tally.nearest.get(name)), "count": count}
            for name, (count,) in tally.unknown.sorted()
        ],
        "schema_faults": [
            {"tool": sound(tool), "reason": reason, "count": count}
            for (tool, reason), (count,) in tally.schema_faults.sorted()
        ],
        "tools": [
            {"tool": _sound(tool), **dict(zip(_TOOL_COLUMNS, row, strict=True))}
            for tool, row in _with_others(tally.tools)
        ],
        "recorded": {
            "verdicts": tally.recorded,
            "valid": tally.recorded_valid,
            "disagreements": tally.disagreements,
        },
        "calls_with_another_finish": tally.uncounted,
        "superseded": score.superseded,
        "not_joined": score.unjoined,
        "unread_lines": dict(sorted(score.faults.items())),
        "first_unread_line": dict(sorted(score.first_fault.items())),
    }


_TOOL_COLUMNS = ("calls", "valid", "right", "model_faults", "schema_faults")


def _counts(table: Table) -> dict[str, int]:
    """A table of one column; what has no name is "none", what had no room "(others)"."""
    counts: dict[str, int] = {}
    for key, (count,) in table.sorted():
        name = "(none)" if key is None else sound(key)
        counts[name] = counts.get(name, 0) + count
    if table.others[0]:
        counts["(others)"] = table.others[0]
    return counts


def _with_others(table: Table) -> list[tuple[str | None, list[int]]]:
    rows: list[tuple[str | None, list[int]]] = list(table.sorted())
    if any(table.others):
        rows.append((None, table.others))
    return rows


def _sound(text: str | None) -> str | None:
    return None if text is None else sound(text)


def _trigger(trigger: Trigger) -> dict[str, Any]:
    return {
        "true_positive": trigger.true_positive,
        "false_positive": trigger.false_positive,
        "false_negative": trigger.false_negative,
        "true_negative": trigger.true_negative,
        "precision": trigger.precision.as_dict(),
        "recall": trigger.recall.as_dict(),
        "tool_call_f1": trigger.f1.as_dict(),
        "baseline_requests": trigger.official.tally.requests,
        "baseline_unread_lines": dict(sorted(trigger.official.faults.items())),
    }


def comparison_as_dict(comparison: Comparison) -> dict[str, Any]:
    """What two runs differ in."""
    return {
        "schema_accuracy": comparison.exact.as_dict(),
        "schema_accuracy_fair": comparison.fair.as_dict(),
    }


# ----------------------------------------------------------------------------------- text, Markdown


def text(
    scores: Sequence[tuple[Score, Trigger | None]], comparison: Comparison | None = None
) -> str:
    """For a terminal."""
    lines: list[str] = []
    for score, trigger in scores:
        lines.append(f"{safe(score.path)}: {_summary(score)}")
        for grid in _grids(score, trigger):
            lines += _text_grid(grid)
        lines += ["", *(safe(note) for note in _notes(score, trigger))]
        lines.append("")
    if comparison is not None:
        lines += [f"{name}: {words}" for name, words in _compared(comparison)]
        lines.append("")
    return "\n".join(lines[:-1]) + "\n"


def _text_grid(grid: Grid) -> Iterator[str]:
    _title, head, rows = grid
    cells = [head, *([safe(cell) for cell in row] for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
    yield ""
    for row in cells:
        padded = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        yield "  ".join(padded).rstrip()


def markdown(
    scores: Sequence[tuple[Score, Trigger | None]], comparison: Comparison | None = None
) -> str:
    """For the summary page of a CI step."""
    parts: list[str] = []
    for score, trigger in scores:
        parts.append(f"## {escaped(score.path)}\n\n{escaped(_summary(score))}\n")
        for title, head, rows in _grids(score, trigger):
            table = [head, tuple(":---" for _ in head), *rows]
            body = "".join(
                "| " + " | ".join(cell if at < 2 else escaped(cell) for cell in row) + " |\n"
                for at, row in enumerate(table)
            )
            parts.append(f"\n### {title}\n\n{body}")
        parts += [f"\n{escaped(note)}\n" for note in _notes(score, trigger)]
        parts.append("\n")
    if comparison is not None:
        parts.append("## Comparison\n\n")
        parts += [f"- {escaped(name)}: {escaped(words)}\n" for name, words in _compared(comparison)]
    return "".join(parts).rstrip("\n") + "\n"


def _summary(score: Score) -> str:
    tally = score.tally
    return f"{tally.requests:,} requests, {tally.failed:,} failed, {tally.called:,} with tool calls"


def _grids(score: Score, trigger: Trigger | None) -> Iterator[Grid]:
    tally = score.tally
    rates: list[tuple[str, ...]] = [
        ("schema_accuracy", *_rate(score.schema_accuracy)),
        ("schema_accuracy_fair", *_rate(score.schema_accuracy_fair)),
    ]
    if trigger is not None:
        rates += [
            ("tool_call_precision", *_rate(trigger.precision)),
            ("tool_call_recall", *_rate(trigger.recall)),
            ("tool_call_f1", *_rate(trigger.f1)),
        ]
    yield "Rates", ("rate", "value", "95 % interval", "of"), rates
    yield from _grid("Finish reasons", "finish reason", _counts(tally.finish))
    yield from _grid("Calls", "calls: whose fault", _counts(tally.calls))
    yield from _grid("What the model got wrong", "reason", _counts(tally.reasons))
    rows: list[tuple[str, ...]] = [
        (cut(name, _SHOWN), cut(tally.nearest.get(name) or "", _SHOWN), f"{count:,}")
        for name, (count,) in tally.unknown.sorted()
    ]
    yield from _listed("Unknown tools", ("unknown tool", "nearest", "calls"), rows)
    rows = [
        (cut(tool, _SHOWN), keyword, cut(path, _SHOWN), f"{count:,}")
        for (tool, keyword, path), (count,) in tally.constraints.sorted()
    ]
    yield from _listed("Broken constraints", ("tool", "keyword", "in the schema", "calls"), rows)
    rows = [
        (cut(tool, _SHOWN), reason, f"{count:,}")
        for (tool, reason), (count,) in tally.schema_faults.sorted()
    ]
    yield from _listed("Faults of schemas", ("tool", "fault of its schema", "calls"), rows)
    tools: list[tuple[str, ...]] = [
        (
            cut(tool or "(others)", _SHOWN),
            f"{row[0]:,}",
            *_rate(Rate(row[1], row[0]))[:2],
            *(f"{number:,}" for number in row[2:]),
        )
        for tool, row in _with_others(tally.tools)
    ]
    head = ("tool", "calls", "valid", "95 % interval", "right", "model", "schema")
    yield from _listed("Tools", head, tools)


def _grid(title: str, head: str, counts: dict[str, int]) -> Iterator[Grid]:
    rows: list[tuple[str, ...]] = [
        (cut(name, _SHOWN), f"{count:,}") for name, count in counts.items()
    ]
    yield from _listed(title, (head, "count"), rows)


def _listed(title: str, head: tuple[str, ...], rows: list[tuple[str, ...]]) -> Iterator[Grid]:
    """A table that has rows; the last says how many are not shown."""
    if len(rows) > SHOWN_ROWS:
        more = f"({len(rows) - SHOWN_ROWS:,} more)"
        rows = [*rows[:SHOWN_ROWS], (more, *("" for _ in head[1:]))]
    if rows:
        yield title, head, rows


def _rate(rate: Rate | F1) -> tuple[str, str, str]:
    interval = f"{rate.low:.2%} to {rate.high:.2%}"
    hits = getattr(rate, "hits", None)
    of = "" if hits is None else f"{hits:,} of {rate.total:,}"  # type: ignore[union-attr]  # a Rate
    return "none" if rate.value is None else f"{rate.value:.2%}", interval, of


def _notes(score: Score, trigger: Trigger | None) -> Iterator[str]:
    """What a reader has to know to trust the numbers."""
    tally = score.tally
    if tally.left_out:
        yield (
            f"answers left out of the fair count: {tally.left_out:,}; {tally.left_out_schema:,} "
            f"for faulty schemas, {tally.left_out_undecided:,} not decided within the limits, "
            f"{tally.without_request:,} without a request"
        )
    if tally.recorded:
        yield (
            f"the log's own verdicts: {tally.recorded_valid:,} of {tally.recorded:,} valid; "
            f"{tally.disagreements:,} differ from these"
        )
    if tally.uncounted:
        yield f"answers with calls that end otherwise, and do not count: {tally.uncounted:,}"
    if score.superseded:
        yield f"records replaced by later runs of the same request: {score.superseded:,}"
    if score.unjoined:
        yield f"records without a data_index of their own, not joined: {score.unjoined:,}"
    yield from _unread("lines", score)
    if trigger is not None:
        if not trigger.joined:
            yield "no request is in both the log and the baseline"
        yield from _unread("lines of the baseline", trigger.official)


def _unread(what: str, score: Score) -> Iterator[str]:
    for kind, count in sorted(score.faults.items()):
        yield f"{what} not read, {kind}: {count:,}; the first is line {score.first_fault[kind]:,}"


def _compared(comparison: Comparison) -> Iterator[tuple[str, str]]:
    yield "schema_accuracy", _words(comparison.exact)
    yield "schema_accuracy_fair", _words(comparison.fair)


def _words(test: McNemar) -> str:
    if not test.pairs:
        return "no request is answered with calls by both"
    verdict = "more than noise" if test.significant else "no more than noise"
    kind = "exact" if test.exact else "chi-squared"
    return (
        f"{test.pairs:,} requests answered with calls by both; right in the first alone "
        f"{test.only_first:,}, in the second alone {test.only_second:,}: {verdict} "
        f"(McNemar, {kind}, p = {test.p:.3g})"
    )

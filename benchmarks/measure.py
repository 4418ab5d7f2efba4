"""How the benchmarks measure: thread CPU time, all candidates interleaved, medians.

Ratios of one run are what counts: they survive a slow or busy machine, seconds do not.
"""

from __future__ import annotations

import json
import platform
import statistics
import sys
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def interleaved(
    candidates: dict[str, Callable[[], object]], *, rounds: int, repeats: dict[str, int] | int = 1
) -> dict[str, float]:
    """Median CPU microseconds of one call of each candidate.

    Args:
        candidates: name → what to call.
        rounds: how often each is measured, in turn.
        repeats: calls in one measurement, for calls too short for the clock.
    """
    spent: dict[str, list[float]] = {name: [] for name in candidates}
    counts = {n: repeats if isinstance(repeats, int) else repeats[n] for n in candidates}
    for call in candidates.values():
        call()
    for _ in range(rounds):
        for name, call in candidates.items():
            count = counts[name]
            began = time.thread_time_ns()
            for _ in range(count):
                call()
            spent[name].append((time.thread_time_ns() - began) / count / 1000)
    return {name: statistics.median(values) for name, values in spent.items()}


def report(claim: str, holds: bool, numbers: dict[str, Any]) -> None:
    """Print one JSON object; exit 1 when the claim does not hold."""
    machine = f"{platform.machine()}, Python {platform.python_version()}"
    print(json.dumps({"claim": claim, "holds": holds, "machine": machine, **numbers}, indent=2))
    sys.exit(0 if holds else 1)

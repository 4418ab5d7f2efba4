"""Counters of a guard, in the text format of Prometheus, without a client library."""

from __future__ import annotations

from bisect import bisect_left
from threading import Lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from schemaguard.handlers.cache import CacheUse

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

#: Upper bounds of the histogram, in seconds.
BUCKETS = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0)


class Metrics:
    """What a guard has seen. Safe between threads.

    Labels are words of this library alone (APIs, codes of rules, actions): no client can make a new
    time series.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._checked: dict[str, int] = {}
        self._accepted: dict[str, int] = {}
        self._rejected: dict[tuple[str, str], int] = {}
        self._changed: dict[tuple[str, str], int] = {}
        self._latency = [0] * (len(BUCKETS) + 1)
        self._seconds = 0.0

    def count(
        self, api: str | None, seconds: float, code: str | None, changes: tuple[str, ...] = ()
    ) -> None:
        """Record one request.

        Args:
            api: that it was for.
            seconds: that the check took.
            code: of the rule, or the name of the limit, that refused it; None when it was accepted.
            changes: actions that were taken on tools.
        """
        label = api or "unknown"
        with self._lock:
            self._checked[label] = self._checked.get(label, 0) + 1
            if code is None:
                self._accepted[label] = self._accepted.get(label, 0) + 1
            else:
                self._rejected[label, code] = self._rejected.get((label, code), 0) + 1
            for action in changes:
                self._changed[label, action] = self._changed.get((label, action), 0) + 1
            self._latency[bisect_left(BUCKETS, seconds)] += 1
            self._seconds += seconds

    def render(self, cache: CacheUse | None = None) -> str:
        """The text of a scrape; `CONTENT_TYPE` is its type.

        Args:
            cache: counters to go with it.
        """
        with self._lock:
            lines = [
                *_family("checked_total", "counter", "Requests checked.", _by_api(self._checked)),
                *_family(
                    "accepted_total", "counter", "Requests let go on.", _by_api(self._accepted)
                ),
                *_family(
                    "rejected_total",
                    "counter",
                    "Requests refused, by rule or limit.",
                    {f'{{api="{a}",code="{c}"}}': n for (a, c), n in self._rejected.items()},
                ),
                *_family(
                    "changed_tools_total",
                    "counter",
                    "Tools dropped or relaxed.",
                    {f'{{api="{a}",action="{c}"}}': n for (a, c), n in self._changed.items()},
                ),
                *self._histogram(),
            ]
        if cache is not None:
            told = {
                "hits": "Verdicts that were known.",
                "misses": "Verdicts that had to be found.",
                "evictions": "Verdicts forgotten for room.",
            }
            for name, words in told.items():
                lines += _family(
                    f"cache_{name}_total", "counter", words, {"": getattr(cache, name)}
                )
            lines += _family("cache_entries", "gauge", "Verdicts kept.", {"": cache.entries})
        return "\n".join(lines) + "\n"

    def _histogram(self) -> list[str]:
        name = "check_seconds"
        samples: dict[str, float] = {}
        total = 0
        for bound, count in zip((*map(str, BUCKETS), "+Inf"), self._latency, strict=True):
            total += count
            samples[f'_bucket{{le="{bound}"}}'] = total
        samples["_sum"] = round(self._seconds, 9)
        samples["_count"] = total
        return _family(name, "histogram", "Time that checks took.", samples)


def _by_api(counts: dict[str, int]) -> dict[str, float]:
    return {f'{{api="{api}"}}': count for api, count in counts.items()}


def _family(
    name: str, kind: str, words: str, samples: dict[str, float] | dict[str, int]
) -> list[str]:
    full = f"schemaguard_{name}"
    return [
        f"# HELP {full} {words}",
        f"# TYPE {full} {kind}",
        *(f"{full}{labels} {value}" for labels, value in sorted(samples.items(), key=_order)),
    ]


def _order(sample: tuple[str, float]) -> tuple[float, str]:
    """Buckets by their bound, everything else by its labels."""
    label = sample[0]
    if label.startswith("_bucket"):
        return float(label.split('"')[1]), ""
    return float("inf"), label

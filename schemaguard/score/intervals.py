"""How sure a rate is, and whether two runs differ by more than chance.

Sources: Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22
(1927); its values in Newcombe, "Two-sided confidence intervals for the single proportion",
Statistics in Medicine 17 (1998); McNemar, Psychometrika 12 (1947), with the continuity correction
of Edwards (1948).
"""

from __future__ import annotations

from math import comb, erfc, sqrt

from schemaguard._frozen import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: The 97.5 % point of the normal distribution, for intervals of 95 %.
Z = 1.959963984540054
#: Up to so many pairs that differ, the binomial distribution is summed; beyond it is approximated.
MAX_EXACT = 1_000
#: The usual level: a difference at least this likely to be chance is called noise.
LEVEL = 0.05


class Rate(Frozen):
    """A share, with the 95 % interval of Wilson.

    Attributes:
        hits, total: counts; `hits` of `total`.
        value: the share, from 0 to 1; None when `total` is 0.
        low, high: the interval; all that is possible, 0 to 1, when `total` is 0.
    """

    __slots__ = ("high", "hits", "low", "total", "value")

    hits: int
    total: int
    value: float | None
    low: float
    high: float

    def __init__(self, hits: int, total: int) -> None:
        low, high = wilson(hits, total)
        value = hits / total if total else None
        self._fill(hits=hits, total=total, value=value, low=low, high=high)

    def as_dict(self) -> dict[str, Any]:
        """The numbers, as JSON has them."""
        return {
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "hits": self.hits,
            "total": self.total,
        }


def wilson(hits: int, total: int) -> tuple[float, float]:
    """The score interval of a proportion at 95 %.

    Unlike the textbook's `p ± z·s` it stays within 0 and 1, and says something for 0 of 20.
    """
    if not total:
        return 0.0, 1.0
    share = hits / total
    square = Z * Z / total
    centre = share + square / 2
    margin = Z * sqrt((share * (1 - share) + square / 4) / total)
    low = 0.0 if hits == 0 else max(0.0, (centre - margin) / (1 + square))
    high = 1.0 if hits == total else min(1.0, (centre + margin) / (1 + square))
    return low, high


class F1(Frozen):
    """The harmonic mean of precision and recall.

    With `J = TP / (TP + FP + FN)`, which is a proportion, `F1 = 2J / (1 + J)`, which grows with J:
    the ends of Wilson's interval of J are carried over.

    Attributes:
        value: from 0 to 1; None without TP, FP and FN.
        low, high: the 95 % interval.
    """

    __slots__ = ("high", "low", "value")

    value: float | None
    low: float
    high: float

    def __init__(self, true_positive: int, false_positive: int, false_negative: int) -> None:
        wrong = false_positive + false_negative
        low, high = wilson(true_positive, true_positive + wrong)
        value = None
        if true_positive + wrong:
            value = 2 * true_positive / (2 * true_positive + wrong)
        self._fill(value=value, low=_from_jaccard(low), high=_from_jaccard(high))

    def as_dict(self) -> dict[str, Any]:
        """The numbers, as JSON has them."""
        return {"value": self.value, "low": self.low, "high": self.high}


def _from_jaccard(shared: float) -> float:
    return 2 * shared / (1 + shared)


class McNemar(Frozen):
    """Two runs over the same requests: does the one succeed more often than the other?

    Only pairs in which the two differ say anything about it; if both were equally good, each of
    those would be a throw of a coin.

    Attributes:
        both, only_first, only_second, neither: how many pairs succeed where.
        p: how likely a split at least as uneven is by chance, two-sided.
        exact: whether `p` is of the binomial distribution; else of chi-squared, with correction.
    """

    __slots__ = ("both", "exact", "neither", "only_first", "only_second", "p")

    both: int
    only_first: int
    only_second: int
    neither: int
    p: float
    exact: bool

    def __init__(self, both: int, only_first: int, only_second: int, neither: int) -> None:
        self._fill(
            both=both,
            only_first=only_first,
            only_second=only_second,
            neither=neither,
            p=mcnemar(only_first, only_second),
            exact=only_first + only_second <= MAX_EXACT,
        )

    @property
    def pairs(self) -> int:
        """How many requests were compared."""
        return self.both + self.only_first + self.only_second + self.neither

    @property
    def significant(self) -> bool:
        """Whether the difference is more than noise, at the level of 5 %."""
        return self.p < LEVEL

    def as_dict(self) -> dict[str, Any]:
        """The numbers, as JSON has them."""
        counts = {name: getattr(self, name) for name in ("both", "only_first", "only_second")}
        return {
            "pairs": self.pairs,
            **counts,
            "neither": self.neither,
            "p": self.p,
            "test": "exact binomial" if self.exact else "chi-squared, corrected",
            "more_than_noise": self.significant,
        }


def mcnemar(only_first: int, only_second: int) -> float:
    """The two-sided p-value of McNemar's test, from the counts of pairs that differ."""
    differing = only_first + only_second
    if differing == 0:
        return 1.0
    if differing <= MAX_EXACT:
        tail = sum(comb(differing, k) for k in range(min(only_first, only_second) + 1))
        return min(1.0, 2 * tail / (1 << differing))
    statistic = max(0, abs(only_first - only_second) - 1) ** 2 / differing
    return erfc(sqrt(statistic / 2))

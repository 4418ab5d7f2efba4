"""Intervals and p-values are those of the literature."""

from __future__ import annotations

from math import comb

import pytest

from schemaguard.score import F1, McNemar, Rate, mcnemar, wilson


# Newcombe, Statistics in Medicine 17 (1998), table I, method 3.
@pytest.mark.parametrize(
    ("hits", "total", "low", "high"),
    [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0000, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_s_interval_has_the_published_values(hits, total, low, high):
    assert wilson(hits, total) == (pytest.approx(low, abs=5e-5), pytest.approx(high, abs=5e-5))


def test_the_interval_of_failures_mirrors_that_of_successes():
    for total in (1, 2, 7, 100, 10**6):
        for hits in {0, 1, total // 3, total}:
            low, high = wilson(hits, total)
            assert 0 <= low <= hits / total <= high <= 1
            assert wilson(total - hits, total) == (pytest.approx(1 - high), pytest.approx(1 - low))


def test_the_ends_of_the_interval_are_where_the_score_test_is_at_its_level():
    for hits, total in [(3, 10), (81, 263), (999, 1_000)]:
        for end in wilson(hits, total):
            deviation = abs(hits / total - end) / (end * (1 - end) / total) ** 0.5
            assert deviation == pytest.approx(1.959964, abs=1e-5)


def test_of_nothing_nothing_is_known():
    assert Rate(0, 0).value is None
    assert wilson(0, 0) == (0.0, 1.0)
    assert F1(0, 0, 0).value is None
    assert mcnemar(0, 0) == 1


def test_f1_is_the_harmonic_mean_and_lies_in_its_interval():
    for counts in [(30, 10, 5), (1, 0, 0), (0, 3, 1), (500, 1, 700)]:
        hits, extra, missed = counts
        made = F1(*counts)
        if hits:
            precision, recall = hits / (hits + extra), hits / (hits + missed)
            expected = 2 * precision * recall / (precision + recall)
            assert made.value == pytest.approx(expected)
        assert 0 <= made.low <= made.value <= made.high <= 1


# Tables of the sign test: twice the tail of the binomial distribution of one half.
@pytest.mark.parametrize(
    ("few", "many", "p"),
    [(0, 5, 0.0625), (0, 6, 0.03125), (1, 9, 0.021484), (2, 8, 0.109375), (5, 15, 0.041389)],
)
def test_small_counts_have_the_exact_binomial_p(few, many, p):
    assert mcnemar(few, many) == mcnemar(many, few) == pytest.approx(p, abs=1e-6)
    assert McNemar(3, few, many, 4).exact


def test_equal_counts_are_no_evidence():
    for each in (1, 4, 500, 5_000):
        assert mcnemar(each, each) == pytest.approx(1)


# Critical values of chi-squared with one degree of freedom.
@pytest.mark.parametrize(("critical", "p"), [(3.8415, 0.05), (6.6349, 0.01), (10.8276, 0.001)])
def test_large_counts_have_the_p_of_chi_squared_with_correction(critical, p):
    total = 10**8
    difference = round((critical * total) ** 0.5 + 1)
    first = (total + difference) // 2
    assert mcnemar(first, total - first) == pytest.approx(p, rel=2e-3)
    assert not McNemar(0, first, total - first, 0).exact


def test_the_approximation_agrees_with_the_sum_where_one_takes_over():
    few, many = 540, 620  # 1,160 that differ: beyond the sum
    exact = 2 * sum(comb(few + many, k) for k in range(few + 1)) / 2 ** (few + many)
    assert mcnemar(few, many) == pytest.approx(exact, rel=0.01)
    assert mcnemar(460, 540) < 0.05 < mcnemar(480, 520)

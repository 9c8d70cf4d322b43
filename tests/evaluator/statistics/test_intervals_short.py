"""Intervals and tests on simulated systems whose true values are known: one of each kind, with few trials.

The long runs, with the figures, are tests/benchmark/test_coverage.py.
"""

import pytest

from tests.support.simulated_outcomes import ORDERS, SUMS, by_rows, coverage, rejections, simulate_pair, simulate_scores


@pytest.mark.parametrize(("measures", "trials"), [(SUMS, 200), (ORDERS, 60)], ids=["sums", "orders"])
def test_intervals_cover_the_truth(measures, trials):
    measured = coverage(measures, n_groups=150, rate=0.6, trials=trials, resamples=300, sizes="lognormal")
    least = 0.95 - 4 * (0.95 * 0.05 / trials) ** 0.5  # four standard errors; the long runs are stricter
    assert all(result.held >= least for result in measured.values()), measured


def test_resampling_rows_instead_of_groups_covers_too_little():
    measured = coverage(SUMS, n_groups=150, rate=0.6, trials=200, resamples=300, view=by_rows)
    assert all(result.held < 0.9 for result in measured.values()), measured


def test_permutation_tests_hold_their_level_and_have_power():
    equal = rejections(SUMS, lambda random: simulate_pair(100, 0.6, random), trials=200, resamples=99)["p"]
    better = rejections(SUMS, lambda random: simulate_pair(100, 0.6, random, 0.4), trials=100, resamples=99)["p"]
    assert all(0.01 <= share <= 0.1 for share in equal.values()), equal
    assert all(share >= 0.8 for share in better.values()), better


def test_permutation_tests_of_scores_hold_their_level():
    equal = rejections(ORDERS, lambda random: simulate_scores(60, 0.6, random), trials=100, resamples=39)["p"]
    assert all(share <= 0.12 for share in equal.values()), equal


def test_mcnemar_holds_its_level_on_independent_units():
    equal = rejections(SUMS[1:2], lambda random: simulate_pair(300, 0.6, random, single=True), trials=300, resamples=1)[
        "p_mcnemar"
    ]
    assert 0.005 <= equal["accuracy"] <= 0.085, equal

"""How often a large board calls equal systems different, on boards of systems with known true values.

Run with `pytest tests/benchmark/test_error_rate_of_ranges.py -m benchmark -s`; it takes some minutes. The figures are
shares of boards with at least one error, which should be at most 5 %: two neighbours that are equal, or in the other
order, differ significantly, or the system that is truly the best is ranged behind another. Values are normal, and
p-values are exact.
"""

import os
from math import sqrt

import numpy as np
import pytest
from scipy.special import erfc

from evaluator.statistics.holm import ALPHA, holm
from evaluator.statistics.rank_ranges import compared_pairs, n_neighbours, rank_ranges

pytestmark = pytest.mark.benchmark
BOARDS = int(os.environ.get("BOARDS", "1000"))
SIZES = (200, 1000, 5000)
TRUTHS = {
    "all equal": np.zeros,
    "pairs of equals": lambda n: np.repeat(np.arange(n // 2) * 50.0, 2),
    "20 equals each": lambda n: np.repeat(np.arange(n // 20) * 50.0, 20),
    "100 equals each": lambda n: np.repeat(np.arange(n // 100) * 50.0, 100),
    "a leader and equals": lambda n: np.append(np.zeros(n - 1), 50.0),
    "steps of half": lambda n: np.floor(np.linspace(0, 40, n)) / 2,
}


def correlated(n, random):
    """Return errors of families of ten near-duplicates, and the standard deviation of the difference of two systems."""
    family = np.repeat(np.arange(n // 10), 10)
    errors = 0.98 * random.normal(size=n // 10)[family] + sqrt(1 - 0.98**2) * random.normal(size=n)
    return errors, lambda a, b: np.where(family[a] == family[b], sqrt(2 * (1 - 0.98**2)), sqrt(2))


def independent(n, random):
    return random.normal(size=n), lambda a, b: sqrt(2)


def unequal(n, random):
    """Return errors of systems with different variances."""
    scales = np.exp(random.normal(size=n))
    return scales * random.normal(size=n), lambda a, b: np.hypot(scales[a], scales[b])


def shares_of_errors(truth, errors_of, random):
    """Return the share of boards with an error, and what it would be if the leader's pairs counted like neighbours'."""
    n = len(truth)
    best = int(np.argmax(truth))  # the first of equals is the best by a tiny difference
    better, worse = compared_pairs(n)
    near = worse - better <= n_neighbours(n)
    errors = if_all_counted = 0
    for _ in range(BOARDS):
        noise, deviation = errors_of(n, random)
        values = truth + noise
        order = np.argsort(-values)
        values = values[order]
        z = (values[better] - values[worse]) / deviation(order[better], order[worse])
        p_holm = np.array(holm(erfc(z / sqrt(2))))
        wrong = (p_holm <= ALPHA) & (truth[order[better]] <= truth[order[worse]])
        low, _ = rank_ranges(values, p_holm)
        errors += bool(wrong[near].any() or low[np.flatnonzero(order == best)[0]] > 1)
        if_all_counted += bool(wrong.any())
    return errors / BOARDS, if_all_counted / BOARDS


@pytest.mark.parametrize("errors_of", [independent, correlated, unequal])
@pytest.mark.parametrize("n", SIZES)
def test_shares_of_boards_with_an_error(n, errors_of):
    random = np.random.default_rng(n)
    print(f"\n{n:,} systems, {errors_of.__name__} errors, {n_neighbours(n)} neighbours on either side")
    for name, truth in TRUTHS.items():
        share, if_all_counted = shares_of_errors(truth(n), errors_of, random)
        print(f"  {name:20} {share:6.1%}; if the leader's pairs counted like neighbours' {if_all_counted:6.1%}")

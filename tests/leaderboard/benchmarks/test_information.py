"""Leakage budget: what answers reveal, compared with hand calculation, simulation, and a count of answer series."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest

from leaderboard.scoring.queries.leakage_budget import Spent, full_disclosure_inflation, ladder_inflation_bound


@pytest.mark.parametrize(
    ("answers", "n_groups", "inflation"),
    # Density and distribution function of the normal distribution at 0, 0.1, 0.707 and 1, from tables.
    [(0, 4000, 0.0), (40, 4000, 0.0398), (2000, 4000, 0.2602), (4000, 4000, 0.3413), (5, 0, 0.0)],
)
def test_full_disclosure(answers: int, n_groups: int, inflation: float) -> None:
    assert full_disclosure_inflation(answers, n_groups) == pytest.approx(inflation, abs=5e-5)


def test_answer_series_are_counted() -> None:
    budget_spent = Spent(answers=7, n_scored=3, levels=math.log(5))
    assert budget_spent.log_transcripts == pytest.approx(math.log(len(list(combinations(range(7), 3))) * 5**3))
    assert Spent(9, 0).log_transcripts == pytest.approx(0.0)
    assert Spent(3, 3, math.log(2)).log_transcripts == pytest.approx(math.log(8))


def test_the_best_of_many_random_systems_stays_below_the_bound() -> None:
    random = np.random.default_rng(5)
    n, repetitions = 400, 1000
    best = [random.binomial(n, 0.5, repetitions).max() / n - 0.5 for _ in range(50)]
    bound = ladder_inflation_bound(math.log(repetitions), n)
    assert 0.7 * bound < float(np.mean(best)) <= bound
    assert ladder_inflation_bound(0.0, n) == 0.0 and ladder_inflation_bound(5.0, 0) == 0.0

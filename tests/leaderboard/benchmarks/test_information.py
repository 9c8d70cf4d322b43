"""The information budget: what answers give away, worked by hand, by simulation, and against a count of series."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest

from leaderboard.scoring.queries.leakage_budget import Spent, full_disclosure_inflation, ladder_inflation_bound


@pytest.mark.parametrize(
    ("answers", "n_groups", "inflation"),
    # The normal distribution's values at 0, 0.1, 0.707 and 1, as tables have them.
    [(0, 4000, 0.0), (40, 4000, 0.0398), (2000, 4000, 0.2602), (4000, 4000, 0.3413), (5, 0, 0.0)],
)
def test_in_full(answers: int, n_groups: int, inflation: float) -> None:
    assert full_disclosure_inflation(answers, n_groups) == pytest.approx(inflation, abs=5e-5)


def test_series_of_answers_are_counted() -> None:
    spent = Spent(answers=7, n_scored=3, levels=math.log(5))
    assert spent.log_transcripts == pytest.approx(math.log(len(list(combinations(range(7), 3))) * 5**3))
    assert Spent(9, 0).log_transcripts == pytest.approx(0.0)
    assert Spent(3, 3, math.log(2)).log_transcripts == pytest.approx(math.log(8))


def test_the_luckiest_of_many_stays_below_the_bound() -> None:
    random = np.random.default_rng(5)
    n, many = 400, 1000
    best = [random.binomial(n, 0.5, many).max() / n - 0.5 for _ in range(50)]
    bound = ladder_inflation_bound(math.log(many), n)
    assert 0.7 * bound < float(np.mean(best)) <= bound
    assert ladder_inflation_bound(0.0, n) == 0.0 and ladder_inflation_bound(5.0, 0) == 0.0

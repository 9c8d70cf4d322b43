"""Intervals of very many groups, which are merged at random before they are resampled."""

from __future__ import annotations

import numpy as np
import pytest

from evaluator.outcomes.table import Outcomes
from evaluator.scoring.score import Score, score_outcomes
from evaluator.statistics import bootstrap
from evaluator.tasks.registry import TASKS


def scores(n: int) -> list[Score]:
    """Score claims that are sorted by group, and in which the first are right more often than the last."""
    correct = np.random.default_rng(0).random(n) < np.linspace(0.9, 0.3, n)
    outcomes = Outcomes(
        task="fact-verification",
        task_version=1,
        n_units=n,
        group_names=tuple(range(n // 2)),
        groups=(np.arange(n) // 2).astype(np.int32),
        statistics={"claim": np.ones(n), "correct": correct.astype(np.float64)},
        dimensions={},
        facts={"evidence": False, "origin": False},
    )
    return score_outcomes(outcomes, TASKS["fact-verification"].measures, resamples=1000)


def test_groups_merged_at_random_have_the_interval_of_the_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    (one_by_one,) = scores(4000)
    monkeypatch.setattr(bootstrap, "MAX_RESAMPLED", 1999)
    monkeypatch.setattr(bootstrap, "RANDOM_GROUPS", 500)
    (merged,) = scores(4000)
    assert (merged.value, merged.n, merged.n_groups) == (one_by_one.value, 4000, 2000)
    widths = [score.high - score.low for score in (one_by_one, merged) if score.high and score.low]
    # The difficulty changes in the course of the file, so merged neighbours would have a wider interval.
    assert widths[1] == pytest.approx(widths[0], rel=0.1) and merged.low != one_by_one.low

"""Comparisons of two systems do not depend on the scales of their scores."""

import numpy as np
import pytest

from evaluator.outcomes.weighted import Sample, View
from evaluator.scoring.compare import compare_outcomes
from evaluator.tasks.registry import TASKS
from tests.evaluator.statistics.test_resampled_scores import outcomes

MEASURES = (*TASKS["fact-checking"].measures, *TASKS["metric-correlation"].measures)
N = 60


def table(scores):
    random = np.random.default_rng(1)
    human = random.integers(0, 5, N) / 4
    return outcomes(list(range(N)), human=human, positive=human > 0.5, system=random.integers(0, 4, N), score=scores)


def scores(seed):
    random = np.random.default_rng(seed)
    return (table(np.zeros(N)).statistics["human"] + random.normal(size=N)).round(1)


@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.name)
def test_a_scale_changes_no_value(measure):
    table_of_scores = table(scores(2))

    def value(outcomes):
        return float(measure.evaluate(Sample(View.whole(outcomes), np.ones((N, 1))))[0])

    assert value(measure.transform(table_of_scores)) == pytest.approx(value(table_of_scores), abs=1e-12)
    constant = measure.transform(table(np.full(N, 0.1)))
    assert np.isfinite(constant.statistics["score"]).all()


def test_a_stretched_scale_changes_no_p_value():
    a, b = scores(2), scores(3)
    plain = compare_outcomes(table(a), table(b), MEASURES, resamples=200)
    stretched = compare_outcomes(table(a), table(b * 4096 + 8192), MEASURES, resamples=200)
    assert [row.p for row in stretched] == [row.p for row in plain]
    assert min(row.p for row in plain) < 1


def test_rank_measures_accept_any_monotone_scale():
    a, b = scores(2), scores(3)
    ordinal = [measure for measure in MEASURES if measure.name in {"auroc", "average_precision", "spearman", "kendall"}]
    plain = compare_outcomes(table(a), table(b), ordinal, resamples=200)
    curved = compare_outcomes(table(a), table(np.exp(50 * b)), ordinal, resamples=200)
    assert curved == plain


def test_one_system_on_two_scales_does_not_differ():
    a = scores(2)
    for row in compare_outcomes(table(a), table(a * 1024), MEASURES, resamples=100):
        assert row.difference == pytest.approx(0, abs=1e-12)
        assert row.p == 1.0

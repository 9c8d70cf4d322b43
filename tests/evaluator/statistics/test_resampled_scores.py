"""A measure with weights equals the measure on rows repeated as often as their groups were resampled."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score

from evaluator.measures import auroc
from evaluator.outcomes import weighted
from evaluator.outcomes.table import Outcomes
from evaluator.outcomes.weighted import Sample, View
from evaluator.statistics.bootstrap import group_weights
from evaluator.tasks.registry import TASKS
from tests.evaluator.tasks.fact_checking import fc_oracle
from tests.evaluator.tasks.metric_correlation import mc_oracle
from tests.support.full_run import examples

CHECKING = {measure.name: measure for measure in TASKS["fact-checking"].measures}
RATING = {measure.name: measure for measure in TASKS["metric-correlation"].measures}


def outcomes(groups, **columns):
    statistics = {name: np.array(column, dtype=np.float64) for name, column in columns.items()}
    n = len(groups)
    return Outcomes(
        task="t",
        task_version=1,
        n_units=n,
        group_names=tuple(range(max(groups) + 1)),
        groups=np.array(groups, dtype=np.int32),
        statistics=statistics | {"claim": np.ones(n), "text": np.ones(n)},
        dimensions={},
    )


@st.composite
def tables(draw):
    n = draw(st.integers(1, 20))
    part = draw(st.sampled_from([2, 10, 100]))  # decimals that are not exact in binary must tie too
    rows = st.lists(st.integers(-3, 3).map(lambda k: k / part), min_size=n, max_size=n)
    groups = draw(st.lists(st.integers(0, draw(st.integers(0, n - 1))), min_size=n, max_size=n))
    positive = draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    system = draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    table = outcomes(groups, score=draw(rows), human=draw(rows), positive=positive, system=system)
    counts = st.lists(st.integers(0, 3), min_size=table.n_groups, max_size=table.n_groups)
    weights = np.array(draw(st.lists(counts, min_size=1, max_size=9)), dtype=np.float64).T
    return table, np.ascontiguousarray(weights)


def written_out(table, weights):
    """The columns with each row repeated as often as its group was resampled."""
    rows = np.repeat(np.arange(table.n_rows), weights[table.groups].astype(int))
    return {name: column[rows].tolist() for name, column in table.statistics.items()}


@pytest.fixture(params=[1, 7, 10**6], ids="blocks of {}".format)
def block(request, monkeypatch):
    monkeypatch.setattr(auroc, "_BLOCK", request.param)
    monkeypatch.setattr(weighted, "_BLOCK", request.param)
    monkeypatch.setattr(weighted, "_LEAST", 1)


def assert_values(measures, table, weights, oracle):
    sample = Sample(View.whole(table), weights)
    ours = {name: measure.evaluate(sample) for name, measure in measures.items()}
    for i in range(weights.shape[1]):
        columns = written_out(table, weights[:, i])
        for name, expected in oracle(columns).items():
            value = ours[name][i]
            assert np.isnan(value) if expected is None else abs(value - expected) < 1e-9, (name, i, value, expected)


def classification_values(columns):
    rows = list(zip(columns["score"], map(bool, columns["positive"]), strict=True))
    return {"auroc": fc_oracle.auroc(rows), "average_precision": fc_oracle.average_precision(rows)}


def correlation_values(columns):
    x, y, systems = columns["human"], columns["score"], columns["system"]
    if not x:
        return dict.fromkeys(RATING)
    return {
        "spearman": mc_oracle.spearman(x, y),
        "pearson": mc_oracle.pearson(x, y),
        "kendall": mc_oracle.kendall(x, y),
        "partial_spearman": mc_oracle.partial_spearman(x, y, systems),
        "partial_pearson": mc_oracle.partial_pearson(x, y, systems),
    }


# The fixture sets the block sizes once for all examples.
SETTINGS = settings(
    max_examples=examples(80),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@SETTINGS
@given(case=tables())
def test_auroc_and_average_precision(block, case):
    assert_values(CHECKING, *case, classification_values)


@SETTINGS
@given(case=tables())
def test_correlations(block, case):
    assert_values(RATING, *case, correlation_values)


def test_many_claims_against_scikit_learn_with_weights():
    random = np.random.default_rng(5)
    n = 3000
    positive = random.integers(0, 2, n)
    score = (random.normal(size=n) + positive).round(1)
    groups = random.integers(0, 400, n)
    table = outcomes(groups.tolist(), score=score, positive=positive)
    weights = next(group_weights(table.n_groups, 60, 1))
    sample = Sample(View.whole(table), weights)
    ours = [CHECKING[name].evaluate(sample) for name in ("auroc", "average_precision")]
    for i in range(60):
        sample_weight = weights[groups, i]
        for values, reference in zip(ours, (roc_auc_score, average_precision_score), strict=True):
            assert values[i] == pytest.approx(reference(positive, score, sample_weight=sample_weight), abs=1e-9)


def test_a_resample_without_the_outlier_keeps_its_precision():
    """Scores of very different magnitudes: small ones keep their precision where the large one was not resampled."""
    human, score = [1.0, 2.0, 3.0, 4.0], [1.0, 3.0, 2.0, 1e300]
    table = outcomes([0, 1, 2, 3], human=human, score=score)
    weights = np.array([[1.0], [1.0], [1.0], [0.0]])
    values = RATING["pearson"].evaluate(Sample(View.whole(table), weights))
    assert values[0] == pytest.approx(0.5, abs=1e-12)

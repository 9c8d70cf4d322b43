"""The scorer of metric-correlation equals plain loops and SciPy, on generated examples."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import stats

from tests.evaluator.tasks.metric_correlation import mc_oracle
from tests.support.full_run import examples
from tests.support.scoring_runs import assert_same, run_prepare, run_score, run_validate, table

TASK = "metric-correlation"
value = st.sampled_from(["x", "y", 1, 1.0, True, "1"])
quarters = st.integers(-8, 8).map(lambda n: n / 4)
tenths = st.integers(-9, 9).map(lambda n: n / 10)  # not exact in binary
whole = st.integers(-3, 3)
extreme = st.sampled_from([0.0, -0.0, 5e-324, 1e308, -1e308, 1e16, 1e16 + 2, 1e16 + 4, 1, 1 + 2**-52, 10**300])
few = st.sampled_from([quarters, tenths, whole])


@st.composite
def cases(draw, numbers=few):
    make_id = draw(st.sampled_from([int, str]))
    ratings, scores = draw(numbers), draw(numbers)
    systems = draw(st.sampled_from([None, ["a"], ["a", "b", "c"], ["1", 1]]))
    gold, predictions = [], []
    for i in range(draw(st.integers(1, 12))):
        line = {"id": make_id(i), "human": draw(ratings)}
        if systems:
            line["system"] = draw(st.sampled_from(systems))
        if draw(st.booleans()):
            line["group"] = draw(st.sampled_from(["g", "h", 3, "3"]))
        if draw(st.booleans()):
            line["slices"] = draw(st.dictionaries(st.sampled_from(["subset", "split"]), value, max_size=2))
        gold.append(line)
        predictions.append({"id": make_id(i), "score": draw(scores)})
    if systems and draw(st.integers(0, 5)) == 0:
        del draw(st.sampled_from(gold))["system"]
    return gold, draw(st.permutations(predictions))


@settings(max_examples=examples(200), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(cases())
def test_all_scores(case):
    gold, predictions = case
    assert_same(table(run_score(TASK, gold, predictions)), mc_oracle.score(gold, predictions))


PLAIN = ("spearman", "pearson", "kendall")
anything = st.one_of(extreme, st.floats(allow_nan=False, allow_infinity=False), st.integers(-(10**20), 10**20))


@settings(max_examples=examples(200), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(cases(st.sampled_from([extreme, anything, quarters])))
def test_any_finite_number(case):
    """Only the measures without means by system. For partial correlations of such numbers, subtracting a mean of
    1e308 needs exact.py, which test_mc_ties.py compares with fractions."""
    gold, predictions = case
    ours = table(run_score(TASK, gold, predictions))
    plain = {key: score for key, score in ours.items() if key[0] in PLAIN}
    assert_same(plain, mc_oracle.score(gold, predictions, partial=False))


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(cases())
def test_public_inputs_validate_what_gold_accepts(case):
    gold, predictions = case
    report, inputs = run_prepare(TASK, gold)
    assert report["ok"]
    assert run_validate(TASK, inputs, predictions)["ok"]
    assert not run_validate(TASK, inputs, predictions[1:] or b"")["ok"]


@pytest.mark.parametrize("decimals", [None, 2, 0])
def test_scipy_on_many_texts(decimals):
    random = np.random.default_rng(11)
    n = 5000
    human = random.integers(0, 5, n) / 4
    scores = human + random.normal(size=n)
    if decimals is not None:
        scores = scores.round(decimals)
    systems = random.integers(0, 9, n)
    gold = [
        {"id": i, "human": rating, "system": system}
        for i, (rating, system) in enumerate(zip(human.tolist(), systems.tolist(), strict=True))
    ]
    ours = table(run_score(TASK, gold, [{"id": i, "score": score} for i, score in enumerate(scores.tolist())]))
    residuals = [
        column - np.array([column[systems == s].mean() for s in range(9)])[systems] for column in (human, scores)
    ]
    expected = {
        "spearman": stats.spearmanr(human, scores),
        "pearson": stats.pearsonr(human, scores),
        "kendall": stats.kendalltau(human, scores),
        "partial_pearson": stats.pearsonr(*residuals),
    }
    if decimals is None:
        expected["partial_spearman"] = stats.spearmanr(*residuals)
    for name, result in expected.items():
        assert ours[name, "{}"] == (pytest.approx(result.statistic, abs=1e-9), n)

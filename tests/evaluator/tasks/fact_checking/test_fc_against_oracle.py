"""The scorer of fact-checking equals plain loops and scikit-learn, on generated examples."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score

from tests.evaluator.tasks.fact_checking import fc_oracle
from tests.support.full_run import examples
from tests.support.scoring_runs import assert_same, run_prepare, run_score, run_validate, table

TASK = "fact-checking"
value = st.sampled_from(["x", "y", 1, 1.0, True, "1"])
few = st.sampled_from([0, -0.0, 0.0, 1, 1.0, -1, 0.1, 5e-324, -5e-324, 1.7e308, -1.7e308, 2**53, 2**53 + 1, 10**300])
number = st.one_of(few, st.floats(allow_nan=False, allow_infinity=False), st.integers(-(10**20), 10**20))


@st.composite
def cases(draw):
    make_id = draw(st.sampled_from([int, str]))
    scores = draw(st.sampled_from([few, number]))
    gold, predictions = [], []
    for i in range(draw(st.integers(1, 14))):
        line = {"id": make_id(i), "subject": "s", "relation": draw(st.sampled_from("rq")), "object": "é"}
        line["label"] = draw(st.booleans())
        if draw(st.booleans()):
            line["group"] = draw(st.sampled_from(["g", "h", 3, "3"]))
        if draw(st.booleans()):
            names = st.sampled_from(["transparency", "relation", "scenario"])
            line["slices"] = draw(st.dictionaries(names, value, max_size=2))
        gold.append(line)
        predictions.append({"id": make_id(i), "score": draw(scores)})
    return gold, draw(st.permutations(predictions))


@settings(max_examples=examples(200), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(cases())
def test_all_scores(case):
    gold, predictions = case
    assert_same(table(run_score(TASK, gold, predictions)), fc_oracle.score(gold, predictions))


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(cases())
def test_public_inputs_validate_what_gold_accepts(case):
    gold, predictions = case
    report, inputs = run_prepare(TASK, gold)
    assert report["ok"]
    assert run_validate(TASK, inputs, predictions)["ok"]
    assert not run_validate(TASK, inputs, predictions[1:] or b"")["ok"]


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.floats(-1e6, 1e6) | st.integers(-3, 3)), min_size=2, max_size=60))
def test_scikit_learn(rows):
    labels = [label for label, _ in rows]
    scores = [float(score) for _, score in rows]
    gold = [{"id": i, "subject": "s", "relation": "r", "object": "o", "label": label} for i, label in enumerate(labels)]
    ours = table(run_score(TASK, gold, [{"id": i, "score": score} for i, score in enumerate(scores)]))
    if len(set(labels)) == 1:
        assert ours["auroc", "{}"] == ours["average_precision", "{}"] == (None, len(rows))
        return
    assert ours["auroc", "{}"][0] == pytest.approx(roc_auc_score(labels, scores), abs=1e-9)
    assert ours["average_precision", "{}"][0] == pytest.approx(average_precision_score(labels, scores), abs=1e-9)


@pytest.mark.parametrize("decimals", [None, 3, 0])
def test_scikit_learn_on_many_claims(decimals):
    random = np.random.default_rng(7)
    labels = random.random(50_000) < 0.3
    scores = random.normal(size=len(labels)) + labels
    if decimals is not None:
        scores = scores.round(decimals)
    gold = [
        {"id": i, "subject": "s", "relation": "r", "object": "o", "label": label}
        for i, label in enumerate(labels.tolist())
    ]
    ours = table(run_score(TASK, gold, [{"id": i, "score": score} for i, score in enumerate(scores.tolist())]))
    assert ours["auroc", "{}"][0] == pytest.approx(roc_auc_score(labels, scores), abs=1e-12)
    assert ours["average_precision", "{}"][0] == pytest.approx(average_precision_score(labels, scores), abs=1e-12)

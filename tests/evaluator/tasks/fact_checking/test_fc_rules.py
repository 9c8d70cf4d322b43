"""fact-checking: one test for each sentence of the protocol."""

import json
from itertools import pairwise

import pytest

from tests.support.scoring_runs import cut, run_prepare, run_score, run_validate, table, texts

TASK = "fact-checking"


def claim(name, label, relation="r", **extra):
    return {"id": name, "subject": "s", "relation": relation, "object": "o", "label": label, **extra}


def answers(*scores):
    return [{"id": i, "score": score} for i, score in enumerate(scores)]


def both(labels, scores):
    """(AUROC, average precision) of claims with these labels."""
    gold = [claim(i, label) for i, label in enumerate(labels)]
    scores_found = table(run_score(TASK, gold, answers(*scores)))
    return scores_found["auroc", "{}"][0], scores_found["average_precision", "{}"][0]


def test_measures_worked_by_hand():
    """Of four pairs three are in order and one is a tie; half the recall at precision 1, half at 2/3."""
    assert both([True, True, False, False], [0.9, 0.4, 0.4, 0.1]) == (0.875, cut(5 / 6))


def test_a_tie_is_half_a_pair():
    assert both([True, False], [1, 1]) == (0.5, 0.5)
    assert both([True, False], [0.0, -0.0]) == (0.5, 0.5)


def test_perfect_and_inverted():
    assert both([True, False, True], [3, 1, 2]) == (1.0, 1.0)
    assert both([True, False, False], [1, 2, 3]) == (0.0, cut(1 / 3))


def test_only_the_order_counts():
    labels = [True, False, True, False, True]
    scores = [0.3, 0.2, 0.1, 0.4, 0.5]
    assert both(labels, scores) == both(labels, [score * 1e300 - 1e299 for score in scores])
    assert both(labels, scores) == both(labels, [score * 5e-300 for score in scores])


@pytest.mark.parametrize("score", [-0.0, 0, -5, 1e308, 5e-324, 10**300, 2**70])
def test_any_finite_score_is_legal(score):
    assert both([True, False], [score, -1e308]) == (1.0, 1.0)
    assert both([False, True], [score, score]) == (0.5, 0.5)


def test_integers_are_compared_as_float64():
    """2**53 and 2**53 + 1 are the same float64."""
    assert both([True, False], [2**53 + 1, 2**53]) == (0.5, 0.5)


def test_one_class_has_no_value():
    assert both([True, True], [1, 2]) == (None, None)
    assert both([False], [1]) == (None, None)


def test_a_slice_with_one_class_has_no_value_but_its_n():
    gold = [claim(0, True), claim(1, False), claim(2, True, "q"), claim(3, True, "q")]
    report = run_score(TASK, gold, answers(0.5, 0.2, 0.1, 0.3), resamples=50)
    scores_found = table(report)
    assert scores_found["auroc", '{"relation": "q"}'] == (None, 2)
    assert scores_found["average_precision", '{"relation": "q"}'] == (None, 2)
    assert scores_found["auroc", '{"relation": "r"}'] == (1.0, 2)
    empty = next(row for row in report["result"]["scores"] if row["slice"] == {"relation": "q"})
    assert empty["low"] is empty["high"] is None


def test_slices_are_the_relation_and_what_gold_declares():
    gold = [
        claim(0, True, slices={"transparency": 0.2, "homogeneity": 1, "popularity": "popular", "scenario": "a"}),
        claim(1, False, slices={"relation": "renamed"}),
    ]
    report, _ = run_prepare(TASK, gold)
    assert report["dimensions"] == {
        "relation": ["r", "renamed"],
        "transparency": [0.2],
        "homogeneity": [1],
        "popularity": ["popular"],
        "scenario": ["a"],
    }
    assert report["primary"] == "auroc"
    assert report["measures"] == ["auroc", "average_precision"]


def test_two_way_slices():
    gold = [claim(i, i % 2 == 0, slices={"t": 0.2 * (i // 2), "h": i // 4}) for i in range(8)]
    scores_found = table(run_score(TASK, gold, answers(*range(8)), cross="t,h"))
    assert scores_found["auroc", json.dumps({"t": 0.4, "h": 1})] == (0.0, 2)
    assert ("auroc", json.dumps({"t": 0.4, "h": 0})) not in scores_found


@pytest.mark.parametrize("label", [1, 0, "true", None, 1.0, "1"])
def test_a_label_is_true_or_false(label):
    report, _ = run_prepare(TASK, [claim(0, True), claim(1, label)])
    assert report["fault"] == "gold"
    assert [problem["line"] for problem in report["problems"]] == [2]
    assert "label" in report["problems"][0]["text"]


@pytest.mark.parametrize("score", ["0.5", True, None, [1], {}])
def test_a_score_is_a_number(score):
    report = run_score(TASK, [claim(0, True), claim(1, False)], answers(0.5, score))
    assert [problem["line"] for problem in report["problems"]] == [2]
    assert "score" in texts(report)[0]


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999", "9" * 400, ".5", "1_0", "+1"])
def test_a_score_is_finite_json(text):
    predictions = f'{{"id": 0, "score": 1}}\n{{"id": 1, "score": {text}}}\n'.encode()
    report = run_score(TASK, [claim(0, True), claim(1, False)], predictions)
    assert report["fault"] == "predictions"
    assert [problem["line"] for problem in report["problems"]] == [2]


def test_every_claim_needs_a_score():
    gold = [claim(i, i % 2 == 0) for i in range(30)]
    report = run_score(TASK, gold, answers(*range(17)))
    assert texts(report) == ["predictions.jsonl: 13 ids are missing: 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, ..."]
    assert report["problems"][0]["line"] is None


def test_unknown_and_duplicate_ids_are_refused_with_their_lines():
    gold = [claim(0, True), claim(1, False)]
    lines = [{"id": 0, "score": 1}, {"id": 7, "score": 1}, {"id": 1, "score": 1}, {"id": 0, "score": 1}]
    lines += [{"id": "1", "score": 1}]
    report = run_score(TASK, gold, lines)
    assert [problem["line"] for problem in report["problems"]] == [2, 4, 5]
    assert [problem["what"] for problem in report["problems"]] == ["unknown id", "duplicate id", "unknown id"]


def test_predictions_in_any_order_are_matched_by_id():
    gold = [claim("a", True), claim("b", False), claim("c", True)]
    lines = [{"id": "c", "score": 2}, {"id": "b", "score": 1}, {"id": "a", "score": 3}]
    assert table(run_score(TASK, gold, lines))["auroc", "{}"] == (1.0, 3)


def test_a_submission_cannot_bring_its_own_gold():
    gold = [claim(0, True), claim(1, False)]
    lines = [line | {"label": i == 1, "slices": {"x": 1}, "group": 1} for i, line in enumerate(answers(1, 0))]
    report = run_score(TASK, gold, lines)
    assert table(report)["auroc", "{}"] == (1.0, 2)
    assert any('"label"' in warning for warning in report["result"]["warnings"])


def test_inputs_hold_the_triple_and_nothing_else():
    gold = [claim(i, i < 3, group="g", slices={"scenario": "s"}) for i in range(6)]
    report, inputs = run_prepare(TASK, gold)
    assert report["ok"]
    lines = [json.loads(line) for line in inputs.splitlines()]
    assert all(list(line) == ["id", "subject", "relation", "object"] for line in lines)
    assert sorted(line["id"] for line in lines) == list(range(6))


def test_the_order_of_the_inputs_reveals_no_labels():
    """The order depends on the ids alone, not on gold's order or labels, and is not sorted."""
    gold = [claim(i, i < 500) for i in range(1000)]
    _, inputs = run_prepare(TASK, gold)
    _, other = run_prepare(TASK, [claim(i, i % 2 == 0) for i in reversed(range(1000))])
    assert inputs == other
    order = [json.loads(line)["id"] for line in inputs.splitlines()]
    first_half = sum(name < 500 for name in order[:500])
    assert 200 < first_half < 300
    assert 400 < sum(a < b for a, b in pairwise(order)) < 600


def test_validation_needs_no_gold():
    _, inputs = run_prepare(TASK, [claim(0, True), claim(1, False)])
    assert run_validate(TASK, inputs, answers(1, 2))["ok"]
    report = run_validate(TASK, inputs, answers(1))
    assert report["fault"] == "predictions"
    assert "1 id is missing: 1" in texts(report)[0]


def test_gold_of_one_class_gives_a_warning():
    report, _ = run_prepare(TASK, [claim(0, True), claim(1, True)])
    assert any("same label" in warning for warning in report["warnings"])


def test_groups_are_resampled_together():
    """Copies within a group do not change the interval."""
    labels, scores = [True, False] * 20, [i * 7 % 13 for i in range(40)]
    once = [claim(i, label, group=i) for i, label in enumerate(labels)]
    thrice = [claim(100 * k + i, label, group=i) for k in range(3) for i, label in enumerate(labels)]
    predictions_of_copies = [{"id": line["id"], "score": scores[line["id"] % 100]} for line in thrice]

    def interval(gold, predictions):
        whole = run_score(TASK, gold, predictions, resamples=300)["result"]["scores"][0]
        return whole["value"], whole["low"], whole["high"]

    assert interval(once, answers(*scores)) == pytest.approx(interval(thrice, predictions_of_copies), abs=1e-12)

"""metric-correlation: one test for each sentence of the protocol."""

import json
import math

import pytest

from tests.support.scoring_runs import run_prepare, run_score, run_validate, table, texts

TASK = "metric-correlation"


def rated(ratings, systems=None, **extra):
    lines = [{"id": i, "human": rating, **extra} for i, rating in enumerate(ratings)]
    for line, system in zip(lines, systems or [], strict=systems is not None):
        line["system"] = system
    return lines


def answers(scores):
    return [{"id": i, "score": score} for i, score in enumerate(scores)]


def whole(ratings, scores, systems=None, **options):
    """Each measure's value on the whole."""
    values = table(run_score(TASK, rated(ratings, systems), answers(scores), **options))
    return {measure: value for (measure, where), (value, _) in values.items() if where == "{}"}


def near(value):
    return pytest.approx(value, abs=1e-12)


def test_measures_worked_by_hand():
    """Ranks 1, 2, 3.5, 3.5 and 1, 2, 4, 3; five pairs concordant, none discordant, one tied in the ratings."""
    values = whole([1, 2, 3, 3], [5, 6, 9, 7])
    assert values["spearman"] == near(4.5 / math.sqrt(4.5 * 5))
    assert values["kendall"] == near(5 / math.sqrt(5 * 6))
    assert whole([1, 2, 3], [1, 2, 6])["pearson"] == near(5 / math.sqrt(2 * 14))


def test_partial_correlations_worked_by_hand():
    """Minus the systems' means: -1, 1, 0, 0 and -1, 1, 1, -1, with ranks 1, 4, 2.5, 2.5 and 1.5, 3.5, 3.5, 1.5."""
    values = whole([1, 3, 5, 5], [2, 4, 8, 6], ["a", "a", "b", "b"])
    assert values["partial_pearson"] == near(2 / math.sqrt(2 * 4))
    assert values["partial_spearman"] == near(3 / math.sqrt(4.5 * 4))


def test_differences_between_systems_do_not_raise_partial_correlations():
    values = whole([0, 1, 10, 11], [1, 0, 11, 10], ["a", "a", "b", "b"])
    assert values["pearson"] > 0.9
    assert values["partial_pearson"] == values["partial_spearman"] == near(-1.0)


def test_a_system_of_equal_values_gives_exact_zeros():
    """The mean of three values of 0.1 is not 0.1 in float64, but all zeros must tie."""
    ratings = [0.1, 0.1, 0.1, 0.7, 0.7, 0.7, 0.2, 0.4]
    scores = [1, 2, 3, 3, 2, 1, 1, 2]
    values = whole(ratings, scores, [*"aaabbb", "c", "c"])
    # Residuals of the ratings: six zeros, -0.1 and 0.1; of the scores: -1, 0, 1, 1, 0, -1, -0.5, 0.5.
    ranks_x = [4.5] * 6 + [1, 8]
    ranks_y = [1.5, 4.5, 7.5, 7.5, 4.5, 1.5, 3, 6]
    covariance = sum((a - 4.5) * (b - 4.5) for a, b in zip(ranks_x, ranks_y, strict=True))
    spread = sum((a - 4.5) ** 2 for a in ranks_x) * sum((b - 4.5) ** 2 for b in ranks_y)
    assert values["partial_spearman"] == near(covariance / math.sqrt(spread))


def test_constant_systems_have_no_partial_correlation():
    values = whole([0.1, 0.1, 0.1, 0.3], [1, 2, 3, 4], ["a", "a", "a", "b"])
    assert values["partial_pearson"] is values["partial_spearman"] is None
    assert values["spearman"] is not None


def test_means_are_those_of_the_slice():
    gold = rated([1, 2, 3, 9], ["a"] * 4)
    for i, line in enumerate(gold):
        line["slices"] = {"subset": "in" if i < 3 else "out"}
    values = table(run_score(TASK, gold, answers([3, 2, 1, 9])))
    assert values["partial_pearson", '{"subset": "in"}'] == (near(-1.0), 3)
    assert values["partial_pearson", '{"subset": "out"}'] == (None, 1)
    assert values["partial_pearson", "{}"][0] > 0


def test_partial_correlations_need_a_system_on_every_line():
    gold = rated([1, 2, 3], ["a", "a", "b"])
    report, _ = run_prepare(TASK, gold)
    assert report["measures"] == ["spearman", "pearson", "kendall", "partial_spearman", "partial_pearson"]
    del gold[1]["system"]
    report, _ = run_prepare(TASK, gold)
    assert report["measures"] == ["spearman", "pearson", "kendall"]
    assert report["primary"] == "spearman"
    assert any("1 lines name no system" in warning for warning in report["warnings"])
    report, _ = run_prepare(TASK, rated([1, 2]))
    assert report["measures"] == ["spearman", "pearson", "kendall"]
    assert report["warnings"] == []


def test_system_names_of_two_types_are_distinct():
    values = whole([1, 2, 3, 5], [1, 2, 5, 3], ["1", "1", 1, 1])
    assert values["partial_spearman"] == near(whole([1, 2, 3, 5], [1, 2, 5, 3], [*"aabb"])["partial_spearman"])
    assert values["partial_spearman"] != near(whole([1, 2, 3, 5], [1, 2, 5, 3], [*"aaaa"])["partial_spearman"])


@pytest.mark.parametrize(
    ("ratings", "scores"), [([1, 2, 3], [0.1] * 3), ([0.1] * 3, [1, 2, 3]), ([1], [2]), ([1, 2], [0.0, -0.0])]
)
def test_constant_input_has_no_value(ratings, scores):
    assert set(whole(ratings, scores, ["a"] * len(ratings)).values()) == {None}


def test_a_constant_slice_has_no_value_but_its_n():
    gold = rated([1, 1, 2, 3])
    for i, line in enumerate(gold):
        line["slices"] = {"subset": i // 2}
    values = table(run_score(TASK, gold, answers([1, 2, 3, 4])))
    assert values["spearman", '{"subset": 0}'] == (None, 2)
    assert values["spearman", '{"subset": 1}'] == (1.0, 2)


@pytest.mark.parametrize("scale", [1, -1, 1e300, 2.0**-1040, 3])
def test_perfect_and_inverted(scale):
    ratings = [0.25, 0.5, 0.5, 1, 0.75]
    values = whole(ratings, [rating * scale for rating in ratings], [*"aabba"])
    assert list(values.values()) == [near(math.copysign(1, scale))] * 5


def test_values_stay_within_their_bounds_under_resampling():
    ratings = [0.1, 0.7, 0.3, 0.4, 0.9]
    report = run_score(TASK, rated(ratings), answers([rating * 7 for rating in ratings]), resamples=400)
    for row in report["result"]["scores"]:
        assert -1 <= row["low"] <= row["value"] <= row["high"] <= 1


@pytest.mark.parametrize("value", ["1", True, None, [1]])
def test_a_rating_is_a_number(value):
    report, _ = run_prepare(TASK, [*rated([1]), {"id": 9, "human": value}])
    assert report["fault"] == "gold"
    assert [problem["line"] for problem in report["problems"]] == [2]


@pytest.mark.parametrize("value", ["1", True, None, [1]])
def test_a_score_is_a_number(value):
    report = run_score(TASK, rated([1, 2]), answers([1, value]))
    assert report["fault"] == "predictions"
    assert [problem["line"] for problem in report["problems"]] == [2]


def test_every_text_needs_a_score():
    report = run_score(TASK, rated(range(12)), answers([1]))
    assert texts(report) == ["predictions.jsonl: 11 ids are missing: 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, ..."]


def test_inputs_hold_the_texts_and_nothing_else():
    gold = rated([1, 2, 3], [*"abc"], generated="é", group="g", slices={"subset": 1})
    gold[0]["reference"] = "r"
    del gold[1]["generated"]
    _, inputs = run_prepare(TASK, gold)
    lines = {line["id"]: line for line in map(json.loads, inputs.splitlines())}
    assert lines == {
        0: {"id": 0, "generated": "é", "reference": "r"},
        1: {"id": 1},
        2: {"id": 2, "generated": "é"},
    }
    assert run_validate(TASK, inputs, answers([1, 2, 3]))["ok"]
    assert not run_validate(TASK, inputs, answers([1, 2]))["ok"]


def test_the_order_of_the_inputs_reveals_no_ratings():
    _, inputs = run_prepare(TASK, rated(range(1000)))
    _, other = run_prepare(TASK, list(reversed(rated([5] * 1000))))
    assert inputs == other
    order = [json.loads(line)["id"] for line in inputs.splitlines()]
    assert 200 < sum(name < 500 for name in order[:500]) < 300

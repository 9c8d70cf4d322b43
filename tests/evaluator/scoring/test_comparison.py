"""Comparing two systems: against SciPy, against loops, and properties that hold for any numbers."""

import dataclasses
import io
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evaluator.errors import UsageError
from evaluator.jobs import JOBS
from evaluator.outcomes.serialization import from_bytes
from evaluator.outcomes.table import Dimension
from evaluator.scoring.compare import compare_outcomes
from evaluator.scoring.score import score_outcomes
from evaluator.statistics.bootstrap import intervals
from evaluator.statistics.mcnemar import exact_p_value
from evaluator.statistics.permutation_test import swap_masks
from evaluator.tasks.registry import TASKS
from tests.evaluator.measures.test_measures import CASES
from tests.support.full_run import examples
from tests.support.scoring_runs import as_bytes, taken_by
from tests.support.simulated_outcomes import AUROC, F1, ORDERS, SPEARMAN, SUMS, by_rows, simulate_pair, simulate_scores

ACCURACY = SUMS[1]


def pair(seed, n_groups=40, gain=0.0):
    a, b = simulate_pair(n_groups, 0.6, np.random.default_rng(seed), gain)
    extra_a, extra_b = simulate_scores(n_groups, 0.6, np.random.default_rng(seed))
    tables = []
    for table, extra in ((a, extra_a), (b, extra_b)):
        columns = {**table.statistics, **{name: extra.statistics[name] for name in ("score", "positive", "x", "y")}}
        kinds = np.arange(table.n_rows, dtype=np.int32) % 3
        tables.append(
            dataclasses.replace(
                table, statistics=columns, dimensions={"kind": Dimension(kinds, ("p", "q", "r"), True, True)}
            )
        )
    return tables


def on_whole(rows, measure):
    return next(row for row in rows if row.measure == measure.name and not row.slice)


def test_values_equal_those_of_scoring():
    a, b = pair(1)
    rows = compare_outcomes(a, b, (*SUMS, *ORDERS), resamples=0)
    scores = [score_outcomes(table, (*SUMS, *ORDERS), resamples=0) for table in (a, b)]
    assert len(rows) == len(scores[0]) == 4 * 5
    for row, score_a, score_b in zip(rows, *scores, strict=True):
        assert (row.measure, row.slice, row.n) == (score_a.measure, score_a.slice, score_a.n)
        assert (row.a, row.b, row.difference) == (score_a.value, score_b.value, score_a.value - score_b.value)
        assert (row.low, row.high, row.p) == (None, None, None)


def test_the_interval_is_that_of_differences_on_the_same_resamples():
    a, b = pair(2)
    row = on_whole(compare_outcomes(a, b, [F1], resamples=300, seed=5), F1)
    random = np.random.default_rng([5, a.n_groups])  # the resamples of the systems' own intervals
    differences, times = [], []
    for _ in range(300):
        groups = random.integers(0, a.n_groups, size=a.n_groups)
        times.append(np.bincount(groups, minlength=a.n_groups))
        rows = np.concatenate([np.flatnonzero(a.groups == group) for group in groups])
        tp, fp, fn = ([t.statistics[name][rows].sum() for t in (a, b)] for name in ("tp", "fp", "fn"))
        f1 = [2 * tp[i] / (2 * tp[i] + fp[i] + fn[i]) for i in (0, 1)]
        differences.append(f1[0] - f1[1])
    influence = (np.array(differences) - row.difference) @ (np.array(times) - 1)
    low, high = intervals(np.array([differences]), influence[None, :])
    assert (row.low, row.high) == (pytest.approx(low[0]), pytest.approx(high[0]))
    assert np.quantile(differences, 0.001) < row.low < np.quantile(differences, 0.03)
    assert np.quantile(differences, 0.97) < row.high < np.quantile(differences, 0.999)


def with_ranks(table):
    """Scores of two systems may have different scales, so ranks within each system are swapped."""
    ranked = {name: stats.rankdata(table.statistics[name]) for name in ("score", "y")}
    return dataclasses.replace(table, statistics={**table.statistics, **ranked})


@pytest.mark.parametrize("measure", [F1, AUROC, SPEARMAN], ids=lambda measure: measure.name)
def test_p_equals_that_of_swapping_groups_row_by_row(measure):
    a, b = pair(3, n_groups=12)
    row = on_whole(compare_outcomes(a, b, [measure], resamples=60, seed=9), measure)
    a, b = (with_ranks(table) for table in (a, b))

    def value(first, second, swapped):
        rows = swapped[first.groups]
        mixed = {n: np.where(rows, second.statistics[n], first.statistics[n]) for n in first.statistics}
        return score_outcomes(dataclasses.replace(first, statistics=mixed), [measure], resamples=0)[0].value

    permutations_drawn = np.concatenate(list(swap_masks(12, 60, 9)), axis=1).T > 0
    excess = np.array([abs(value(a, b, swapped) - value(b, a, swapped)) for swapped in permutations_drawn]) - abs(
        row.difference
    )
    assert row.p == pytest.approx((1 + np.sum(excess > 1e-12) + np.sum(np.abs(excess) <= 1e-12) / 2) / 61)


def test_p_approximates_scipys_exact_p_with_ties_halved():
    for seed, gain in ((4, 0.3), (5, 0.5), (6, 0.9)):
        a, b = pair(seed, n_groups=10, gain=gain)
        right = [np.bincount(t.groups, t.statistics["correct"], 10) for t in (a, b)]
        test = stats.permutation_test(
            right, lambda x, y: x.sum() - y.sum(), permutation_type="samples", n_resamples=2000
        )
        tied = np.isclose(np.abs(test.null_distribution), abs(test.statistic))
        assert tied.mean() > 1e-3  # otherwise there are no ties to halve
        exact = test.pvalue - tied.mean() / 2
        row = on_whole(compare_outcomes(a, b, [ACCURACY], resamples=20_000), ACCURACY)
        assert row.p == pytest.approx(exact, abs=4 * (exact * (1 - exact) / 20_000) ** 0.5 + 1e-4)


def test_systems_with_equal_values_do_not_differ_significantly():
    """A difference of 0 is the smallest possible, however many permutations tie with it."""
    a, _ = pair(15)
    moved = dataclasses.replace(a, statistics={**a.statistics, "correct": a.statistics["correct"][::-1]})
    row = on_whole(compare_outcomes(a, moved, [ACCURACY], resamples=100), ACCURACY)
    assert (row.difference, row.p) == (0, 1)
    assert row.low < 0 < row.high


def test_mcnemar_is_scipys_binomial_test():
    for b_only, c_only in itertools.product((0, 1, 2, 7, 30, 251, 1000), repeat=2):
        expected = stats.binomtest(b_only, b_only + c_only).pvalue if b_only + c_only else 1.0
        assert exact_p_value(b_only, c_only) == pytest.approx(expected, rel=1e-9)
    assert exact_p_value(499_000, 501_500) == pytest.approx(stats.binomtest(499_000, 1_000_500).pvalue, rel=1e-6)
    assert exact_p_value(0, 5000) == 0.0


def test_mcnemar_counts_units_of_each_slice_on_which_systems_differ():
    a, b = (by_rows(table) for table in pair(7, gain=0.5))
    rows = compare_outcomes(a, b, SUMS, resamples=0)
    for row in rows:
        if row.measure != ACCURACY.name:
            assert row.p_mcnemar is None  # a sum of counts, a mean of fractions
            continue
        selected = a.dimensions["kind"].codes == "pqr".index(row.slice["kind"]) if row.slice else slice(None)
        correct_a, correct_b = (table.statistics["correct"][selected] for table in (a, b))
        only = [int(np.sum(correct_a > correct_b)), int(np.sum(correct_b > correct_a))]
        assert row.p_mcnemar == pytest.approx(stats.binomtest(only[0], sum(only)).pvalue)


def test_no_mcnemar_where_units_of_one_group_are_not_independent():
    a, b = pair(8)
    rows = compare_outcomes(a, b, [ACCURACY], resamples=0)
    assert [row.p_mcnemar for row in rows] == [None] * 4


def test_swapping_the_systems_changes_only_signs():
    a, b = pair(9)
    forward = compare_outcomes(a, b, (*SUMS, *ORDERS), resamples=200)
    reverse = compare_outcomes(b, a, (*SUMS, *ORDERS), resamples=200)
    for row, swapped in zip(forward, reverse, strict=True):
        assert (row.a, row.b, row.difference, row.p) == (swapped.b, swapped.a, -swapped.difference, swapped.p)
        assert (row.low, row.high) == (pytest.approx(-swapped.high), pytest.approx(-swapped.low))


def test_a_system_does_not_differ_from_itself():
    a, _ = pair(10)
    for row in compare_outcomes(a, a, (*SUMS, *ORDERS), resamples=100):
        assert (row.difference, row.low, row.high, row.p) == (0, 0, 0, 1)


def test_results_do_not_depend_on_batching(monkeypatch):
    a, b = pair(11)
    once = compare_outcomes(a, b, (*SUMS, *ORDERS), resamples=150)
    monkeypatch.setattr("evaluator.statistics.bootstrap._MAX_HELD", 200)
    monkeypatch.setattr("evaluator.statistics.permutation_test._MAX_WEIGHTS", 1000)
    monkeypatch.setattr("evaluator.statistics.bootstrap._MAX_WEIGHTS", 1000)
    for row, batched in zip(once, compare_outcomes(a, b, (*SUMS, *ORDERS), resamples=150), strict=True):
        assert (row.measure, row.slice, row.p) == (batched.measure, batched.slice, batched.p)
        assert row.low == pytest.approx(batched.low)


def test_a_slice_of_one_group_has_no_interval_and_p_of_1():
    a, b = simulate_pair(2, 0.6, np.random.default_rng(3))
    b = dataclasses.replace(b, statistics={**b.statistics, "correct": np.ones(b.n_rows)})
    a = dataclasses.replace(a, statistics={**a.statistics, "correct": np.zeros(a.n_rows)})
    dimensions = {"half": Dimension(a.groups, ("left", "right"), True, False)}
    a, b = (dataclasses.replace(table, dimensions=dimensions) for table in (a, b))
    rows = compare_outcomes(a, b, [ACCURACY], resamples=50)
    assert [(row.n_groups, row.difference) for row in rows] == [(2, -1), (1, -1), (1, -1)]
    assert [(row.low, row.high, row.p) for row in rows[1:]] == [(None, None, 1.0)] * 2
    assert rows[0].p > 0.15  # two groups: half of all permutations are equally large, and count half


def test_a_measure_without_a_value_has_no_difference():
    a, b = pair(12)
    a = dataclasses.replace(a, statistics={**a.statistics, "score": np.zeros(a.n_rows), "y": np.zeros(a.n_rows)})
    row = on_whole(compare_outcomes(a, b, ORDERS, resamples=50), SPEARMAN)
    assert row.a is None and row.b is not None
    assert (row.difference, row.low, row.high, row.p) == (None, None, None, None)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"task": "other"}, "simulated version 1, outcomes b of other version 1"),
        ({"task_version": 2}, "outcomes b of simulated version 2"),
        ({"group_names": tuple(str(i) for i in range(40))}, "groups"),
        ({"n_units": 5}, "units"),
        ({"facts": {"evidence": True}}, "facts"),
        ({"dimensions": {}}, "slices"),
    ],
    ids=str,
)
def test_tables_of_different_gold_are_refused(change, what):
    a, b = pair(13)
    with pytest.raises(UsageError, match=what):
        compare_outcomes(a, dataclasses.replace(b, **change), SUMS)


def test_tables_with_other_gold_units_in_a_slice_are_refused():
    a, b = pair(14)
    moved = Dimension((b.dimensions["kind"].codes + 1) % 3, ("p", "q", "r"), True, True)
    if a.n_rows % 3:
        with pytest.raises(UsageError, match="expected outcomes of the same gold"):
            compare_outcomes(a, dataclasses.replace(b, dimensions={"kind": moved}), SUMS, resamples=0)


@pytest.mark.parametrize(("name", "make"), [(name, make) for name, makers in CASES.items() for make in makers])
def test_comparisons_from_files_and_from_stored_outcomes_are_equal(name, make):
    gold, best, worst = make()
    arguments = {"task": name, "resamples": 100, "gold_name": "g", "predictions_a_name": "a", "predictions_b_name": "b"}
    bodies = {"gold": gold, "predictions_a": best, "predictions_b": worst}
    report, attachment = JOBS["compare"]({key: io.BytesIO(as_bytes(body)) for key, body in bodies.items()}, arguments)
    assert report["ok"] and attachment == b""
    stored = []
    for predictions in (best, worst):
        files = {"gold": io.BytesIO(as_bytes(gold)), "predictions": io.BytesIO(as_bytes(predictions))}
        scored, table = JOBS["score"](files, taken_by("score", arguments | {"predictions_name": "p"}))
        stored.append(table)
        side = "a" if predictions is best else "b"
        assert [row[side] for row in report["result"]["comparisons"]] == [
            score["value"] for score in scored["result"]["scores"]
        ]
    again, _ = JOBS["compare_outcomes"]({"a": io.BytesIO(stored[0]), "b": io.BytesIO(stored[1])}, {"resamples": 100})
    assert again["result"]["comparisons"] == report["result"]["comparisons"]
    assert again["primary"] == report["primary"]
    for row in report["result"]["comparisons"]:
        if row["difference"] is not None:
            measure = TASKS[name].measure(row["measure"])
            assert abs(row["difference"]) <= measure.high - measure.low
            assert 0 < row["p"] <= 1
    assert from_bytes(stored[0]).n_groups == report["result"]["n_groups"]


@settings(deadline=None, max_examples=examples(50))
@given(st.integers(0, 200), st.integers(0, 200))
def test_mcnemar_by_counting(b_only, c_only):
    n, k = b_only + c_only, min(b_only, c_only)
    row = [1]
    for i in range(k):
        row.append(row[-1] * (n - i) // (i + 1))  # Pascal's triangle, exactly
    assert exact_p_value(b_only, c_only) == pytest.approx(min(1.0, 2 * sum(row) / 2**n), rel=1e-11)

"""Bootstrap intervals: whole groups are resampled, with a seed, and results equal resampling in loops."""

import statistics

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evaluator.measures.weighted_median import weighted_medians
from evaluator.outcomes.table import Outcomes, RaggedColumn
from evaluator.outcomes.weighted import Sample, View
from evaluator.statistics import student_t
from evaluator.statistics.bootstrap import BootstrapReplicates, group_weights
from evaluator.tasks.registry import TASKS
from tests.evaluator.measures.test_measures import CASES, outcomes_of, value
from tests.support.full_run import examples
from tests.support.scoring_runs import run_score


def all_weights(n_groups, resamples, seed):
    return np.concatenate(list(group_weights(n_groups, resamples, seed)), axis=1)


def test_each_resample_has_as_many_groups_as_the_data():
    weights = all_weights(37, 500, 1)
    assert weights.shape == (37, 500)
    assert np.all(weights.sum(axis=0) == 37)
    assert abs(weights.mean() - 1) < 1e-9
    # The variance of a multinomial count is 1 - 1/n.
    assert weights.var() == pytest.approx(1 - 1 / 37, abs=0.03)


def test_resamples_depend_on_the_seed_and_not_on_batching():
    assert np.array_equal(all_weights(50, 100, 4), all_weights(50, 100, 4))
    assert not np.array_equal(all_weights(50, 100, 4), all_weights(50, 100, 5))
    many = all_weights(40_000, 250, 2)  # returned in three batches
    assert np.array_equal(many[:, :100], next(iter(group_weights(40_000, 100, 2))))


def resample(points, values, weights):
    resampled = BootstrapReplicates(np.array(points), len(weights), weights.shape[1])
    for block in np.array_split(np.arange(weights.shape[1]), 3):
        resampled.add(np.array(values)[:, block], weights[:, block])
    return resampled


def test_ends_are_accelerated_percentiles_with_students_t():
    """From the definition, in loops and with SciPy: Student's t for an effective number of groups, and acceleration."""
    random = np.random.default_rng(0)
    sizes = np.ceil(random.lognormal(0, 1, 30))
    right = sizes * random.beta(4, 1, 30)
    weights = all_weights(30, 999, 1)
    values = (right @ weights) / (sizes @ weights)
    point = right.sum() / sizes.sum()
    low, high = resample([point], [values], weights).intervals()

    moves = [sum((values[r] - point) * (weights[g, r] - 1) for r in range(999)) for g in range(30)]
    effective = int(sum(u**2 for u in moves) ** 2 / sum(u**4 for u in moves))
    a = sum(u**3 for u in moves) / (6 * sum(u**2 for u in moves) ** 1.5)
    assert 3 < effective < 25 and a < -0.01  # few groups, skewed downwards: every term of the formula matters
    reach = (effective / (effective - 1)) ** 0.5 * stats.t.ppf(0.975, effective - 1)
    for z, end in ((-reach, low[0]), (reach, high[0])):
        share = stats.norm.cdf(a + (a + z) / (1 - a * (a + z)))
        assert end == pytest.approx(np.quantile(values, share), rel=1e-9)
    assert low[0] < np.quantile(values, 0.025)


def test_many_equal_groups_give_plain_percentiles():
    weights = all_weights(2000, 999, 3)
    right = np.arange(2000) % 2
    values = right @ weights / 2000
    low, high = resample([0.5], [values], weights).intervals()
    assert low[0] == pytest.approx(np.quantile(values, 0.025), abs=3e-4)
    assert high[0] == pytest.approx(np.quantile(values, 0.975), abs=3e-4)


def test_one_dominant_group_gives_the_full_range_of_resamples():
    weights = all_weights(20, 500, 5)
    sizes, right = np.append(np.ones(19), 1e6), np.append(np.ones(19), 0.0)
    values = right @ weights / (sizes @ weights)
    low, high = resample([right.sum() / sizes.sum()], [values], weights).intervals()
    assert (low[0], high[0]) == (values.min(), values.max())


@pytest.mark.parametrize("heavy", [1.0, 1e6], ids=["equal", "one dominates"])
def test_pooling_neighbouring_groups_changes_intervals_little(monkeypatch, heavy):
    weights = all_weights(3000, 500, 7)
    sizes, right = np.ones(3000), np.random.default_rng(1).random(3000) ** 4
    sizes[1234], right[1234] = heavy, heavy * 0.9
    values, point = (right @ weights) / (sizes @ weights), right.sum() / sizes.sum()
    each = resample([point], [values], weights).intervals()
    monkeypatch.setattr("evaluator.statistics.bootstrap.MAX_INFLUENCES", 700)
    together = resample([point], [values], weights)
    assert together.influence.shape == (1, 700)
    assert np.array(together.intervals()) == pytest.approx(np.array(each), abs=0.02 * np.ptp(values))


def test_missing_values_are_ignored_and_equal_values_have_no_width():
    weights = all_weights(10, 300, 6)
    values = np.random.default_rng(0).normal(size=(4, 300))
    values[0, ::3] = np.nan
    values[1] = np.nan
    values[2] = 0.7
    values[3, 1:] = np.nan
    low, high = resample([0.0, np.nan, 0.7, 0.0], values, weights).intervals()
    defined = values[0][~np.isnan(values[0])]
    assert defined.min() <= low[0] < np.quantile(defined, 0.1) < np.quantile(defined, 0.9) < high[0] <= defined.max()
    assert np.isnan(low[1]) and np.isnan(high[1])
    assert (low[2], high[2]) == (0.7, 0.7)
    assert low[3] == high[3] == values[3, 0]


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9, 1e200])
def test_an_interval_does_not_depend_on_the_unit_of_the_values(scale):
    weights = all_weights(10, 300, 6)
    values = (np.arange(10.0) ** 3) @ weights / 10
    low, high = resample([202.5], [values], weights).intervals()
    scaled_low, scaled_high = resample([202.5 * scale], [values * scale], weights).intervals()
    assert (scaled_low, scaled_high) == (pytest.approx(low * scale), pytest.approx(high * scale))


def test_negated_values_have_a_negated_interval():
    weights = all_weights(12, 400, 8)
    values = (np.arange(12.0) ** 4) @ weights
    low, high = resample([values.mean()], [values], weights).intervals()
    negated = resample([-values.mean()], [-values], weights).intervals()
    assert negated == (pytest.approx(-high), pytest.approx(-low))


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 7, 30, 199, 200, 201, 5000])
@pytest.mark.parametrize("share", [0.5, 0.9, 0.975, 0.995])
def test_students_quantiles_are_scipys(share, freedom):
    assert student_t.quantile(share, freedom) == pytest.approx(stats.t.ppf(share, freedom), rel=1e-7, abs=1e-12)


@pytest.mark.parametrize(("name", "make"), [(name, make) for name, makers in CASES.items() for make in makers])
def test_a_weighted_sample_equals_the_table_with_repeated_groups(name, make):
    """Weights mean repetition, for every measure, including macro averages and medians."""
    gold, best, worst = make()
    others = {next(iter(line.values())): line for line in worst}  # by id, the first key
    mixed = [others.get(next(iter(line.values())), line) if i % 2 else line for i, line in enumerate(best)]
    table = outcomes_of(TASKS[name], gold, mixed)
    weights = all_weights(table.n_groups, 25, 3)
    sample = Sample(View.whole(table), weights)
    for measure in TASKS[name].measures:
        if measure.requires and not table.facts.get(measure.requires):
            continue
        together = measure.evaluate(sample)
        for column in range(25):
            alone = value(measure, repeated(table, weights[:, column].astype(int)))[0]
            assert together[column] == pytest.approx(alone, abs=1e-12, nan_ok=True)


def repeated(table, times):
    """Each group's rows repeated as often as it was resampled; groups with a count of 0 remain, without rows."""
    rows = np.concatenate([np.flatnonzero(table.groups == group).repeat(n) for group, n in enumerate(times)] or [[]])
    rows = rows.astype(np.int64)
    ragged = {}
    for name, lengths in table.ragged.items():
        pieces = [(lengths.values[lengths.rows == old], new) for new, old in enumerate(rows)]
        ragged[name] = RaggedColumn(
            np.concatenate([piece for piece, _ in pieces]),
            np.concatenate([np.full(len(piece), new) for piece, new in pieces]).astype(np.int64),
        )
    from evaluator.outcomes.table import Dimension

    return Outcomes(
        table.task,
        1,
        table.n_units,
        table.group_names,
        table.groups[rows],
        {name: column[rows] for name, column in table.statistics.items()},
        {name: Dimension(d.codes[rows], d.values, d.declared, d.within_groups) for name, d in table.dimensions.items()},
        ragged,
        table.facts,
    )


@settings(deadline=None, max_examples=examples(100))
@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 9)), min_size=1, max_size=300),
    st.lists(st.lists(st.integers(0, 3), min_size=6, max_size=6), min_size=1, max_size=5),
)
def test_weighted_medians(pairs, draws):
    groups = np.arange(6, dtype=np.int32)
    lengths = RaggedColumn(np.array([float(v) for _, v in pairs]), np.array([g for g, _ in pairs]))
    table = Outcomes("t", 1, 6, tuple("abcdef"), groups, {"one": np.ones(6)}, {}, {"length": lengths})
    medians = weighted_medians(Sample(View.whole(table), np.array(draws, dtype=float).T), "length")
    for draw, median in zip(draws, medians, strict=True):
        values = [v for g, v in pairs for _ in range(draw[g])]
        assert (statistics.median(values) if values else pytest.approx(np.nan, nan_ok=True)) == median


def scores(report):
    return {
        (row["measure"], str(row["slice"])): (row["value"], row["low"], row["high"])
        for row in report["result"]["scores"]
    }


def test_an_interval_of_independent_claims_is_nearly_normal():
    """Accuracy of 400 independent claims: the interval is close to the normal one."""
    gold = [{"id": i, "claim": "c", "label": "SUPPORTS"} for i in range(400)]
    predictions = [{"id": i, "predicted_label": "SUPPORTS" if i % 4 else "REFUTES"} for i in range(400)]
    shown = scores(run_score("fact-verification", gold, predictions, resamples=2000))
    _, low, high = shown["accuracy", "{}"]
    half = 1.96 * (0.75 * 0.25 / 400) ** 0.5
    assert low == pytest.approx(0.75 - half, abs=0.006)
    assert high == pytest.approx(0.75 + half, abs=0.006)


def test_rows_of_one_group_are_not_independent():
    def width(size):
        gold = [{"id": i, "claim": "c", "label": "SUPPORTS", "group": i // size} for i in range(400)]
        predictions = [{"id": i, "predicted_label": "SUPPORTS" if i // 4 % 2 else "REFUTES"} for i in range(400)]
        _, low, high = scores(run_score("fact-verification", gold, predictions, resamples=2000))["accuracy", "{}"]
        return high - low

    assert width(4) == pytest.approx(2 * width(1), rel=0.1)


def test_a_slice_of_one_group_has_no_interval():
    gold = [{"id": i, "claim": "c", "label": "SUPPORTS", "slices": {"k": i == 0}} for i in range(9)]
    predictions = [{"id": i, "predicted_label": "SUPPORTS" if i % 2 else "REFUTES"} for i in range(9)]
    shown = scores(run_score("fact-verification", gold, predictions, resamples=100))
    assert shown["accuracy", "{'k': True}"] == (0.0, None, None)
    assert shown["accuracy", "{'k': False}"][1] is not None
    alone = run_score("fact-verification", gold[:1], predictions[:1], resamples=100)
    assert scores(alone)["accuracy", "{}"] == (0.0, None, None)


def test_the_same_files_give_the_same_report():
    gold, best, _ = CASES["knowledge-base-population"][0]()
    first = run_score("knowledge-base-population", gold, best, resamples=200, seed=5)
    assert first == run_score("knowledge-base-population", gold, best, resamples=200, seed=5)


def test_resampling_slices_in_batches_changes_nothing(monkeypatch):
    gold = [{"id": i, "claim": "c", "label": "SUPPORTS", "slices": {"k": i % 9}} for i in range(90)]
    predictions = [{"id": i, "predicted_label": "SUPPORTS" if i % 4 else "REFUTES"} for i in range(90)]
    at_once = run_score("fact-verification", gold, predictions, resamples=60)
    monkeypatch.setattr("evaluator.statistics.bootstrap._MAX_HELD", 100)
    assert run_score("fact-verification", gold, predictions, resamples=60) == at_once

"""Many pairs at once: against all permutations of few groups, and against the comparison of a single pair."""

import itertools
import math
from dataclasses import replace

import msgspec
import numpy as np
import pytest

from evaluator.errors import UsageError
from evaluator.measures.base import HarmonicMean, Ratio, statistic
from evaluator.measures.correlation import Kendall
from evaluator.outcomes.weighted import Sample, View
from evaluator.scoring import compare_pairs as many_pairs
from evaluator.scoring.compare import compare_outcomes
from evaluator.scoring.compare_pairs import STOP_AFTER_EXCEEDANCES, compare_pairs, max_permutations
from evaluator.statistics.permuted_differences import permuted_differences, swap_mask_blocks
from tests.support.simulated_outcomes import ACCURACY, AUROC, F1, MRR, SPEARMAN, orders, simulate, sums, table

KENDALL = Kendall(name="kendall", title="", doc="", source="", units=statistic("claim"), x="x", y="y", low=-1.0)
RECALL = Ratio(
    name="recall", title="", doc="", source="", units=statistic("claim"), numerator=statistic("tp"),
    denominator=statistic("tp") + statistic("fn"), empty=0.0,
)  # fmt: skip
PRECISION = replace(RECALL, name="precision", denominator=statistic("tp") + statistic("fp"))
HARMONIC = HarmonicMean(name="h", title="", doc="", source="", units=statistic("claim"), a=PRECISION, b=RECALL)
MEASURES = [F1, ACCURACY, MRR, HARMONIC, AUROC, SPEARMAN]


def systems(n_groups, number, *, tied=False, seed=3):
    """Systems on one gold, each better than the previous one."""
    random = np.random.default_rng(seed)
    codes = np.repeat(np.arange(n_groups, dtype=np.int32), random.integers(1, 4, n_groups))
    gold = orders(codes, n_groups, 0.6, random)
    tables = []
    for rank in range(number):
        columns = sums(codes, n_groups, 0.45 + 0.4 * rank / number, random) | gold
        columns["score"] = gold["positive"] * (0.3 + rank) + random.normal(size=len(codes))
        columns["y"] = gold["x"] * (0.2 + rank) + random.normal(size=len(codes)) * 5
        if tied:
            columns |= {name: np.round(columns[name]) for name in ("score", "x", "y")}
        tables.append(table(codes, n_groups, columns))
    return tables


def differences_by_loops(measure, tables, swapped):
    """|a' - b'| with the rows of swapped groups exchanged. swapped: groups x permutations."""
    a, b = (measure.transform(table_) if measure.transform else table_ for table_ in tables)
    differences = []
    for permutation in swapped.T:
        is_swapped = permutation[a.groups] == 1
        both = [
            {name: np.where(is_swapped, second.statistics[name], first.statistics[name]) for name in first.statistics}
            for first, second in ((a, b), (b, a))
        ]
        values = [
            measure.evaluate(Sample(View.whole(replace(a, statistics=columns)), np.ones((a.n_groups, 1))))[0]
            for columns in both
        ]
        differences.append(abs(values[0] - values[1]))
    return np.array(differences)


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("measure", [*MEASURES, KENDALL], ids=lambda measure: measure.name)
def test_every_permutation_of_few_groups(measure, tied):
    tables = systems(7, 3, tied=tied)
    swapped = np.array(list(itertools.product([0.0, 1.0], repeat=7))).T
    kind = permuted_differences(measure, tables)
    pairs = [(0, 2), (1, 0), (2, 1)]
    for pair, differences in zip(pairs, kind.differences(swapped, pairs), strict=True):
        assert differences == pytest.approx(
            differences_by_loops(measure, [tables[i] for i in pair], swapped), abs=1e-12
        )


@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.name)
def test_p_approximates_the_share_of_all_permutations(measure):
    tables = systems(9, 2)
    (row,) = compare_pairs(tables, [(0, 1)], measure, resamples=0, seed=0, n_permutations=40_000)
    swapped = np.array(list(itertools.product([0.0, 1.0], repeat=9))).T
    differences = differences_by_loops(measure, tables, swapped)
    exact = np.mean(differences >= abs(row.difference) - 1e-12)
    assert exact >= 2 / 2**9
    deviation = math.sqrt(exact * (1 - exact) / row.n_permutations)
    assert row.p == pytest.approx(exact, abs=4.5 * deviation + 1 / row.n_permutations)


@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.name)
def test_differences_and_intervals_equal_those_of_single_comparisons(measure):
    tables = systems(60, 3)
    rows = compare_pairs(tables, [(0, 1), (2, 0)], measure, resamples=200, seed=5)
    for row in rows:
        (alone,) = [
            row_alone
            for row_alone in compare_outcomes(tables[row.a], tables[row.b], [measure], resamples=200, seed=5)
            if not row_alone.slice
        ]
        assert (row.difference, row.low, row.high) == (alone.difference, alone.low, alone.high)


@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.name)
def test_a_pairs_numbers_do_not_depend_on_other_pairs(measure):
    tables = systems(80, 6)
    pairs = list(itertools.combinations(range(6), 2))
    together = compare_pairs(tables, pairs, measure, resamples=100, seed=0, n_permutations=3000)
    for row in together:
        (alone,) = compare_pairs(
            [tables[row.a], tables[row.b]], [(0, 1)], measure, resamples=100, seed=0, n_permutations=3000
        )
        assert msgspec.structs.replace(alone, a=row.a, b=row.b) == row


def test_swapping_two_systems_changes_only_signs():
    tables = systems(50, 2)
    for measure in MEASURES:
        forward, reverse = compare_pairs(tables, [(0, 1), (1, 0)], measure, resamples=100, seed=0, n_permutations=2000)
        assert (forward.p, forward.n_permutations) == (reverse.p, reverse.n_permutations)
        assert forward.difference == pytest.approx(-reverse.difference)
        assert (forward.low, forward.high) == pytest.approx((-reverse.high, -reverse.low))


def test_a_large_p_stops_early_and_a_small_one_uses_every_permutation():
    tables = systems(60, 5)
    same, different = compare_pairs(tables, [(0, 0), (0, 4)], AUROC, resamples=0, seed=0, n_permutations=30_000)
    assert (same.p, same.n_permutations) == (1.0, STOP_AFTER_EXCEEDANCES)
    assert different.n_permutations == 30_000 and different.p == 1 / 30_001


def test_sampling_stops_at_the_permutation_that_is_enough():
    count = many_pairs._SequentialPValue(0.5)
    count.add(np.array([0.1, np.nan] * 300))
    count.add(np.array([0.5] * (STOP_AFTER_EXCEEDANCES - 1) + [0.1, np.nan, 0.7, 0.9]))
    assert count.is_over and count.n_sampled == 300 + STOP_AFTER_EXCEEDANCES + 1
    assert count.p == STOP_AFTER_EXCEEDANCES / (300 + STOP_AFTER_EXCEEDANCES + 1)


def test_a_longer_series_of_permutations_starts_with_the_shorter_one():
    long = np.concatenate(list(swap_mask_blocks(301, 2500, 4)), axis=1)
    short = np.concatenate(list(swap_mask_blocks(301, 130, 4)), axis=1)
    assert np.array_equal(long[:, :130], short) and long.shape == (301, 2500)
    assert set(np.unique(long)) == {0.0, 1.0} and 0.49 < long.mean() < 0.51
    assert not np.array_equal(short, next(swap_mask_blocks(301, 130, 5)))


def test_counts_that_single_precision_would_round_are_added_in_double_precision():
    large = float(1 << 24)
    columns = [{"claim": np.ones(12), "correct": values} for values in (np.full(12, large), np.full(12, large + 1))]
    tables = [table(np.arange(12, dtype=np.int32), 12, sums_) for sums_ in columns]
    swapped = next(swap_mask_blocks(12, 50, 1))
    (differences,) = permuted_differences(ACCURACY, tables).differences(swapped, [(0, 1)])
    assert differences == pytest.approx(np.abs(1 - 2 * swapped.mean(axis=0)), abs=1e-6)


def test_differences_from_a_table_are_those_that_are_computed(monkeypatch):
    """To the last bit, also of systems with equal or negative counts; other pairs have no table."""
    draw = np.random.default_rng(3)
    codes = np.sort(draw.integers(0, 40, 90)).astype(np.int32)
    correct = [draw.integers(0, 2, 90), draw.integers(0, 2, 90), draw.integers(-3, 4, 90)]
    tables = [table(codes, 40, {"correct": values}) for values in (*correct, correct[0])]
    swapped = next(swap_mask_blocks(40, 900, 2))
    kind, pairs = permuted_differences(ACCURACY, tables), [(0, 1), (2, 0), (0, 3), (1, 2)]
    computed = [row.tobytes() for row in kind._computed(swapped, pairs)]
    monkeypatch.setattr(kind, "_computed", None)
    assert [row.tobytes() for row in kind.differences(swapped, pairs)] == computed
    few = replace(tables[1], statistics={**tables[1].statistics, "claim": draw.integers(1, 3, 90).astype(float)})
    assert permuted_differences(ACCURACY, [tables[0], few])._table((0, 1)) is None
    huge = replace(tables[1], statistics={**tables[1].statistics, "correct": np.full(90, 1000.0)})
    assert permuted_differences(ACCURACY, [tables[0], huge])._table((0, 1)) is None


def test_a_measure_without_a_value_has_no_difference_and_no_p_value():
    tables = systems(10, 2)
    constant = replace(tables[1], statistics={**tables[1].statistics, "y": np.zeros(tables[1].n_rows)})
    (row,) = compare_pairs([tables[0], constant], [(0, 1)], SPEARMAN, resamples=50, seed=0)
    assert (row.difference, row.low, row.high, row.p, row.n_permutations) == (None, None, None, None, 0)
    one_class = [replace(t, statistics={**t.statistics, "positive": np.ones(t.n_rows)}) for t in tables]
    (row,) = compare_pairs(one_class, [(0, 1)], AUROC, resamples=50, seed=0)
    assert (row.difference, row.p) == (None, None)


def test_tables_of_two_golds_are_refused():
    table_a, table_b = systems(10, 1)[0], systems(11, 1)[0]
    with pytest.raises(UsageError, match="differ"):
        compare_pairs([table_a, table_b], [(0, 1)], F1, resamples=10, seed=0)


def test_gold_alone_decides_the_maximum_number_of_permutations():
    tables = [simulate(300, 0.6, np.random.default_rng(1)) for _ in range(2)]
    assert max_permutations(tables, F1) == max_permutations(tables, AUROC) == many_pairs.MAX_PERMUTATIONS
    budget = many_pairs._BUDGET // (many_pairs._TAKEN_AGAIN * tables[0].n_units)
    assert max_permutations(tables, KENDALL) == budget < many_pairs.MAX_PERMUTATIONS
    assert max_permutations([], F1) == 0

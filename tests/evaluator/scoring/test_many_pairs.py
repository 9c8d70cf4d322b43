"""Many pairs at once: against every exchange of few groups, written out, and against the single comparison."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from evaluator.errors import UsageError
from evaluator.measures.base import Harmonic, Ratio, statistic
from evaluator.measures.correlation import Kendall
from evaluator.outcomes.weighted import Sample, View
from evaluator.scoring import compare_pairs as many_pairs
from evaluator.scoring.compare import compare_outcomes
from evaluator.scoring.compare_pairs import ENOUGH, compare_pairs, max_permutations
from evaluator.statistics.pairwise_permutation import group_permutations, permuted_differences
from tests.support.simulated_outcomes import ACCURACY, AUROC, F1, MRR, SPEARMAN, orders, simulate, sums, table

KENDALL = Kendall(name="kendall", title="", doc="", source="", units=statistic("claim"), x="x", y="y", low=-1.0)
RECALL = Ratio(
    name="recall", title="", doc="", source="", units=statistic("claim"), numerator=statistic("tp"),
    denominator=statistic("tp") + statistic("fn"), empty=0.0,
)  # fmt: skip
PRECISION = replace(RECALL, name="precision", denominator=statistic("tp") + statistic("fp"))
HARMONIC = Harmonic(name="h", title="", doc="", source="", units=statistic("claim"), a=PRECISION, b=RECALL)
MEASURES = [F1, ACCURACY, MRR, HARMONIC, AUROC, SPEARMAN]


def systems(n_groups, number, *, tied=False, seed=3):
    """Systems on one gold, each better than the one before."""
    random = np.random.default_rng(seed)
    codes = np.repeat(np.arange(n_groups, dtype=np.int32), random.integers(1, 4, n_groups))
    gold = orders(codes, n_groups, 0.6, random)
    tables = []
    for place in range(number):
        columns = sums(codes, n_groups, 0.45 + 0.4 * place / number, random) | gold
        columns["score"] = gold["positive"] * (0.3 + place) + random.normal(size=len(codes))
        columns["y"] = gold["x"] * (0.2 + place) + random.normal(size=len(codes)) * 5
        if tied:
            columns |= {name: np.round(columns[name]) for name in ("score", "x", "y")}
        tables.append(table(codes, n_groups, columns))
    return tables


def written_out(measure, tables, swapped):
    """|a' - b'| with the rows of the exchanged groups really exchanged. swapped: groups x exchanges."""
    a, b = (measure.scale(one) if measure.scale else one for one in tables)
    found = []
    for exchange in swapped.T:
        theirs = exchange[a.groups] == 1
        both = [
            {name: np.where(theirs, other.statistics[name], one.statistics[name]) for name in one.statistics}
            for one, other in ((a, b), (b, a))
        ]
        values = [
            measure.evaluate(Sample(View.whole(replace(a, statistics=columns)), np.ones((a.n_groups, 1))))[0]
            for columns in both
        ]
        found.append(abs(values[0] - values[1]))
    return np.array(found)


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("measure", [*MEASURES, KENDALL], ids=lambda measure: measure.name)
def test_every_exchange_of_few_groups(measure, tied):
    tables = systems(7, 3, tied=tied)
    swapped = np.array(list(itertools.product([0.0, 1.0], repeat=7))).T
    kind = permuted_differences(measure, tables)
    pairs = [(0, 2), (1, 0), (2, 1)]
    for pair, found in zip(pairs, kind.differences(swapped, pairs), strict=True):
        assert found == pytest.approx(written_out(measure, [tables[place] for place in pair], swapped), abs=1e-12)


@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.name)
def test_p_is_the_share_of_all_exchanges(measure):
    tables = systems(9, 2)
    (row,) = compare_pairs(tables, [(0, 1)], measure, resamples=0, seed=0, n_permutations=40_000)
    swapped = np.array(list(itertools.product([0.0, 1.0], repeat=9))).T
    every = written_out(measure, tables, swapped)
    exact = np.mean(every >= abs(row.difference) - 1e-12)
    assert exact >= 2 / 2**9
    deviation = math.sqrt(exact * (1 - exact) / row.n_permutations)
    assert row.p == pytest.approx(exact, abs=4.5 * deviation + 1 / row.n_permutations)


@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.name)
def test_the_difference_and_its_interval_are_the_single_comparisons(measure):
    tables = systems(60, 3)
    rows = compare_pairs(tables, [(0, 1), (2, 0)], measure, resamples=200, seed=5)
    for row in rows:
        (alone,) = [
            one
            for one in compare_outcomes(tables[row.a], tables[row.b], [measure], resamples=200, seed=5)
            if not one.slice
        ]
        assert (row.difference, row.low, row.high) == (alone.difference, alone.low, alone.high)


@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.name)
def test_a_pair_has_the_same_numbers_in_any_company(measure):
    tables = systems(80, 6)
    pairs = list(itertools.combinations(range(6), 2))
    together = compare_pairs(tables, pairs, measure, resamples=100, seed=0, n_permutations=3000)
    for row in together:
        (alone,) = compare_pairs(
            [tables[row.a], tables[row.b]], [(0, 1)], measure, resamples=100, seed=0, n_permutations=3000
        )
        assert replace(alone, a=row.a, b=row.b) == row


def test_exchanging_two_systems_changes_signs_only():
    tables = systems(50, 2)
    for measure in MEASURES:
        there, back = compare_pairs(tables, [(0, 1), (1, 0)], measure, resamples=100, seed=0, n_permutations=2000)
        assert (there.p, there.n_permutations) == (back.p, back.n_permutations)
        assert there.difference == pytest.approx(-back.difference)
        assert (there.low, there.high) == pytest.approx((-back.high, -back.low))


def test_a_settled_p_stops_early_and_a_small_one_uses_every_exchange():
    tables = systems(60, 5)
    same, apart = compare_pairs(tables, [(0, 0), (0, 4)], AUROC, resamples=0, seed=0, n_permutations=30_000)
    assert (same.p, same.n_permutations) == (1.0, ENOUGH)
    assert apart.n_permutations == 30_000 and apart.p == 1 / 30_001


def test_draws_settle_on_the_exchange_that_is_enough():
    count = many_pairs._Count(0.5)
    count.add(np.array([0.1, np.nan] * 300))
    count.add(np.array([0.5] * (ENOUGH - 1) + [0.1, np.nan, 0.7, 0.9]))
    assert count.is_over and count.n_permutations == 300 + ENOUGH + 1
    assert count.p == ENOUGH / (300 + ENOUGH + 1)


def test_a_longer_series_of_exchanges_begins_as_a_shorter_one():
    long = np.concatenate(list(group_permutations(301, 2500, 4)), axis=1)
    short = np.concatenate(list(group_permutations(301, 130, 4)), axis=1)
    assert np.array_equal(long[:, :130], short) and long.shape == (301, 2500)
    assert set(np.unique(long)) == {0.0, 1.0} and 0.49 < long.mean() < 0.51
    assert not np.array_equal(short, next(group_permutations(301, 130, 5)))


def test_no_value_no_difference_and_no_test():
    tables = systems(10, 2)
    constant = replace(tables[1], statistics={**tables[1].statistics, "y": np.zeros(tables[1].n_rows)})
    (row,) = compare_pairs([tables[0], constant], [(0, 1)], SPEARMAN, resamples=50, seed=0)
    assert (row.difference, row.low, row.high, row.p, row.n_permutations) == (None, None, None, None, 0)
    one_class = [replace(t, statistics={**t.statistics, "positive": np.ones(t.n_rows)}) for t in tables]
    (row,) = compare_pairs(one_class, [(0, 1)], AUROC, resamples=50, seed=0)
    assert (row.difference, row.p) == (None, None)


def test_tables_of_two_golds_are_refused():
    one, other = systems(10, 1)[0], systems(11, 1)[0]
    with pytest.raises(UsageError, match="differ"):
        compare_pairs([one, other], [(0, 1)], F1, resamples=10, seed=0)


def test_gold_alone_decides_how_many_exchanges_may_be_drawn():
    tables = [simulate(300, 0.6, np.random.default_rng(1)) for _ in range(2)]
    assert max_permutations(tables, F1) == max_permutations(tables, AUROC) == many_pairs.MAX_PERMUTATIONS
    budget = many_pairs._BUDGET // (many_pairs._TAKEN_AGAIN * tables[0].n_units)
    assert max_permutations(tables, KENDALL) == budget < many_pairs.MAX_PERMUTATIONS
    assert max_permutations([], F1) == 0

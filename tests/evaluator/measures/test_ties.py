"""Columns are sorted exactly, with either way of sorting."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from evaluator.measures import ties
from evaluator.measures.ties import Ties, ascending
from tests.support.full_run import examples

NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([0.0, -0.0, 5e-324, -5e-324, 1.0, np.nextafter(1, 2), 1.7e308, -1.7e308]),
)


@pytest.mark.parametrize("binned_from", [0, 10**9])
@settings(max_examples=examples(200), deadline=None)
@given(values=hnp.arrays(np.float64, st.integers(1, 40), elements=NUMBERS))
def test_order_and_ties(binned_from, values):
    before, ties._BINNED_FROM = ties._BINNED_FROM, binned_from
    try:
        order, _ = ascending(values)
        cut = Ties.of(values)
    finally:
        ties._BINNED_FROM = before
    assert order.tolist() == sorted(range(len(values)), key=values.__getitem__)
    distinct = sorted(set(values.tolist()))
    assert len(cut) == len(distinct)
    assert [distinct[code] for code in cut.codes] == values.tolist()
    totals = cut.totals(np.ones((2, len(values))))
    assert totals.tolist() == [[values.tolist().count(value) for value in distinct]] * 2


@pytest.mark.parametrize("decimals", [None, 3, 0])
@pytest.mark.parametrize("outlier", [0.0, 1e6, -1e300, 1.7e308])
def test_many_numbers(decimals, outlier):
    """An outlier forces the other values into few bins."""
    random = np.random.default_rng(2)
    values = random.normal(size=100_000)
    values = values if decimals is None else values.round(decimals)
    values[random.integers(0, len(values), 50)] = outlier
    values[random.integers(0, len(values), 50)] = -outlier
    order, changes = ascending(values)
    assert order.tolist() == np.argsort(values, kind="stable").tolist()
    in_order = values[order]
    assert changes.tolist() == [True, *(in_order[1:] != in_order[:-1]).tolist()]


def test_numbers_that_differ_in_their_last_bits():
    """Numbers that differ only in their last bits share bins: first a few of them, then all."""
    random = np.random.default_rng(3)
    for spread in (1.0, 2.0**-40):
        values = 1 + spread * random.random(100_000)
        twins = np.nextafter(values[::9], 2)
        values = random.permutation(np.concatenate([values, twins]))
        assert ascending(values)[0].tolist() == np.argsort(values, kind="stable").tolist()

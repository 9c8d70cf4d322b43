"""Columns are put in order exactly, by either way of sorting."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from evaluator import ties
from evaluator.ties import Ties, ascending

NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([0.0, -0.0, 5e-324, -5e-324, 1.0, np.nextafter(1, 2), 1.7e308, -1.7e308]),
)


@pytest.mark.parametrize("radix_from", [0, 10**9])
@settings(max_examples=200, deadline=None)
@given(values=hnp.arrays(np.float64, st.integers(1, 40), elements=NUMBERS))
def test_order_and_ties(radix_from, values):
    before, ties._RADIX_FROM = ties._RADIX_FROM, radix_from
    try:
        order, _ = ascending(values)
        cut = Ties.of(values)
    finally:
        ties._RADIX_FROM = before
    assert order.tolist() == sorted(range(len(values)), key=values.__getitem__)
    distinct = sorted(set(values.tolist()))
    assert len(cut) == len(distinct)
    assert [distinct[code] for code in cut.codes] == values.tolist()
    totals = cut.totals(np.ones((2, len(values))))
    assert totals.tolist() == [[values.tolist().count(value) for value in distinct]] * 2


def test_many_numbers_that_differ_in_their_last_bits():
    random = np.random.default_rng(2)
    values = np.ldexp(1.0 + random.integers(0, 2**12, 100_000) * 2.0**-52, random.integers(-3, 3, 100_000))
    values *= random.choice([-1.0, 1.0], len(values))
    assert ascending(values)[0].tolist() == np.argsort(values, kind="stable").tolist()

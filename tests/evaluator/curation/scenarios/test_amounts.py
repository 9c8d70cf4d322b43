"""Numbers of claims are computed from exact decimals, not from binary fractions."""

from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.curation.scenarios.counts import ambiguous, exact, from_largest, positives_and_negatives
from evaluator.errors import UsageError

shares = st.decimals(0, 1, places=3)


def test_a_fifth_of_150_is_30_despite_float_rounding():
    assert int((1 - 0.8) * 150) == 29
    assert ambiguous(exact("transparency", "0.8"), 150) == 30
    assert ambiguous(exact("transparency", 0.8), 150) == 30


@pytest.mark.parametrize(
    ("size", "ratio", "expected"),
    [
        (300, "1", (150, 150)),
        (300, "1.0", (150, 150)),
        (300, "0.2", (50, 250)),
        (301, "1", (151, 150)),
        (10, "0.3", (3, 7)),
    ],
)
def test_true_claims_are_rounded_up(size, ratio, expected):
    assert positives_and_negatives(size, ratio) == expected


@given(st.integers(2, 5000), st.decimals("0.01", 20, places=2))
@settings(deadline=None)
def test_sizes_equal_those_of_long_decimals(size, ratio):
    with localcontext() as context:
        context.prec = 60
        positives = int((size * ratio / (1 + ratio)).quantize(Decimal("1e-30")).to_integral_value(ROUND_CEILING))
    if 0 < positives < size:
        assert positives_and_negatives(size, str(ratio)) == (positives, size - positives)
    else:
        with pytest.raises(UsageError, match="at least one true and one false claim"):
            positives_and_negatives(size, str(ratio))


@given(shares, st.integers(1, 5000))
@settings(deadline=None)
def test_shares_are_rounded_down(share, n):
    plausible = int(((1 - share) * n).to_integral_value(ROUND_FLOOR))
    assert ambiguous(exact("t", str(share)), n) == plausible
    assert from_largest(exact("h", share), n) == int((share * n).to_integral_value(ROUND_FLOOR))


@pytest.mark.parametrize("value", ["1.1", "-0.1", "", "x", "1e-1", "nan", "0,5", "½", Fraction(3, 2), True])
def test_an_invalid_share_is_refused(value):
    with pytest.raises(UsageError, match="expected a decimal from 0 to 1"):
        exact("transparency", value)

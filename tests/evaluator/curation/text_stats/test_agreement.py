"""Agreement of annotators: against published examples, scikit-learn, and the definition in loops."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from evaluator.curation.text_stats.agreement import alpha, by_annotator, each_pair, pairwise, percent_agreement
from evaluator.errors import UsageError

# Krippendorff 2011, section C: four observers, twelve units, gaps.
ROWS = (
    (1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None),
    (1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3),
    (None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None),
    (1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None),
)
UNITS = [[value for value in column if value is not None] for column in zip(*ROWS, strict=True)]


@pytest.mark.parametrize(("level", "published"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_the_published_example(level, published):
    assert alpha(UNITS, level) == pytest.approx(published, abs=5e-4)


def test_two_observers_and_two_values_worked_by_hand():
    """Krippendorff 2011, section A: 14 of 20 values are 0; 4 of 10 units disagree: 1 - 19 * 8 / (2 * 14 * 6)."""
    a = (0, 1, 0, 0, 0, 0, 0, 0, 1, 0)
    b = (1, 1, 1, 0, 0, 1, 0, 0, 0, 0)
    assert alpha(list(zip(a, b, strict=True)), "nominal") == pytest.approx(1 - 19 * 8 / (2 * 14 * 6))


def by_loops(units, level):
    """1 - D_observed / D_expected, pair by pair."""
    units = [unit for unit in units if len(unit) > 1]
    values = [value for unit in units for value in unit]

    def distance(x, y):
        if level == "nominal":
            return float(x != y)
        if level == "interval":
            return float((x - y) ** 2)
        low, high = min(x, y), max(x, y)
        between = sum(low <= value <= high for value in values)
        return (between - (values.count(low) + values.count(high)) / 2) ** 2

    observed = sum(distance(x, y) / (len(u) - 1) for u in units for x, y in itertools.permutations(u, 2)) / len(values)
    expected = sum(distance(x, y) for x, y in itertools.permutations(values, 2)) / (len(values) * (len(values) - 1))
    return 1 - observed / expected


@given(
    st.lists(st.lists(st.integers(-2, 3), max_size=4), min_size=1, max_size=8),
    st.sampled_from(["nominal", "ordinal", "interval"]),
)
@settings(deadline=None)
def test_alpha_equals_its_definition(units, level):
    values = [value for unit in units if len(unit) > 1 for value in unit]
    result = alpha(units, level)
    if len(set(values)) < 2:
        assert math.isnan(result)
    else:
        assert result == pytest.approx(by_loops(units, level), abs=1e-9)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), min_size=1, max_size=30))
@settings(deadline=None)
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::RuntimeWarning")
def test_kappa_equals_scikit_learns(pairs):
    a, b = zip(*pairs, strict=True)
    result = pairwise(a, b)
    expected = cohen_kappa_score(a, b)
    assert result.percent == sum(x == y for x, y in pairs) / len(pairs)
    if math.isnan(result.kappa):
        assert len({*a, *b}) == 1
    else:
        assert result.kappa == pytest.approx(expected, abs=1e-9)


def test_pairs_of_annotators_share_units_and_gaps_are_left_out():
    rows = [("u", "x", 1), ("u", "y", 1), ("v", "x", 2), ("v", "y", 1), ("w", "z", 1)]
    result = each_pair(by_annotator(rows))
    assert list(result) == [("x", "y")]
    assert (result["x", "y"].n, result["x", "y"].percent) == (2, 0.5)
    assert percent_agreement([[1, 1, 2], [3], [4, 4]]) == 0.5


def test_ordinal_alpha_of_strings_is_refused():
    with pytest.raises(UsageError, match='a judgement is "a", expected a number for Krippendorff\'s ordinal alpha'):
        alpha([["a", "b"]], "ordinal")
    with pytest.raises(UsageError, match='the level is "ratio", expected one of: nominal, ordinal, interval'):
        alpha([[1, 2]], "ratio")

"""Residuals of partial correlations that tie in exact arithmetic tie here: against fractions of a file's decimals."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import stats

from evaluator.measures.partial_correlation import ranks_within_systems
from tests.evaluator.tasks.metric_correlation import mc_oracle
from tests.support.full_run import examples
from tests.support.scoring_runs import run_score, table

TASK = "metric-correlation"
PARTIAL = ("partial_spearman", "partial_pearson")
ROOMY = settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.too_slow])

decimals = st.sampled_from([1, 2, 3]).flatmap(lambda n: st.integers(-9, 9).map(lambda k: round(k / 10**n, n)))
extreme = st.sampled_from([0.0, -0.0, 5e-324, -5e-324, 1e308, -1e308, 1e16, 1e16 + 2, 1, 1 + 2**-52, 0.1, 10**300])
anything = st.one_of(extreme, st.floats(allow_nan=False, allow_infinity=False))


def values(ratings, scores, systems):
    gold = [
        {"id": i, "human": rating, "system": system}
        for i, (rating, system) in enumerate(zip(ratings, systems, strict=True))
    ]
    scored = table(run_score(TASK, gold, [{"id": i, "score": score} for i, score in enumerate(scores)]))
    return {name: scored[name, "{}"][0] for name in PARTIAL}


@st.composite
def shifted_systems(draw):
    """Systems of various sizes whose rows repeat the same pattern at different levels: many equal residuals."""
    pattern = draw(st.lists(decimals, min_size=9, max_size=9))
    columns, systems = ([], []), []
    for name, size in enumerate(draw(st.lists(st.sampled_from([1, 2, 3, 6, 7, 9]), min_size=1, max_size=4))):
        systems += [name] * size
        for column in columns:
            level = draw(decimals)
            column += [round(value + level, 3) for value in draw(st.permutations(pattern[:size]))]
    return *columns, systems


@ROOMY
@given(shifted_systems())
def test_few_decimals_against_exact_fractions(case):
    ours = values(*case)
    for name in PARTIAL:
        expected = getattr(mc_oracle, name)(*case)
        assert ours[name] == (None if expected is None else pytest.approx(expected, abs=1e-9)), name


@ROOMY
@given(st.lists(st.tuples(anything, st.integers(0, 2)), min_size=1, max_size=12))
def test_any_finite_numbers_keep_their_exact_order(rows):
    column, systems = zip(*rows, strict=True)
    residuals = mc_oracle.within(map(float, column), systems)
    expected = [sorted(set(residuals)).index(residual) for residual in residuals]
    assert ranks_within_systems(np.array(column, dtype=np.float64), np.array(systems)).tolist() == expected


def test_equal_differences_at_different_levels_tie():
    """The residuals of ratings are -.1, .1, -.1, .1, -.2, .2; in binary, .3 - .1 differs from .8 - .6."""
    ratings, scores, systems = [0.1, 0.3, 0.6, 0.8, 0.2, 0.6], [1, 2, 4, 8, 3, 7], [*"aabbcc"]
    assert 0.3 - 0.1 != 0.8 - 0.6
    expected = stats.spearmanr([-1, 1, -1, 1, -2, 2], [-0.5, 0.5, -2, 2, -2, 2]).statistic
    assert values(ratings, scores, systems)["partial_spearman"] == pytest.approx(expected, abs=1e-12)


def test_many_texts_against_ranks_of_whole_numbers():
    """Tenths in systems of 700: whole numbers after multiplying by 7,000."""
    random = np.random.default_rng(8)
    systems = np.repeat(np.arange(9), 700)
    tenths = random.integers(0, 50, (2, len(systems)))
    residuals = [700 * column - np.bincount(systems, column)[systems] for column in tenths]
    ours = values((tenths[0] / 10).tolist(), (tenths[1] / 10).tolist(), systems.tolist())
    assert ours["partial_spearman"] == pytest.approx(stats.spearmanr(*residuals).statistic, abs=1e-9)

"""metric-correlation: groups decide which lines are resampled together, and change no value."""

import pytest

from tests.support.scoring_runs import run_score, table

RATED = [(2.5, 0.1, "t", "g"), (2.0, 0.2, "S", "h"), (2.0, 0.3, "S", "h"), (2.0, 0.2, "S", None), (2.5, 0.1, "S", "g")]


def test_groups_do_not_decide_which_residuals_tie():
    plain = [{"id": i, "human": human, "system": system} for i, (human, _, system, _) in enumerate(RATED)]
    grouped = [line | ({"group": name} if name else {}) for line, (_, _, _, name) in zip(plain, RATED, strict=True)]
    answers = [{"id": i, "score": score} for i, (_, score, _, _) in enumerate(RATED)]
    expected = table(run_score("metric-correlation", plain, answers))
    with_groups = table(run_score("metric-correlation", grouped, answers))
    assert {key: value for key, (value, _) in with_groups.items()} == pytest.approx(
        {key: value for key, (value, _) in expected.items()}, abs=1e-12
    )

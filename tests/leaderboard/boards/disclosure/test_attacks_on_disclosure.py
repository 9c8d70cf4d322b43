"""What guided submissions learn of a hidden test: next to nothing from a ladder, nearly all from full answers."""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from multiprocessing import get_context

import numpy as np
import pytest

from leaderboard.scoring.queries.leakage_budget import full_disclosure_inflation
from tests.support.disclosure_attacks import ATTACKS, SMALL_STEPS, N, excess

MEAN = {100: 0.02, 400: 0.025, 2000: 0.03}
"""At most, of the shown minus the true accuracy, after so many answers."""
NEVER = 0.045
VOID = 0.20
"""What the same attacks reach where everything is told: if they do not, they prove nothing about a ladder."""
SEEDS = 20


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("k", [100, 400])
def test_a_ladder_holds_one_attack(attack: str, k: int) -> None:
    assert excess("ladder", attack, k=k, seed=1) <= NEVER


def test_the_same_attack_on_full_answers_shows_too_much() -> None:
    found = excess("full", "boosting", k=400, seed=1)
    assert found == pytest.approx(full_disclosure_inflation(400, N), abs=0.03), "as the information budget expects"
    assert excess("full", "boosting by slice", k=400, seed=1) > found + 0.05, "slices tell more than the whole"


@pytest.mark.slow
def test_twenty_seeds_of_each_attack_on_a_ladder(capsys: pytest.CaptureFixture[str]) -> None:
    found = _all("ladder", MEAN, range(SEEDS))
    with capsys.disabled():
        _print("ladder", found)
    for (attack, k), values in found.items():
        assert np.mean(values) <= MEAN[k], f"{attack}, {k} answers: {np.mean(values):.4f} on average"
        assert max(values) <= NEVER, f"{attack}, {k} answers: {max(values):.4f} once"


@pytest.mark.slow
def test_the_attacks_reach_much_where_everything_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    found = _all("full", [2000], range(3))
    with capsys.disabled():
        _print("full", found)
    for (attack, k), values in found.items():
        assert min(values) >= VOID, f"{attack}, {k} answers: only {min(values):.4f}; the test of the ladder is void"


Found = dict[tuple[str, int], list[float]]


def _all(policy: str, answers: object, seeds: range) -> Found:
    """Every attack with every number of answers and every seed, on as many processes as there are processors."""
    asked = list(product(ATTACKS, answers, seeds))  # type: ignore[call-overload]
    # Forked, so that Django is set up; no database is asked.
    with ProcessPoolExecutor(os.cpu_count(), get_context("fork")) as pool:
        values = list(pool.map(_one, [(policy, *one) for one in asked]))
    found: Found = {}
    for (attack, k, _), value in zip(asked, values, strict=True):
        found.setdefault((attack, k), []).append(value)
    return found


def _one(asked: tuple[str, str, int, int]) -> float:
    policy, attack, k, seed = asked
    how = SMALL_STEPS.get(attack, {}) if policy == "full" else {}
    return excess(policy, attack, k=k, seed=seed, **how)


def _print(policy: str, found: Found) -> None:
    print(f"\nshown minus true accuracy, {policy}, {N} groups:")
    for (attack, k), values in found.items():
        print(
            f"  {attack:18} {k:5} answers: mean {np.mean(values):+.4f}, most {max(values):+.4f} ({len(values)} seeds)"
        )

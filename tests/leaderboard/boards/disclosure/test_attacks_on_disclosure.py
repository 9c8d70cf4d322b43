"""What adaptive submissions learn of a hidden test set: almost nothing from a ladder, almost everything from full
scores."""

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
"""Upper limit of the mean difference between shown and true accuracy, by number of answers."""
NEVER = 0.045
VOID = 0.20
"""What the same attacks reach under full disclosure: if they do not reach it, they prove nothing about a ladder."""
SEEDS = 20


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("k", [100, 400])
def test_a_ladder_withstands_one_attack(attack: str, k: int) -> None:
    assert excess("ladder", attack, k=k, seed=1) <= NEVER


def test_the_same_attack_on_full_scores_overfits() -> None:
    shown_excess = excess("full", "boosting", k=400, seed=1)
    assert shown_excess == pytest.approx(full_disclosure_inflation(400, N), abs=0.03), "as the leakage budget predicts"
    assert excess("full", "boosting by slice", k=400, seed=1) > shown_excess + 0.05, "slices reveal more than the whole"


@pytest.mark.slow
def test_twenty_seeds_of_each_attack_on_a_ladder(capsys: pytest.CaptureFixture[str]) -> None:
    excesses = _run_all("ladder", MEAN, range(SEEDS))
    with capsys.disabled():
        _print_excesses("ladder", excesses)
    for (attack, k), values in excesses.items():
        assert np.mean(values) <= MEAN[k], f"{attack}, {k} answers: {np.mean(values):.4f} on average"
        assert max(values) <= NEVER, f"{attack}, {k} answers: {max(values):.4f} once"


@pytest.mark.slow
def test_the_attacks_succeed_under_full_disclosure(capsys: pytest.CaptureFixture[str]) -> None:
    excesses = _run_all("full", [2000], range(3))
    with capsys.disabled():
        _print_excesses("full", excesses)
    for (attack, k), values in excesses.items():
        assert min(values) >= VOID, f"{attack}, {k} answers: only {min(values):.4f}; the test of the ladder is void"


Excesses = dict[tuple[str, int], list[float]]


def _run_all(policy: str, answers: object, seeds: range) -> Excesses:
    """Every attack with every number of answers and every seed, on as many processes as there are processors."""
    cases = list(product(ATTACKS, answers, seeds))  # type: ignore[call-overload]
    # Forked, so that Django is set up; no database is used.
    with ProcessPoolExecutor(os.cpu_count(), get_context("fork")) as pool:
        values = list(pool.map(_run_case, [(policy, *case) for case in cases]))
    excesses: Excesses = {}
    for (attack, k, _), value in zip(cases, values, strict=True):
        excesses.setdefault((attack, k), []).append(value)
    return excesses


def _run_case(case: tuple[str, str, int, int]) -> float:
    policy, attack, k, seed = case
    how = SMALL_STEPS.get(attack, {}) if policy == "full" else {}
    return excess(policy, attack, k=k, seed=seed, **how)


def _print_excesses(policy: str, excesses: Excesses) -> None:
    print(f"\nshown minus true accuracy, {policy}, {N} groups:")
    for (attack, k), values in excesses.items():
        print(
            f"  {attack:18} {k:5} answers: mean {np.mean(values):+.4f}, most {max(values):+.4f} ({len(values)} seeds)"
        )

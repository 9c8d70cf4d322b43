"""What honest readers lose by the rounding of shown scores: nothing that is not noise."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from evaluator.disclosure import policy, rounding
from evaluator.disclosure.policy import Kind, Policy
from evaluator.outcomes.table import Numbers
from evaluator.scoring.score import score_outcomes
from evaluator.tasks.fact_verification.measures import ACCURACY
from evaluator.tasks.registry import TASKS

SYSTEMS = 10
NEW = Policy(Kind.FULL, least_groups=25, detailed_answers=10)


def contest(n: int, random: np.random.Generator) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Return which of n claims each system has right, in a test set and in a final half: two arrays systems x n.

    Claims differ in difficulty, so the systems' answers are correlated; the systems' skills are .02 to .2 apart.
    """
    skill = random.normal(0.8, 0.3, SYSTEMS)
    halves = []
    for _ in range(2):
        difficulty = random.normal(0, 1, n)
        chance = 1 / (1 + np.exp(-(skill[:, None] - difficulty)))
        halves.append(random.random((SYSTEMS, n)) < chance)
    return halves[0], halves[1]


def shown(values: Numbers, n: int) -> Numbers:
    rows = [{"measure": "accuracy", "slice": {}, "value": value, "low": None, "high": None, "n": n} for value in values]
    revealed = [
        policy.reveal(NEW, [{**row, "n_groups": n}], primary="accuracy", measure_of=lambda _: ACCURACY) for row in rows
    ]
    return np.array([row[0]["value"] for row in revealed])


def disagreement(a: Numbers, b: Numbers) -> float:
    """Return the share of pairs of systems that a and b order differently; a pair that one of them ties counts half."""
    pairs = np.triu_indices(len(a), 1)
    signs = np.sign(a[:, None] - a)[pairs], np.sign(b[:, None] - b)[pairs]
    return float(np.mean(np.abs(signs[0] - signs[1])) / 2)


def disagreements(n: int, n_contests: int) -> Numbers:
    """Return (with exact scores, with shown scores) of each contest, against the exact final ranking."""
    random = np.random.default_rng(n)
    rows = []
    for _ in range(n_contests):
        test, final = (half.mean(axis=1) for half in contest(n, random))
        rows.append((disagreement(test, final), disagreement(shown(test, n), final)))
    return np.array(rows)


@pytest.mark.parametrize("n", [300, 1080, 4000])
def test_a_shown_ranking_agrees_with_the_final_one_as_often_as_an_exact_one(n: int) -> None:
    both = disagreements(n, 1000)
    more = both[:, 1] - both[:, 0]
    error = more.std() / math.sqrt(len(more))
    exact, rounded = both.mean(axis=0)
    assert more.mean() <= 2 * error, f"{rounded:.4f} of the pairs, {exact:.4f} by exact scores; standard error {error}"
    assert exact > 0.01, "all contests are decided: they say nothing"


def test_the_same_systems_are_significantly_apart() -> None:
    random = np.random.default_rng(1)
    n_apart = 0
    for n in (300, 1080, 4000):
        for _ in range(20):
            test, _ = contest(n, random)
            for p in p_values(test):
                assert (rounding.p_value(p) <= 0.05) == (p <= 0.05)
                n_apart += p <= 0.05
    assert n_apart > 500


def test_systems_that_are_apart_are_not_shown_as_equal() -> None:
    """Scores that are shown as equal are less than a step apart, which is at most half of a standard error."""
    random = np.random.default_rng(1)
    for n in (300, 1080, 4000):
        for _ in range(20):
            test, _ = contest(n, random)
            values = shown(test.mean(axis=1), n)
            apart = np.array(p_values(test)) <= 0.05
            equal = (values[:, None] == values)[np.triu_indices(SYSTEMS, 1)]
            assert not (apart & equal).any()


def p_values(correct: npt.NDArray[np.bool_]) -> list[float]:
    """Return the p-value of McNemar's test, with its normal approximation, of each pair of systems."""
    found = []
    for i, j in zip(*np.triu_indices(len(correct), 1), strict=True):
        better, worse = (correct[i] & ~correct[j]).sum(), (correct[j] & ~correct[i]).sum()
        z = abs(better - worse) / math.sqrt(max(1, better + worse))
        found.append(max(math.erfc(z / math.sqrt(2)), 1e-300))
    return found


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("fold", "measure", "n_shown", "steps"),
    [
        ("all", "text_f1", 15, {0.005}),
        ("4", "text_f1", 15, {0.01}),
        ("all", "link_f1", 12, {0.005, 0.01, 0.02}),
        ("4", "link_f1", 9, {0.01, 0.02}),
    ],
)
def test_a_board_of_the_properties_of_knowledgenet(
    realdata: Path, fold: str, measure: str, n_shown: int, steps: set[float]
) -> None:
    """Three of the fifteen properties are dates, which have no links."""
    task = TASKS["knowledge-base-population"]
    options = task.parse_options({"fold": fold})
    with (realdata / "knowledgenet" / "gold_folds_1_to_4.jsonl").open("rb") as stream:
        gold = task.read_gold(stream, "gold", options)
    outcomes = task.score(gold, task.empty_answers(gold), options)
    scores: list[dict[str, Any]] = [
        {**score.as_dict(), "n_groups": score.n_groups}
        for score in score_outcomes(outcomes, task.measures, resamples=0)
    ]
    revealed = policy.reveal(NEW, scores, primary=task.primary(outcomes.facts), measure_of=task.measure)
    properties = {row["slice"]["property"] for row in revealed if row["slice"] and row["measure"] == measure}
    sizes = {
        policy.step_of(score, task.measure(measure))
        for score in scores
        if score["measure"] == measure and score["slice"].get("property") in properties
    }
    assert (len(properties), sizes) == (n_shown, steps)

"""What participants learn of hidden labels who try, by policy: everything from exact scores, and never more than the
stated bound.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

from evaluator.curation.audit.disclosure import STYLES
from evaluator.disclosure import attacks
from evaluator.disclosure.attacks import ATTACKS, Learnt, reach
from evaluator.disclosure.attacks.target import LABELLING, Known, Style, Target, balanced
from evaluator.disclosure.bits import most_gained
from evaluator.disclosure.policy import Afterwards, Kind, Policy
from evaluator.outcomes.table import Dimension
from leaderboard.boards.disclosure.policies import policy_of
from leaderboard.models import Phase, Split

EXACT = Policy(Kind.FULL, exact=True)
ROUNDED = Policy(Kind.FULL)
SEEDS = range(20)
CLAIMS = STYLES["fact-checking"]


def a_target(policy: Policy, n: int, size: int = 0, *, seed: int = 1, style: Style = LABELLING, **more: Any) -> Target:
    """Return a test set of n labels, each its own group, in slices of `size` labels; 0: no slices.

    In rankings, half of the labels of each slice are 1. more: further fields of the target.
    """
    random = np.random.default_rng([seed, n])
    size = size or n
    labels = balanced(n, random)
    if style.needs_balance:
        labels = np.concatenate([balanced(min(size, n - begin), random) for begin in range(0, n, size)])
    codes = (np.arange(n) // size).astype(np.int32)
    slices = {} if size == n else {"part": Dimension(codes, tuple(range(codes[-1] + 1)), True, False)}
    return Target(labels, np.arange(n, dtype=np.int32), slices, policy, style, **more)


def attacked(attack: str, target: Target, k: int, *, seed: int = 1) -> Learnt:
    """Run an attack with up to k answers, and check that it learns no more than the stated bound.

    The bound is for measures between 0 and 1; the excess of others is a share of their range.
    """
    learnt = attacks.run(attack, target, k, np.random.default_rng([seed, k]))
    assert 1 <= learnt.answers <= k
    primary, bound = target.style.measure(target.style.primary), target.bound()
    excess = learnt.excess / (primary.high - primary.low)
    assert max(learnt.known, excess) <= bound, f"{learnt}: the stated bound is {bound:.3f}"
    return learnt


def default_policy(**changes: Any) -> Policy:
    """Return the policy of a new phase on hidden gold."""
    return policy_of(Phase(split=Split(gold_public=False), disclosure="ladder", scope="task", **changes))


def of_one_measure(style: Style, name: str) -> Style:
    return replace(style, measures=(style.measure(name),), primary=name)


# What the attacks reach where nothing is hidden well: otherwise, that they fail elsewhere would prove nothing.


def test_an_exact_answer_of_average_precision_tells_thirty_two_labels() -> None:
    assert attacked("order code", a_target(EXACT, 128, 64, style=CLAIMS), 3).known >= 0.47, "two answers, and the file"


@pytest.mark.slow
def test_nineteen_exact_answers_of_average_precision_tell_nearly_all_labels() -> None:
    targets = [a_target(EXACT, 1080, 540, style=CLAIMS, seed=seed) for seed in SEEDS]
    known = [attacked("order code", target, 19, seed=seed).known for target, seed in zip(targets, SEEDS, strict=True)]
    assert np.mean(known) + 0.5 >= 1053 / 1080
    assert min(known) >= 0.46


@pytest.mark.parametrize(
    ("task", "measure"),
    [(task, measure.name) for task in ("fact-checking", "metric-correlation") for measure in STYLES[task].measures]
    + [("link-prediction", "mrr")],
)
def test_exact_answers_of_any_ranking_measure_tell_nearly_all_labels(task: str, measure: str) -> None:
    style = of_one_measure(STYLES[task], measure)
    assert attacked("what fits the digits", a_target(EXACT, 160, 40, style=style), 30).known >= 0.45


def test_exact_intervals_are_fingerprints_if_the_seed_and_the_order_of_groups_are_known() -> None:
    intervals = {"resamples": 1000}
    known = attacked("what fits the digits", a_target(EXACT, 300, 100, knows_seed=True, **intervals), 2)
    secret = attacked("what fits the digits", a_target(EXACT, 300, 100, **intervals), 2)
    without = attacked("what fits the digits", a_target(EXACT, 300, 100), 2)
    assert known.known >= 0.9 * 3 * 14 / 300 / 2, "14 labels of each slice, by one answer"
    assert secret.known == without.known < known.known


@pytest.mark.parametrize("believes", [ROUNDED, EXACT])
def test_a_rounded_interval_is_no_fingerprint(believes: Policy) -> None:
    """Whether the attack takes the numbers for rounded ones, or looks for an interval with exactly these ends."""
    target = a_target(ROUNDED, 300, 100, resamples=1000, knows_seed=True)
    assert known_after(target, replace(target.known, policy=believes)) <= 0.05


@pytest.mark.parametrize(("size", "least"), [(1, 0.5), (3, 0.2)])
def test_slices_of_few_groups_on_a_ladder_tell_their_labels_at_once(size: int, least: float) -> None:
    everything = a_target(Policy(Kind.LADDER), 300, size)
    assert known_after(everything, everything.known) >= least
    assert known_after(a_target(default_policy(), 300, size), everything.known) <= 0.1, "they are not shown"


def known_after(target: Target, known: Known) -> float:
    """Return what an attack learns by one answer that is told so much of the gold and the policy."""
    believed = ATTACKS["what fits the digits"](target, 2, np.random.default_rng(1), known)
    return float(np.mean(believed == target.labels)) - 0.5


@pytest.mark.parametrize(("size", "least"), [(250, 0.032), (100, 0.09), (25, 0.196)])
def test_abstention_first_and_then_slices_on_a_ladder(size: int, least: float) -> None:
    learnt = attacked("abstention first", a_target(Policy(Kind.LADDER), 4000, size), 100)
    assert min(learnt.known, learnt.excess + 0.02) >= least, "a step of the ladder is .016"


def test_boosting_reaches_what_theory_predicts() -> None:
    n, k = 4000, 400
    predicted = NormalDist().cdf((k / n) ** 0.5) - 0.5
    assert attacked("boosting", a_target(EXACT, n), k).known == pytest.approx(predicted, abs=0.03)
    assert attacked("boosting by slice", a_target(EXACT, n, 1000), k).known > predicted + 0.05


def test_two_way_slices_and_many_measures_tell_more() -> None:
    one = of_one_measure(CLAIMS, "auroc")
    by_one = attacked("what fits the digits", a_target(ROUNDED, 640, 160, style=one), 11).known
    by_two = attacked("what fits the digits", a_target(ROUNDED, 640, 160, style=CLAIMS), 11).known
    crossed = attacked("what fits the digits", with_two_ways(a_target(ROUNDED, 640, 160, style=one)), 11).known
    assert by_one < by_two
    assert by_one < crossed


def with_two_ways(target: Target) -> Target:
    """Return the target with slices of a second dimension, and those of both."""
    part = target.dimensions["part"]
    other = replace(part, codes=(np.arange(len(part.codes)) % 4).astype(np.int32))
    return replace(target, dimensions={"part": part, "other": other}, cross=("part", "other"))


# What they reach in a new phase on hidden gold.


def test_a_new_phase_on_hidden_gold_is_attacked_in_vain() -> None:
    for attack in ("boosting by slice", "abstention first", "drifting"):
        for teams, k in ((1, 50), (20, 1000)):
            target = a_target(default_policy(), 2000, 100, teams=teams, baseline_value=0.5)
            learnt = attacked(attack, target, k)
            assert max(learnt.known, learnt.excess) <= 0.06


def test_what_is_kept_for_the_sealed_phase_is_not_asked_about() -> None:
    """No shown number of a phase that scores the public groups depends on a private label."""
    from evaluator.measures.subset import subset_of_groups
    from evaluator.outcomes.table import Outcomes
    from evaluator.scoring.score import score_outcomes

    random = np.random.default_rng(1)
    guess, labels = random.integers(0, 2, (2, 100)).astype(float)
    public = list(range(0, 100, 2))
    scores = []
    for hidden in (labels, np.where(np.arange(100) % 2 == 1, 1 - labels, labels)):
        columns = dict(LABELLING.columns(guess, hidden))
        outcomes = Outcomes("", 0, 100, tuple(range(100)), np.arange(100, dtype=np.int32), columns, {})
        measure = LABELLING.measures[0]
        scores.append(score_outcomes(subset_of_groups(outcomes, public, units=measure.units), [measure]))
    assert scores[0] == scores[1]


# The bound holds in every policy.

POLICIES = {
    "new phase": default_policy(),
    "new phase, worst settings": default_policy(least_groups=1, detailed_answers=None),
    "full": policy_of(Phase(split=Split(gold_public=False), disclosure="full")),
    "full, improvements afterwards": Policy(Kind.FULL, False, 25, 10, Afterwards.IMPROVEMENTS),
    "full, all in detail": ROUNDED,
    "full, exact": EXACT,
}


def cases(seeds: Iterable[int]) -> list[tuple[str, str, str, int]]:
    return [
        (policy, attack, style, seed)
        for policy in POLICIES
        for attack in ATTACKS
        for style in ("labels", *STYLES)
        for seed in seeds
    ]


def tried(case: tuple[str, str, str, int]) -> Learnt | None:
    policy, attack, style, seed = case
    target = a_target(POLICIES[policy], 200, 40, style=STYLES.get(style, LABELLING), seed=seed)
    suits = attacks.suits(attack, target.known)
    return attacked(attack, target, 50, seed=seed) if suits else None


@pytest.mark.parametrize("policy", POLICIES)
def test_no_attack_learns_more_than_the_stated_bound(policy: str) -> None:
    learnt = [tried((policy, attack, "labels", 1)) for attack in ATTACKS]
    assert sum(each is not None for each in learnt) >= 6, "hardly any attack was tried"


@pytest.mark.slow
def test_twenty_seeds_of_each_attack_learn_no_more_than_the_stated_bound(capsys: pytest.CaptureFixture[str]) -> None:
    results = run_all(tried, cases(SEEDS))
    with capsys.disabled():
        print("\n200 groups, slices of 40, 50 answers of one team; known, shown minus true: mean and most")
        for (policy, attack, style), learnt in results.items():
            if learnt:
                print(f"  {policy:30} {attack:24} {style:20} {figures(learnt)}")


@pytest.mark.slow
@pytest.mark.parametrize(("teams", "k"), [(1, 50), (20, 1000)])
@pytest.mark.parametrize("baseline_value", [0.5, None])
def test_twenty_seeds_of_each_attack_in_a_new_phase(
    teams: int, k: int, baseline_value: float | None, capsys: pytest.CaptureFixture[str]
) -> None:
    """On all hidden labels, of which the public half is scored, at most .03 is learnt by one team and .05 by twenty."""
    names = ("abstention first", "boosting by slice", "drifting", "climbing")
    all_cases = [(name, size, teams, k, baseline_value, seed) for name in names for size in (0, 100) for seed in SEEDS]
    results = run_all(in_new_phase, all_cases)
    with capsys.disabled():
        print(f"\na new phase, 2,000 public groups, {teams} teams, {k} answers, first rung {baseline_value}")
        for case, learnt in results.items():
            print(f"  {case[0]:24} slices of {case[1] or 'none':4} {figures(learnt)}")
    for case, learnt in results.items():
        if baseline_value is not None:
            assert np.mean([each.known for each in learnt]) / 2 <= (0.03 if teams == 1 else 0.05), case


def in_new_phase(case: tuple[str, int, int, int, float | None, int]) -> Learnt:
    name, size, teams, k, baseline_value, seed = case
    target = a_target(default_policy(), 2000, size, seed=seed, teams=teams, baseline_value=baseline_value)
    return attacked(name, target, k, seed=seed)


def run_all(run: Any, all_cases: list[Any]) -> dict[Any, list[Learnt]]:
    """Return case without its seed -> what was learnt with each seed, on as many processes as there are processors."""
    # Forked, so that Django is set up; no database is used.
    with ProcessPoolExecutor(os.cpu_count(), get_context("fork")) as pool:
        results = list(pool.map(run, all_cases))
    by_case: dict[Any, list[Learnt]] = {}
    for case, learnt in zip(all_cases, results, strict=True):
        by_case.setdefault(case[:-1], []).extend([learnt] if learnt is not None else [])
    return by_case


def figures(learnt: list[Learnt]) -> str:
    known, excess = [each.known for each in learnt], [each.excess for each in learnt]
    return f"{np.mean(known):+.3f} {max(known):+.3f}  {np.mean(excess):+.3f} {max(excess):+.3f}"


# The simulation itself.


def test_counting_gives_the_scores_of_the_scorer() -> None:
    target = with_two_ways(a_target(EXACT, 400, 100))
    random = np.random.default_rng(1)
    guess = np.where(random.random(400) < 0.3, np.nan, random.integers(0, 2, 400))
    by_key = [
        {(score["measure"], *sorted(score["slice"].items())): score for score in scores}
        for scores in (target.scores(guess), target.scored(guess))
    ]
    assert by_key[0] == by_key[1]


def test_what_the_suite_reaches_is_quick_and_the_same_each_time() -> None:
    policy = default_policy()
    first = reach(policy, n_groups=2000, slices=[100] * 20, answers=50)
    assert first == reach(policy, n_groups=2000, slices=[100] * 20, answers=50)
    assert 0.02 < first.known < 0.1
    assert first.known < reach(Policy(Kind.FULL), n_groups=2000, slices=[100] * 20, answers=50).known
    assert reach(Policy(Kind.SEALED), n_groups=2000, slices=[], answers=50).known == 0


def test_the_bound_is_of_use_in_a_new_phase() -> None:
    target = a_target(default_policy(), 2000, 100, baseline_value=0.5)
    attacks.run("boosting by slice", target, 50, np.random.default_rng(1))
    assert target.bound() == most_gained(target.bits(), 2000) < 0.25

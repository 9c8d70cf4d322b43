"""Attacks on a hidden test set, as a participant runs them who knows the literature and has a team's quota.

`target`: a test set behind a policy, with the real scorer; `voting`: attacks that learn a little from each answer (Blum
& Hardt 2015, Neto et al. 2016); `fitting`: attacks that read labels from digits (Whitehill 2017). `reach` says what
they learn under a policy. An attack is a function of what sends a file and returns what is shown, a number of answers,
a random generator, and what is known of the gold; it returns the labels that it believes in the end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from evaluator.disclosure.attacks import fitting, voting
from evaluator.disclosure.attacks.target import LABELLING, Ask, Guess, Known, Target, balanced
from evaluator.disclosure.policy import Kind, Policy
from evaluator.outcomes.table import Dimension

Attack = Callable[[Ask, int, np.random.Generator, Known], Guess]
ATTACKS: dict[str, Attack] = {
    "what fits the digits": fitting.fitting,
    "order code": fitting.order_code,
    "abstention first": voting.abstention,
    "boosting": voting.boosting,
    "boosting by slice": voting.boosting_by_slice,
    "block flip": voting.block_flip,
    "climbing": voting.climbing,
    "drifting": voting.drifting,
    "climbing in small steps": voting.small_steps,
}
CHANCE = 0.5
_QUICK = ("what fits the digits", "abstention first", "boosting by slice", "drifting")
_MOST_FITTED = 60
"""Groups of a slice from which on voting learns more than fitting."""
_MOST_WORK = 3_000_000
"""Labels times answers of one attack that `reach` simulates with more than one seed."""


class Learnt(NamedTuple):
    """What an attack reached. attack: its name. answers: the number of answers that it used.

    excess: shown minus true value of the best primary score that was shown, where true is what the file scores on
    labels that nobody has seen. known: the share of all labels that it knows beyond guessing: .5 is all of them.
    """

    attack: str
    answers: int
    excess: float
    known: float


def suits(name: str, known: Known) -> bool:
    """Return whether an attack can work: other attacks would only waste answers."""
    match name:
        case "order code":
            has_measure = any(measure.name == "average_precision" for measure in known.style.measures)
            return has_measure and known.policy.exact and known.policy.kind != Kind.LADDER
        case "drifting":
            return known.policy.kind == Kind.LADDER
        case "abstention first":
            return known.policy.kind == Kind.LADDER and not known.style.needs_balance
    return True


def run(name: str, target: Target, k: int, random: np.random.Generator) -> Learnt:
    """Run an attack with up to k answers, all teams together, on a fresh target."""
    believed = ATTACKS[name](target, k, random, target.known)
    return Learnt(name, target.n_calls, target.excess, float(np.mean(believed == target.labels)) - CHANCE)


def reach(
    policy: Policy,
    *,
    n_groups: int,
    slices: Sequence[int],
    answers: int,
    teams: int = 1,
    baseline_value: float | None = None,
    seeds: int = 3,
) -> Learnt:
    """Return what the best attack reaches against a policy: the means over the seeds, of the attack that learns most.

    It is simulated on balanced random labels, one a group, that are scored by accuracy; so the same arguments always
    give the same result. It takes about a second for 20,000 groups and 1,000 answers, more with hundreds of slices;
    from 2,000 answers on, 2,000 are simulated. Without answers, or in a phase that is sealed, nothing is learnt.

    n_groups: of the hidden test set, at least 2. slices: the numbers of groups of slices that share no groups, such as
    those of one dimension; those below the policy's `least_groups` may be among them. answers: the number of answers of
    all teams together, which the teams take in turn. baseline_value: the accuracy that the first file on a
    ladder must beat by a step, such as that of a trivial baseline; None: no baseline is shown.
    """
    nothing = Learnt("", 0, 0.0, 0.0)
    if policy.kind == Kind.SEALED or answers < 1 or n_groups < 2:
        return nothing
    k = min(answers, 2000)
    reached = []
    for name in _QUICK:
        if name == "what fits the digits" and max(slices, default=_MOST_FITTED) >= _MOST_FITTED:
            continue
        runs = []
        for seed in range(seeds if n_groups * k <= _MOST_WORK else 1):
            target = _simulated(policy, n_groups, slices, seed)
            target.teams, target.baseline_value = teams, baseline_value
            if suits(name, target.known):
                runs.append(run(name, target, k, np.random.default_rng([seed, k])))
        if not runs:
            continue
        excess, known = (float(np.mean([getattr(each, field) for each in runs])) for field in ("excess", "known"))
        reached.append(Learnt(name, max(each.answers for each in runs), excess, max(known, 0.0)))
    return max(reached, key=lambda each: each.known)


def _simulated(policy: Policy, n_groups: int, slices: Sequence[int], seed: int) -> Target:
    codes = np.full(n_groups, -1, dtype=np.int32)
    edges = np.minimum(np.cumsum([0, *slices]), n_groups)
    for code, (begin, end) in enumerate(pairwise(edges.tolist())):
        codes[begin:end] = code
    dimension = Dimension(codes, tuple(range(len(slices))), declared=True, within_groups=False)
    labels = balanced(n_groups, np.random.default_rng([seed, n_groups]))
    groups = np.arange(n_groups, dtype=np.int32)
    return Target(labels, groups, {"slice": dimension}, policy, LABELLING)

"""Attacks on a hidden test through its answers, and an oracle that answers as the site does: with the real scorer and
the real disclosure, without the site around them.

Labels are balanced and guesses are blind, so that the true accuracy of whatever an attack comes to is one half.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluator.outcomes.serialization import to_bytes
from evaluator.outcomes.table import Outcomes
from evaluator.scoring.score import score_outcomes
from evaluator.tasks.fact_verification.predictions import Answers
from evaluator.tasks.registry import TASKS
from leaderboard.boards.disclosure import policies
from leaderboard.models import Phase
from tests.support.many_groups import KINDS, LABELS, gold_of, labels_of

TASK = TASKS["fact-verification"]
N = 4000
TRUE = 0.5
LABELS_OF_CODES = LABELS
CHECKED_EVERY = 100
Guess = npt.NDArray[np.int8]
"""A label a claim: 0 SUPPORTS, 1 REFUTES."""
Told = dict[str, float]
"""The accuracies that an answer told: of the whole ("") and of kinds. Empty: nothing."""
Ask = Callable[[Guess], Told]


@dataclass
class Oracle:
    """Answers guesses as a phase with this policy does, and remembers the best that it has told.

    slices: whether those of kinds are asked for; without them an answer takes a fifth of the time.
    """

    policy: str
    seed: int
    slices: bool = False
    n: int = N
    best: float | None = None
    asked: int = 0
    options: dict[str, Any] = field(default_factory=lambda: TASK.parse_options({}))

    def __post_init__(self) -> None:
        self.gold = TASK.read_gold(io.BytesIO(gold_of(labels_of(self.n, self.seed))), "gold.jsonl", self.options)
        self.phase = Phase(pk=1, disclosure=self.policy, scope=Phase.Scope.TASK)
        self.labels = np.array(self.gold.labels)
        self.template = self._scored(np.zeros(self.n, dtype=np.int8))

    def _scored(self, guess: Guess) -> Outcomes:
        return TASK.score(self.gold, Answers(guess, []), self.options)

    def _outcomes(self, guess: Guess) -> Outcomes:
        """What the scorer makes of a guess. Groups and slices are the gold's and stay, which saves nearly all of the
        time; the scorer itself is asked again and again whether it says the same."""
        correct = (guess == self.labels).astype(np.float64)
        made = replace(self.template, statistics={**self.template.statistics, "correct": correct})
        if self.asked % CHECKED_EVERY == 1:
            scored = self._scored(guess)
            assert to_bytes(scored) == to_bytes(made), "the scorer says something else"
        kept = {"kind": made.dimensions["kind"]} if self.slices else {}
        return replace(made, dimensions=kept)

    def __call__(self, guess: Guess) -> Told:
        self.asked += 1
        outcomes = self._outcomes(guess)
        scores = score_outcomes(outcomes, TASK.measures, resamples=0)
        told = policies.reveal(
            phase=self.phase,
            scores=[{**score.as_dict(), "n_groups": score.n_groups} for score in scores],
            primary="accuracy",
            measure_of=TASK.measure,
            best=self.best,
        )
        found = {one["slice"].get("kind", ""): one["value"] for one in told if set(one["slice"]) <= {"kind"}}
        if "" in found and (self.best is None or found[""] > self.best):
            self.best = found[""]
        return found


def boosting(ask: Ask, k: int, random: np.random.Generator, n: int = N) -> None:
    """A vote of random guesses, each counted as its accuracy says; those of which nothing is told count nothing."""
    votes = np.zeros(n)
    for _ in range(k - 1):
        guess = random.integers(0, 2, n).astype(np.int8)
        votes += (2.0 * guess - 1.0) * (ask(guess).get("", TRUE) - TRUE)
    ask(_elected(votes, random))


def boosting_by_slice(ask: Ask, k: int, random: np.random.Generator, n: int = N) -> None:
    """The same with a vote of its own in each slice: a guess is good in one and bad in another."""
    votes = np.zeros(n)
    for _ in range(k - 1):
        guess = random.integers(0, 2, n).astype(np.int8)
        told = ask(guess)
        for place, kind in enumerate(KINDS):
            votes[place :: len(KINDS)] += (2.0 * guess[place :: len(KINDS)] - 1.0) * (told.get(kind, TRUE) - TRUE)
    ask(_elected(votes, random))


def block_flip(ask: Ask, k: int, random: np.random.Generator, n: int = N) -> None:
    """Turns one block of a guess after the other, and keeps what made it better."""
    guess = random.integers(0, 2, n).astype(np.int8)
    best = ask(guess).get("", 0.0)
    edges = np.linspace(0, n, k).astype(int)
    for begin, end in pairwise(edges.tolist()):
        turned = guess.copy()
        turned[begin:end] ^= 1
        told = ask(turned).get("", 0.0)
        if told > best:
            guess, best = turned, told


def climbing(ask: Ask, k: int, random: np.random.Generator, n: int = N, share: float = 0.2) -> None:
    """Turns a random share of the best guess so far, and keeps what was better. Against full answers small steps climb
    best, against a ladder large ones: a step is two standard errors."""
    guess = random.integers(0, 2, n).astype(np.int8)
    best = ask(guess).get("", 0.0)
    for _ in range(k - 1):
        turned = guess.copy()
        turned[random.choice(n, size=max(1, int(share * n)), replace=False)] ^= 1
        told = ask(turned).get("", 0.0)
        if told > best:
            guess, best = turned, told


def _elected(votes: npt.NDArray[np.float64], random: np.random.Generator) -> Guess:
    tied = random.integers(0, 2, len(votes))
    return np.where(votes == 0, tied, votes > 0).astype(np.int8)


ATTACKS: dict[str, Callable[..., None]] = {
    "boosting": boosting,
    "boosting by slice": boosting_by_slice,
    "block-flip": block_flip,
    "climbing": climbing,
}
SMALL_STEPS = {"climbing": {"share": 0.0008}}
"""How attacks are set against answers in full: three claims at a time."""


def excess(policy: str, attack: str, *, k: int, seed: int, **how: Any) -> float:
    """Shown minus true after k answers: by how much the best accuracy that was told exceeds one half."""
    oracle = Oracle(policy, seed, slices=attack == "boosting by slice")
    ATTACKS[attack](oracle, k, np.random.default_rng([seed, k]), **how)
    assert oracle.asked == k
    assert oracle.best is not None
    return oracle.best - TRUE

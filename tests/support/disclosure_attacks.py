"""Attacks on a hidden test set through revealed scores, and an oracle that uses the real scorer and the real
disclosure policies, without the rest of the site.

Labels are balanced and guesses are random, so the true accuracy of any result of an attack is one half.
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
from tests.support.rows.many_groups import KINDS, LABELS, gold_of, labels_of

TASK = TASKS["fact-verification"]
N = 4000
TRUE = 0.5
LABELS_OF_CODES = LABELS
CHECKED_EVERY = 100
Guess = npt.NDArray[np.int8]
"""One label per claim: 0 SUPPORTS, 1 REFUTES."""
Told = dict[str, float]
"""The revealed accuracies: overall ("") and by kind. Empty: nothing was revealed."""
Ask = Callable[[Guess], Told]


@dataclass
class Oracle:
    """Scores guesses like a phase with this policy, and remembers the best revealed score.

    slices: True to score the kinds too; without them a call takes a fifth of the time.
    """

    policy: str
    seed: int
    slices: bool = False
    n: int = N
    best: float | None = None
    n_calls: int = 0
    options: dict[str, Any] = field(default_factory=lambda: TASK.parse_options({}))

    def __post_init__(self) -> None:
        self.gold = TASK.read_gold(io.BytesIO(gold_of(labels_of(self.n, self.seed))), "gold.jsonl", self.options)
        self.phase = Phase(pk=1, disclosure=self.policy, scope=Phase.Scope.TASK)
        self.labels = np.array(self.gold.labels)
        self.template = self._scored(np.zeros(self.n, dtype=np.int8))

    def _scored(self, guess: Guess) -> Outcomes:
        return TASK.score(self.gold, Answers(guess, []), self.options)

    def _outcomes(self, guess: Guess) -> Outcomes:
        """Return the outcomes of a guess.

        Groups and slices come from the gold and are reused, which saves nearly all of the time; at regular intervals
        the result is compared with the real scorer's.
        """
        correct = (guess == self.labels).astype(np.float64)
        outcomes = replace(self.template, statistics={**self.template.statistics, "correct": correct})
        if self.n_calls % CHECKED_EVERY == 1:
            scored = self._scored(guess)
            assert to_bytes(scored) == to_bytes(outcomes), "the scorer's outcomes differ"
        dimensions = {"kind": outcomes.dimensions["kind"]} if self.slices else {}
        return replace(outcomes, dimensions=dimensions)

    def __call__(self, guess: Guess) -> Told:
        self.n_calls += 1
        outcomes = self._outcomes(guess)
        scores = score_outcomes(outcomes, TASK.measures, resamples=0)
        revealed = policies.reveal(
            phase=self.phase,
            scores=[{**score.as_dict(), "n_groups": score.n_groups} for score in scores],
            primary="accuracy",
            measure_of=TASK.measure,
            best=self.best,
        )
        values = {row["slice"].get("kind", ""): row["value"] for row in revealed if set(row["slice"]) <= {"kind"}}
        if "" in values and (self.best is None or values[""] > self.best):
            self.best = values[""]
        return values


def boosting(ask: Ask, k: int, random: np.random.Generator, n: int = N) -> None:
    """Vote over random guesses, weighted by their revealed accuracy; guesses without a revealed score do not count."""
    votes = np.zeros(n)
    for _ in range(k - 1):
        guess = random.integers(0, 2, n).astype(np.int8)
        votes += (2.0 * guess - 1.0) * (ask(guess).get("", TRUE) - TRUE)
    ask(_elected(votes, random))


def boosting_by_slice(ask: Ask, k: int, random: np.random.Generator, n: int = N) -> None:
    """Do the same with a separate vote in each slice: a guess may be good in one and bad in another."""
    votes = np.zeros(n)
    for _ in range(k - 1):
        guess = random.integers(0, 2, n).astype(np.int8)
        revealed = ask(guess)
        for index, kind in enumerate(KINDS):
            votes[index :: len(KINDS)] += (2.0 * guess[index :: len(KINDS)] - 1.0) * (revealed.get(kind, TRUE) - TRUE)
    ask(_elected(votes, random))


def block_flip(ask: Ask, k: int, random: np.random.Generator, n: int = N) -> None:
    """Flip one block of a guess after the other, and keep the flips that improve it."""
    guess = random.integers(0, 2, n).astype(np.int8)
    best = ask(guess).get("", 0.0)
    edges = np.linspace(0, n, k).astype(int)
    for begin, end in pairwise(edges.tolist()):
        flipped = guess.copy()
        flipped[begin:end] ^= 1
        accuracy = ask(flipped).get("", 0.0)
        if accuracy > best:
            guess, best = flipped, accuracy


def climbing(ask: Ask, k: int, random: np.random.Generator, n: int = N, share: float = 0.2) -> None:
    """Flip a random share of the best guess so far, and keep improvements.

    Small shares work best against full disclosure, large ones against a ladder, whose step is two standard errors.
    """
    guess = random.integers(0, 2, n).astype(np.int8)
    best = ask(guess).get("", 0.0)
    for _ in range(k - 1):
        flipped = guess.copy()
        flipped[random.choice(n, size=max(1, int(share * n)), replace=False)] ^= 1
        accuracy = ask(flipped).get("", 0.0)
        if accuracy > best:
            guess, best = flipped, accuracy


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
"""Parameters of attacks on full disclosure: three claims at a time."""


def excess(policy: str, attack: str, *, k: int, seed: int, **how: Any) -> float:
    """Return shown minus true accuracy after k calls: by how much the best revealed accuracy exceeds one half."""
    oracle = Oracle(policy, seed, slices=attack == "boosting by slice")
    ATTACKS[attack](oracle, k, np.random.default_rng([seed, k]), **how)
    assert oracle.n_calls == k
    assert oracle.best is not None
    return oracle.best - TRUE

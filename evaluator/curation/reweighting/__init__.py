"""Weights for training claims under which no n-gram predicts the label (Schuster et al. 2019, section 4)."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import evaluator.blas  # noqa: F401  - one thread: the same sums, to the last digit

# isort: split
import numpy as np
from scipy import sparse

from evaluator.curation.reweighting.problem import Labels, Numbers, ReweightingProblem
from evaluator.curation.reweighting.solver import solve
from evaluator.curation.text_stats.cues import MIN_FREQUENCY
from evaluator.errors import UsageError
from evaluator.statistics.ngrams import occurrences


@dataclass(frozen=True)
class Reweighting:
    """Result of re-weighting.

    alpha: one value per claim, 0 or more; the claim's weight is 1 + alpha. objectives: the objective, without
    smoothing, at alpha = 0 and after each improvement: the values fall, and the last one belongs to `alpha`.
    """

    alpha: Numbers
    objectives: list[float]

    @property
    def weights(self) -> Numbers:
        """Training weights of the claims, 1 + alpha."""
        return 1.0 + self.alpha


def presence_of(
    texts: Sequence[str], *, n: int = 2, drop: Collection[str] = (), min_frequency: int = MIN_FREQUENCY
) -> Any:
    """Return a sparse array, claims x n-grams: 1 where the claim contains the n-gram.

    texts: the claims. n, drop, min_frequency: select the n-grams, as in `cue_table`.
    """
    ngrams = occurrences(texts, n=n, drop=drop)
    frequent = np.bincount(ngrams.gram, minlength=ngrams.n_types) >= min_frequency
    column = np.cumsum(frequent) - 1
    is_frequent = frequent[ngrams.gram]
    positions = np.unique(ngrams.text[is_frequent] * max(ngrams.n_types, 1) + column[ngrams.gram[is_frequent]])
    rows, columns = np.divmod(positions, max(ngrams.n_types, 1))
    return sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=(len(texts), int(frequent.sum())))


def objective(presence: Any, labels: Sequence[str], alpha: Numbers, penalty: float) -> float:
    """Return the objective, sum_j max_c b_j^c + penalty ||alpha||_2, in the notation of `reweighting.problem`.

    presence: claims x n-grams, 0 or 1 (`presence_of`). labels, alpha: one per claim.
    """
    return ReweightingProblem(_checked(presence, labels), _coded(labels), penalty).objective(
        np.asarray(alpha, dtype=np.float64)
    )


def reweight(presence: Any, labels: Sequence[str], *, penalty: float, seed: int = 0) -> Reweighting:
    """Find the claim weights under which n-grams predict the label least: minimise `objective` over alpha >= 0.

    presence: claims x n-grams, 0 or 1 (`presence_of`); n-grams in no claim are ignored. labels: one per claim.
    penalty: lambda, 0 or more. seed: for the random restarts of small problems. Raises UsageError for a negative or
    non-finite penalty, for presence values other than 0 and 1, and unless there is one label per row.

    An n-gram that occurs with one label only has the share 1 under all weights. A claim without an n-gram that occurs
    with two labels or more keeps its weight. Both are left out of the optimisation.
    """
    presence = _checked(presence, labels)
    if not (math.isfinite(penalty) and penalty >= 0):
        raise UsageError(f"lambda is {penalty}, expected a finite number, 0 or more")
    coded = _coded(labels)
    claims, ngrams = _mixed(presence, coded)
    alpha = np.zeros(len(labels))
    constant = float(presence.shape[1] - len(ngrams))
    if not len(ngrams):
        return Reweighting(alpha, [constant])
    problem = ReweightingProblem(presence[claims][:, ngrams], coded[claims], penalty)
    best = _Best(problem)
    solve(problem, seed, best.hear)
    alpha[claims] = best.alpha
    return Reweighting(alpha, [constant + value for value in best.objectives])


class _Best:
    """The best alpha so far by the objective without smoothing.

    A solver minimises a smoothed objective; while that falls, the objective itself may rise.
    """

    def __init__(self, problem: ReweightingProblem) -> None:
        self.problem = problem
        self.alpha = np.zeros(problem.n_claims)
        self.objectives = [problem.objective(self.alpha)]

    def hear(self, alpha: Numbers) -> None:
        value = self.problem.objective(alpha)
        if value < self.objectives[-1]:
            self.alpha, self.objectives = alpha.copy(), [*self.objectives, value]


def _checked(presence: Any, labels: Sequence[str]) -> Any:
    presence = sparse.csr_array(presence, dtype=np.float64)
    presence.eliminate_zeros()
    if presence.shape[0] != len(labels):
        raise UsageError(f"{presence.shape[0]} claims have {len(labels)} labels, expected one label for each claim")
    if (presence.data != 1).any():
        raise UsageError("the presence array has values other than 0 and 1, expected only 0 and 1")
    return presence[:, np.bincount(presence.indices, minlength=presence.shape[1]) > 0]


def _coded(labels: Sequence[str]) -> Labels:
    number = {name: index for index, name in enumerate(sorted(set(labels)))}
    return np.array([number[name] for name in labels], dtype=np.int64)


def _mixed(presence: Any, labels: Labels) -> tuple[Labels, Labels]:
    """Return (indices of the claims, indices of the n-grams) that the optimisation needs.

    They are the n-grams that occur with two labels or more, and the claims that contain such an n-gram.
    """
    classes = range(int(labels.max()) + 1 if len(labels) else 0)
    present = [np.bincount(presence[labels == c].indices, minlength=presence.shape[1]) > 0 for c in classes]
    ngrams = np.flatnonzero(np.sum(present, axis=0) > 1) if present else np.empty(0, dtype=np.int64)
    claims = np.flatnonzero(np.diff(presence[:, ngrams].indptr) > 0)
    return claims, ngrams

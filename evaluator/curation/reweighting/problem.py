"""The objective of re-weighting (Schuster et al. 2019, section 4, equations 2 and 3).

Claim i has alpha_i >= 0 and weighs 1 + alpha_i. b_j^c is the share of class c in the weight of the claims that contain
n-gram j; the objective is the sum over j of the largest b_j^c, plus lambda times the Euclidean norm of alpha (not
squared). It is not convex, and has a kink wherever two classes tie: there an n-gram is uninformative, which is the aim.
Because of the ties, solvers work on a smooth objective: tau log sum_c exp(b_j^c / tau) exceeds the maximum by at most
tau log C, and converges to it as tau goes to 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

Numbers = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]


@dataclass(frozen=True)
class _Smooth:
    """The smooth maximum over the classes of each n-gram's shares, and the arrays that its derivatives need.

    soft: softmax of b_j^c / tau, n-grams x classes. total: for each n-gram, the weight of the claims that contain it;
    mean: the mean of its shares b_j^c, weighted by soft. value: the sum of the smooth maxima.
    """

    soft: Numbers
    total: Numbers
    mean: Numbers
    value: float


class ReweightingProblem:
    """The objective of one set of claims, and its smooth version.

    presence: claims x n-grams, 1 where the claim contains the n-gram; every n-gram occurs in some claim. labels: each
    claim's class, from 0. penalty: lambda, the weight of alpha's norm.
    """

    def __init__(self, presence: Any, labels: Labels, penalty: float) -> None:
        self.n_claims, self.n_ngrams = presence.shape
        self.n_classes = int(labels.max()) + 1 if len(labels) else 0
        self.penalty = penalty
        self._rows = [np.flatnonzero(labels == c) for c in range(self.n_classes)]
        self._of_class = [sparse.csr_array(presence[rows], dtype=np.float64) for rows in self._rows]
        self._turned = [sparse.csr_array(part.T) for part in self._of_class]

    def objective(self, alpha: Numbers) -> float:
        """Return the objective at alpha (one value per claim), without smoothing."""
        weight = self._weight_of_classes(alpha)
        return float((weight.max(axis=1) / weight.sum(axis=1)).sum()) + self.penalty * float(np.linalg.norm(alpha))

    def smooth(self, alpha: Numbers, tau: float) -> tuple[float, Numbers]:
        """Return the objective at alpha (one value per claim), smoothed by tau, and its gradient.

        The kink of the norm at 0 is smoothed too.
        """
        state = self._state(alpha, tau)
        norm = float(np.sqrt(alpha @ alpha + tau * tau))
        gain = (state.soft - state.mean[:, None]) / state.total[:, None]
        gradient = self.penalty / norm * alpha
        for c, rows in enumerate(self._rows):
            gradient[rows] += self._of_class[c] @ gain[:, c]
        return state.value + self.penalty * norm, gradient

    def _weight_of_classes(self, alpha: Numbers) -> Numbers:
        weight = 1 + alpha
        sums = [turned @ weight[rows] for turned, rows in zip(self._turned, self._rows, strict=True)]
        return np.stack(sums, axis=1)

    def _state(self, alpha: Numbers, tau: float) -> _Smooth:
        weight = self._weight_of_classes(alpha)
        total = weight.sum(axis=1)
        share = weight / total[:, None]
        most = share.max(axis=1)
        powers = np.exp((share - most[:, None]) / tau)
        sums = powers.sum(axis=1)
        soft = powers / sums[:, None]
        return _Smooth(soft, total, (soft * share).sum(axis=1), float((most + tau * np.log(sums)).sum()))

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

    share: b_j^c, each class's share, n-grams x classes; soft: softmax of share / tau, in the same shape. total: for
    each n-gram, the weight of the claims that contain it; mean: the mean of its shares, weighted by soft. value: the
    sum of the smooth maxima.
    """

    share: Numbers
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
        self._dense: list[Numbers] | None = None

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

    def value(self, alpha: Numbers, tau: float) -> float:
        """Return the objective at alpha (one value per claim), smoothed by tau: `smooth` without the gradient."""
        return self._state(alpha, tau).value + self.penalty * float(np.sqrt(alpha @ alpha + tau * tau))

    def curvature(self, alpha: Numbers, tau: float) -> Numbers:
        """Return the Hessian of the objective smoothed by tau, at alpha (one value per claim): claims x claims, dense.

        Two claims of the classes c and d share a term for each n-gram that both contain, and the term depends on c and
        d only. So the block of these classes is a matrix product, X_c diag(m_cd) X_d' plus the norm's term, where X_c
        are the rows of `presence` of class c, and m_cd has one number per n-gram.
        """
        s = self._state(alpha, tau)
        weighted = s.soft * s.share
        away = s.soft - s.mean[:, None]
        spread = (weighted * s.share).sum(axis=1)[:, None, None] - weighted[:, :, None] - weighted[:, None, :]
        spread[:, range(self.n_classes), range(self.n_classes)] += s.soft
        spread -= away[:, :, None] * away[:, None, :]
        bend = 2 * s.mean[:, None, None] - s.soft[:, :, None] - s.soft[:, None, :]
        bend = (bend + spread / tau) / (s.total * s.total)[:, None, None]
        parts = self._dense_parts()
        norm = float(np.sqrt(alpha @ alpha + tau * tau))
        result = self.penalty / norm * (np.eye(self.n_claims) - np.outer(alpha, alpha) / (norm * norm))
        for c, rows in enumerate(self._rows):
            for d in range(c, self.n_classes):
                block = (parts[c] * bend[:, c, d]) @ parts[d].T
                result[np.ix_(rows, self._rows[d])] += block
                if c != d:
                    result[np.ix_(self._rows[d], rows)] += block.T
        return result

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
        return _Smooth(share, soft, total, (soft * share).sum(axis=1), float((most + tau * np.log(sums)).sum()))

    def _dense_parts(self) -> list[Numbers]:
        if self._dense is None:
            self._dense = [part.toarray() for part in self._of_class]
        return self._dense

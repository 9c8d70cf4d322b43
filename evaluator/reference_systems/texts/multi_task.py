"""A linear model of several yes-no tasks that share features, and its thresholds.

A task has its own weights, to which shared weights are added, as in Evgeniou and Pontil 2004 (Regularized multi-task
learning). A task learns from its own rows only: in KnowledgeNet, a property is annotated only in some passages.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]
Marks = npt.NDArray[np.bool_]

_STRENGTH = 1.0
"""The inverse strength of the L2 penalty on the tasks' own weights."""
_SHARED = 0.3
"""The scale of the features of the shared weights. It divides their penalty by its square."""
NO_EXAMPLE = 0.5
"""The threshold of a task without a positive example to choose it by."""


@dataclass(frozen=True)
class MultiTaskModel:
    """A fitted model, which gives each row and task the probability of the answer yes.

    tasks: their names. weights: shape (features, tasks). intercept: the same for all tasks.
    """

    tasks: list[str]
    weights: Numbers
    intercept: float

    @classmethod
    def fit(cls, features: Any, examples: Mapping[str, tuple[Rows, Marks]]) -> MultiTaskModel:
        """Return the model fitted by L2-regularised logistic loss.

        features: a sparse matrix with a row per pair of mentions. examples: task -> (indices of its training rows,
        their labels: True for yes).
        """
        from scipy.sparse import csr_matrix, hstack
        from sklearn.linear_model import LogisticRegression

        tasks = sorted(examples)
        n = features.shape[1]
        rows = np.concatenate([examples[task][0] for task in tasks])
        labels = np.concatenate([examples[task][1] for task in tasks])
        if labels.all() or not labels.any():
            return cls(tasks, np.zeros((n, len(tasks))), np.inf if labels.any() else -np.inf)
        chosen = features[rows]
        task_of_row = np.repeat(np.arange(len(tasks)), [len(examples[task][0]) for task in tasks])
        columns = chosen.indices + n * np.repeat(task_of_row, np.diff(chosen.indptr)).astype(np.int64)
        own = csr_matrix((chosen.data, columns, chosen.indptr), (len(rows), n * len(tasks)))
        fitted = LogisticRegression(C=_STRENGTH, solver="liblinear", tol=1e-3).fit(
            hstack([chosen * _SHARED, own], format="csr"), labels
        )
        weights = fitted.coef_[0]
        combined = weights[n:].reshape(len(tasks), n).T + _SHARED * weights[:n, None]
        return cls(tasks, np.ascontiguousarray(combined), float(fitted.intercept_[0]))

    def probabilities(self, features: Any) -> Numbers:
        """Return the probability of the answer yes for each row of features and task: shape (rows, tasks)."""
        logits: Numbers = features @ self.weights + self.intercept
        return 1 / (1 + np.exp(-np.clip(logits, -700, 700)))


def best_threshold(probabilities: Numbers, labels: Marks) -> float:
    """Return the lowest probability at which the answer is yes, for the highest F1; NO_EXAMPLE if no label is True.

    It is half way between the lowest of these `probabilities` with the answer yes and the next lower one. Of thresholds
    with equal F1, the one with the fewest yes answers is returned.
    """
    if not labels.any():
        return NO_EXAMPLE
    order = np.argsort(-probabilities, kind="stable")
    ranked, positive = probabilities[order], labels[order]
    found = np.cumsum(positive)
    f1 = 2 * found / (np.arange(1, len(ranked) + 1) + positive.sum())
    is_last = np.append(ranked[1:] < ranked[:-1], True)  # answers of one probability are taken together
    best = int(np.argmax(np.where(is_last, f1, -1)))
    following = ranked[best + 1] if best + 1 < len(ranked) else 0.0
    return float((ranked[best] + following) / 2)

"""Choice of features by their information gain about a label."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from evaluator.outcomes.table import Numbers


def best_gains(having: Numbers, having_true: Numbers, labels: npt.NDArray[np.bool_], most: int) -> list[int]:
    """Return the indices of the features whose presence has the highest information gain, above 0; at most `most`.

    having: for each feature, the number of examples that have it. having_true: for each feature, the number of examples
    that have it and a true label. labels: one per example. Of features with an equal gain, the first are preferred.
    """
    n, true = len(labels), int(labels.sum())
    rest = having * _entropy(having_true, having) + (n - having) * _entropy(true - having_true, n - having)
    gains = np.round(_entropy(np.array([true]), np.array([n])) - rest / n, 9)
    order = np.argsort(-gains, kind="stable")[:most].tolist()
    return [index for index in order if gains[index] > 0]


def _entropy(part: Numbers, whole: Numbers) -> Numbers:
    share = part / np.maximum(whole, 1)
    bits = [p * np.log2(np.where(p > 0, p, 1)) for p in (share, 1 - share)]
    return -(bits[0] + bits[1])

"""Thresholds of scores by relation, learned from labelled claims."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from evaluator.outcomes.table import Numbers

Labels = npt.NDArray[np.bool_]


class Thresholds:
    """The threshold of each relation: claims with a higher score are predicted to be true.

    The threshold of a relation is the value with the highest accuracy on the relation's labelled claims; of several
    such values, the one nearest to the common threshold, which is learned from all claims together. A relation without
    labelled claims has the common threshold.
    """

    def __init__(self, scores: Numbers, labels: Labels, relations: Sequence[str]) -> None:
        """Learn the thresholds from one score, label and relation per claim. Without claims, all thresholds are 0."""
        self._overall = _threshold(scores, labels, 0.0)
        names = np.array(relations, dtype=object)
        self._by_relation = {
            name: _threshold(scores[names == name], labels[names == name], self._overall) for name in set(relations)
        }

    def of(self, relations: Sequence[str]) -> Numbers:
        """Return the threshold of each of these relations, in their order."""
        return np.array([self._by_relation.get(name, self._overall) for name in relations], dtype=np.float64)


def _threshold(scores: Numbers, labels: Labels, near: float) -> float:
    if not len(scores):
        return near
    values, index = np.unique(scores, return_inverse=True)
    true = np.bincount(index, weights=labels)
    false = np.bincount(index, weights=~labels)
    # Below threshold i are the values before i: their false claims, and the true ones of all other values, are right.
    right = np.r_[0, np.cumsum(false)] + np.r_[np.cumsum(true[::-1])[::-1], 0]
    places = np.r_[
        min(near, np.nextafter(values[0], -np.inf)), (values[1:] + values[:-1]) / 2, max(near, float(values[-1]))
    ]
    best = places[right == right.max()]
    return float(best[np.argmin(np.abs(best - near))])

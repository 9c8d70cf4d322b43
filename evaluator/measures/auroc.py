"""AUROC and average precision of a score against a binary label, under the weights of resamples.

A weight says how often a row's group was resampled, so every value equals the measure on the resampled rows written
out. Counts are whole numbers, exact in float64 up to 9e15 pairs.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evaluator.measures.base import Measure
from evaluator.measures.standardization import ByRank
from evaluator.measures.ties import Ties
from evaluator.outcomes.table import Codes, Numbers
from evaluator.outcomes.weighted import Sample, View

_BLOCK = 1 << 17  # weights processed at a time, so that the dozen passes over them stay in a CPU cache


@dataclass(frozen=True, kw_only=True)
class ScoreLabelMeasure(Measure):
    """A measure of a score against a label. score, positive: names of the statistics; positive is 1 or 0 for each
    row.
    """

    score: str
    positive: str

    @property
    def scale(self) -> ByRank:
        return ByRank(self.score)

    def tally(self, sample: Sample) -> "Tally":
        """Return the counts that both measures share, computed in one pass over the weights."""
        return sample.once(
            (ScoreLabelMeasure, self.score, self.positive), lambda: _tally_sample(sample, self.score, self.positive)
        )


class Auroc(ScoreLabelMeasure):
    """P(score of a positive row > score of a negative row) + P(equal) / 2. NaN where only one class is present."""

    def values(self, sample: Sample) -> Numbers:
        return self.tally(sample).auroc


class AveragePrecision(ScoreLabelMeasure):
    """The sum over distinct scores, highest first, of the step in recall times the precision at it. NaN where only one
    class is present.
    """

    def values(self, sample: Sample) -> Numbers:
        return self.tally(sample).average_precision


class Tally:
    """Running counts from the highest score to the lowest, one of each per resample."""

    def __init__(self, n_resamples: int) -> None:
        self._seen = np.zeros(n_resamples)
        self._positive = np.zeros(n_resamples)
        self._pairs = np.zeros(n_resamples)  # a positive above a negative counts 2, a tie 1
        self._precision = np.zeros(n_resamples)  # summed over positives

    def add(self, everyone: Numbers, positives: Numbers) -> None:
        """Add the rows (`everyone`) and the positive rows of each of the next lower scores: resamples x scores.

        Does nothing for an empty array.
        """
        if not everyone.size:
            return
        seen = np.cumsum(everyone, axis=1)
        seen += self._seen[:, None]
        true_positives = np.cumsum(positives, axis=1)
        true_positives += self._positive[:, None]
        self._seen = seen[:, -1].copy()
        self._positive = true_positives[:, -1].copy()
        precision = positives * true_positives
        precision /= np.maximum(seen, 1, out=seen)
        self._precision += precision.sum(axis=1)
        true_positives *= 2
        true_positives -= positives
        self._pairs += np.einsum("ij,ij->i", everyone - positives, true_positives)

    @property
    def auroc(self) -> Numbers:
        both = self._both_classes
        pairs = 2 * self._positive * (self._seen - self._positive)
        return np.where(both, self._pairs / np.where(both, pairs, 1.0), np.nan)

    @property
    def average_precision(self) -> Numbers:
        both = self._both_classes
        mean = self._precision / np.where(both, self._positive, 1.0)
        return np.where(both, np.minimum(mean, 1.0), np.nan)

    @property
    def _both_classes(self) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
        return (self._positive > 0) & (self._positive < self._seen)


class _Downward:
    """The part that is equal for all resamples: a view's rows from the highest score to the lowest."""

    def __init__(self, view: View, score: str, positive: str) -> None:
        ties = Ties.of(view.column(score))
        self._view = view
        self._order = ties.order[::-1]
        self.is_positive = np.take(view.column(positive).astype(np.bool_), self._order)
        self.begins = ties.begins_downward if len(ties) < len(self._order) else None

    @cached_property
    def groups(self) -> Codes:
        return np.take(self._view.outcomes.groups, np.take(self._view.rows, self._order))

    def weights(self, sample: Sample, block: slice) -> Numbers:
        """Return the weights of a block of rows: resamples x rows."""
        if sample.is_plain:
            return np.ones((1, len(self.is_positive[block])))
        return np.ascontiguousarray(np.take(sample.weights, self.groups[block], axis=0).T)


def _tally_sample(sample: Sample, score: str, positive: str) -> Tally:
    rows = sample.view.once((_Downward, score, positive), lambda: _Downward(sample.view, score, positive))
    tally = Tally(sample.n_resamples)
    step = max(1, _BLOCK // max(sample.n_resamples, 1))
    held = np.zeros((2, sample.n_resamples))  # counts of a block's last score, which may continue in the next block
    for begin in range(0, len(rows.is_positive), step):
        block = slice(begin, begin + step)
        everyone = rows.weights(sample, block)
        positives = everyone * rows.is_positive[block]
        if rows.begins is not None:
            starts = np.flatnonzero(rows.begins[block])
            if rows.begins[begin]:
                tally.add(*held[:, :, None])
                held[:] = 0
            else:
                starts = np.append(0, starts)
            everyone, positives = (np.add.reduceat(column, starts, axis=1) for column in (everyone, positives))
            everyone[:, 0] += held[0]
            positives[:, 0] += held[1]
            held[:] = everyone[:, -1], positives[:, -1]
            everyone, positives = everyone[:, :-1], positives[:, :-1]
        tally.add(everyone, positives)
    tally.add(*held[:, :, None])
    return tally

"""AUROC and average precision of a score against a binary label, for many bootstrap resamples at once.

A score here is the number that a system gives to one row.

The weight of a row is the number of times that its group was drawn, so every value equals the measure on a table that
repeats each row that many times. AUROC is computed from integer counts, in which a pair of rows counts 2; they are
exact in float64 up to 2**52 = 4.5e15 pairs. The sum of precisions behind average precision is rounded.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evaluator.measures.base import Measure
from evaluator.measures.standardization import RankTransform
from evaluator.measures.ties import Ties
from evaluator.outcomes.table import Codes, Numbers
from evaluator.outcomes.weighted import Sample, View

_BLOCK = 1 << 17  # weights processed at a time, so that the dozen passes over them stay in a CPU cache


@dataclass(frozen=True, kw_only=True)
class ScoreLabelMeasure(Measure):
    """A measure of how well scores separate positive from negative rows.

    score: the name of the statistic with the scores, which should be higher for positive rows; positive: the name of
    the statistic that is 1 for positive and 0 for negative rows.
    """

    score: str
    positive: str

    @property
    def transform(self) -> RankTransform:
        return RankTransform(self.score)

    def tally(self, sample: Sample) -> "RankedCounts":
        """Return the counts of a sample's rows for AUROC and average precision, computed once per sample."""
        return sample.once(
            (ScoreLabelMeasure, self.score, self.positive), lambda: _tally_sample(sample, self.score, self.positive)
        )


class Auroc(ScoreLabelMeasure):
    """Area under the ROC curve: P(score of a positive row > score of a negative row) + P(equal scores) / 2.

    NaN where only one class is present. Sources: Bamber 1975; Hanley & McNeil 1982.
    """

    def values(self, sample: Sample) -> Numbers:
        return self.tally(sample).auroc


class AveragePrecision(ScoreLabelMeasure):
    """Average precision: the sum over distinct scores, from the highest, of the increase in recall times the precision.

    Recall and precision are those of the rows that score at least as high. Rows with equal scores share one threshold,
    as in scikit-learn; in information retrieval their order often breaks the tie. NaN where only one class is present,
    by convention: with positive rows only, the definition gives 1.
    """

    def values(self, sample: Sample) -> Numbers:
        return self.tally(sample).average_precision


class RankedCounts:
    """Counts of all rows and of positive rows, accumulated from the highest score to the lowest, for each resample.

    AUROC and average precision are computed from them.
    """

    def __init__(self, n_resamples: int) -> None:
        self._seen = np.zeros(n_resamples)
        self._positive = np.zeros(n_resamples)
        self._pairs = np.zeros(n_resamples)  # a positive row above a negative one counts 2, a tie 1
        self._precision = np.zeros(n_resamples)  # precision at the score of each positive row, summed

    def add(self, all_rows: Numbers, positives: Numbers) -> None:
        """Count the rows with the next scores, which are distinct, descending, and lower than those added before.

        all_rows, positives: the weighted numbers of all rows and of positive rows with each score, resamples x scores.
        An empty array adds nothing.
        """
        if not all_rows.size:
            return
        seen = np.cumsum(all_rows, axis=1)
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
        self._pairs += np.einsum("ij,ij->i", all_rows - positives, true_positives)

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
    """A view's rows, from the row with the highest score to the row with the lowest. All resamples have this order."""

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
        """Return how often each row of a block is drawn: resamples x rows, in the order of falling score.

        block: a range of positions in this order.
        """
        if sample.is_plain:
            return np.ones((1, len(self.is_positive[block])))
        return np.ascontiguousarray(np.take(sample.weights, self.groups[block], axis=0).T)


def _tally_sample(sample: Sample, score: str, positive: str) -> RankedCounts:
    rows = sample.view.once((_Downward, score, positive), lambda: _Downward(sample.view, score, positive))
    tally = RankedCounts(sample.n_resamples)
    step = max(1, _BLOCK // max(sample.n_resamples, 1))
    # Counts (all rows, positive rows) of a block's last score, which may continue in the next block.
    held = np.zeros((2, sample.n_resamples))
    for begin in range(0, len(rows.is_positive), step):
        block = slice(begin, begin + step)
        all_rows = rows.weights(sample, block)
        positives = all_rows * rows.is_positive[block]
        if rows.begins is not None:
            starts = np.flatnonzero(rows.begins[block])
            if rows.begins[begin]:
                tally.add(*held[:, :, None])
                held[:] = 0
            else:
                starts = np.append(0, starts)
            all_rows, positives = (np.add.reduceat(column, starts, axis=1) for column in (all_rows, positives))
            all_rows[:, 0] += held[0]
            positives[:, 0] += held[1]
            held[:] = all_rows[:, -1], positives[:, -1]
            all_rows, positives = all_rows[:, :-1], positives[:, :-1]
        tally.add(all_rows, positives)
    tally.add(*held[:, :, None])
    return tally

"""Average ranks under the weights of resamples: what Spearman's correlation rests on (Kendall & Gibbons 1990)."""

import numpy as np

from evaluator.measures.ties import Ties
from evaluator.outcomes.table import Numbers


def centred_ranks(ties: Ties, weights: Numbers) -> Numbers:
    """resamples x rows: each row's average rank among the drawn rows, less the mean of all ranks.

    weights: resamples x rows, in the order of the column. A row drawn twice is two equal rows. Whole numbers and
    halves, so exact; all 0 where the drawn rows are all equal.
    """
    drawn = ties.totals(np.take(weights, ties.order, axis=1))
    up_to = np.cumsum(drawn, axis=1)
    middle = up_to - drawn / 2  # a tie of n rows above m others: m + (n + 1) / 2, from 1
    middle -= up_to[:, -1:] / 2
    return np.take(middle, ties.codes, axis=1)


def centred_ranks_each(columns: Numbers, weights: Numbers, slack: Numbers) -> Numbers:
    """The same for a column that differs by resample. columns, weights: resamples x rows.

    slack: one a row; neighbours in the order tie where they are no farther apart than the larger of theirs.
    """
    order = np.argsort(columns, axis=1, kind="stable")
    inside = np.take_along_axis(columns, order, axis=1)
    drawn = np.take_along_axis(weights, order, axis=1)
    up_to = np.cumsum(drawn, axis=1)
    begins = np.ones(columns.shape, dtype=np.bool_)
    near = np.take(slack, order)
    np.greater(inside[:, 1:] - inside[:, :-1], np.maximum(near[:, 1:], near[:, :-1]), out=begins[:, 1:])
    place = np.arange(columns.shape[1])
    first = np.maximum.accumulate(np.where(begins, place, 0), axis=1)
    ends = np.roll(begins, -1, axis=1)  # the last row of all ends a tie, as the first of all begins one
    last = np.minimum.accumulate(np.where(ends, place, len(place))[:, ::-1], axis=1)[:, ::-1]
    before = np.take_along_axis(up_to - drawn, first, axis=1)
    middle = (before + np.take_along_axis(up_to, last, axis=1) - up_to[:, -1:]) / 2
    ranks = np.empty_like(middle)
    np.put_along_axis(ranks, order, middle, axis=1)
    return ranks

"""Average ranks for many bootstrap resamples at once, for Spearman's correlation (Kendall & Gibbons 1990)."""

import numpy as np

from evaluator.measures.ties import Ties
from evaluator.outcomes.table import Numbers


def centred_ranks(ties: Ties, weights: Numbers) -> Numbers:
    """Return each row's average rank in a column among the resampled rows, minus the mean rank: resamples x rows.

    ties: the order and ties of the column. weights: resamples x rows, with the rows in the order of the column. A row
    that was resampled twice counts as two equal rows. The ranks are whole numbers and halves, so exact; all are 0 where
    the resampled rows are all equal.
    """
    counts = ties.totals(np.take(weights, ties.order, axis=1))
    up_to = np.cumsum(counts, axis=1)
    middle = up_to - counts / 2  # a tie of n rows above m others: m + (n + 1) / 2, from 1
    middle -= up_to[:, -1:] / 2
    return np.take(middle, ties.codes, axis=1)


def centred_ranks_each(columns: Numbers, weights: Numbers, slack: Numbers) -> Numbers:
    """Return average ranks minus their mean, of a column whose values differ by resample: resamples x rows.

    columns, weights: resamples x rows. slack: one rounding tolerance per row; of two neighbouring values in ascending
    order, the larger tolerance counts: they tie if they differ by no more.
    """
    order = np.argsort(columns, axis=1, kind="stable")
    ordered = np.take_along_axis(columns, order, axis=1)
    counts = np.take_along_axis(weights, order, axis=1)
    up_to = np.cumsum(counts, axis=1)
    begins = np.ones(columns.shape, dtype=np.bool_)
    near = np.take(slack, order)
    np.greater(ordered[:, 1:] - ordered[:, :-1], np.maximum(near[:, 1:], near[:, :-1]), out=begins[:, 1:])
    index = np.arange(columns.shape[1])
    first = np.maximum.accumulate(np.where(begins, index, 0), axis=1)
    ends = np.roll(begins, -1, axis=1)  # the last row ends a tie, as the first one begins one
    last = np.minimum.accumulate(np.where(ends, index, len(index))[:, ::-1], axis=1)[:, ::-1]
    before = np.take_along_axis(up_to - counts, first, axis=1)
    middle = (before + np.take_along_axis(up_to, last, axis=1) - up_to[:, -1:]) / 2
    ranks = np.empty_like(middle)
    np.put_along_axis(ranks, order, middle, axis=1)
    return ranks

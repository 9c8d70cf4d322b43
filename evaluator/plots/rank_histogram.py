"""Coarse two-dimensional histogram of a metric's scores and human ratings, both by rank.

It shows ranks instead of ratings, so that no rating is disclosed, and each column covers several groups, so that no
single text is identifiable. docs/adr/0016 gives the reasons.
"""

from itertools import pairwise
from math import isqrt

import msgspec
import numpy as np
import numpy.typing as npt

from evaluator.measures.ties import Ties
from evaluator.outcomes.table import Numbers
from evaluator.outcomes.weighted import View

MAX_BINS = 10
MIN_BINS = 3

Parts = npt.NDArray[np.int64]


class Column(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One column of the histogram: the rows whose score is in the bins from `start` to `end` - 1 of the ranked scores.

    counts: the number of these rows in each bin of the ranked ratings, lowest ratings first.
    """

    start: int
    end: int
    counts: list[int]


def bins_of(values: Numbers, n_bins: int) -> Parts:
    """Return the bin of each value's rank, if the ranks are cut into `n_bins` bins of equal width.

    Bin 0 has the lowest values. Ties have their average rank (Kendall & Gibbons 1990).
    """
    ties = Ties.of(values)
    ends = np.append(ties.starts[1:], len(values))
    # Twice the average rank (from 0) plus 1 is an integer.
    bins: Parts = ((ties.starts + ends)[ties.codes] * n_bins) // (2 * max(len(values), 1))
    return bins


def rank_grid(view: View, *, rating: str, score: str) -> list[Column] | None:
    """Return the columns of a slice's histogram, lowest scores first; None: too few groups, or fewer than two columns.

    rating, score: the names of the statistics with the human ratings and with the metric's scores. A column is one bin
    of the ranked scores, or several neighbouring bins that are merged until their rows belong to at least the square
    root of the slice's number of groups.
    """
    n_groups = len(view.groups)
    n_bins = min(MAX_BINS, isqrt(n_groups))
    if n_bins < MIN_BINS:
        return None
    rows, columns = bins_of(view.column(rating), n_bins), bins_of(view.column(score), n_bins)
    groups = view.outcomes.groups[view.rows]
    edges = [0]
    for end in range(1, n_bins + 1):
        if _n_groups(groups, columns, edges[-1], end) >= isqrt(n_groups):
            edges.append(end)
    # The remainder at the upper end joins the last column.
    edges[-1] = n_bins
    if len(edges) < 3:
        return None
    grid = []
    for start, end in pairwise(edges):
        inside = (columns >= start) & (columns < end)
        grid.append(Column(start, end, np.bincount(rows[inside], minlength=n_bins).tolist()))
    return grid


def _n_groups(groups: npt.NDArray[np.int32], columns: Parts, start: int, end: int) -> int:
    return len(np.unique(groups[(columns >= start) & (columns < end)]))

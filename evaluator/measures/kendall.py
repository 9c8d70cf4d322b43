"""Concordant and discordant pairs of rows in two columns, counted for many bootstrap resamples at once.

Discordant pairs are the inversions of y when the rows are sorted by x. They are counted by merge sort (Knight 1966):
each level visits the rows of two neighbouring runs from the greatest y down. When a row of the right run is visited, it
forms an inversion with each row of the left run that was visited before. The order of the visits is the same for all
resamples, so that a level costs one reordering and one cumulative sum of their weights. Counts are integers, exact up
to 9e15 pairs.
"""

import numpy as np
import numpy.typing as npt

from evaluator.measures.ties import Ties
from evaluator.outcomes.table import Codes, Numbers
from evaluator.outcomes.weighted import Rows


class Concordance:
    """Counts of the pairs of rows that two columns x and y order alike (concordant) or oppositely (discordant).

    order: row indices sorted by x, then by y.
    """

    def __init__(self, x: Ties, y: Ties) -> None:
        self.order = np.lexsort((y.codes, x.codes))
        by_x, by_y = x.codes[self.order], y.codes[self.order]
        self._x_starts = _starts(by_x)
        self._joint_starts = np.union1d(self._x_starts, _starts(by_y))
        self._y_order = np.argsort(by_y, kind="stable")
        self._y_starts = y.starts
        self._levels = list(_levels(by_y))

    def tau_b(self, weights: Numbers) -> Numbers:
        """Return one tau-b per resample, NaN where x or y is constant.

        weights: resamples x rows, with the rows in `order`: sorted by x, then by y.
        """
        all_pairs = _pairs(weights.sum(axis=1))
        tied_x = _pairs(np.add.reduceat(weights, self._x_starts, axis=1)).sum(axis=1)
        tied_both = _pairs(np.add.reduceat(weights, self._joint_starts, axis=1)).sum(axis=1)
        by_y = np.add.reduceat(np.take(weights, self._y_order, axis=1), self._y_starts, axis=1)
        tied_y = _pairs(by_y).sum(axis=1)
        difference = all_pairs - tied_x - tied_y + tied_both - 2 * self._discordant(weights)
        untied = (all_pairs - tied_x) * (all_pairs - tied_y)
        varies = untied > 0
        return np.where(varies, np.clip(difference / np.sqrt(np.where(varies, untied, 1.0)), -1.0, 1.0), np.nan)

    def _discordant(self, weights: Numbers) -> Numbers:
        count = np.zeros(len(weights))
        runs = weights
        for order, is_left in self._levels:
            if runs.shape[1] % 2:
                runs = np.concatenate((runs, np.zeros((len(runs), 1))), axis=1)
            left, right = runs[:, 0::2], runs[:, 1::2]
            visited = np.take(weights, order, axis=1)
            from_left = visited * is_left
            visited -= from_left
            count += np.einsum("ij,ij->i", visited, np.cumsum(from_left, axis=1))
            count -= np.einsum("ij,ij->i", right, np.cumsum(left, axis=1) - left)  # left runs of earlier pairs
            runs = left + right
        return count


def _pairs(n: Numbers) -> Numbers:
    return n * (n - 1) / 2


def _starts(codes: Rows) -> Rows:
    return np.flatnonzero(np.diff(codes, prepend=-1))


def _levels(y: Rows) -> list[tuple[Codes, npt.NDArray[np.bool_]]]:
    """Return (order in which rows are visited, mask of the rows in a left run) for runs of 1, 2, 4... rows.

    y: the rank of each row's y, in the order of x. Rows are visited one pair of runs at a time, greatest y first, and
    among equal y the right run first, so that only rows with a strictly greater y are visited before.
    """
    n = len(y)
    index = np.arange(n)
    downward = (int(y.max()) + 1 - y) * 2
    order = index
    levels = []
    size = 1
    while size < n:
        is_left = index // size % 2 == 0
        key = index // (2 * size) * (2 * int(y.max()) + 4) + downward + is_left
        order = order[np.argsort(key[order], kind="stable")]
        levels.append((order.astype(np.int32), is_left[order]))
        size *= 2
    return levels

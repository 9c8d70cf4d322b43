"""What is left of a column when each system's mean is taken from it, under the weights of resamples."""

import numpy as np

from evaluator.measures.exact_order import places_within
from evaluator.measures.ties import Ties
from evaluator.outcomes.table import Numbers
from evaluator.outcomes.weighted import Rows

_CLOSE = 2.0**-42  # of a system's largest value: what rounding leaves between residuals that are equal on paper


class Systems:
    """Rows by system. order: places of the rows, those of one system together, as gold's lines stand: which lines make
    a group then has no say in how a mean is rounded."""

    def __init__(self, codes: Numbers, rows: Rows) -> None:
        """codes: a number a system; rows: which row of the outcomes each place is."""
        ties = Ties.of(codes)
        self.order = np.lexsort((rows, ties.codes))
        self._starts = ties.starts
        self._system = ties.codes[ties.order]  # of each row, in the order

    def residuals(self, column: Numbers, weights: Numbers) -> Numbers:
        """resamples x rows, all in `order`. A system whose drawn rows are all equal gives exact zeros; rows that were
        not drawn give 0."""
        drawn = weights > 0
        least = np.minimum.reduceat(np.where(drawn, column, np.inf), self._starts, axis=1)
        greatest = np.maximum.reduceat(np.where(drawn, column, -np.inf), self._starts, axis=1)
        n = np.add.reduceat(weights, self._starts, axis=1)
        means = np.add.reduceat(weights * column, self._starts, axis=1) / np.maximum(n, 1)
        left = column - np.take(means, self._system, axis=1)
        left *= drawn & np.take(least < greatest, self._system, axis=1)
        return left

    def slack(self, column: Numbers) -> Numbers:
        """One a row: how far apart two residuals of `column` may lie and still be one.

        Exact numbers would cost a thousand resamples a thousand times what they cost the estimate. This much hides no
        difference that is real: numbers below 1 of six decimals, in systems of a thousand rows, leave larger ones.
        """
        largest = np.maximum.reduceat(np.abs(column), self._starts)
        return np.take(_CLOSE * largest, self._system)

    def places(self, column: Numbers) -> Numbers:
        """Residuals where every row counts once, as exact places from the least to the greatest. column: in `order`,
        unscaled."""
        return places_within(column, self._system)

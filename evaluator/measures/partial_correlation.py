"""Residuals of a column: each value minus the mean of its system's rows, for many bootstrap resamples at once."""

from decimal import Decimal
from math import lcm

import numpy as np

from evaluator.measures.ties import Ties
from evaluator.outcomes.table import Numbers
from evaluator.outcomes.weighted import Rows

_CLOSE = 2.0**-42  # relative to a system's largest value: the most that rounding can separate equal residuals


class Systems:
    """The rows of a view sorted by system, to subtract each system's mean from a column.

    order: row indices sorted by the system that each row belongs to, then by gold line, so that the groups of the
    outcomes do not affect how a mean is rounded.
    """

    def __init__(self, codes: Numbers, rows: Rows) -> None:
        """Sort the rows of a view by system.

        codes: the number of each row's system; rows: each row's index in the outcomes.
        """
        ties = Ties.of(codes)
        self.order = np.lexsort((rows, ties.codes))
        self._starts = ties.starts
        self._system = ties.codes[ties.order]  # of each row, in `order`

    def residuals(self, column: Numbers, weights: Numbers) -> Numbers:
        """Return each row's value minus the weighted mean of its system's rows: resamples x rows.

        column: one value per row; weights: resamples x rows. column, weights and the result have their rows in `order`.
        A system whose resampled rows are all equal has residuals of exactly 0, and so has a row that was not resampled.
        """
        resampled = weights > 0
        minimum = np.minimum.reduceat(np.where(resampled, column, np.inf), self._starts, axis=1)
        maximum = np.maximum.reduceat(np.where(resampled, column, -np.inf), self._starts, axis=1)
        n = np.add.reduceat(weights, self._starts, axis=1)
        means = np.add.reduceat(weights * column, self._starts, axis=1) / np.maximum(n, 1)
        residuals = column - np.take(means, self._system, axis=1)
        residuals *= resampled & np.take(minimum < maximum, self._system, axis=1)
        return residuals

    def slack(self, column: Numbers) -> Numbers:
        """Return the rounding tolerance of each row: residuals of `column` that differ by no more have equal ranks.

        A residual is a row's value minus the mean of its system's rows. Of two rows with different tolerances, the
        larger tolerance applies. Exact arithmetic would take a thousand times longer on a thousand resamples than on
        the point estimate. Different residuals of values below 1 with up to six decimals, in systems of up to a
        thousand rows, differ by about 1e-12 or more; the tolerance is at most 2.3e-13, so they never tie. With more
        decimals or rows, different residuals may tie.
        """
        largest = np.maximum.reduceat(np.abs(column), self._starts)
        return np.take(_CLOSE * largest, self._system)

    def dense_ranks(self, column: Numbers) -> Numbers:
        """Return the exact dense rank of each row's value minus its system's mean, with every row counted once.

        column: the original values, in `order`, not rescaled by `evaluator.measures.standardization.scaled`.
        """
        return ranks_within_systems(column, self._system)


def ranks_within_systems(column: Numbers, systems: Rows) -> Numbers:
    """Return the exact dense rank of each row's residual among the residuals of all systems, 0 for the least.

    A residual is the value minus the mean of the rows of its system; equal residuals share a rank. column: one finite
    number per row, read as its shortest decimal representation; systems: the number of each row's system, from 0. A
    call takes about two microseconds per distinct pair of system and value.

    The arithmetic is of integers, so that equal residuals of decimal numbers tie. With floats, rounding would break
    such ties: .1 and .3 are as far from their mean as .6 and .8 from theirs, but not in binary.
    """
    values, value_index = np.unique(column, return_inverse=True)
    pair_codes, pair_index = np.unique(systems * len(values) + value_index, return_inverse=True)
    whole = _whole_numbers(values.tolist())
    pairs = [(code // len(values), whole[code % len(values)]) for code in pair_codes.tolist()]
    sizes = np.bincount(systems).tolist()
    totals = [0] * len(sizes)
    for (system, value), count in zip(pairs, np.bincount(pair_index).tolist(), strict=True):
        totals[system] += count * value
    # value - total / size, with a common denominator
    common = lcm(*(size for size in sizes if size))
    shares = [common // size if size else 0 for size in sizes]
    residuals = [shares[system] * (sizes[system] * value - totals[system]) for system, value in pairs]
    rank = {residual: float(i) for i, residual in enumerate(sorted(set(residuals)))}
    return np.array([rank[residual] for residual in residuals])[pair_index]


def _whole_numbers(values: list[float]) -> list[int]:
    """Return the values times a common power of ten that makes all of them integers."""
    decimals = [Decimal(repr(value)) for value in values]
    last = min((int(decimal.as_tuple().exponent) for decimal in decimals), default=0)
    return [int(decimal.scaleb(-last)) for decimal in decimals]

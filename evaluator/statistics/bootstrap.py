"""Intervals by a cluster bootstrap: whole groups are drawn again, with replacement, as often as there are groups.

Rows of one group (the passages of a document, the members of a symmetric quadruple) are not independent, so they are
drawn together (Field & Welsh 2007). All measures and slices of a run see the same draws. An interval runs between two
percentiles of the drawn values. Which two follows from how much each group moves the value:

- where few groups decide, further out: Student's t instead of the normal quantile (Hesterberg 2015);
- where the moves are skewed, further on the long side (the acceleration of Efron 1987).

docs/adr/0005 says why, with figures.
"""

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from evaluator.measures.slices import Cell
from evaluator.outcomes.table import Numbers
from evaluator.statistics import student_t
from evaluator.statistics.confidence import LEVEL

_MAX_WEIGHTS = 4_000_000  # numbers held at once: 32 MB
_MAX_HELD = 20_000_000  # resampled scores, and what each group does to each: 160 MB
MOST_PARTS = 4096
"""Of more groups than these, neighbours are looked at together: they are many enough for normal quantiles, and one that
outweighs all others outweighs its neighbours too."""

_NORMAL = NormalDist()


def group_weights(n_groups: int, resamples: int, seed: int) -> Iterator[Numbers]:
    """How often each group was drawn: groups x some of the resamples, until all were given.

    The draws depend on the seed and on the number of groups only.
    """
    random = np.random.default_rng([seed, n_groups])
    step = max(1, _MAX_WEIGHTS // max(n_groups, 1))
    for begin in range(0, resamples, step):
        drawn = random.integers(0, n_groups, size=(min(step, resamples - begin), n_groups))
        counts = np.empty(drawn.shape)
        for row, groups in zip(counts, drawn, strict=True):
            row[:] = np.bincount(groups, minlength=n_groups)
        yield np.ascontiguousarray(counts.T)


class Resampled:
    """Values of one slice under the draws, gathered some draws at a time, and the intervals that follow."""

    def __init__(self, points: Numbers, n_groups: int, resamples: int) -> None:
        """points: the values without resampling, NaN: none; n_groups: those that have a row in the slice."""
        self.values = np.full((len(points), resamples), np.nan)
        parts = min(n_groups, MOST_PARTS)
        self.influence = np.zeros((len(points), parts))
        self._points = points[:, None]
        self._edges = np.arange(parts + 1) * n_groups // max(parts, 1)
        self._done = 0

    def add(self, values: Sequence[Numbers], weights: Numbers) -> None:
        """values: scores x draws, NaN where a draw has none; weights: the slice's groups x draws."""
        drawn = self.values[:, self._done : self._done + weights.shape[1]]
        drawn[:] = values
        self._done += weights.shape[1]
        moves = np.nan_to_num(drawn - self._points)
        sizes = np.diff(self._edges)
        if len(weights) > len(sizes):
            weights = np.add.reduceat(weights, self._edges[:-1], axis=0)
        # Efron 2014: how a draw's value goes with how often a group is in it, which is once on average.
        self.influence += moves @ weights.T - np.outer(moves.sum(axis=1), sizes)

    def intervals(self, level: float = LEVEL) -> tuple[Numbers, Numbers]:
        """(low, high), one a score."""
        return intervals(self.values, self.influence, level)


def intervals(values: Numbers, influence: Numbers, level: float = LEVEL) -> tuple[Numbers, Numbers]:
    """(low, high) of each row of `values` (scores x draws), linear between order statistics.

    influence: scores x groups, the sum over draws of (value less the value without resampling) * (times drawn - 1), on
    any scale. NaN (a draw without a value) is left out; a row without any value has NaN for both.
    """
    ordered = np.sort(values, axis=1)  # NaN last
    n = np.count_nonzero(~np.isnan(ordered), axis=1)
    tails = np.array([_tails(int(k), a, level) for k, a in zip(*shape(influence), strict=True)]).reshape(-1, 2)
    return _quantile(ordered, n, tails[:, 0]), _quantile(ordered, n, tails[:, 1])


def shape(influence: Numbers) -> tuple[Numbers, Numbers]:
    """(effective number of groups, acceleration), one a score.

    The effective number is Kish's (1965) with each group weighed by its share in the variance, the square of its
    influence, rounded down to at least 2: as many groups of normal influence count as a third of their number, and one
    that outweighs all others leaves next to none. Acceleration: Efron 1987, a sixth of their skewness.
    """
    largest = np.max(np.abs(influence), axis=1, keepdims=True, initial=0.0)
    scaled = influence / np.where(largest > 0, largest, 1.0)
    squares, cubes, fourths = (np.where(largest[:, 0] > 0, (scaled**n).sum(axis=1), 1.0) for n in (2, 3, 4))
    effective = np.floor(squares**2 / fourths + 1e-9)  # whole: the last bit of a sum shall not move an interval
    return np.maximum(effective, 2.0), cubes / (6 * squares**1.5)


def _tails(effective: int, acceleration: float, level: float) -> tuple[float, float]:
    """The shares of drawn values below the interval's ends."""
    reach = _reach(effective, level)
    # In Efron's BCa the draws' median bias is a second constant. It equals the acceleration for a mean, and to take it
    # for that spares counting draws below the value, which 1,000 draws leave to chance.
    shares = []
    for z in (-reach, reach):
        shifted = acceleration + z
        stretch = 1 - acceleration * shifted
        # Beyond the pole of the formula lies the most extreme draw.
        shares.append(_NORMAL.cdf(acceleration + shifted / stretch) if stretch > 0 else float(z > 0))
    return shares[0], shares[1]


@lru_cache(maxsize=4096)
def _reach(effective: int, level: float) -> float:
    """How many standard deviations an interval reaches (Hesterberg 2015)."""
    return math.sqrt(effective / (effective - 1)) * student_t.quantile((1 + level) / 2, effective - 1)


def _quantile(ordered: Numbers, n: np.ndarray[tuple[int, ...], np.dtype[np.int64]], shares: Numbers) -> Numbers:
    place = np.maximum(n - 1, 0) * shares
    lower = np.floor(place).astype(np.int64)
    upper = np.minimum(lower + 1, np.maximum(n - 1, 0))
    rows = np.arange(len(ordered))
    below, above = ordered[rows, lower], ordered[rows, upper]
    result = below + (above - below) * (place - lower)
    return np.where(n > 0, result, np.nan)


def batches(cells: Sequence[Cell], resamples: int) -> Iterator[list[Cell]]:
    """Runs of cells whose resampled scores may be held at once."""
    batch: list[Cell] = []
    held = 0
    for cell in cells:
        batch.append(cell)
        held += len(cell.measures) * (resamples + min(len(cell.view.groups), MOST_PARTS))
        if held > _MAX_HELD:
            yield batch
            batch, held = [], 0
    if batch:
        yield batch

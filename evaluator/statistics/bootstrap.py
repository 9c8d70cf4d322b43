"""Cluster bootstrap confidence intervals: whole groups are resampled with replacement, as many as there are groups.

Rows of one group (the passages of a document, the members of a symmetric quadruple) are not independent, so they are
resampled together (Field & Welsh 2007). All measures and slices of a run use the same resamples. An interval runs
between two percentiles of the resampled values. How much each group moves the value determines which two:

- where few groups dominate, further out: Student's t instead of the normal quantile (Hesterberg 2015);
- where the moves are skewed, further on the long side (the acceleration of Efron 1987).

docs/adr/0005 gives the reasons, with figures.
"""

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from evaluator.measures.slices import Slice
from evaluator.outcomes.table import Numbers
from evaluator.statistics import student_t
from evaluator.statistics.confidence import LEVEL

_MAX_WEIGHTS = 4_000_000  # numbers in memory at once: 32 MB
_MAX_HELD = 20_000_000  # resampled scores, and the influence of each group on each: 160 MB
MAX_PARTS = 4096
"""The largest number of parts whose influence is computed one by one. With more groups, neighbours share a part.

So many groups suffice for normal quantiles, and one that outweighs all others outweighs its neighbours too.
"""

_NORMAL = NormalDist()


def group_weights(n_groups: int, resamples: int, seed: int) -> Iterator[Numbers]:
    """Yield how often each group was resampled, a batch of resamples at a time: groups x resamples of the batch.

    The resamples depend only on the seed and on the number of groups.
    """
    rng = np.random.default_rng([seed, n_groups])
    step = max(1, _MAX_WEIGHTS // max(n_groups, 1))
    for begin in range(0, resamples, step):
        sampled = rng.integers(0, n_groups, size=(min(step, resamples - begin), n_groups))
        counts = np.empty(sampled.shape)
        for row, groups in zip(counts, sampled, strict=True):
            row[:] = np.bincount(groups, minlength=n_groups)
        yield np.ascontiguousarray(counts.T)


class Resampled:
    """Resampled values of one slice, added in batches, and the intervals that follow."""

    def __init__(self, points: Numbers, n_groups: int, resamples: int) -> None:
        """points: the values without resampling, NaN: none; n_groups: the number of groups with a row in the slice."""
        self.values = np.full((len(points), resamples), np.nan)
        parts = min(n_groups, MAX_PARTS)
        self.influence = np.zeros((len(points), parts))
        self._points = points[:, None]
        self._edges = np.arange(parts + 1) * n_groups // max(parts, 1)
        self._done = 0

    def add(self, values: Sequence[Numbers], weights: Numbers) -> None:
        """Add a batch. values: scores x resamples, NaN where a resample has no value; weights: the slice's groups x
        resamples.
        """
        batch = self.values[:, self._done : self._done + weights.shape[1]]
        batch[:] = values
        self._done += weights.shape[1]
        deviations = np.nan_to_num(batch - self._points)
        sizes = np.diff(self._edges)
        if len(weights) > len(sizes):
            weights = np.add.reduceat(weights, self._edges[:-1], axis=0)
        # Efron 2014: the covariance of a resample's value with the count of a group in it, which is 1 on average.
        self.influence += deviations @ weights.T - np.outer(deviations.sum(axis=1), sizes)

    def intervals(self, level: float = LEVEL) -> tuple[Numbers, Numbers]:
        """Return (low, high), each with one number per score."""
        return intervals(self.values, self.influence, level)


def intervals(values: Numbers, influence: Numbers, level: float = LEVEL) -> tuple[Numbers, Numbers]:
    """Return (low, high) of each row of `values` (scores x resamples), interpolated linearly between order statistics.

    influence: scores x groups, the sum over resamples of (value less the value without resampling) * (times resampled -
    1), on any scale. NaN (a resample without a value) is left out; a row without any value has NaN for both.
    """
    ordered = np.sort(values, axis=1)  # NaN last
    n = np.count_nonzero(~np.isnan(ordered), axis=1)
    tails = np.array(
        [_tails(int(k), a, level) for k, a in zip(*effective_groups_and_acceleration(influence), strict=True)]
    ).reshape(-1, 2)
    return _quantile(ordered, n, tails[:, 0]), _quantile(ordered, n, tails[:, 1])


def effective_groups_and_acceleration(influence: Numbers) -> tuple[Numbers, Numbers]:
    """Return (effective number of groups, acceleration), each with one number per score.

    The effective number is Kish's (1965) with each group weighted by its share in the variance, the square of its
    influence, rounded down to at least 2: groups of normal influence count as a third of their number, and one that
    outweighs all others leaves next to none. Acceleration: Efron 1987, a sixth of their skewness.
    """
    largest = np.max(np.abs(influence), axis=1, keepdims=True, initial=0.0)
    scaled = influence / np.where(largest > 0, largest, 1.0)
    squares, cubes, fourths = (np.where(largest[:, 0] > 0, (scaled**n).sum(axis=1), 1.0) for n in (2, 3, 4))
    effective = np.floor(squares**2 / fourths + 1e-9)  # rounded: the last bit of a sum must not move an interval
    return np.maximum(effective, 2.0), cubes / (6 * squares**1.5)


def _tails(effective: int, acceleration: float, level: float) -> tuple[float, float]:
    """Return the shares of resampled values below the two ends of the interval."""
    reach = _reach(effective, level)
    # In Efron's BCa the resamples' median bias is a second constant. It equals the acceleration for a mean; using
    # that avoids counting resamples below the value, which is imprecise with 1,000 resamples.
    shares = []
    for z in (-reach, reach):
        shifted = acceleration + z
        stretch = 1 - acceleration * shifted
        # Beyond the pole of the formula use the most extreme resample.
        shares.append(_NORMAL.cdf(acceleration + shifted / stretch) if stretch > 0 else float(z > 0))
    return shares[0], shares[1]


@lru_cache(maxsize=4096)
def _reach(effective: int, level: float) -> float:
    """Return the half-width of an interval in standard deviations (Hesterberg 2015)."""
    return math.sqrt(effective / (effective - 1)) * student_t.quantile((1 + level) / 2, effective - 1)


def _quantile(ordered: Numbers, n: np.ndarray[tuple[int, ...], np.dtype[np.int64]], shares: Numbers) -> Numbers:
    position = np.maximum(n - 1, 0) * shares
    lower = np.floor(position).astype(np.int64)
    upper = np.minimum(lower + 1, np.maximum(n - 1, 0))
    rows = np.arange(len(ordered))
    below, above = ordered[rows, lower], ordered[rows, upper]
    result = below + (above - below) * (position - lower)
    return np.where(n > 0, result, np.nan)


def batches(slices: Sequence[Slice], resamples: int) -> Iterator[list[Slice]]:
    """Yield consecutive cells whose resampled scores fit in memory together."""
    batch: list[Slice] = []
    held = 0
    for slice_ in slices:
        batch.append(slice_)
        held += len(slice_.measures) * (resamples + min(len(slice_.view.groups), MAX_PARTS))
        if held > _MAX_HELD:
            yield batch
            batch, held = [], 0
    if batch:
        yield batch

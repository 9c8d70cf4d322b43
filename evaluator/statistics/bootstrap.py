"""Cluster bootstrap confidence intervals: whole groups are resampled with replacement, as many as there are groups.

Rows of one group (the passages of a document, the members of a symmetric quadruple) are not independent, so they are
resampled together (Field & Welsh 2007). Groups, also called clusters, are a column of `evaluator.outcomes.table`. All
measures and slices of a run use the same resamples. The ends of an interval are two percentiles of the bootstrap
replicates, that is of the measure's values on the resamples. The influence of each group, how much the value changes
with the number of times the group is drawn, determines which two:

- the fewer groups dominate, the further out are both percentiles: a quantile of Student's t replaces the normal one
  (Hesterberg 2015);
- if the influences are skewed, the end on the side of the long tail is further out (the acceleration of Efron 1987).

docs/adr/0005 gives the reasons and the measured coverage.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from evaluator.measures.slices import Slice
from evaluator.outcomes.table import Numbers, Outcomes
from evaluator.statistics import student_t
from evaluator.statistics.confidence import LEVEL

_MAX_WEIGHTS = 4_000_000  # weights (groups x resamples) in memory at once: 32 MB
_MAX_HELD = 20_000_000  # replicates and influences of a batch of slices in memory at once: 160 MB
MAX_INFLUENCES = 4096
"""The largest number of influences that are computed for a score. With more groups, neighbouring groups are added up.

Unless few groups dominate, Student's t with so many influences is almost normal; a group that dominates also outweighs
the neighbours that it is added to.
"""

MAX_RESAMPLED = 2_000_000
"""The largest number of groups that are resampled one by one. If there are more, they are first merged
(`merged_at_random`)."""

RANDOM_GROUPS = 100_000
"""The number of random groups into which more than MAX_RESAMPLED groups are merged. The standard error of a mean then
has an error of .2 %, in addition to that of resampling."""

_NORMAL = NormalDist()


def group_weights(n_groups: int, resamples: int, seed: int) -> Iterator[Numbers]:
    """Yield bootstrap weights in batches: arrays of shape (groups, resamples of the batch).

    In each resample n_groups groups are drawn with replacement; an entry is the number of times that the group is
    drawn. resamples: the total number. The weights depend only on the seed and on the number of groups.
    """
    rng = np.random.default_rng([seed, n_groups])
    step = max(1, _MAX_WEIGHTS // max(n_groups, 1))
    for begin in range(0, resamples, step):
        sampled = rng.integers(0, n_groups, size=(min(step, resamples - begin), n_groups))
        counts = np.empty(sampled.shape)
        for row, groups in zip(counts, sampled, strict=True):
            row[:] = np.bincount(groups, minlength=n_groups)
        yield np.ascontiguousarray(counts.T)


def merged_at_random(outcomes: Outcomes, seed: int) -> Outcomes:
    """Return the outcomes with their groups merged into RANDOM_GROUPS, if there are more than MAX_RESAMPLED groups.

    A thousand resamples of ten million groups take minutes. Merged groups, chosen at random and equally large, vary
    together as the single groups do (the method of random groups: Wolter 2007, chapter 2).
    """
    if outcomes.n_groups <= MAX_RESAMPLED:
        return outcomes
    merged = np.random.default_rng([seed, outcomes.n_groups]).permutation(outcomes.n_groups).astype(np.int32)
    merged %= RANDOM_GROUPS
    return replace(outcomes, groups=merged[outcomes.groups], group_names=tuple(range(RANDOM_GROUPS)))


class BootstrapReplicates:
    """Bootstrap replicates of the measures of one slice, added in batches, and their confidence intervals.

    In the methods, a score is the value of one measure on this slice, and scores are in the order of the slice's
    measures.
    """

    def __init__(self, points: Numbers, n_groups: int, resamples: int) -> None:
        """Reserve space for `resamples` replicates of each score.

        points: the observed value of each score, without resampling; NaN: no value. n_groups: the number of groups with
        a row in the slice.
        """
        self.values = np.full((len(points), resamples), np.nan)
        parts = min(n_groups, MAX_INFLUENCES)
        self.influence = np.zeros((len(points), parts))
        self._points = points[:, None]
        self._edges = np.arange(parts + 1) * n_groups // max(parts, 1)
        self._done = 0

    def add(self, values: Sequence[Numbers], weights: Numbers) -> None:
        """Add a batch of replicates: the scores on further resamples.

        values: scores x resamples of the batch, NaN where a resample has no value; weights: groups of the slice x
        resamples of the batch, the number of times that the group is drawn.
        """
        batch = self.values[:, self._done : self._done + weights.shape[1]]
        batch[:] = values
        self._done += weights.shape[1]
        deviations = np.nan_to_num(batch - self._points)
        sizes = np.diff(self._edges)
        if len(weights) > len(sizes):
            weights = np.add.reduceat(weights, self._edges[:-1], axis=0)
        # Influence (Efron 2014): the covariance, over resamples, of the replicate with the number of times that the
        # group is drawn, whose mean is 1 (for merged groups: their number). It is not divided by the number of
        # resamples: only ratios of it matter.
        self.influence += deviations @ weights.T - np.outer(deviations.sum(axis=1), sizes)

    def intervals(self, level: float = LEVEL) -> tuple[Numbers, Numbers]:
        """Return (lower ends, upper ends) of the confidence intervals, each with one number per score.

        level: the confidence level.
        """
        return intervals(self.values, self.influence, level)


def intervals(values: Numbers, influence: Numbers, level: float = LEVEL) -> tuple[Numbers, Numbers]:
    """Return (lower ends, upper ends) of confidence intervals of scores, each with one number per score.

    An end is a percentile of the score's replicates, interpolated linearly between order statistics (type 7 of Hyndman
    & Fan 1996). values: the replicates, scores x resamples; NaN (a resample without a value) is left out, and a score
    with only NaN has NaN for both ends. influence: scores x groups, the sum over resamples of (replicate - observed
    value) * (number of times that the group is drawn - 1), on any scale. level: the confidence level.
    """
    ordered = np.sort(values, axis=1)  # NaN last
    n = np.count_nonzero(~np.isnan(ordered), axis=1)
    tails = np.array(
        [
            _percentile_probabilities(int(k), a, level)
            for k, a in zip(*effective_groups_and_acceleration(influence), strict=True)
        ]
    ).reshape(-1, 2)
    return _quantile(ordered, n, tails[:, 0]), _quantile(ordered, n, tails[:, 1])


def effective_groups_and_acceleration(influence: Numbers) -> tuple[Numbers, Numbers]:
    """Return (effective number of groups, acceleration), each with one number per score.

    influence: scores x groups, as for `intervals`. The effective number is Kish's (1965) effective sample size, (sum of
    w)^2 / sum of w^2, where the weight w of a group is its squared influence, its part of the variance. It is rounded
    down and at least 2. It is about a third of the number of groups if there are many and their influences are normally
    distributed, and 2 if one group outweighs all others. The acceleration (Efron 1987) is sum of u^3 / (6 (sum of
    u^2)^1.5), where u is the influence.
    """
    largest = np.max(np.abs(influence), axis=1, keepdims=True, initial=0.0)
    scaled = influence / np.where(largest > 0, largest, 1.0)
    squares, cubes, fourths = (np.where(largest[:, 0] > 0, (scaled**n).sum(axis=1), 1.0) for n in (2, 3, 4))
    effective = np.floor(squares**2 / fourths + 1e-9)  # 1e-9: rounding errors must not change the result
    return np.maximum(effective, 2.0), cubes / (6 * squares**1.5)


def _percentile_probabilities(effective: int, acceleration: float, level: float) -> tuple[float, float]:
    """Return (lower, upper) probability of the two percentiles that are the ends of the interval, such as (.02, .97).

    effective: the effective number of groups. acceleration: Efron's (1987), which grows with the skewness of the
    groups' influences. level: the confidence level.
    """
    critical_value = _critical_value(effective, level)
    # Efron's BCa has a second constant, z0, for the median bias of the replicates. For a mean z0 equals the
    # acceleration to first order (Efron 1987), which takes its place here: z0 itself is estimated from the number of
    # replicates below the observed value, which is imprecise with 1,000 resamples.
    probabilities = []
    for z in (-critical_value, critical_value):
        shifted = acceleration + z
        denominator = 1 - acceleration * shifted
        # Beyond the pole of the formula the end is the most extreme replicate.
        probabilities.append(_NORMAL.cdf(acceleration + shifted / denominator) if denominator > 0 else float(z > 0))
    return probabilities[0], probabilities[1]


@lru_cache(maxsize=4096)
def _critical_value(effective: int, level: float) -> float:
    """Return the number of standard errors from the value of a measure to an end of its interval (Hesterberg 2015).

    This number replaces the quantile of the normal distribution, which is 1.96 at a level of .95. effective: the
    effective number of groups. level: the confidence level.
    """
    return math.sqrt(effective / (effective - 1)) * student_t.quantile((1 + level) / 2, effective - 1)


def _quantile(ordered: Numbers, n: np.ndarray[tuple[int, ...], np.dtype[np.int64]], probabilities: Numbers) -> Numbers:
    position = np.maximum(n - 1, 0) * probabilities
    lower = np.floor(position).astype(np.int64)
    upper = np.minimum(lower + 1, np.maximum(n - 1, 0))
    rows = np.arange(len(ordered))
    below, above = ordered[rows, lower], ordered[rows, upper]
    result = below + (above - below) * (position - lower)
    return np.where(n > 0, result, np.nan)


def slice_batches(slices: Sequence[Slice], resamples: int) -> Iterator[list[Slice]]:
    """Yield batches of consecutive slices whose bootstrap replicates fit in memory together.

    resamples: the number of replicates of each score.
    """
    batch: list[Slice] = []
    held = 0
    for slice_ in slices:
        batch.append(slice_)
        held += len(slice_.measures) * (resamples + min(len(slice_.view.groups), MAX_INFLUENCES))
        if held > _MAX_HELD:
            yield batch
            batch, held = [], 0
    if batch:
        yield batch

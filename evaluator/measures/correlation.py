"""Pearson's, Spearman's and Kendall's correlation of two columns, plain and within systems, under the weights of
resamples.
"""

from dataclasses import dataclass

import numpy as np

from evaluator.measures.base import Measure
from evaluator.measures.kendall import Concordance
from evaluator.measures.partial_correlation import Systems
from evaluator.measures.standardization import ByRank, Standardised, scaled
from evaluator.measures.ties import Ties
from evaluator.measures.weighted_ranks import centred_ranks, centred_ranks_each
from evaluator.outcomes.table import Numbers
from evaluator.outcomes.weighted import Sample, View


@dataclass(frozen=True, kw_only=True)
class Correlation(Measure):
    """A correlation of two columns, NaN where either is constant. x, y: names of the statistics; y is the system's."""

    x: str
    y: str

    @property
    def scale(self) -> ByRank | Standardised:
        return Standardised(self.y)


class Pearson(Correlation):
    """Covariance over the product of standard deviations."""

    def values(self, sample: Sample) -> Numbers:
        result = np.full(sample.n_resamples, np.nan)
        x, y = (scaled(sample.view.column(name)) for name in (self.x, self.y))
        for block, weights in sample.row_weights():
            result[block] = correlate(centred(x, weights), centred(y, weights), weights)
        return result


class Spearman(Correlation):
    """Pearson's correlation of average ranks."""

    @property
    def scale(self) -> ByRank:
        return ByRank(self.y)

    def values(self, sample: Sample) -> Numbers:
        result = np.full(sample.n_resamples, np.nan)
        x, y = ties_of(sample.view, self.x), ties_of(sample.view, self.y)
        for block, weights in sample.row_weights():
            result[block] = correlate(centred_ranks(x, weights), centred_ranks(y, weights), weights)
        return result


class Kendall(Correlation):
    """Tau-b: (concordant - discordant pairs) / sqrt(pairs untied in x * pairs untied in y)."""

    @property
    def scale(self) -> ByRank:
        return ByRank(self.y)

    def values(self, sample: Sample) -> Numbers:
        view = sample.view
        if not len(view.rows):
            return np.full(sample.n_resamples, np.nan)
        pairs = view.once(
            (Concordance, self.x, self.y), lambda: Concordance(ties_of(view, self.x), ties_of(view, self.y))
        )
        result = np.empty(sample.n_resamples)
        for block, weights in sample.row_weights(pairs.order):
            result[block] = pairs.tau_b(weights)
        return result


@dataclass(frozen=True, kw_only=True)
class Partial(Correlation):
    """A correlation of the residuals after each system's mean in the sample is subtracted from both columns.

    system: the statistic that numbers the systems.
    """

    system: str

    def both(self, sample: Sample) -> tuple[Numbers, Numbers]:
        """Return (Pearson's, Spearman's), which share the same residuals, one of each per resample."""
        key = (Partial, self.x, self.y, self.system)
        return sample.once(key, lambda: _within_systems(sample, self.x, self.y, self.system))


class PartialPearson(Partial):
    """Pearson's correlation within systems."""

    def values(self, sample: Sample) -> Numbers:
        return self.both(sample)[0]


class PartialSpearman(Partial):
    """Spearman's correlation within systems: the residuals are ranked over all systems."""

    def values(self, sample: Sample) -> Numbers:
        return self.both(sample)[1]


def _within_systems(sample: Sample, x: str, y: str, system: str) -> tuple[Numbers, Numbers]:
    view = sample.view
    pearson, spearman = np.full((2, sample.n_resamples), np.nan)
    if not len(view.rows):
        return pearson, spearman
    systems = view.once((Systems, system), lambda: Systems(view.column(system), view.rows))
    raw = [view.column(name)[systems.order] for name in (x, y)]
    columns = [scaled(column) for column in raw]
    slack = [systems.slack(column) for column in columns]
    for block, weights in sample.row_weights(systems.order):
        residuals = [systems.residuals(column, weights) for column in columns]
        pearson[block] = correlate(centred(residuals[0], weights), centred(residuals[1], weights), weights)
        if sample.is_plain:
            ranks = [centred_ranks(Ties.of(systems.indices(column)), weights) for column in raw]
        else:
            ranks = [centred_ranks_each(*pair) for pair in zip(residuals, (weights, weights), slack, strict=True)]
        spearman[block] = correlate(ranks[0], ranks[1], weights)
    return pearson, spearman


def ties_of(view: View, statistic: str) -> Ties:
    return view.once((Ties, statistic), lambda: Ties.of(view.column(statistic)))


def centred(column: Numbers, weights: Numbers) -> Numbers:
    """Return a column less the mean of its resampled rows, divided by the largest absolute value: resamples x rows.

    column: one for all resamples, or one for each. Rows that were not resampled are 0, and all are 0 where the
    resampled rows are equal.
    """
    resampled = weights > 0
    values = np.broadcast_to(column, weights.shape)
    # Filled and multiplied, not masked: NumPy processes masks one element at a time.
    least = np.where(resampled, values, np.inf).min(axis=1, keepdims=True, initial=np.inf)
    greatest = np.where(resampled, values, -np.inf).max(axis=1, keepdims=True, initial=-np.inf)
    n = np.maximum(weights.sum(axis=1, keepdims=True), 1)
    resampled &= least < greatest
    deviations = np.where(resampled, values, 0.0)
    for _ in range(2):  # the second pass removes what rounding left of the mean
        deviations -= (weights * deviations).sum(axis=1, keepdims=True) / n
        deviations *= resampled
    largest = np.abs(deviations).max(axis=1, keepdims=True, initial=0.0)
    deviations /= np.where(largest > 0, largest, 1.0)
    return deviations


def correlate(x: Numbers, y: Numbers, weights: Numbers) -> Numbers:
    """Return one correlation per resample, NaN where a column is all 0. x, y: centred, resamples x rows."""
    covariance = (weights * x * y).sum(axis=1)
    spread = (weights * x * x).sum(axis=1) * (weights * y * y).sum(axis=1)
    varies = spread > 0
    return np.where(varies, np.clip(covariance / np.sqrt(np.where(varies, spread, 1.0)), -1.0, 1.0), np.nan)

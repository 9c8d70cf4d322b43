"""Pearson's, Spearman's and Kendall's correlation of two columns, over all rows and within systems.

Each is computed for many bootstrap resamples at once; a weight says how often a row counts in a resample.
"""

from dataclasses import dataclass

import numpy as np

from evaluator.measures.base import Measure
from evaluator.measures.kendall import Concordance
from evaluator.measures.partial_correlation import Systems
from evaluator.measures.standardization import RankTransform, Standardization, scaled
from evaluator.measures.ties import Ties
from evaluator.measures.weighted_ranks import centred_ranks, centred_ranks_each
from evaluator.outcomes.table import Numbers
from evaluator.outcomes.weighted import Sample, View


@dataclass(frozen=True, kw_only=True)
class Correlation(Measure):
    """A correlation of two columns, NaN where either is constant.

    x: the name of the statistic from gold, such as a human rating; y: the name of the statistic with submitted scores.
    """

    x: str
    y: str

    @property
    def transform(self) -> RankTransform | Standardization:
        return Standardization(self.y)


class Pearson(Correlation):
    """Pearson's correlation: covariance divided by the product of the standard deviations."""

    def values(self, sample: Sample) -> Numbers:
        result = np.full(sample.n_resamples, np.nan)
        x, y = (scaled(sample.view.column(name)) for name in (self.x, self.y))
        for block, weights in sample.row_weights():
            result[block] = correlate(centred(x, weights), centred(y, weights), weights)
        return result


class Spearman(Correlation):
    """Spearman's rank correlation: Pearson's correlation of average ranks."""

    @property
    def transform(self) -> RankTransform:
        return RankTransform(self.y)

    def values(self, sample: Sample) -> Numbers:
        result = np.full(sample.n_resamples, np.nan)
        x, y = ties_of(sample.view, self.x), ties_of(sample.view, self.y)
        for block, weights in sample.row_weights():
            result[block] = correlate(centred_ranks(x, weights), centred_ranks(y, weights), weights)
        return result


class Kendall(Correlation):
    """Kendall's tau-b: (concordant - discordant pairs) / sqrt(pairs untied in x * pairs untied in y)."""

    @property
    def transform(self) -> RankTransform:
        return RankTransform(self.y)

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
class WithinSystemCorrelation(Correlation):
    """A correlation within systems, pooled over all systems. A row is a text that one of several systems generated.

    In each resample, the mean of a system's rows is subtracted from the x and y of these rows; then the residuals of
    all systems are correlated together. system: the name of the statistic that holds the system's number.
    """

    system: str

    def both(self, sample: Sample) -> tuple[Numbers, Numbers]:
        """Return (Pearson's, Spearman's) correlation of x and y after each system's mean is subtracted from both.

        Each is an array with one value per resample.
        """
        key = (WithinSystemCorrelation, self.x, self.y, self.system)
        return sample.once(key, lambda: _within_systems(sample, self.x, self.y, self.system))


class WithinSystemPearson(WithinSystemCorrelation):
    """Pearson's correlation of x and y after each system's mean is subtracted from both.

    It equals the partial correlation that controls for the system as a categorical variable.
    """

    def values(self, sample: Sample) -> Numbers:
        return self.both(sample)[0]


class WithinSystemSpearman(WithinSystemCorrelation):
    """Spearman's correlation of x and y after each system's mean is subtracted from both.

    The residuals of all systems are ranked together. The usual partial Spearman correlation is different: it subtracts
    from ranks, while this measure ranks after subtraction.
    """

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
            ranks = [centred_ranks(Ties.of(systems.dense_ranks(column)), weights) for column in raw]
        else:
            ranks = [centred_ranks_each(*pair) for pair in zip(residuals, (weights, weights), slack, strict=True)]
        spearman[block] = correlate(ranks[0], ranks[1], weights)
    return pearson, spearman


def ties_of(view: View, statistic: str) -> Ties:
    return view.once((Ties, statistic), lambda: Ties.of(view.column(statistic)))


def centred(column: Numbers, weights: Numbers) -> Numbers:
    """Return a column minus its weighted mean, divided by its largest absolute deviation from it: resamples x rows.

    column: one value per row, or resamples x rows; weights: resamples x rows. Rows with the weight 0 are 0 in the
    result, and so are all rows of a resample in which the column is constant.
    """
    resampled = weights > 0
    values = np.broadcast_to(column, weights.shape)
    # Filled and multiplied, not masked: NumPy processes masks one element at a time.
    minimum = np.where(resampled, values, np.inf).min(axis=1, keepdims=True, initial=np.inf)
    maximum = np.where(resampled, values, -np.inf).max(axis=1, keepdims=True, initial=-np.inf)
    n = np.maximum(weights.sum(axis=1, keepdims=True), 1)
    resampled &= minimum < maximum
    deviations = np.where(resampled, values, 0.0)
    for _ in range(2):  # the second pass removes what rounding left of the mean
        deviations -= (weights * deviations).sum(axis=1, keepdims=True) / n
        deviations *= resampled
    largest = np.abs(deviations).max(axis=1, keepdims=True, initial=0.0)
    deviations /= np.where(largest > 0, largest, 1.0)
    return deviations


def correlate(x: Numbers, y: Numbers, weights: Numbers) -> Numbers:
    """Return Pearson's correlation of x and y, one per resample; NaN where x or y is all 0.

    x, y: columns from `centred`, resamples x rows; weights: resamples x rows.
    """
    covariance = (weights * x * y).sum(axis=1)
    squared_denominator = (weights * x * x).sum(axis=1) * (weights * y * y).sum(axis=1)
    varies = squared_denominator > 0
    return np.where(
        varies, np.clip(covariance / np.sqrt(np.where(varies, squared_denominator, 1.0)), -1.0, 1.0), np.nan
    )

"""Measures as objects: each declares its name, bounds, direction, the units that it counts, and its source.

A measure maps a Sample (weighted outcomes) to one value per resample; NaN means "no value". Most measures are ratios of
sums, so that a thousand resamples cost one matrix product; the others compute `values` from row weights.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from evaluator.measures.weighted_median import weighted_medians
from evaluator.outcomes.table import Numbers, Outcomes
from evaluator.outcomes.weighted import Sample


class Totals(Protocol):
    """Protocol of objects with sums of statistics.

    `total(name)` is an array: one sum per resample of a sample, or one per item of a gold.
    """

    def total(self, statistic: str, /) -> Numbers: ...


@dataclass(frozen=True)
class LinearCombination:
    """A linear combination of statistics, such as `2 * tp + fp`. terms: name of a statistic -> its factor."""

    terms: Mapping[str, float]

    def __add__(self, other: "LinearCombination") -> "LinearCombination":
        terms = dict(self.terms)
        for name, factor in other.terms.items():
            terms[name] = terms.get(name, 0.0) + factor
        return LinearCombination(terms)

    def __rmul__(self, factor: float) -> "LinearCombination":
        return LinearCombination({name: factor * old for name, old in self.terms.items()})

    def of(self, totals: Totals) -> Numbers:
        """Return the linear combination of the statistics' sums in `totals`, such as one number per resample of a
        sample.
        """
        parts = [
            totals.total(name) if factor == 1 else factor * totals.total(name) for name, factor in self.terms.items()
        ]
        return parts[0] if len(parts) == 1 else np.sum(parts, axis=0)


def statistic(name: str) -> LinearCombination:
    """Return the linear combination that is one statistic with the factor 1. name: the statistic's name."""
    return LinearCombination({name: 1.0})


@dataclass(frozen=True, kw_only=True)
class Measure(ABC):
    """A measure such as F1: a number that is computed from outcomes and published, with its description.

    units: the sum of statistics that counts the measure's units in a slice; where it is 0, the measure has no value.
    reported_units: the sum of statistics that is published as n; None: `units`.
    low, high: the smallest and the largest possible value (not the ends of a confidence interval).
    higher_is_better: None if the measure has no direction.
    per_group: True if the measure is computed from whole groups, such as group accuracy. It then exists only for the
    whole gold and for slices of declared dimensions that split no group.
    requires: a key of `Outcomes.facts` whose value must be true; otherwise the measure does not exist for the gold.
    None: the measure exists for every gold.
    doc: an explanation for readers, one or two sentences; source: the publication that defines the measure.
    none_where: an explanation for readers of when there is no value although there are units.
    variance: the model of the measure's variance with which audits predict the width of confidence intervals before
    anybody has submitted. `proportion` also fits means of numbers from 0 to 1: their variance is at most that of a
    proportion.
    """

    name: str
    title: str
    units: LinearCombination
    doc: str
    source: str
    reported_units: LinearCombination | None = None
    low: float = 0.0
    high: float = 1.0
    higher_is_better: bool | None = True
    per_group: bool = False
    requires: str | None = None
    none_where: str = ""
    variance: Literal["proportion", "f1", "correlation"] = "proportion"

    @abstractmethod
    def values(self, sample: Sample) -> Numbers:
        """Return the measure's value on each resample, NaN for no value. Undefined where a resample has no units."""

    def evaluate(self, sample: Sample) -> Numbers:
        """Return the measure's value on each resample, NaN for no value, as where the resample has none of the
        measure's units.
        """
        return np.where(self.units.of(sample) > 0, self.values(sample), np.nan)

    def count(self, sample: Sample) -> Numbers:
        """Return n, the number of gold units that the value is computed from, one number per resample."""
        return (self.reported_units or self.units).of(sample)

    @property
    def transform(self) -> Callable[[Outcomes], Outcomes] | None:
        """Transformation of each system's outcomes that is needed before groups are swapped between two systems.

        It puts the scores of both systems on a common scale and does not change the measure's value of either. None:
        the outcomes can be swapped as they are.
        """
        return None

    @property
    def best(self) -> float:
        """The value of perfect predictions: `high` if higher is better, else `low`.

        For a measure without a direction it is `low` too, and has no meaning.
        """
        return self.high if self.higher_is_better else self.low


@dataclass(frozen=True, kw_only=True)
class Ratio(Measure):
    """A ratio of two sums, numerator / denominator; its value is `empty` where the denominator is 0 (NaN: no value)."""

    numerator: LinearCombination
    denominator: LinearCombination
    empty: float = math.nan

    def values(self, sample: Sample) -> Numbers:
        below = self.denominator.of(sample)
        return np.where(below > 0, self.numerator.of(sample) / np.where(below > 0, below, 1.0), self.empty)


@dataclass(frozen=True, kw_only=True)
class HarmonicMean(Measure):
    """The harmonic mean of two measures, 2ab / (a + b); 0 where both are 0, or one has no value."""

    a: Measure
    b: Measure

    def values(self, sample: Sample) -> Numbers:
        a, b = self.a.values(sample), self.b.values(sample)
        return np.where(a + b > 0, 2 * a * b / np.where(a + b > 0, a + b, 1.0), 0.0)


PublishedScore = tuple[str, tuple[str, str]]
"""(name of a measure, (dimension, value)), which identifies a score on a slice."""


@dataclass(frozen=True, kw_only=True)
class Difference(Measure):
    """The difference a - b of two measures; NaN where either has no value.

    published: the two published scores that equal a and b, each as (measure, (dimension, value)); None: there are none.
    Under the disclosure policy `ladder`, the bounds of the difference are computed from the bounds of these scores.
    """

    a: Measure
    b: Measure
    published: tuple[PublishedScore, PublishedScore] | None = None

    def values(self, sample: Sample) -> Numbers:
        return self.a.evaluate(sample) - self.b.evaluate(sample)


@dataclass(frozen=True, kw_only=True)
class Macro(Measure):
    """A macro average: the unweighted mean of the measure `of` over the slices of the dimension `over`.

    Only slices with gold units count; n is their number. A slice with units but without a value counts as 0.
    """

    of: Measure
    over: str

    def values(self, sample: Sample) -> Numbers:
        total = np.zeros(sample.n_resamples)
        for part in sample.parts(self.over):
            total += np.nan_to_num(self.of.evaluate(part))
        return total / np.maximum(self.count(sample), 1)

    def count(self, sample: Sample) -> Numbers:
        count = np.zeros(sample.n_resamples)
        for part in sample.parts(self.over):
            count += self.of.units.of(part) > 0
        return count


@dataclass(frozen=True, kw_only=True)
class MedianRatio(Measure):
    """The median of one ragged column (any number of values per row) divided by the median of another.

    0 where the denominator's median is 0, NaN where either column is empty.
    """

    numerator: str
    denominator: str

    def values(self, sample: Sample) -> Numbers:
        above = weighted_medians(sample, self.numerator)
        below = weighted_medians(sample, self.denominator)
        zero = below == 0
        return np.where(zero, 0.0 * above, above / np.where(zero, 1.0, below))

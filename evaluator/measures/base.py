"""Measures as values: each declares its name, bounds, direction, count and source.

A measure maps a Sample (weighted outcomes) to one value per resample; NaN means "no value". Most are ratios of sums, so
that a thousand resamples cost one matrix product; other measures override `values` and may use row weights.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from evaluator.measures.weighted_median import weighted_medians
from evaluator.outcomes.table import Numbers, Outcomes
from evaluator.outcomes.weighted import Sample


@dataclass(frozen=True)
class Sum:
    """A weighted sum of statistics, written as `2 * tp + fp`."""

    terms: Mapping[str, float]

    def __add__(self, other: "Sum") -> "Sum":
        terms = dict(self.terms)
        for name, factor in other.terms.items():
            terms[name] = terms.get(name, 0.0) + factor
        return Sum(terms)

    def __rmul__(self, factor: float) -> "Sum":
        return Sum({name: factor * old for name, old in self.terms.items()})

    def of(self, sample: Sample) -> Numbers:
        """Return the weighted sum, one number per resample."""
        parts = [
            sample.total(name) if factor == 1 else factor * sample.total(name) for name, factor in self.terms.items()
        ]
        return parts[0] if len(parts) == 1 else np.sum(parts, axis=0)


def statistic(name: str) -> Sum:
    """Return the sum of one statistic's column."""
    return Sum({name: 1.0})


@dataclass(frozen=True, kw_only=True)
class Measure(ABC):
    """A published number computed from outcomes.

    units: gold units in a slice; without any, the measure has no value there.
    rests_on: the sum that is published as n (default: units).
    per_group: the measure is about whole groups (or spans them): it exists for the whole and for declared slices that
    split no group.
    requires: a fact of the outcomes without which the measure does not exist.
    doc: for readers, one or two sentences; source: where it was defined.
    none_where: for readers, why there may be no value although there are units.
    variance: the model by which audits predict the width of its intervals before anybody has submitted. A mean of
    numbers from 0 to 1 varies most where they are 0 or 1, as a share does.
    """

    name: str
    title: str
    units: Sum
    doc: str
    source: str
    rests_on: Sum | None = None
    low: float = 0.0
    high: float = 1.0
    higher_is_better: bool | None = True
    per_group: bool = False
    requires: str | None = None
    none_where: str = ""
    variance: Literal["share", "f1", "correlation"] = "share"

    @abstractmethod
    def values(self, sample: Sample) -> Numbers:
        """Return one value per resample for samples that have units; NaN: no value."""

    def evaluate(self, sample: Sample) -> Numbers:
        """Return one value per resample, NaN where the sample has no gold unit."""
        return np.where(self.units.of(sample) > 0, self.values(sample), np.nan)

    def count(self, sample: Sample) -> Numbers:
        """Return n, the number of gold units that the value rests on."""
        return (self.rests_on or self.units).of(sample)

    @property
    def scale(self) -> Callable[[Outcomes], Outcomes] | None:
        """Return the function that puts each system's numbers on a scale common to two systems, without changing any
        value.

        None: the outcomes of two systems can be permuted as they are.
        """
        return None

    @property
    def best(self) -> float:
        """The value of perfect predictions."""
        return self.high if self.higher_is_better else self.low


@dataclass(frozen=True, kw_only=True)
class Ratio(Measure):
    """numerator / denominator; `empty` where the denominator is 0 (NaN: no value)."""

    numerator: Sum
    denominator: Sum
    empty: float = math.nan

    def values(self, sample: Sample) -> Numbers:
        below = self.denominator.of(sample)
        return np.where(below > 0, self.numerator.of(sample) / np.where(below > 0, below, 1.0), self.empty)


@dataclass(frozen=True, kw_only=True)
class Harmonic(Measure):
    """2ab / (a + b) of two measures, 0 where both are 0."""

    a: Measure
    b: Measure

    def values(self, sample: Sample) -> Numbers:
        a, b = self.a.values(sample), self.b.values(sample)
        return np.where(a + b > 0, 2 * a * b / np.where(a + b > 0, a + b, 1.0), 0.0)


@dataclass(frozen=True, kw_only=True)
class Difference(Measure):
    """a - b of two measures; NaN where either has no value."""

    a: Measure
    b: Measure

    def values(self, sample: Sample) -> Numbers:
        return self.a.evaluate(sample) - self.b.evaluate(sample)


@dataclass(frozen=True, kw_only=True)
class Macro(Measure):
    """The unweighted mean of a measure over the values of a dimension that have gold units; n counts those values."""

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
    """The median of one ragged column over the median of another: 0 where the latter is 0, NaN where either is
    empty.
    """

    numerator: str
    denominator: str

    def values(self, sample: Sample) -> Numbers:
        above = weighted_medians(sample, self.numerator)
        below = weighted_medians(sample, self.denominator)
        zero = below == 0
        return np.where(zero, 0.0 * above, above / np.where(zero, 1.0, below))

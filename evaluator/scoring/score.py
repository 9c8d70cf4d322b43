"""Scores computed from outcomes: every measure on the whole gold and on every slice, with its interval and n."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evaluator.errors import SandboxError
from evaluator.measures.base import Measure
from evaluator.measures.slices import Slice, slices_of
from evaluator.measures.subset import groups_with_units
from evaluator.outcomes.table import Numbers, Outcomes, SliceValue
from evaluator.outcomes.weighted import Sample, View
from evaluator.statistics.bootstrap import BootstrapReplicates, group_weights, merged_at_random, slice_batches
from evaluator.statistics.confidence import RESAMPLES

_TOLERANCE = 1e-12


@dataclass(frozen=True, slots=True)
class Score:
    """The value of one measure on one slice, None if the measure has no value there.

    low, high: the ends of its confidence interval, None: no interval. n: the number of gold units that the value is
    computed from. n_groups: the number of gold groups with units in the slice. It is not published with the score; the
    disclosure policy Ladder derives its step from it.
    """

    measure: str
    slice: Mapping[str, SliceValue]
    value: float | None
    low: float | None
    high: float | None
    n: int
    n_groups: int = 0

    def as_dict(self) -> dict[str, Any]:
        return {
            "measure": self.measure,
            "slice": dict(self.slice),
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "n": self.n,
        }


def existing(measures: Sequence[Measure], facts: Mapping[str, Any]) -> tuple[Measure, ...]:
    """Return the measures that exist for a gold: those whose `requires` is None, or the key of a true value in `facts`.

    facts: the gold's `Outcomes.facts`.
    """
    return tuple(measure for measure in measures if measure.requires is None or facts.get(measure.requires))


def score_outcomes(
    outcomes: Outcomes,
    measures: Sequence[Measure],
    *,
    cross: tuple[str, str] | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> list[Score]:
    """Return every score of the outcomes: on the whole gold, then on each dimension's slices, then on two-way slices.

    cross: two dimensions for the two-way slices; None: no such slices. resamples: the number of bootstrap resamples; 0:
    no intervals. Raises UsageError if a dimension of `cross` does not exist, SandboxError for a value outside its
    measure's bounds.
    """
    whole = Sample(View.whole(outcomes), np.ones((outcomes.n_groups, 1)))
    slices = list(slices_of(whole, existing(measures, outcomes.facts), cross))
    points, counts = [], []
    for slice_ in slices:
        sample = slice_.sample(whole)
        for measure in slice_.measures:
            points.append(float(measure.evaluate(sample)[0]))
            counts.append(int(measure.count(sample)[0]))
    scores: list[Score] = []
    slice_measures = [(each, measure) for each in slices for measure in each.measures]
    for slice_, measure in slice_measures:
        value = checked(measure, points[len(scores)])
        n = counts[len(scores)]
        scores.append(Score(measure.name, slice_.slice, value, None, None, n, _n_groups(slice_, measure)))
    # A single group cannot show how much the value varies between groups: no interval.
    has_interval = [len(slice_.view.groups) >= 2 for slice_ in slices for _ in slice_.measures]
    resampled = merged_at_random(outcomes, seed)
    if resampled is not outcomes:
        del whole, slices, slice_measures, slice_  # sorted copies of all columns
        whole = Sample(View.whole(resampled), np.ones((resampled.n_groups, 1)))
        slices = list(slices_of(whole, existing(measures, outcomes.facts), cross))
    lows, highs = _intervals(resampled, slices, points, resamples, seed)
    return [
        replace(score, low=number_or_none(low), high=number_or_none(high))
        if is_known and score.value is not None
        else score
        for score, low, high, is_known in zip(scores, lows, highs, has_interval, strict=True)
    ]


def _n_groups(slice_: Slice, measure: Measure) -> int:
    if not slice_.slice:
        return slice_.view.outcomes.n_groups
    units = measure.units
    return slice_.view.once(("groups", tuple(units.terms.items())), lambda: groups_with_units(slice_.view, units))


def _intervals(
    outcomes: Outcomes, slices: Sequence[Slice], points: Sequence[float], resamples: int, seed: int
) -> tuple[Sequence[float], Sequence[float]]:
    """Return (lower ends, upper ends) of the intervals, in the order of `points`; NaN: no interval.

    points: the observed values of each slice's measures, slice by slice.
    """
    if resamples == 0 or outcomes.n_groups < 2:
        nothing = [math.nan] * len(points)
        return nothing, nothing
    remaining = iter(points)
    lows: list[float] = []
    highs: list[float] = []
    for batch in slice_batches(slices, resamples):
        resampled = [
            BootstrapReplicates(_next(remaining, len(slice_.measures)), len(slice_.view.groups), resamples)
            for slice_ in batch
        ]
        for weights in group_weights(outcomes.n_groups, resamples, seed):
            whole = Sample(slices[0].view, weights)
            for slice_, values in zip(batch, resampled, strict=True):
                sample = slice_.sample(whole)
                values.add([measure.evaluate(sample) for measure in slice_.measures], sample.own_weights)
        for values in resampled:
            low, high = values.intervals()
            lows.extend(low)
            highs.extend(high)
    return lows, highs


def _next(numbers: Iterator[float], n: int) -> Numbers:
    return np.array([next(numbers) for _ in range(n)])


def number_or_none(value: float) -> float | None:
    """Return the value as a float, or None for NaN."""
    return None if math.isnan(value) else float(value)


def checked(measure: Measure, value: float) -> float | None:
    """Return the value of a measure after a check of its bounds, or None for NaN.

    A value outside the measure's bounds by a rounding error (_TOLERANCE) is set to the bound. Raises SandboxError for a
    value that is further outside, or infinite.
    """
    if math.isnan(value):
        return None
    if not measure.low - _TOLERANCE <= value <= measure.high + _TOLERANCE or math.isinf(value):
        raise SandboxError(f"{measure.name} is {value}, expected a value from {measure.low} to {measure.high}")
    return min(max(value, measure.low), measure.high)

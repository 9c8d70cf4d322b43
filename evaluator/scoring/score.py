"""From outcomes to scores: every measure on the whole and on every slice, with its interval and n."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evaluator.errors import SandboxError
from evaluator.measures.base import Measure
from evaluator.measures.slices import Cell, cells_of
from evaluator.measures.subset import groups_with_units
from evaluator.outcomes.table import Numbers, Outcomes, SliceValue
from evaluator.outcomes.weighted import Sample, View
from evaluator.statistics.bootstrap import Resampled, batches, group_weights

_TOLERANCE = 1e-12


@dataclass(frozen=True, slots=True)
class Score:
    """One measure on one slice. value None: the measure has none there. low, high None: no interval.

    n_groups: of gold, that have units there. It is no part of what is published: a ladder's step follows from it.
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
    """The measures that exist for a gold with these facts."""
    return tuple(measure for measure in measures if measure.requires is None or facts.get(measure.requires))


def score_outcomes(
    outcomes: Outcomes,
    measures: Sequence[Measure],
    *,
    cross: tuple[str, str] | None = None,
    resamples: int = 1000,
    seed: int = 0,
) -> list[Score]:
    """Every score that outcomes give: the whole first, then each dimension's slices, then the two-way ones.

    Raises UsageError for a dimension that is not there, SandboxError for a value outside its measure's bounds.
    """
    whole = Sample(View.whole(outcomes), np.ones((outcomes.n_groups, 1)))
    cells = list(cells_of(whole, existing(measures, outcomes.facts), cross))
    points, counts = [], []
    for cell in cells:
        sample = cell.sample(whole)
        for measure in cell.measures:
            points.append(float(measure.evaluate(sample)[0]))
            counts.append(int(measure.count(sample)[0]))
    lows, highs = _intervals(outcomes, cells, points, resamples, seed)
    scores = []
    flat = ((cell, measure) for cell in cells for measure in cell.measures)
    for place, (cell, measure) in enumerate(flat):
        value = checked(measure, points[place])
        # One group drawn again and again says nothing about another sample: no interval.
        without = value is None or len(cell.view.groups) < 2
        low, high = (None, None) if without else (number_or_none(lows[place]), number_or_none(highs[place]))
        scores.append(Score(measure.name, cell.slice, value, low, high, counts[place], _n_groups(cell, measure)))
    return scores


def _n_groups(cell: Cell, measure: Measure) -> int:
    if not cell.slice:
        return cell.view.outcomes.n_groups
    units = measure.units
    return cell.view.once(("groups", tuple(units.terms.items())), lambda: groups_with_units(cell.view, units))


def _intervals(
    outcomes: Outcomes, cells: Sequence[Cell], points: Sequence[float], resamples: int, seed: int
) -> tuple[Sequence[float], Sequence[float]]:
    """(lows, highs), one a cell and measure, in that order, as `points` are; NaN: none."""
    if resamples == 0 or outcomes.n_groups < 2:
        nothing = [math.nan] * len(points)
        return nothing, nothing
    left = iter(points)
    lows: list[float] = []
    highs: list[float] = []
    for some in batches(cells, resamples):
        drawn = [Resampled(_next(left, len(cell.measures)), len(cell.view.groups), resamples) for cell in some]
        for weights in group_weights(outcomes.n_groups, resamples, seed):
            whole = Sample(cells[0].view, weights)
            for cell, values in zip(some, drawn, strict=True):
                sample = cell.sample(whole)
                values.add([measure.evaluate(sample) for measure in cell.measures], sample.own_weights)
        for values in drawn:
            low, high = values.intervals()
            lows.extend(low)
            highs.extend(high)
    return lows, highs


def _next(numbers: Iterator[float], n: int) -> Numbers:
    return np.array([next(numbers) for _ in range(n)])


def number_or_none(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def checked(measure: Measure, value: float) -> float | None:
    if math.isnan(value):
        return None
    if not measure.low - _TOLERANCE <= value <= measure.high + _TOLERANCE or math.isinf(value):
        raise SandboxError(f"{measure.name} is {value}, outside [{measure.low}, {measure.high}]")
    return min(max(value, measure.low), measure.high)

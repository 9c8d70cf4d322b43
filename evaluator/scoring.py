"""From outcomes to scores: every measure on the whole and on every slice, with its interval and n."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evaluator.errors import SandboxError, UsageError
from evaluator.measures import Measure
from evaluator.outcomes import Numbers, Outcomes, SliceValue
from evaluator.samples import Sample, View
from evaluator.uncertainty import group_weights, percentile_intervals

_TOLERANCE = 1e-12
_MAX_HELD = 20_000_000  # resampled scores: 160 MB


@dataclass(frozen=True, slots=True)
class Score:
    """One measure on one slice. value None: the measure has none there. low, high None: no interval."""

    measure: str
    slice: Mapping[str, SliceValue]
    value: float | None
    low: float | None
    high: float | None
    n: int

    def as_dict(self) -> dict[str, Any]:
        return {
            "measure": self.measure,
            "slice": dict(self.slice),
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "n": self.n,
        }


@dataclass(frozen=True)
class _Cell:
    slice: Mapping[str, SliceValue]
    view: View
    path: tuple[tuple[str, int], ...]  # from the whole: dimension, place of the value
    measures: tuple[Measure, ...]

    def sample(self, whole: Sample) -> Sample:
        for dimension, place in self.path:
            whole = whole.parts(dimension)[place]
        return whole


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
    cells = list(_cells(whole, existing(measures, outcomes.facts), cross))
    points, counts = [], []
    for cell in cells:
        sample = cell.sample(whole)
        for measure in cell.measures:
            points.append(float(measure.evaluate(sample)[0]))
            counts.append(int(measure.count(sample)[0]))
    lows, highs = _intervals(outcomes, cells, resamples, seed)
    scores = []
    flat = ((cell, measure) for cell in cells for measure in cell.measures)
    for place, (cell, measure) in enumerate(flat):
        value = _checked(measure, points[place])
        # One group drawn again and again says nothing about another sample: no interval.
        without = value is None or len(cell.view.groups) < 2
        low, high = (None, None) if without else (_number(lows[place]), _number(highs[place]))
        scores.append(Score(measure.name, cell.slice, value, low, high, counts[place]))
    return scores


def _cells(whole: Sample, measures: Sequence[Measure], cross: tuple[str, str] | None) -> Iterator[_Cell]:
    outcomes = whole.view.outcomes
    yield _Cell({}, whole.view, (), tuple(measures))
    for name, dimension in outcomes.dimensions.items():
        fitting = _fitting(measures, outcomes, (name,))
        for place, (value, view) in enumerate(zip(dimension.values, whole.view.split(name), strict=True)):
            yield _Cell({name: value}, view, ((name, place),), fitting)
    if cross is None:
        return
    for name in cross:
        if name not in outcomes.dimensions:
            known = ", ".join(outcomes.dimensions) or "none"
            raise UsageError(f'cross names the dimension "{name}", expected two of: {known}')
    a, b = cross
    fitting = _fitting(measures, outcomes, cross)
    for i, outer in enumerate(whole.parts(a)):
        for j, part in enumerate(outer.parts(b)):
            # Rows may be of a submission's making (false positives); what is listed follows from gold alone.
            if any(measure.units.of(part)[0] > 0 for measure in fitting):
                labels = {a: outcomes.dimensions[a].values[i], b: outcomes.dimensions[b].values[j]}
                yield _Cell(labels, part.view, ((a, i), (b, j)), fitting)


def _fitting(measures: Sequence[Measure], outcomes: Outcomes, dimensions: Sequence[str]) -> tuple[Measure, ...]:
    whole_groups = all(
        outcomes.dimensions[name].declared and not outcomes.dimensions[name].within_groups for name in dimensions
    )
    return tuple(measure for measure in measures if whole_groups or not measure.per_group)


def _intervals(
    outcomes: Outcomes, cells: Sequence[_Cell], resamples: int, seed: int
) -> tuple[Sequence[float], Sequence[float]]:
    """(lows, highs), one a cell and measure, in that order; NaN: none."""
    if resamples == 0 or outcomes.n_groups < 2:
        nothing = [math.nan] * sum(len(cell.measures) for cell in cells)
        return nothing, nothing
    lows: list[float] = []
    highs: list[float] = []
    for some in _batches(cells, resamples):
        drawn = np.empty((sum(len(cell.measures) for cell in some), resamples))
        _resample(drawn, some, cells[0].view, group_weights(outcomes.n_groups, resamples, seed))
        low, high = percentile_intervals(drawn)
        lows.extend(low)
        highs.extend(high)
    return lows, highs


def _batches(cells: Sequence[_Cell], resamples: int) -> Iterator[list[_Cell]]:
    """Runs of cells whose resampled scores may be held at once."""
    batch: list[_Cell] = []
    held = 0
    for cell in cells:
        batch.append(cell)
        held += len(cell.measures) * resamples
        if held > _MAX_HELD:
            yield batch
            batch, held = [], 0
    yield batch


def _resample(drawn: Numbers, cells: Sequence[_Cell], view: View, draws: Iterable[Numbers]) -> None:
    """Fills scores x resamples, some resamples at a time. view: the whole."""
    done = 0
    for weights in draws:
        block = slice(done, done + weights.shape[1])
        whole = Sample(view, weights)
        place = 0
        for cell in cells:
            sample = cell.sample(whole)
            for measure in cell.measures:
                drawn[place, block] = measure.evaluate(sample)
                place += 1
        done = block.stop


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def _checked(measure: Measure, value: float) -> float | None:
    if math.isnan(value):
        return None
    if not measure.low - _TOLERANCE <= value <= measure.high + _TOLERANCE or math.isinf(value):
        raise SandboxError(f"{measure.name} is {value}, outside [{measure.low}, {measure.high}]")
    return min(max(value, measure.low), measure.high)

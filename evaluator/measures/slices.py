"""Where measures are taken: the whole, each dimension's slices, and the two-way ones that were asked for."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from evaluator.errors import UsageError
from evaluator.measures.base import Measure
from evaluator.outcomes.table import Outcomes, SliceValue
from evaluator.outcomes.weighted import Sample, View


@dataclass(frozen=True)
class Cell:
    """A slice and the measures that exist on it."""

    slice: Mapping[str, SliceValue]
    view: View
    path: tuple[tuple[str, int], ...]  # from the whole: dimension, place of the value
    measures: tuple[Measure, ...]

    @property
    def work(self) -> int:
        """What taking its measures once costs, in no unit."""
        return len(self.view.rows) * len(self.measures)

    def sample(self, whole: Sample) -> Sample:
        for dimension, place in self.path:
            whole = whole.parts(dimension)[place]
        return whole


def cells_of(whole: Sample, measures: Sequence[Measure], cross: tuple[str, str] | None) -> Iterator[Cell]:
    """The whole first. whole: a sample whose first resample holds every gold unit. Raises UsageError."""
    outcomes = whole.view.outcomes
    yield Cell({}, whole.view, (), tuple(measures))
    for name, dimension in outcomes.dimensions.items():
        fitting = _fitting(measures, outcomes, (name,))
        for place, (value, view) in enumerate(zip(dimension.values, whole.view.split(name), strict=True)):
            yield Cell({name: value}, view, ((name, place),), fitting)
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
                yield Cell(labels, part.view, ((a, i), (b, j)), fitting)


def _fitting(measures: Sequence[Measure], outcomes: Outcomes, dimensions: Sequence[str]) -> tuple[Measure, ...]:
    whole_groups = all(
        outcomes.dimensions[name].declared and not outcomes.dimensions[name].within_groups for name in dimensions
    )
    return tuple(measure for measure in measures if whole_groups or not measure.per_group)

"""The slices on which measures are computed: the whole gold, each dimension's values, and requested two-way slices."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from evaluator.errors import UsageError
from evaluator.measures.base import Measure
from evaluator.outcomes.table import Outcomes, SliceValue
from evaluator.outcomes.weighted import Sample, View


@dataclass(frozen=True)
class Slice:
    """A slice of the gold, and the measures that exist on it: measures of whole groups exist on some slices only.

    slice: dimension -> value, empty for the whole gold. view: the rows of the slice. measures: see `Measure.per_group`.
    """

    slice: Mapping[str, SliceValue]
    view: View
    path: tuple[tuple[str, int], ...]  # (dimension, index of its value), to be applied to the whole in turn
    measures: tuple[Measure, ...]

    @property
    def work(self) -> int:
        """The relative cost of computing the slice's measures on one resample: rows times measures."""
        return len(self.view.rows) * len(self.measures)

    def sample(self, whole: Sample) -> Sample:
        """Return the part of a sample that is in this slice. whole: a sample of the whole gold."""
        for dimension, index in self.path:
            whole = whole.parts(dimension)[index]
        return whole


def slices_of(whole: Sample, measures: Sequence[Measure], cross: tuple[str, str] | None) -> Iterator[Slice]:
    """Yield the whole gold, then every one-way slice, then the two-way slices of the dimensions `cross`, if any.

    Two-way slices without gold units are left out. whole: a sample of the whole gold whose first resample holds every
    gold unit. Raises UsageError if a dimension of `cross` does not exist.
    """
    outcomes = whole.view.outcomes
    yield Slice({}, whole.view, (), tuple(measures))
    for name, dimension in outcomes.dimensions.items():
        fitting = _fitting(measures, outcomes, (name,))
        for index, (value, view) in enumerate(zip(dimension.values, whole.view.split(name), strict=True)):
            yield Slice({name: value}, view, ((name, index),), fitting)
    if cross is None:
        return
    for name in cross:
        if name not in outcomes.dimensions:
            known = ", ".join(outcomes.dimensions) or "none"
            raise UsageError(f'option cross names the dimension "{name}", expected two of: {known}')
    a, b = cross
    fitting = _fitting(measures, outcomes, cross)
    for i, outer in enumerate(whole.parts(a)):
        for j, part in enumerate(outer.parts(b)):
            # Rows may come from a submission (false positives), but the listed slices depend on gold alone.
            if any(measure.units.of(part)[0] > 0 for measure in fitting):
                labels = {a: outcomes.dimensions[a].values[i], b: outcomes.dimensions[b].values[j]}
                yield Slice(labels, part.view, ((a, i), (b, j)), fitting)


def _fitting(measures: Sequence[Measure], outcomes: Outcomes, dimensions: Sequence[str]) -> tuple[Measure, ...]:
    whole_groups = all(
        outcomes.dimensions[name].declared and not outcomes.dimensions[name].within_groups for name in dimensions
    )
    return tuple(measure for measure in measures if whole_groups or not measure.per_group)

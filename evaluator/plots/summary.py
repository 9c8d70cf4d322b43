"""Plot data of a run's outcomes that can be shown with its scores: curves, grids and pairs, all of them coarse."""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from evaluator.measures.auroc import Auroc
from evaluator.measures.base import Measure
from evaluator.measures.correlation import Spearman
from evaluator.outcomes.table import Outcomes, SliceValue
from evaluator.outcomes.weighted import View
from evaluator.plots.contrast_pairs import PairCounts, pair_counts
from evaluator.plots.rank_histogram import Column, rank_grid
from evaluator.plots.roc import heights

MOST_SLICES = 40
"""The maximum number of one-way slices, in the order of the scores; dimensions of hundreds of values only have a
table."""


class Curve(msgspec.Struct, forbid_unknown_fields=True):
    slice: dict[str, SliceValue]
    heights: list[int]


class Grid(msgspec.Struct, forbid_unknown_fields=True):
    slice: dict[str, SliceValue]
    columns: list[Column]


class PlotData(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """The plot data of a run; a field is None where the task has no such plot."""

    curves: list[Curve] | None = None
    grids: list[Grid] | None = None
    pairs: PairCounts | None = None

    @property
    def is_empty(self) -> bool:
        return self.curves is None and self.grids is None and self.pairs is None


def plot_data(outcomes: Outcomes, measures: Sequence[Measure]) -> PlotData:
    """Return the curves, grids and pairs that the measures call for.

    curves: where a measure is an AUROC; grids: where one is a Spearman correlation; both for the whole and for one-way
    slices. pairs: for the whole, where the gold declares origins. Slices with too few groups are left out.
    """
    data = PlotData()
    for measure in measures:
        if isinstance(measure, Auroc):
            curves = ((slice_, heights(view, measure.score, measure.positive)) for slice_, view in _views(outcomes))
            data.curves = [Curve(dict(slice_), list(curve)) for slice_, curve in curves if curve is not None]
        elif isinstance(measure, Spearman) and data.grids is None:
            grids = ((slice_, rank_grid(view, rating=measure.x, score=measure.y)) for slice_, view in _views(outcomes))
            data.grids = [Grid(dict(slice_), columns) for slice_, columns in grids if columns is not None]
    if outcomes.facts.get("origin"):
        data.pairs = pair_counts(outcomes)
    return data


def _views(outcomes: Outcomes) -> Iterator[tuple[Mapping[str, SliceValue], View]]:
    whole = View.whole(outcomes)
    yield {}, whole
    remaining = MOST_SLICES
    for name, dimension in outcomes.dimensions.items():
        for value, view in list(zip(dimension.values, whole.split(name), strict=True))[:remaining]:
            remaining -= 1
            yield {name: value}, view

"""Plot data that is shown with a run's scores: ROC curves, rank histograms and contrast pairs, all of them coarse."""

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
"""The maximum number of one-way slices with plot data, in the order of the scores; further ones are only in tables."""


class Curve(msgspec.Struct, forbid_unknown_fields=True):
    """ROC curve of one slice. heights: the true positive rates from `evaluator.plots.roc.on_lattice`."""

    slice: dict[str, SliceValue]
    heights: list[int]


class Grid(msgspec.Struct, forbid_unknown_fields=True):
    """Histogram of scores and human ratings on one slice, by rank: see `evaluator.plots.rank_histogram`."""

    slice: dict[str, SliceValue]
    columns: list[Column]


class PlotData(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """The plot data of a run. A field is None if the task has no such plot.

    curves: ROC curves; grids: rank histograms; pairs: counts of contrast pairs.
    """

    curves: list[Curve] | None = None
    grids: list[Grid] | None = None
    pairs: PairCounts | None = None

    @property
    def is_empty(self) -> bool:
        return self.curves is None and self.grids is None and self.pairs is None


def plot_data(outcomes: Outcomes, measures: Sequence[Measure]) -> PlotData:
    """Return the plot data of a run.

    There are ROC curves if a measure is an AUROC, and rank histograms if a measure is a Spearman correlation, both for
    the whole gold and for one-way slices; slices with too few groups are left out. There are counts of contrast pairs,
    for the whole gold, if the gold declares which units are original and which are generated.
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

"""What of a run's outcomes may be drawn beside its scores: curves, grids and pairs, all of them coarse."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evaluator.measures.auroc import Auroc
from evaluator.measures.base import Measure
from evaluator.measures.correlation import Spearman
from evaluator.outcomes.table import Outcomes, SliceValue
from evaluator.outcomes.weighted import View
from evaluator.plots.contrast_pairs import pair_counts
from evaluator.plots.rank_histogram import rank_grid
from evaluator.plots.roc import heights

MOST_SLICES = 40
"""Of the one-way slices, in the order of the scores; a dimension of hundreds of values is for its table."""


def drawing_of(outcomes: Outcomes, measures: Sequence[Measure]) -> dict[str, Any]:
    """{"curves": [{"slice", "heights"}], "grids": [{"slice", "columns"}], "pairs": {...}}, as far as the measures call
    for them; {} where they call for none.

    curves: where a measure is an AUROC; grids: where one is a Spearman; on the whole and on one-way slices. pairs: of
    the whole, where the gold declares origins. Slices with too few groups are left out.
    """
    drawing: dict[str, Any] = {}
    for measure in measures:
        if isinstance(measure, Auroc):
            found = ((slice_, heights(view, measure.score, measure.positive)) for slice_, view in _views(outcomes))
            drawing["curves"] = [
                {"slice": dict(slice_), "heights": list(curve)} for slice_, curve in found if curve is not None
            ]
        elif isinstance(measure, Spearman) and "grids" not in drawing:
            grids = ((slice_, rank_grid(view, rating=measure.x, score=measure.y)) for slice_, view in _views(outcomes))
            drawing["grids"] = [
                {"slice": dict(slice_), "columns": [column.as_dict() for column in columns]}
                for slice_, columns in grids
                if columns is not None
            ]
    if outcomes.facts.get("origin"):
        drawing["pairs"] = pair_counts(outcomes).as_dict()
    return drawing


def _views(outcomes: Outcomes) -> Iterator[tuple[Mapping[str, SliceValue], View]]:
    whole = View.whole(outcomes)
    yield {}, whole
    left = MOST_SLICES
    for name, dimension in outcomes.dimensions.items():
        for value, view in list(zip(dimension.values, whole.split(name), strict=True))[:left]:
            left -= 1
            yield {name: value}, view

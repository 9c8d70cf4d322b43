"""Results of papers on two crossed dimensions, in the layout of the two-way board."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluator.measures.base import Measure
from leaderboard.boards.queries import Pair, slice_of
from leaderboard.boards.queries.reported_results import Reported, ReportedRow


@dataclass(frozen=True)
class ReportedGrid:
    """A table of papers' results on the crossed values of two dimensions, for one measure.

    groups: each value of the outer dimension with its values of the inner one, which are the columns.
    rows: each paper's row with one text per column, as printed in the paper; empty: not reported.
    """

    measure: Measure
    groups: Sequence[tuple[str, Sequence[str]]]
    rows: Sequence[tuple[ReportedRow, Sequence[str]]]


def reported_grid(reported: Reported, pair: Pair, measure: Measure) -> ReportedGrid:
    """Return the table of one measure, with dimension values in the order in which the papers' rows first name them.

    pair: names of the (outer, inner) dimension.
    """
    two_way = reported.on(*pair)
    slices = [dict(slice_) for name, slice_ in two_way.columns if name == measure.name]
    groups: dict[str, list[str]] = {}
    for values in slices:
        groups.setdefault(values[pair[0]], []).append(values[pair[1]])
    keys = [
        (measure.name, slice_of(dict(zip(pair, (outer, inner), strict=True))))
        for outer, inners in groups.items()
        for inner in inners
    ]
    rows = [
        (row, [row.values.get(key, (None, ""))[1] for key in keys])
        for row in two_way.rows
        if any(key in row.values for key in keys)
    ]
    return ReportedGrid(measure, list(groups.items()), rows)

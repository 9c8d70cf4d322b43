"""What papers report on pairs of values, in the layout of the board of two dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluator.measures.base import Measure
from leaderboard.boards.queries import Pair, slice_of
from leaderboard.boards.queries.reported_results import Reported, ReportedRow


@dataclass(frozen=True)
class ReportedGrid:
    """groups: each value of the outer dimension with its inner values; rows: as printed, empty where there is none."""

    measure: Measure
    groups: Sequence[tuple[str, Sequence[str]]]
    rows: Sequence[tuple[ReportedRow, Sequence[str]]]


def reported_grid(reported: Reported, pair: Pair, measure: Measure) -> ReportedGrid:
    """One measure's rows, in the paper's order of values."""
    own = reported.on(*pair)
    found = [dict(slice_) for name, slice_ in own.columns if name == measure.name]
    groups: dict[str, list[str]] = {}
    for named in found:
        groups.setdefault(named[pair[0]], []).append(named[pair[1]])
    keys = [
        (measure.name, slice_of(dict(zip(pair, (outer, inner), strict=True))))
        for outer, inners in groups.items()
        for inner in inners
    ]
    rows = [
        (row, [row.cells.get(key, (None, ""))[1] for key in keys])
        for row in own.rows
        if any(key in row.cells for key in keys)
    ]
    return ReportedGrid(measure, list(groups.items()), rows)

"""The interval plot: one measure of each system as a point on its interval, all on one scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from leaderboard.boards.queries import WHOLE, Cell, Row, Slice
from leaderboard.core.web.scale import Scale, covering


@dataclass(frozen=True)
class Strip:
    """One system's line; places are SVG lengths. No interval: the whisker has no width."""

    row: Row
    cell: Cell
    point: str
    low: str
    high: str


@dataclass(frozen=True)
class IntervalPlot:
    """Strips over one scale. `leader`, the best row's interval, is drawn behind all of them."""

    scale: Scale
    strips: Sequence[Strip]
    leader: tuple[str, str] | None

    def strip(self, row: Row) -> Strip | None:
        """A row's own strip."""
        return next((strip for strip in self.strips if strip.row is row), None)


def interval_plot(rows: Sequence[Row], measure: str, slice_: Slice = WHOLE) -> IntervalPlot | None:
    """The plot of the rows that have a value, in their order; None where there is none."""
    cells = [(row, row.cell(measure, slice_)) for row in rows]
    shown = [(row, cell) for row, cell in cells if cell.value is not None]
    if not shown:
        return None
    scale = covering(end for _, cell in shown for end in (cell.low, cell.value, cell.high) if end is not None)
    strips = [
        Strip(
            row,
            cell,
            scale.at(cell.value or 0.0),
            scale.at(_or(cell.low, cell.value)),
            scale.at(_or(cell.high, cell.value)),
        )
        for row, cell in shown
    ]
    return IntervalPlot(scale, strips, _leader(shown, scale))


def _leader(shown: Sequence[tuple[Row, Cell]], scale: Scale) -> tuple[str, str] | None:
    for row, cell in shown:
        if row.rank == 1 and cell.low is not None and cell.high is not None:
            return scale.at(cell.low), scale.span(cell.low, cell.high)
    return None


def _or(end: float | None, value: float | None) -> float:
    return end if end is not None else value or 0.0

"""Interval plot: one measure of each system as a point with its interval, on a shared scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from leaderboard.boards.queries import WHOLE, Row, ShownScore, Slice
from leaderboard.core.web.scale import Scale, covering


@dataclass(frozen=True)
class Strip:
    """One system in the plot. point, low, high: positions of the value and of its interval's ends, as SVG lengths."""

    row: Row
    score: ShownScore
    point: str
    low: str
    high: str


@dataclass(frozen=True)
class IntervalPlot:
    """Strips on one scale.

    leader: (position, width), as SVG lengths, of a band behind all strips: the interval of the system of rank 1; None:
    there is no such interval.
    """

    scale: Scale
    strips: Sequence[Strip]
    leader: tuple[str, str] | None

    def strip(self, row: Row) -> Strip | None:
        """Return the strip of a row; None if the row has no value."""
        return next((strip for strip in self.strips if strip.row is row), None)


def interval_plot(rows: Sequence[Row], measure: str, slice_: Slice = WHOLE) -> IntervalPlot | None:
    """Return the plot of the rows that have a value, in the order of `rows`; None if there are none."""
    scores = [(row, row.score(measure, slice_)) for row in rows]
    shown = [(row, score) for row, score in scores if score.value is not None]
    if not shown:
        return None
    scale = covering(end for _, score in shown for end in (score.low, score.value, score.high) if end is not None)
    strips = [
        Strip(
            row,
            score,
            scale.at(score.value or 0.0),
            scale.at(_or(score.low, score.value)),
            scale.at(_or(score.high, score.value)),
        )
        for row, score in shown
    ]
    return IntervalPlot(scale, strips, _leader(shown, scale))


def _leader(shown: Sequence[tuple[Row, ShownScore]], scale: Scale) -> tuple[str, str] | None:
    for row, score in shown:
        if row.rank == 1 and score.low is not None and score.high is not None:
            return scale.at(score.low), scale.span(score.low, score.high)
    return None


def _or(end: float | None, value: float | None) -> float:
    return end if end is not None else value or 0.0

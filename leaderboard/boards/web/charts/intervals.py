"""Interval plot: one measure of each system as a point with its interval, on a shared scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from leaderboard.boards.queries import WHOLE, Row, ShownScore, Slice
from leaderboard.core.web.scale import Scale, covering


@dataclass(frozen=True)
class Strip:
    """One system's row in the plot: its value as a point, and its interval as a line.

    point, low, high: positions of the value and of its interval's ends, as SVG lengths. On a ladder low and high are
    the bounds of the true score, and there is no point.
    """

    row: Row
    score: ShownScore
    point: str
    low: str
    high: str


@dataclass(frozen=True)
class IntervalPlot:
    """Interval plot: a strip for each system, all on one scale.

    leader: (position, width), as SVG lengths, of a band behind all strips: the interval of the system of rank 1; None:
    there is no such interval.
    """

    scale: Scale
    strips: Sequence[Strip]
    leader: tuple[str, str] | None

    def strip(self, row: Row) -> Strip | None:
        """Return the strip that shows the value and interval of a row; None if the row has no value."""
        return next((strip for strip in self.strips if strip.row is row), None)


def interval_plot(rows: Sequence[Row], measure: str, slice_: Slice = WHOLE) -> IntervalPlot | None:
    """Return the plot of the rows that have a value, in the order of `rows`; None if there are none."""
    scores = [(row, row.score(measure, slice_)) for row in rows]
    shown = [(row, score) for row, score in scores if score.value is not None]
    if not shown:
        return None
    ends = [_ends(score) for _, score in shown]
    scale = covering(end for low, high in ends for end in (low, high))
    strips = [
        Strip(row, score, scale.at(score.value or 0.0), scale.at(low), scale.at(high))
        for (row, score), (low, high) in zip(shown, ends, strict=True)
    ]
    return IntervalPlot(scale, strips, _leader(shown, scale))


def _leader(shown: Sequence[tuple[Row, ShownScore]], scale: Scale) -> tuple[str, str] | None:
    for row, score in shown:
        if row.rank == 1 and score.low is not None and score.high is not None:
            return scale.at(score.low), scale.span(score.low, score.high)
    return None


def _ends(score: ShownScore) -> tuple[float, float]:
    """Return the ends of a score's interval, or of the range of the true score on a ladder; the value if unknown."""
    value = score.value or 0.0
    low, high = (score.low, score.high) if score.bounds is None else (score.bounds.at_least, score.bounds.at_most)
    return value if low is None else low, value if high is None else high

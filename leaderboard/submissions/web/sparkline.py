"""A small line chart of a system's scores in the order of receipt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

WIDTH, HEIGHT, MARGIN = 140, 36, 6


@dataclass(frozen=True)
class Point:
    """A score as a point of the chart.

    x, y: in pixels from the top left corner. value: the score. is_best: True for the system's best score.
    """

    x: float
    y: float
    value: float
    is_best: bool


@dataclass(frozen=True)
class Sparkline:
    """A small line chart. points: of the line, from left to right. width, height: of the chart in pixels."""

    points: Sequence[Point]
    width: int = WIDTH
    height: int = HEIGHT

    @property
    def line(self) -> str:
        """The chart's line as the attribute `points` of an SVG polyline."""
        return " ".join(f"{point.x},{point.y}" for point in self.points)


def sparkline(values: Sequence[float], best: int) -> Sparkline | None:
    """Return the chart of a system's scores; None for fewer than two. best: index of the best score."""
    if len(values) < 2:
        return None
    low, high = min(values), max(values)
    step = (WIDTH - 2 * MARGIN) / (len(values) - 1)
    room = HEIGHT - 2 * MARGIN
    return Sparkline(
        [
            Point(
                round(MARGIN + index * step, 1),
                round(MARGIN + room * ((high - value) / (high - low) if high > low else 0.5), 1),
                value,
                index == best,
            )
            for index, value in enumerate(values)
        ]
    )

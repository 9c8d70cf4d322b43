"""Overlaid ROC curves: true positive rate against false positive rate, in a square."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from leaderboard.boards.queries import Row, ShownScore
from leaderboard.boards.queries.plots import Curve

SIZE = 400
"""Side of the square in SVG units."""
MARGIN = 46
"""Room for the ticks, left of the square and below it."""
KEY = 24
"""Height of a legend entry in the downloaded SVG."""
MOST = 8
"""Maximum number of curves: the number of distinct colours and dash patterns."""
READ_AT = (0.1, 0.2, 0.3, 0.5)
"""False positive rates at which the table shows the true positive rate."""


@dataclass(frozen=True)
class Line:
    """One system's curve. number: from 1, selects colour and dash pattern. score: its AUROC on the slice."""

    number: int
    row: Row
    score: ShownScore
    curve: Curve

    @property
    def path(self) -> str:
        """The curve as the points of an SVG polyline: `x,y x,y ...`."""
        return " ".join(f"{x * SIZE:.1f},{(1 - y) * SIZE:.1f}" for x, y in self.curve.points)

    @property
    def key_y(self) -> int:
        """Vertical position of the legend entry in the downloaded SVG."""
        return SIZE + MARGIN + KEY * self.number

    @property
    def read(self) -> list[float]:
        """The true positive rates at READ_AT."""
        return [self.curve.at(across) for across in READ_AT]


@dataclass(frozen=True)
class RocChart:
    lines: Sequence[Line]
    size: int = SIZE
    margin: int = MARGIN

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """(x, label) of the ticks of the horizontal axis."""
        return [(SIZE * tenth / 10, f"{tenth / 10:.1f}") for tenth in range(0, 11, 2)]

    @property
    def rungs(self) -> list[tuple[float, str]]:
        """(y from the top, label) of the ticks of the vertical axis."""
        return [(SIZE - x, label) for x, label in self.ticks]

    @property
    def steps(self) -> int:
        return self.lines[0].curve.steps


def roc_chart(rows: Sequence[tuple[Row, ShownScore, Curve]]) -> RocChart | None:
    """Return the chart of the first MOST curves, in the order of the input; None if there are none."""
    lines = [Line(number, *curve) for number, curve in enumerate(rows[:MOST], start=1)]
    return RocChart(lines) if lines else None

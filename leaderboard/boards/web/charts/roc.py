"""ROC curves over one another: true positive rate against false positive rate, in a square."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from leaderboard.boards.queries import Cell, Row
from leaderboard.boards.queries.plots import Curve

SIZE = 400
"""The square's side in the picture's own units."""
MARGIN = 46
"""Left of it and beneath it, for the ticks."""
KEY = 24
"""What a name takes of the height of the picture as a file."""
MOST = 8
"""As many curves as have a colour and a dash of their own."""
READ_AT = (0.1, 0.2, 0.3, 0.5)
"""False positive rates that the table tells the true positive rate at."""


@dataclass(frozen=True)
class Line:
    """One system's curve. number: from 1, which gives it its colour and dash. cell: its AUROC on the slice."""

    number: int
    row: Row
    cell: Cell
    curve: Curve

    @property
    def path(self) -> str:
        """The points of an SVG polyline."""
        return " ".join(f"{x * SIZE:.1f},{(1 - y) * SIZE:.1f}" for x, y in self.curve.points)

    @property
    def key_y(self) -> int:
        """Where its name stands in the picture as a file."""
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
        """(place from the left, label); from the top it is the side less that."""
        return [(SIZE * tenth / 10, f"{tenth / 10:.1f}") for tenth in range(0, 11, 2)]

    @property
    def rungs(self) -> list[tuple[float, str]]:
        """(place from the top, label)."""
        return [(SIZE - x, label) for x, label in self.ticks]

    @property
    def steps(self) -> int:
        return self.lines[0].curve.steps


def roc_chart(found: Sequence[tuple[Row, Cell, Curve]]) -> RocChart | None:
    """The curves in their order; None where there are none."""
    lines = [Line(number, *one) for number, one in enumerate(found[:MOST], start=1)]
    return RocChart(lines) if lines else None

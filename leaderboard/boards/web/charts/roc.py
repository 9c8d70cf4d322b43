"""ROC curves as rows of the table below their plot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from leaderboard.boards.queries import Row, ShownScore
from leaderboard.boards.queries.plots import Curve

MOST = 8
"""Maximum number of curves: the number of distinct colours and dash patterns."""
READ_AT = (0.1, 0.2, 0.3, 0.5)
"""False positive rates at which the table shows the true positive rate."""


@dataclass(frozen=True)
class Line:
    """One system's curve. score: its AUROC on the slice."""

    row: Row
    score: ShownScore
    curve: Curve

    @property
    def read(self) -> list[float]:
        """The curve's true positive rates at the false positive rates READ_AT."""
        return [self.curve.at(across) for across in READ_AT]


def roc_lines(rows: Sequence[tuple[Row, ShownScore, Curve]]) -> list[Line]:
    return [Line(*curve) for curve in rows]

"""Tables of rank histograms, below the plots of rank agreement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from leaderboard.boards.queries import Row, ShownScore
from leaderboard.boards.queries.plots import Column, Grid


@dataclass(frozen=True)
class Square:
    """One system's rank histogram, as a table."""

    row: Row
    score: ShownScore
    grid: Grid

    @property
    def heads(self) -> list[str]:
        """Headings of the columns: the bins of the metric's ranking that each column covers, such as `1` or `2-4`."""
        return [_parts(column) for column in self.grid.columns]

    @property
    def table(self) -> list[tuple[int, list[int]]]:
        """Rows of the table: (bin of human ratings, 1 for the lowest; counts by column), the highest bin first."""
        parts = range(self.grid.n_bins - 1, -1, -1)
        return [(part + 1, [column.counts[part] for column in self.grid.columns]) for part in parts]


def _parts(column: Column) -> str:
    first, last = column.start + 1, column.end
    return str(first) if first == last else f"{first}\N{EN DASH}{last}"


def squares(rows: Sequence[tuple[Row, ShownScore, Grid]]) -> list[Square]:
    return [Square(*entry) for entry in rows]

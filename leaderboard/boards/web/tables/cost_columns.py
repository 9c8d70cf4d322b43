"""What containers cost, as columns of a board: headings, keys to sort by, and cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from leaderboard.boards.queries import Board, Row
from leaderboard.boards.web.tables.sorting import Key, Sorting

ABOUT = {
    "wall_seconds": ("Seconds", "s", "from the container's start to its end"),
    "cpu_seconds": ("CPU seconds", "s", "of all its processes together"),
    "memory_mb": ("Peak memory, MB", "MB", "with what it wrote to /tmp and /output"),
    "image_mb": ("Image, MB", "MB", "its layers unpacked"),
}
"""Kind (costs.KINDS) -> heading, unit and meaning."""
OF_INPUTS = ("wall_seconds", "cpu_seconds")
"""Kinds that grow with the number of inputs, so that the heading names it."""


@dataclass(frozen=True)
class CostColumn:
    """One kind of cost. n_inputs: None where the number of inputs does not matter."""

    kind: str
    title: str
    unit: str
    about: str
    n_inputs: int | None

    def key(self) -> Key:
        """Sorting by it, the cheapest first."""
        return Key(lambda row: row.spent(self.kind), best_first=False)


def columns(board: Board) -> list[CostColumn]:
    """The kinds that some row of the board tells."""
    return [
        CostColumn(kind, *ABOUT[kind], n_inputs=board.n_inputs if kind in OF_INPUTS else None)
        for kind in board.cost_kinds
    ]


def keys(found: Sequence[CostColumn]) -> dict[str, Key]:
    return {column.kind: column.key() for column in found}


def headed(found: Sequence[CostColumn], sorting: Sorting) -> list[tuple[CostColumn, object]]:
    """Each column with its heading of `sorting`."""
    return [(column, sorting.headings[column.kind]) for column in found]


def cells(row: Row, found: Sequence[CostColumn]) -> list[tuple[float | None, str]]:
    """A row's costs in the order of the columns, and why one is missing."""
    return [(row.spent(column.kind), row.no_cost or "not measured") for column in found]


def reasons(rows: Sequence[Row], found: Sequence[CostColumn]) -> list[str]:
    """Why cells of these rows have no cost, each once."""
    missing = (why for row in rows for value, why in cells(row, found) if value is None)
    return list(dict.fromkeys(missing))

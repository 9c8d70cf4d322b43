"""Container costs as columns of a board: headings, sort keys and cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from leaderboard.boards.queries import Board, Row
from leaderboard.boards.web.tables.sorting import Key

ABOUT = {
    "wall_seconds": ("Seconds", "s", "from the container's start to its end"),
    "cpu_seconds": ("CPU seconds", "s", "of all processes together"),
    "memory_mb": ("Peak memory, MB", "MB", "including files in /tmp and /output"),
    "image_mb": ("Image, MB", "MB", "unpacked layers"),
    "gpu_seconds": ("GPU seconds", "s", "in which its GPUs computed, of all of them together"),
    "gpu_memory_mb": ("Peak GPU memory, MB", "MB", "of all its GPUs together"),
}
"""Kind of cost (a name in costs.KINDS) -> (heading, unit, meaning)."""
OF_INPUTS = ("wall_seconds", "cpu_seconds", "gpu_seconds")
"""Kinds of cost that grow with the number of inputs; their headings state this number."""


@dataclass(frozen=True)
class CostColumn:
    """One kind of cost. n_inputs: number of inputs that the cost covers; None: it does not depend on them."""

    kind: str
    title: str
    unit: str
    about: str
    n_inputs: int | None

    def key(self) -> Key:
        """Return a sort key for this cost, the cheapest first."""
        return Key(lambda row: row.cost_of(self.kind), best_first=False)


def columns(board: Board) -> list[CostColumn]:
    """Return a column for each kind of cost that some row of the board reveals."""
    return [
        CostColumn(kind, *ABOUT[kind], n_inputs=board.n_inputs if kind in OF_INPUTS else None)
        for kind in board.cost_kinds
    ]


def chosen(columns: Sequence[CostColumn], kind: str | None) -> CostColumn:
    """Return the column of a kind of cost; the first one for an unknown kind, or for None. columns: not empty."""
    return next((column for column in columns if column.kind == kind), columns[0])


def keys(columns: Sequence[CostColumn]) -> dict[str, Key]:
    return {column.kind: column.key() for column in columns}


def cost_texts(row: Row, columns: Sequence[CostColumn]) -> list[tuple[float | None, str]]:
    """Return (cost or None, reason to show if the cost is missing) of a row for each column."""
    return [(row.cost_of(column.kind), row.no_cost or "not measured") for column in columns]


def reasons(rows: Sequence[Row], columns: Sequence[CostColumn]) -> list[str]:
    """Return the distinct reasons for missing costs in these rows, in order of first occurrence."""
    missing = (reason for row in rows for value, reason in cost_texts(row, columns) if value is None)
    return list(dict.fromkeys(missing))

"""The read side: the boards of a phase, from standings and releases alone."""

from leaderboard.standings.board import Board, Pair, Ranges, SliceValue, Summary, Version, by_primary, n_groups_of
from leaderboard.standings.reading import board_of, frozen_boards
from leaderboard.standings.rows import NO_CELL, WHOLE, Cell, Key, Row, Slice, in_order, label, shown, slice_of

__all__ = [
    "NO_CELL",
    "WHOLE",
    "Board",
    "Cell",
    "Key",
    "Pair",
    "Ranges",
    "Row",
    "Slice",
    "SliceValue",
    "Summary",
    "Version",
    "board_of",
    "by_primary",
    "frozen_boards",
    "in_order",
    "label",
    "n_groups_of",
    "shown",
    "slice_of",
]

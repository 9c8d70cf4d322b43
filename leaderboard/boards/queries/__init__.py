"""Queries that read the boards of a phase, from standings and releases only: nothing unrevealed can appear."""

from leaderboard.boards.queries.board import Board, Pair, Ranges, SliceValue, Summary, Version, by_primary, n_groups_of
from leaderboard.boards.queries.paging import Page, page_of, read_head
from leaderboard.boards.queries.reading import board_of
from leaderboard.boards.queries.request import MOST_ROWS, PAGE_SIZE, BoardQuery, Column, InvalidQuery, parse
from leaderboard.boards.queries.rows import (
    NO_SCORE,
    Key,
    Row,
    ShownScore,
    in_order,
    label,
)
from leaderboard.boards.queries.slices import WHOLE, Slice, shown, slice_of
from leaderboard.boards.queries.visible_boards import frozen_boards

__all__ = [
    "MOST_ROWS",
    "NO_SCORE",
    "PAGE_SIZE",
    "WHOLE",
    "Board",
    "BoardQuery",
    "Column",
    "InvalidQuery",
    "Key",
    "Page",
    "Pair",
    "Ranges",
    "Row",
    "ShownScore",
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
    "page_of",
    "parse",
    "read_head",
    "shown",
    "slice_of",
]

"""Queries for the boards of a phase, from standings and releases only."""

from leaderboard.boards.queries.board import Board, Pair, Ranges, SliceValue, Summary, Version, by_primary, n_groups_of
from leaderboard.boards.queries.paging import Page, head_asked, page_of
from leaderboard.boards.queries.reading import board_of
from leaderboard.boards.queries.request import MOST_ROWS, PAGE_SIZE, AskedError, Column, Wanted, asked
from leaderboard.boards.queries.rows import NO_CELL, WHOLE, Cell, Key, Row, Slice, in_order, label, shown, slice_of
from leaderboard.boards.queries.visible_boards import frozen_boards

__all__ = [
    "MOST_ROWS",
    "NO_CELL",
    "PAGE_SIZE",
    "WHOLE",
    "AskedError",
    "Board",
    "Cell",
    "Column",
    "Key",
    "Page",
    "Pair",
    "Ranges",
    "Row",
    "Slice",
    "SliceValue",
    "Summary",
    "Version",
    "Wanted",
    "asked",
    "board_of",
    "by_primary",
    "frozen_boards",
    "head_asked",
    "in_order",
    "label",
    "n_groups_of",
    "page_of",
    "shown",
    "slice_of",
]

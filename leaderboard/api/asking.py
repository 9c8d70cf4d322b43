"""Which board, columns and order a request for a board's table asks for."""

from __future__ import annotations

from rest_framework.request import Request

from leaderboard.api import columns, finding, queries
from leaderboard.standings import Board, Key, Row


def asked_for(request: Request, slug: str, phase: str) -> tuple[Board, list[Key], list[Row]]:
    """As a BoardQuery says it; raises ValidationError, and Http404 for what the asker may not see."""
    wanted = queries.read(queries.BoardQuery, request)
    within = columns.needed(slices=wanted["slices"], sort=wanted["sort"])
    board = finding.board_or_404(request.user, slug, phase, version=queries.version(wanted), within=within)
    keys = columns.chosen(board, measures=wanted["measure"], slices=wanted["slices"])
    return board, keys, columns.ordered(board, wanted["sort"])


def stem(board: Board, slug: str, phase: str) -> str:
    """What a file of this board is called, without its ending."""
    of = "gold-{}-task-{}-".format(*board.frozen) if board.frozen else ""
    return f"{slug}-{phase}-{of}leaderboard"

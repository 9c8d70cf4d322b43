"""Which board, rows, columns and order a request for a board's table asks for."""

from __future__ import annotations

from dataclasses import replace

from rest_framework.exceptions import ValidationError
from rest_framework.request import Request

from leaderboard.boards.api import column_choice, query_parameters
from leaderboard.boards.queries import AskedError, Board, Key, Page, asked, lookup, page_of

EVERYTHING = 1_000_000
"""More rows than any board has."""


def asked_for(request: Request, slug: str, phase: str, *, paged: bool = False) -> tuple[Page, list[Key]]:
    """As a BoardQuery says it; raises ValidationError, and Http404 for what the asker may not see.

    paged: a PageOfBoardQuery's page of it; else all rows.
    """
    query = query_parameters.read(query_parameters.BoardPageQuery if paged else query_parameters.BoardQuery, request)
    try:
        board = lookup.head_or_404(request.user, slug, phase, as_of=query["as_of"], **query_parameters.version(query))
        given = request.query_params.dict()
        wanted = asked(board, given if paged else {**given, "page": "", "page_size": ""})
    except AskedError as error:
        raise ValidationError({error.parameter: error.text}) from error
    column_choice.check(board, measures=query["measure"], slices=query["slices"])
    within = None if column_choice.ALL in query["slices"] else tuple(query["slices"])
    page = page_of(board, wanted if paged else replace(wanted, size=EVERYTHING), within=within, reader=request.user)
    keys = column_choice.chosen(page.board, measures=query["measure"], slices=query["slices"], base=wanted.slice_)
    return page, keys


def stem(board: Board, slug: str, phase: str) -> str:
    """What a file of this board is called, without its ending."""
    of = "gold-{}-task-{}-".format(*board.frozen) if board.frozen else ""
    day = f"{board.as_of.isoformat()}-" if board.as_of else ""
    return f"{slug}-{phase}-{of}{day}leaderboard"

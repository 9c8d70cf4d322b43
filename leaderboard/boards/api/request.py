"""The board, rows, score columns and order that a request for a board's table selects."""

from __future__ import annotations

from dataclasses import replace

from rest_framework.exceptions import ValidationError
from rest_framework.request import Request

from leaderboard.boards.api import column_choice, query_parameters
from leaderboard.boards.queries import Board, InvalidQuery, Key, Page, lookup, page_of, parse

EVERYTHING = 1_000_000
"""Page size larger than any board."""


def requested_page(request: Request, slug: str, phase: str, *, paged: bool = False) -> tuple[Page, list[Key]]:
    """Return (the rows of a board that a request selects, the score columns to show).

    paged: True: the rows of the page that the parameters `page` and `page_size` select; False: all rows.
    Raises ValidationError for an invalid query parameter, and Http404 if the user may not see the phase.
    """
    query = query_parameters.read(query_parameters.BoardPageQuery if paged else query_parameters.BoardQuery, request)
    try:
        board = lookup.head_or_404(request.user, slug, phase, as_of=query["as_of"], **query_parameters.version(query))
        params = request.query_params.dict()
        board_query = parse(board, params if paged else {**params, "page": "", "page_size": ""})
    except InvalidQuery as error:
        raise ValidationError({error.parameter: error.text}) from error
    column_choice.check(board, measures=query["measure"], slices=query["slices"])
    within = None if column_choice.ALL in query["slices"] else tuple(query["slices"])
    page = page_of(
        board, board_query if paged else replace(board_query, size=EVERYTHING), within=within, viewer=request.user
    )
    keys = column_choice.chosen(page.board, measures=query["measure"], slices=query["slices"], base=board_query.slice_)
    return page, keys


def stem(board: Board, slug: str, phase: str) -> str:
    """Return the filename of an export of this board, without extension."""
    version = "gold-{}-task-{}-".format(*board.frozen) if board.frozen else ""
    day = f"{board.as_of.isoformat()}-" if board.as_of else ""
    return f"{slug}-{phase}-{version}{day}leaderboard"

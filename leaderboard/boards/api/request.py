"""The board, rows, score columns and order that a request for a board's table selects."""

from __future__ import annotations

from dataclasses import replace

from django.http import HttpResponse
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request

from leaderboard.boards.api import column_choice, query_parameters
from leaderboard.boards.queries import MOST_ROWS, Board, InvalidQuery, Key, Page, lookup, page_of, parse
from leaderboard.core.api import addresses


def requested_page(request: Request, slug: str, phase: str, *, paged: bool = False) -> tuple[Page, list[Key]]:
    """Return (the rows of a board that a request selects, the score columns to show).

    paged: True: the rows of the page that the parameters `page` and `page_size` select; False: the rows of a file, of
    which a board with more than MOST_ROWS rows has several: the parameter `page` selects one.
    Raises ValidationError for an invalid query parameter, and Http404 if the user may not see the phase.
    """
    query = query_parameters.read(
        query_parameters.BoardPageQuery if paged else query_parameters.BoardFileQuery, request
    )
    try:
        board = lookup.head_or_404(request.user, slug, phase, as_of=query["as_of"], **query_parameters.version(query))
        params = request.query_params.dict()
        board_query = parse(board, params if paged else {**params, "page_size": ""})
    except InvalidQuery as error:
        raise ValidationError({error.parameter: error.text}) from error
    column_choice.check(board, measures=query["measure"], slices=query["slices"])
    within = None if column_choice.ALL in query["slices"] else tuple(query["slices"])
    page = page_of(
        board, board_query if paged else replace(board_query, size=MOST_ROWS), within=within, viewer=request.user
    )
    keys = column_choice.chosen(page.board, measures=query["measure"], slices=query["slices"], base=board_query.slice_)
    return page, keys


def file_response(request: Request, page: Page, content: str, *, media: str, name: str) -> HttpResponse:
    """Return a response that browsers save as a file and never display, as it contains text written by users.

    page: the rows in the file; the header Link names the files with the rows before and after them, if there are any.
    media: content type without charset. name: of the file.
    """
    links = [
        f'<{page_url(request, number)}>; rel="{relation}"'
        for relation, number in (("prev", page.before), ("next", page.after))
        if number is not None
    ]
    headers = {"Content-Disposition": f'attachment; filename="{name}"', **({"Link": ", ".join(links)} if links else {})}
    return HttpResponse(content, content_type=f"{media}; charset=utf-8", headers=headers)


def page_url(request: Request, page: int | None) -> str | None:
    """Return the request's URL with another page number; None if `page` is None."""
    if page is None:
        return None
    query = request.query_params.copy()
    query["page"] = str(page)
    return f"{addresses.site(request)}{request.path}?{query.urlencode()}"


def file_stem(page: Page, slug: str, phase: str) -> str:
    """Return the filename of an export of these rows, without extension; it says which rows, unless they are all."""
    whole = stem(page.board, slug, phase)
    if page.last == 1:
        return whole
    first = (page.query.page - 1) * page.query.size + 1
    return f"{whole}-rows-{first}-to-{min(page.n, first + page.query.size - 1)}-of-{page.n}"


def stem(board: Board, slug: str, phase: str) -> str:
    """Return the filename of an export of this board, without extension."""
    version = "gold-{}-task-{}-".format(*board.frozen) if board.frozen else ""
    day = f"{board.as_of.isoformat()}-" if board.as_of else ""
    return f"{slug}-{phase}-{version}{day}leaderboard"

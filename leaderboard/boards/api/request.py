"""The board, rows, score columns and order that a request for a board's table selects."""

from __future__ import annotations

from dataclasses import replace

from django.http import HttpResponse
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request

from leaderboard.boards.api import query_parameters
from leaderboard.boards.queries import MOST_ROWS, WHOLE, Board, InvalidQuery, Key, Page, Slice, lookup, page_of, parse
from leaderboard.core.api import addresses

_ALL = "all"


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
    _check_columns(board, measures=query["measure"], slices=query["slices"])
    within = None if _ALL in query["slices"] else tuple(query["slices"])
    page = page_of(
        board, board_query if paged else replace(board_query, size=MOST_ROWS), within=within, viewer=request.user
    )
    keys = _columns(page.board, measures=query["measure"], slices=query["slices"], base=board_query.slice_)
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


def _check_columns(board: Board, *, measures: list[str], slices: list[str]) -> None:
    """Raise ValidationError if a name in `measures` is not a measure of the board, or one in `slices` not a dimension.

    `all` in `slices` stands for every dimension, and is accepted.
    """
    _check_names("measure", "measure", measures, [measure.name for measure in board.measures])
    _check_names("slices", "dimension", slices, [_ALL, *board.dimensions])


def _columns(board: Board, *, measures: list[str], slices: list[str], base: Slice = WHOLE) -> list[Key]:
    """Return the score columns that a request selects, as (measure, slice) keys.

    measures: names of the measures to include; empty: all. Within a slice, the primary measure comes first.
    slices: names of dimensions; `all`: every dimension. The columns on the slice `base` come first, then those columns
    on the slices of these dimensions in which some row has a score.
    """
    names = [measure.name for measure in board.measures if not measures or measure.name in measures]
    dimensions = set(board.dimensions) if _ALL in slices else set(slices)
    revealed = {key for row in board.rows for key in row.scores}
    selected = [base, *(slice_ for slice_ in _slices(board, dimensions) if slice_ != base)]
    return [(name, slice_) for slice_ in selected for name in names if slice_ == base or (name, slice_) in revealed]


def _check_names(parameter: str, noun: str, requested: list[str], known: list[str]) -> None:
    for name in requested:
        if name not in known:
            expected = f"expected one of: {', '.join(known)}"
            raise ValidationError({parameter: f'"{name}" is not a {noun} of this board, {expected}.'})


def _slices(board: Board, dimensions: set[str]) -> list[Slice]:
    """Return all one-way slices by these dimensions, and the two-way slices by them on which some row has a score.

    One-way slices come first, in the order of the board's dimensions and values.
    """
    one_way = [
        ((name, str(value)),) for name in board.dimensions if name in dimensions for value in board.dimensions[name]
    ]
    shown = {slice_ for row in board.rows for _, slice_ in row.scores}
    crossed = [s for s in shown if len(s) > 1 and dimensions.issuperset(name for name, _ in s)]
    positions = {slice_[0]: i for i, slice_ in enumerate(one_way)}
    # Slices with a value that the current gold no longer has come last.
    crossed.sort(key=lambda slice_: ([positions.get(part, len(positions)) for part in slice_], slice_))
    return [*one_way, *crossed]

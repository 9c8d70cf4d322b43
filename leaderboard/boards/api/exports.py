"""Board exports: LaTeX and Markdown tables, a BibTeX entry, and the canonical JSON behind a citation's digest."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.utils.decorators import method_decorator
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import APIException, NotAuthenticated
from rest_framework.request import Request

from leaderboard.boards.api import latex, markdown, query_parameters, text_table
from leaderboard.boards.api.request import file_response, file_stem, requested_page, stem
from leaderboard.boards.queries import MOST_ROWS, Board, citation, lookup
from leaderboard.boards.web.etag import with_etag
from leaderboard.core.api.base import View
from leaderboard.core.api.serializers import errors

CONDITIONAL = method_decorator(with_etag, name="dispatch")
TEXT = OpenApiTypes.STR


class NothingToCite(APIException):
    status_code = 409
    default_code = "not_ready"
    default_detail = "This board has no published results yet, so there is nothing to cite."


def _described(operation: str, media: str, query: Any, *statuses: int, content: Any = TEXT) -> Any:
    return extend_schema(
        operation_id=operation,
        responses={(200, media): content, 304: None, **errors(*statuses)},
        parameters=[query],
    )


def _file(text: str | bytes, media: str, name: str) -> HttpResponse:
    """Return a response that browsers save as the file `name` and never display, as it contains text written by users.

    media: content type without charset.
    """
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(text, content_type=f"{media}; charset=utf-8", headers=headers)


@CONDITIONAL
class LatexView(View):
    @_described("leaderboard_latex", "application/x-tex", query_parameters.BoardFileQuery)
    def get(self, request: Request, slug: str, phase: str) -> HttpResponse:
        """Export the board as a LaTeX table. Scores have three decimals and their confidence interval.

        The table needs the package booktabs.
        """
        page, keys = requested_page(request, slug, phase)
        name = file_stem(page, slug, phase)
        # The label within the table does not change with the number of files.
        text = latex.written(text_table.build(page.board, page.board.rows, keys), stem(page.board, slug, phase))
        return file_response(request, page, text, media="application/x-tex", name=f"{name}.tex")


@CONDITIONAL
class MarkdownView(View):
    @_described("leaderboard_markdown", "text/markdown", query_parameters.BoardFileQuery)
    def get(self, request: Request, slug: str, phase: str) -> HttpResponse:
        """Export the board as a Markdown table. Scores have three decimals and their confidence interval."""
        page, keys = requested_page(request, slug, phase)
        text = markdown.written(text_table.build(page.board, page.board.rows, keys))
        name = f"{file_stem(page, slug, phase)}.md"
        return file_response(request, page, text, media="text/markdown", name=name)


@CONDITIONAL
class BibtexView(View):
    @_described("leaderboard_bibtex", "application/x-bibtex", query_parameters.VersionQuery, 409)
    def get(self, request: Request, slug: str, phase: str) -> HttpResponse:
        """Export a BibTeX entry for the board. It has the permanent URL, gold and task version, date and SHA-256."""
        board = _whole(request, slug, phase)
        cited = citation.citation(board)
        if cited is None:
            raise NothingToCite
        return _file(cited.bibtex, "application/x-bibtex", f"{stem(board, slug, phase)}.bib")


@CONDITIONAL
class CanonicalView(View):
    @_described("leaderboard_canonical", "application/json", query_parameters.VersionQuery, content=OpenApiTypes.OBJECT)
    def get(self, request: Request, slug: str, phase: str) -> HttpResponse:
        """Export the board as canonical JSON. Keys are sorted and there is no white space.

        A citation states the SHA-256 of these bytes. They hold every revealed score, but no rank ranges or costs. Of a
        board with more than 500 systems, they are for requests with a token.
        """
        board = _whole(request, slug, phase)
        if board.is_cut:
            raise NotAuthenticated(
                f"This board has {board.summary.n_rows:,} systems. The canonical JSON of a board with more than "
                f"{MOST_ROWS:,} systems is made for requests with a token."
            )
        return _file(citation.canonical(board), "application/json", f"{stem(board, slug, phase)}.json")


def _whole(request: Request, slug: str, phase: str) -> Board:
    version = query_parameters.version(query_parameters.read(query_parameters.VersionQuery, request))
    return lookup.cited_board_or_404(request.user, slug, phase, **version)

"""A badge for a system's own page or README: its place on a board, as a picture."""

from __future__ import annotations

from csp.constants import NONE
from django.http import Http404, HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.views.decorators.cache import cache_control
from django.views.decorators.http import conditional_page, require_safe

from leaderboard.standings import Board, Row, by_primary
from leaderboard.web.charts import badge as drawing
from leaderboard.web.public.anybody import SECONDS, policy, public_board_or_404


@require_safe
@conditional_page
@cache_control(public=True, max_age=SECONDS)
@policy(default_src=[NONE], img_src=[NONE], form_action=[NONE])
def badge(request: HttpRequest, slug: str, phase: str, **version: int) -> HttpResponse:
    """`?system=` its name, `?team=` where two teams have one of that name; `?measure=` another than ranks."""
    board = public_board_or_404(slug, phase, within=(), **version)
    measure = request.GET.get("measure", board.primary)
    if board.measure(measure) is None:
        raise Http404("no such measure")
    row = _row(board, request.GET.get("system", ""), request.GET.get("team"))
    svg = render_to_string("public/badge.svg", {"badge": drawing.badge(board, row, measure)})
    return HttpResponse(svg, content_type="image/svg+xml; charset=utf-8")


def _row(board: Board, system: str, team: str | None) -> Row:
    """By its names as the board shows them."""
    for row in by_primary(board):
        if row.system == system and team in (None, row.team):
            return row
    raise Http404("no such system on this board")

"""SVG badge with a system's rank on a board, for its own page or README."""

from __future__ import annotations

from typing import Any

from csp.constants import NONE
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotFound
from django.template.loader import render_to_string
from django.views.decorators.cache import cache_control
from django.views.decorators.http import conditional_page, require_safe

from leaderboard.boards.queries import Board, Row, by_primary
from leaderboard.boards.queries.lookup import board_or_404
from leaderboard.boards.queries.selection import systems_shown_as
from leaderboard.boards.web.charts import badge as chart
from leaderboard.core.web.public_responses import SECONDS, replace_csp


@require_safe
@conditional_page
@cache_control(public=True, max_age=SECONDS)
@replace_csp(default_src=[NONE], img_src=[NONE], form_action=[NONE])
def badge(request: HttpRequest, slug: str, phase: str, **version: Any) -> HttpResponse:
    """Render the badge of the system that `?system=` names.

    `?team=`: its team, needed if several teams have a system of that name. `?measure=`: default: the primary measure.
    """
    name, team = request.GET.get("system", ""), request.GET.get("team")
    board = board_or_404(None, slug, phase, systems=systems_shown_as(name), most=0, **version)
    measure = board.measure(request.GET.get("measure", board.primary))
    if measure is None:
        raise Http404
    rows = _rows(board, name, team)
    if len(rows) > 1:
        text = "Several systems on this board have this name: add team= to choose one.\n"
        return HttpResponseNotFound(text, content_type="text/plain; charset=utf-8")
    (row,) = rows
    svg = render_to_string("boards/badge.svg", {"badge": chart.badge(board, row, measure)})
    return HttpResponse(svg, content_type="image/svg+xml; charset=utf-8")


def _rows(board: Board, system: str, team: str | None) -> list[Row]:
    """Return the rows of the systems that the board shows under the name `system`.

    team: the name of the systems' team; None: any team. Raises Http404 if the board has no such row.
    """
    rows = [row for row in by_primary(board) if row.system == system and team in (None, row.team)]
    if not rows:
        raise Http404
    return rows

"""A board's table for an iframe on another site. It may be framed, so it has no forms or scripts."""

from __future__ import annotations

from typing import Any

from csp.constants import NONE
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.views.decorators.cache import cache_control
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.http import conditional_page, require_safe

from leaderboard.boards.queries import by_primary
from leaderboard.boards.queries.lookup import board_or_404
from leaderboard.core.web.public_responses import SECONDS, replace_csp

MOST = 100


@require_safe
@conditional_page
@cache_control(public=True, max_age=SECONDS)
@xframe_options_exempt
@replace_csp(frame_ancestors=["*"], form_action=[NONE], script_src=[NONE])
def embed(request: HttpRequest, slug: str, phase: str, **version: Any) -> HttpResponse:
    """Render the table of the best systems as the public sees it, the same for everybody, without cookies.

    `?measure=`: comma-separated names of measures; default: the primary one. `?rows=`: number of systems; default and
    maximum: 100.
    """
    board = board_or_404(None, slug, phase, within=(), most=_count(request.GET.get("rows", "")), **version)
    requested = request.GET.get("measure", "").split(",")
    measures = [measure for measure in board.measures if measure.name in requested] or board.measures[:1]
    shown = by_primary(board)
    context = {
        "board": board,
        "phase": board.phase,
        "benchmark": board.phase.benchmark,
        "measures": [(measure, board.n(measure.name)) for measure in measures],
        "rows": [(row, [row.score(measure.name) for measure in measures]) for row in shown],
        "left_out": board.summary.n_rows - len(shown),
        "site": settings.BASE_URL,
    }
    return HttpResponse(render_to_string("boards/embed.html", context))


def _count(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and 0 < len(text) < 4 and 0 < int(text) < MOST else MOST

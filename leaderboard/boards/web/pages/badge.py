"""SVG badge with a system's rank on a board, for its own page or README: two halves with a text each.

Text widths are estimated, so that the layout depends on no font.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import Any

from csp.constants import NONE
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotFound
from django.template.loader import render_to_string
from django.views.decorators.cache import cache_control
from django.views.decorators.http import conditional_page, require_safe

from evaluator.measures.base import Measure
from leaderboard.boards.queries import Board, Row, by_primary
from leaderboard.boards.queries.lookup import board_or_404
from leaderboard.boards.queries.selection import systems_shown_as
from leaderboard.boards.web.tables.number_format import shown_value
from leaderboard.core.text.plain_text import one_line, shortened
from leaderboard.core.web.public_responses import SECONDS, replace_csp

SIZE, HEIGHT, MARGIN = 11.0, 20, 7
"""Font size, height of the badge, and horizontal padding of a text, in pixels."""
CORNER = 3
LONGEST = 40
_NARROW, _BROAD = set("iljtfrI.,:;|'!()[] -"), set("mwMW@%")


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
    svg = render_to_string("boards/badge.svg", {"badge": badge_of(board, row, measure)})
    return HttpResponse(svg, content_type="image/svg+xml; charset=utf-8")


def _rows(board: Board, system: str, team: str | None) -> list[Row]:
    """Return the rows of the systems that the board shows under the name `system`.

    team: the name of the systems' team; None: any team. Raises Http404 if the board has no such row.
    """
    rows = [row for row in by_primary(board) if row.system == system and team in (None, row.team)]
    if not rows:
        raise Http404
    return rows


@dataclass(frozen=True)
class Plate:
    """One half of a badge, with a text. x: left edge; length: width to which the text is fitted; both in pixels."""

    text: str
    x: int
    length: int

    @property
    def width(self) -> int:
        return self.length + 2 * MARGIN

    @property
    def flat(self) -> int:
        """Width of this half of the badge without its rounded corner, in pixels."""
        return self.width - CORNER

    @property
    def text_x(self) -> int:
        return self.x + MARGIN


@dataclass(frozen=True)
class Badge:
    """A badge. title: its full text, for screen readers. left: half with the benchmark. right: with rank and value."""

    title: str
    left: Plate
    right: Plate
    height: int = HEIGHT

    @property
    def width(self) -> int:
        return self.left.width + self.right.width


def badge_of(board: Board, row: Row, measure: Measure) -> Badge:
    """Return the badge with a system's rank among competing systems, and its overall value on a measure."""
    benchmark, score = one_line(board.phase.benchmark.title), row.score(measure.name)
    status = [] if row.rank is None else [f"rank {row.rank}{'=' if row.tied else ''} of {board.summary.n_ranked}"]
    status = ["disqualified"] if row.disqualified else status
    facts = [*status, f"{one_line(measure.title)} {'none' if score.value is None else shown_value(score)}"]
    where = f"{benchmark}, {one_line(board.phase.title)}"
    left = _plate(shortened(benchmark, LONGEST), 0)
    return Badge(f"{one_line(row.system)} on {where}: {', '.join(facts)}", left, _plate(" · ".join(facts), left.width))


def _plate(text: str, x: int) -> Plate:
    return Plate(text, x, round(sum(map(_width, text))))


def _width(char: str) -> float:
    if unicodedata.combining(char):
        return 0.0
    if unicodedata.east_asian_width(char) in ("W", "F"):
        return SIZE
    share = 0.36 if char in _NARROW else 0.92 if char in _BROAD else 0.68 if char.isupper() else 0.58
    return SIZE * share

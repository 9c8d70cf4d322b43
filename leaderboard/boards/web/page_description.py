"""Titles, descriptions and pictures of boards and benchmarks for search engines and link previews."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings
from django.urls import reverse

from leaderboard.boards.queries import Board
from leaderboard.boards.web.tables.number_format import shown_value
from leaderboard.core.text.plain_text import one_line
from leaderboard.models import Benchmark

LEADERS = 3


@dataclass(frozen=True)
class PageDescription:
    """Title, description and picture of one page. image: URL of the picture; empty: none."""

    title: str
    description: str
    image: str = ""
    image_alt: str = "Scores of the best systems with their intervals"


def describe(board: Board) -> PageDescription | None:
    """Return the description of a board: its leaders, such as "1. Pair features 0.708", if it has overall scores.

    None unless everybody may read the page. Systems that are still anonymous are left out, also where this viewer sees
    their names: a preview is passed on to others.
    """
    phase, benchmark = board.phase, board.phase.benchmark
    if benchmark.state != Benchmark.State.PUBLIC:
        return None
    ranked = sorted((row for row in board.rows if row.rank is not None), key=lambda row: (row.rank, row.received_at))
    leaders = [
        f"{row.rank}. {one_line(row.system)} {shown_value(score)}"
        for row in ranked[:LEADERS]
        if row.rank is not None and row.rank <= LEADERS and row.anonymous_until is None
        # On a slice, only scores on the slice are read.
        if (score := row.score(board.primary)).value is not None
    ]
    title = f"{one_line(benchmark.title)}, {one_line(phase.title)}: leaderboard"
    measure = board.measure(board.primary)
    by = f"{measure.title}: {'; '.join(leaders)}. " if measure and leaders else ""
    n = board.summary.n_rows
    systems = f"{by}{n} system{'' if n == 1 else 's'}. {one_line(benchmark.summary)}"
    return PageDescription(title, systems, _picture(board))


def describe_benchmark(benchmark: Benchmark, board: Board | None) -> PageDescription | None:
    """Return the description of a benchmark's page; None unless everybody may read it. board: of its main phase.

    The picture is the organisers', if there is one.
    """
    if benchmark.state != Benchmark.State.PUBLIC:
        return None
    if teaser := getattr(benchmark, "teaser", None):
        address = f"{settings.BASE_URL}{teaser.get_absolute_url()}"
        summary = one_line(benchmark.summary)
        return PageDescription(one_line(benchmark.title), summary, address, one_line(teaser.alternative_text))
    image = _picture(board) if board else ""
    return PageDescription(one_line(benchmark.title), one_line(benchmark.summary), image)


def _picture(board: Board) -> str:
    """Return the URL of the picture (interval plot) of a public benchmark's board; empty if none will be rendered.

    The picture shows the board as it is now, and what everybody sees. No picture of a past day is rendered.
    """
    has_plot = any(row.score(board.primary).value is not None for row in board.rows)
    if not (settings.PLOT_PICTURES and has_plot) or board.as_of is not None:
        return ""
    name, version = ("frozen_plot_png", board.frozen) if board.frozen else ("plot_png", ())
    path = reverse(name, args=[board.phase.benchmark.slug, board.phase.slug, *version, "intervals"])
    return f"{settings.BASE_URL}{path}"

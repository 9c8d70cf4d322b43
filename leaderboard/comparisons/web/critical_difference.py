"""Page of a board's significant differences: critical-difference diagram, and each pair's numbers as CSV."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe

from evaluator.tasks.registry import TASKS
from leaderboard.boards.queries import Board, Row, by_primary
from leaderboard.boards.queries.lookup import board_or_404
from leaderboard.boards.web import csv_download
from leaderboard.boards.web.board_links import other_boards
from leaderboard.boards.web.etag import with_etag
from leaderboard.comparisons.queries.pairs import RankedPair, RankedPairs, indistinguishable_groups, ranked_pairs

HEADS = ("a", "b", "difference", "low", "high", "p", "p_holm", "significant")
MOST_SYSTEMS = 60
"""Maximum number of systems in the diagram and the table, which show the best ones."""

_LINK = '<a href="{}?a={}&amp;b={}" rel="nofollow" aria-label="{} and {} head to head"><bdi>{}</bdi></a>'


@require_safe
@with_etag
def significance(request: HttpRequest, slug: str, phase: str, **version: Any) -> HttpResponse:
    """Render the page, which is empty until rank ranges are ready. `?download=csv`: all pairs."""
    board = board_or_404(request.user, slug, phase, within=(), **version)
    pairs = ranked_pairs(board)
    if request.GET.get("download") == "csv":
        return csv_download.as_csv(board, "pairs", HEADS, map(_line, pairs))
    ranked, differ = differences_of(board, pairs)
    valued = [row for row in ranked if row.score(board.primary).value is not None]
    rows = [
        (row, row.score(board.primary), _links(board, row, [peer for peer in ranked if not differ(row, peer)]))
        for row in ranked
    ]
    context = {
        "has_plot": len(valued) > 1,
        "has_bars": bool(indistinguishable_groups(valued, differ)),
        "board": board,
        "phase": board.phase,
        "benchmark": board.phase.benchmark,
        "task": TASKS[board.phase.benchmark.task],
        "boards": other_boards(board),
        "rows": rows,
        "has_peers": any(peers for _, _, peers in rows),
        "n_pairs": len(pairs),
    }
    return render(request, "comparisons/critical_difference.html", context)


def differences_of(board: Board, pairs: RankedPairs | tuple[()]) -> tuple[Sequence[Row], Callable[[Row, Row], bool]]:
    """Return the MOST_SYSTEMS best ranked systems, best first, and a function that says if two differ significantly.

    pairs: the comparisons of ranked systems; empty if the board has none: then no system is returned.
    """
    ranked = [row for row in by_primary(board) if row.rank is not None][:MOST_SYSTEMS] if pairs else []
    shown = pairs.among(ranked) if isinstance(pairs, RankedPairs) else ()
    different = {frozenset((pair.a.system_id, pair.b.system_id)) for pair in shown if pair.significant}
    return ranked, lambda one, other: frozenset((one.system_id, other.system_id)) in different


def _links(board: Board, row: Row, peers: Sequence[Row]) -> SafeString:
    """Return HTML: links to the head-to-head pages of `row` and each of its peers. A template would be slow.

    peers: the systems that do not differ significantly from `row`, which may be among them.
    """
    prefix, version = ("frozen_", board.frozen) if board.frozen else ("", ())
    url = reverse(f"{prefix}head_to_head", args=[board.phase.benchmark.slug, board.phase.slug, *version])
    others = (
        (url, row.system_id, peer.system_id, row.system, peer.system, peer.system) for peer in peers if peer is not row
    )
    return format_html_join(", ", _LINK, others)


def _line(pair: RankedPair) -> Sequence[object]:
    numbers = (pair.difference, pair.low, pair.high, pair.p, pair.p_holm)
    return (pair.a.system, pair.b.system, *numbers, "yes" if pair.significant else "no")

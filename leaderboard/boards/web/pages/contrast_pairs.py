"""Page of a symmetric set's contrast pairs: how often a system has both claims right, only one of them, or neither."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import conditional_page, require_safe

from evaluator.tasks.registry import TASKS
from leaderboard.boards.queries import Board, Row, by_primary
from leaderboard.boards.queries.lookup import board_or_404
from leaderboard.boards.queries.plots import Pairs, plots_of, shows_plots
from leaderboard.boards.web import csv_download
from leaderboard.boards.web.board_links import other_boards
from leaderboard.boards.web.plot_links import as_json, is_symmetric
from leaderboard.boards.web.tables.sorting import Key, Sorting, by_name

KINDS = (
    ("both", "both right", "the original and the generated claim"),
    ("drop", "drop", "only the original right"),
    ("flip", "flip", "only the generated claim right"),
    ("neither", "both wrong", "neither"),
)
"""Outcomes of a contrast pair: (name, title, meaning) of each, in the order of the bar."""
CLAIM_ONLY_BOUND = 1 / 3
"""Largest share of pairs in which a system that reads only the claim has both right. Members 1 (the original) and 2 of
a group share a claim and differ in their label, and so do 3 and 4 (Schuster et al. 2019). If 1 is right, 2 is wrong,
and so is one of 3 and 4: in at most one of the three pairs of member 1 with another, both are right."""
HEADS = ("system", "team", "pairs", *(kind for kind, _, _ in KINDS))
MOST = 60
"""Maximum number of bars in the plot."""


@require_safe
@conditional_page
def pairs(request: HttpRequest, slug: str, phase: str, **version: Any) -> HttpResponse:
    """Render plot and table of the pair counts; raise Http404 if the gold is not a symmetric set.

    `?sort=`: `both`, `drop`, `flip`, `neither` or `system`. `?download=csv`: return the table.
    """
    board = board_or_404(request.user, slug, phase, within=(), **version)
    if not is_symmetric(board):
        raise Http404("the gold of this board is not a symmetric set")
    by_system = pairs_by_system(board)
    keys = {kind: Key(_share(by_system, kind), best_first=kind == "both") for kind, _, _ in KINDS}
    keys["system"] = Key(by_name, best_first=False)
    sorting = Sorting.from_request(request, keys, "both")
    rows = [(row, by_system[row.system_id]) for row in sorting.apply(board.rows) if row.system_id in by_system]
    if request.GET.get("download") == "csv":
        return csv_download.as_csv(board, "pairs-right", HEADS, [_line(row, counts) for row, counts in rows])
    context = {
        "board": board,
        "phase": board.phase,
        "benchmark": board.phase.benchmark,
        "task": TASKS[board.phase.benchmark.task],
        "boards": other_boards(board),
        "shows_plots": shows_plots(board),
        "json": as_json(board),
        "columns": [(title, meaning, sorting.headings[kind]) for kind, title, meaning in KINDS],
        "headings": sorting.headings,
        "rows": [
            (row, [(getattr(counts, kind), getattr(counts, kind) / counts.n) for kind, _, _ in KINDS], counts.n)
            for row, counts in rows
        ],
        "before": [row for row in by_primary(board) if row.system_id not in by_system],
        "n_more": max(0, len(rows) - MOST),
        "most": MOST,
        "are_whole": are_whole(board, by_system),
    }
    return render(request, "boards/contrast_pairs.html", context)


def are_whole(board: Board, by_system: dict[int, Pairs]) -> bool:
    """Return True if every group of the gold has all of its four members: only then does CLAIM_ONLY_BOUND hold.

    by_system: pair counts by system id.
    """
    return all(counts.n == 3 * (board.n_groups or 0) for counts in by_system.values())


def pairs_by_system(board: Board) -> dict[int, Pairs]:
    """Return the pair counts of each system with at least one pair, by system id."""
    plot_data = plots_of(board, board.rows)
    counted = {row.system_id: plot_data[row.run_id].pairs for row in board.rows if row.run_id in plot_data}
    return {system: pairs for system, pairs in counted.items() if pairs is not None and pairs.n}


def _share(by_system: dict[int, Pairs], kind: str) -> Callable[[Row], float | None]:
    def share(row: Row) -> float | None:
        counts = by_system.get(row.system_id)
        return None if counts is None else getattr(counts, kind) / counts.n

    return share


def _line(row: Row, counts: Pairs) -> Sequence[object]:
    return (row.system, row.team, counts.n, *(getattr(counts, kind) for kind, _, _ in KINDS))

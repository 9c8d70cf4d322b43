"""Page of a symmetric set's board: how much accuracy systems lose where the claim alone does not reveal the label."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import conditional_page, require_safe

from evaluator.tasks.registry import TASKS
from leaderboard.boards.queries import WHOLE, Board, Slice
from leaderboard.boards.queries.lookup import board_or_404
from leaderboard.boards.web.board_links import other_boards
from leaderboard.boards.web.plot_links import is_symmetric
from leaderboard.boards.web.tables.sorting import Key, Sorting, by_name

CLAIM_ONLY_ACCURACY = 0.5
"""Accuracy of a claim-only model on a symmetric set, where each claim occurs once with each label."""
ORIGINAL = (("origin", "original"),)
GENERATED = (("origin", "generated"),)
COLUMNS: dict[str, tuple[str, str, Slice]] = {
    "generated": ("Accuracy, generated", "accuracy", GENERATED),
    "accuracy": ("Accuracy, all", "accuracy", WHOLE),
    "original": ("Accuracy, original", "accuracy", ORIGINAL),
    "gap": ("Gap", "symmetric_gap", WHOLE),
    "group": ("Group accuracy", "group_accuracy", WHOLE),
    "claim": ("Claim consistency", "claim_consistency", WHOLE),
}
"""Sort key -> heading, measure and slice."""


@require_safe
@conditional_page
def symmetric_board(request: HttpRequest, slug: str, phase: str, **version: Any) -> HttpResponse:
    """Render the board; raise Http404 if the gold is not a symmetric set. `?sort=`: a key of COLUMNS, or `system`."""
    board = board_or_404(request.user, slug, phase, within=["origin"], **version)
    if not is_symmetric(board):
        raise Http404("the gold of this board is not a symmetric set")
    keys = {key: _key(board, measure, slice_) for key, (_, measure, slice_) in COLUMNS.items()}
    keys["system"] = Key(by_name, best_first=False)
    sorting = Sorting.from_request(request, keys, "generated")
    rows = sorting.apply(board.rows)
    sources = [(measure, slice_) for _, measure, slice_ in COLUMNS.values()]
    context = {
        "board": board,
        "phase": board.phase,
        "benchmark": board.phase.benchmark,
        "task": TASKS[board.phase.benchmark.task],
        "columns": [
            (title, measure, board.n(measure, slice_), sorting.headings[key])
            for key, (title, measure, slice_) in COLUMNS.items()
        ],
        "headings": sorting.headings,
        "rows": [(row, [row.score(*source) for source in sources]) for row in rows],
        "has_plot": any(
            row.score("accuracy", ORIGINAL).value is not None and row.score("accuracy", GENERATED).value is not None
            for row in rows
        ),
        "floor": CLAIM_ONLY_ACCURACY,
        "boards": other_boards(board),
    }
    return render(request, "boards/symmetric.html", context)


def _key(board: Board, measure: str, slice_: Slice) -> Key:
    declared = board.measure(measure)
    best_first = declared is None or declared.higher_is_better is not False
    return Key(lambda row: row.score(measure, slice_).value, best_first)

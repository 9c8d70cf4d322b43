"""Which pictures beside scores a board has, and where they are."""

from __future__ import annotations

from urllib.parse import urlencode

from django.urls import reverse

from evaluator.measures.auroc import Auroc
from evaluator.measures.base import Measure
from evaluator.measures.correlation import Spearman
from leaderboard.boards.queries import Board
from leaderboard.boards.queries.plots import tells_drawings


def separating(board: Board) -> Measure | None:
    """The measure that a ROC curve goes with, where the board has it."""
    return next((measure for measure in board.measures if isinstance(measure, Auroc)), None)


def correlating(board: Board) -> Measure | None:
    """The measure of ranks that pictures of metrics against people go with, where the board has it."""
    return next((measure for measure in board.measures if isinstance(measure, Spearman)), None)


def is_symmetric(board: Board) -> bool:
    """Whether the gold comes in groups of an original and generated claims, and is scored by the task that knows it."""
    if board.scoring.scorer is not None:
        return False
    return board.measure("group_accuracy") is not None and "origin" in board.dimensions


def drawings(board: Board) -> list[tuple[str, str]]:
    """(title, name of the address) of what can be drawn; nothing where the phase tells no drawings."""
    if not tells_drawings(board):
        return []
    offered = (
        ("Pairs", "pairs", is_symmetric(board)),
        ("ROC curves", "roc", separating(board) is not None),
        ("Metric and people", "agreement", correlating(board) is not None),
    )
    return [(title, name) for title, name, there in offered if there]


def as_json(board: Board) -> str:
    """Where programs get all that is drawn of a board."""
    where = [board.phase.benchmark.slug, board.phase.slug]
    asked = dict(zip(("gold_version", "task_version"), board.frozen, strict=True)) if board.frozen else {}
    return reverse("api_drawings", args=where) + (f"?{urlencode(asked)}" if asked else "")

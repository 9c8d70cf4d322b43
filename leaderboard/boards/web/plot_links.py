"""Plots that a board offers in addition to its scores, and their URLs."""

from __future__ import annotations

from urllib.parse import urlencode

from django.urls import reverse

from evaluator.measures.auroc import Auroc
from evaluator.measures.base import Measure
from evaluator.measures.correlation import Spearman
from leaderboard.boards.queries import Board
from leaderboard.boards.queries.plots import shows_plots


def auroc_measure(board: Board) -> Measure | None:
    """Return the board's AUROC measure, which its ROC curves illustrate; None if the board has no such measure."""
    return next((measure for measure in board.measures if isinstance(measure, Auroc)), None)


def spearman_measure(board: Board) -> Measure | None:
    """Return the board's Spearman measure, which its rank agreement plots illustrate; None without one."""
    return next((measure for measure in board.measures if isinstance(measure, Spearman)), None)


def is_symmetric(board: Board) -> bool:
    """Return True if the gold is a symmetric set of original and generated claims, and no custom scorer is used."""
    if board.scoring.scorer is not None:
        return False
    return board.measure("group_accuracy") is not None and "origin" in board.dimensions


def plot_pages(board: Board) -> list[tuple[str, str]]:
    """Return (title, URL name) of the available plots; empty if the phase does not reveal plot data."""
    if not shows_plots(board):
        return []
    plots = (
        ("Contrast pairs", "pairs", is_symmetric(board)),
        ("ROC curves", "roc", auroc_measure(board) is not None),
        ("Agreement with people", "agreement", spearman_measure(board) is not None),
    )
    return [(title, name) for title, name, is_available in plots if is_available]


def as_json(board: Board) -> str:
    """Return the API URL of the board's plot data."""
    url_args = [board.phase.benchmark.slug, board.phase.slug]
    query = dict(zip(("gold_version", "task_version"), board.frozen, strict=True)) if board.frozen else {}
    return reverse("api_plots", args=url_args) + (f"?{urlencode(query)}" if query else "")

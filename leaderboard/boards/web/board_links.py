"""Links between the views of a phase's board, and to the boards of the benchmark's other phases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import OuterRef, QuerySet, Subquery, TextField
from django.db.models.functions import Cast
from django.http import HttpRequest
from django.urls import reverse
from django.utils.http import urlencode

from leaderboard.boards.queries import Board, Ranges, Slice
from leaderboard.boards.queries.reading import read_json
from leaderboard.boards.web.plot_links import is_symmetric, plot_pages
from leaderboard.models import Leaderboard, Phase


@dataclass(frozen=True)
class BoardLink:
    """A link to another view of the same board. n_values: number of slices or tracks in the view; None: not counted."""

    title: str
    url: str
    n_values: int | None = None


def by_track(board: Board) -> str:
    """Return the URL of the page that ranks each track of the board's phase separately."""
    url_args = [board.phase.benchmark.slug, board.phase.slug, *(board.frozen or ())]
    return reverse("frozen_board_by_track" if board.frozen else "board_by_track", args=url_args)


def board_data(board: Board, slice_: Slice, *, view: str) -> str:
    """Return the URL of the API's data of a board, with the same version, day and slice.

    view: name of the URL: `api_leaderboard` or `api_leaderboard_csv`.
    """
    url = reverse(view, args=[board.phase.benchmark.slug, board.phase.slug])
    params: dict[str, str | int] = {}
    if board.frozen:
        params |= zip(("gold_version", "task_version"), board.frozen, strict=True)
    if board.as_of is not None:
        params["as_of"] = board.as_of.isoformat()
    if slice_:
        params["slice"] = ",".join(f"{name}:{value}" for name, value in slice_)
    return f"{url}?{urlencode(params)}" if params else url


def other_boards(board: Board) -> list[BoardLink]:
    """Return links to the other views that the board has data for.

    In this order: symmetric board, plots, two-way board, one board per dimension, tracks, costs, progress,
    significance, head-to-head.
    """
    prefix = "frozen_" if board.frozen else ""
    url_args = [board.phase.benchmark.slug, board.phase.slug, *(board.frozen or ())]
    links: list[BoardLink] = []
    if is_symmetric(board):
        links.append(BoardLink("Symmetric board", reverse(f"{prefix}symmetric_board", args=url_args)))
    links += [BoardLink(title, reverse(f"{prefix}{name}", args=url_args)) for title, name in plot_pages(board)]
    if board.crossed:
        url = reverse(f"{prefix}two_way_board", args=[*url_args, "/".join(board.crossed)])
        links.append(BoardLink("By " + " and ".join(board.crossed), url))
    for name, values in board.dimensions.items():
        url = reverse(f"{prefix}board_by_slice", args=[*url_args, name])
        links.append(BoardLink(f"By {name}", url, len(values)))
    if board.phase.tracks:
        links.append(BoardLink("By track", by_track(board), len(board.phase.tracks)))
    if board.cost_kinds:
        links.append(BoardLink("Quality and cost", reverse(f"{prefix}cost_board", args=url_args)))
    if board.summary.n_competing:
        links.append(BoardLink("Progress", reverse(f"{prefix}progress", args=url_args)))
    if board.ranges in (Ranges.READY, Ranges.COMPUTING):
        links.append(BoardLink("Significance", reverse(f"{prefix}significance", args=url_args)))
    if board.summary.n_rows > 1:
        links.append(BoardLink("Head to head", reverse(f"{prefix}head_to_head", args=url_args)))
    return links


@dataclass(frozen=True)
class PhaseLink:
    title: str
    url: str
    is_current: bool


def _phases(benchmark: int) -> QuerySet[Phase, tuple[Any, ...]]:
    shown = Leaderboard.objects.filter(phase=OuterRef("pk"), state=Leaderboard.State.CURRENT)
    dimensions = Cast(Subquery(shown.values("gold_version__dimensions")[:1]), TextField())
    phases = Phase.objects.filter(benchmark=benchmark).order_by("position", "pk")
    return phases.values_list("slug", "title", "scorer", Cast("tracks", TextField()), dimensions)


EVERYWHERE = ("progress", "significance", "head_to_head")
"""Names of pages that every phase has."""


def phase_links(request: HttpRequest, phase: Phase) -> list[PhaseLink]:
    """Return links to the boards of all phases of the benchmark, each to the same view as the requested page.

    A phase without that view gets a link to its overall board. Empty for a benchmark with a single phase, and on pages
    that are not of a phase's board.
    """
    match = request.resolver_match
    if match is None or "phase" not in match.kwargs:
        return []
    view, dimension = (match.url_name or "").removeprefix("frozen_"), match.kwargs.get("dimension")
    links = []
    for slug, title, scorer, tracks, dimensions in _phases(phase.benchmark_id):
        known = read_json(dimensions) if dimensions else {}
        has_view = {
            "board_by_slice": dimension in known,
            "board_by_track": tracks != "[]",
            "symmetric_board": "origin" in known and scorer is None,
        }.get(view, view in EVERYWHERE)
        url_args = [phase.benchmark.slug, slug] + ([dimension] if has_view and view == "board_by_slice" else [])
        url = reverse(view if has_view else "leaderboard", args=url_args)
        links.append(PhaseLink(title, url, is_current=slug == phase.slug))
    return links if len(links) > 1 else []

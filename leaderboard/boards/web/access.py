"""Finding what an address names: a benchmark that this person may see, or a 404 that says nothing."""

from __future__ import annotations

from collections.abc import Collection

from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404

from leaderboard.boards.queries import Board, Version, board_of, head_asked, phase_seen
from leaderboard.models import Benchmark, Phase


def benchmark_or_404(request: HttpRequest, slug: str) -> Benchmark:
    visible = Benchmark.objects.visible_to(request.user).select_related("dataset")
    return get_object_or_404(visible, slug=slug)


def board_or_404(
    request: HttpRequest,
    slug: str,
    phase_slug: str,
    *,
    within: Collection[str] | None = (),
    gold: int | None = None,
    task_version: int = 1,
) -> Board:
    """The board of the phase that an address names, with the slices of the dimensions in `within` (None: all).

    The current one, or that of the gold and task version, which must have been shown.
    """
    version = None if gold is None else (gold, task_version)
    board = board_of(_phase_or_404(request, slug, phase_slug), within=within, version=version, reader=request.user)
    return _there(board, version)


def head_or_404(
    request: HttpRequest, slug: str, phase_slug: str, *, as_of: str = "", gold: int | None = None, task_version: int = 1
) -> Board:
    """The same without its rows, for a page of it; as it stands, or as a day ended. Raises AskedError for that day."""
    version = None if gold is None else (gold, task_version)
    return _there(head_asked(_phase_or_404(request, slug, phase_slug), as_of, version), version)


def _phase_or_404(request: HttpRequest, slug: str, phase_slug: str) -> Phase:
    found = phase_seen(request.user, slug, phase_slug)
    if found is None:
        raise Http404("no such phase")
    return found


def _there(board: Board, version: Version | None) -> Board:
    if version is not None and board.leaderboard is None:
        raise Http404("no such board")
    return board


def dimension_or_404(board: Board, dimension: str) -> str:
    if dimension not in board.dimensions:
        raise Http404("no such dimension")
    return dimension

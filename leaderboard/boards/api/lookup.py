"""Finding what a request names, among what the asker may see. Everything else is a 404 that tells nothing."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from django.http import Http404
from django.shortcuts import get_object_or_404

from leaderboard.boards.queries import Board, Version, board_of, head_asked, phase_seen
from leaderboard.core.api.errors import NoSuchBoard
from leaderboard.models import Benchmark, Phase, Split


def benchmark_or_404(user: Any, slug: str) -> Benchmark:
    return get_object_or_404(Benchmark.objects.visible_to(user).select_related("dataset"), slug=slug)


def managed_or_404(user: Any, slug: str) -> Benchmark:
    """A benchmark that the asker manages; anybody else's is as one that is not there."""
    rows = Benchmark.objects.all() if user.is_curator else user.benchmarks.all()
    return get_object_or_404(rows, slug=slug)


def phase_or_404(user: Any, slug: str, phase: str) -> Phase:
    found = phase_seen(user, slug, phase)
    if found is None:
        raise Http404("no such phase")
    return found


def board_or_404(user: Any, slug: str, phase: str, *, version: Version | None, within: Collection[str] | None) -> Board:
    """The phase's current board, or the one of that gold and task version if it was ever shown."""
    board = board_of(phase_or_404(user, slug, phase), within=within, version=version, reader=user)
    if version is not None and board.leaderboard is None:
        raise NoSuchBoard(*version)
    return board


def head_or_404(user: Any, slug: str, phase: str, *, version: Version | None, as_of: str) -> Board:
    """The same without its rows, for pages of it; as_of: as a day ended, of its text. Raises AskedError."""
    board = head_asked(phase_or_404(user, slug, phase), as_of, version)
    if version is not None and board.leaderboard is None:
        raise NoSuchBoard(*version)
    return board


def split_or_404(user: Any, slug: str, name: str) -> Split:
    """A split of the benchmark's dataset."""
    shown = Benchmark.objects.visible_to(user).filter(slug=slug).values("dataset")
    return get_object_or_404(Split.objects.visible_to(user).select_related("dataset"), dataset__in=shown, name=name)

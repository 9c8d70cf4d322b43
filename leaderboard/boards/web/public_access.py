"""Boards as anybody may see them: for what is fetched without a session, and looks the same to all."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, TypeVar, cast

from csp.decorators import csp_replace
from django.contrib.auth.models import AnonymousUser
from django.db.models import QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404

from leaderboard.boards.queries import Board, board_of
from leaderboard.models import Benchmark, Phase

SECONDS = 300
"""How long others may keep what hangs on nobody's session."""
View = TypeVar("View", bound=Callable[..., Any])


def policy(**directives: Sequence[str]) -> Callable[[View], View]:
    """These in the place of the site's own, with underscores for hyphens."""
    replaced = csp_replace({name.replace("_", "-"): list(sources) for name, sources in directives.items()})
    return cast(Callable[[View], View], replaced)


def public_benchmarks() -> QuerySet[Benchmark]:
    """Who asks is not looked at: an answer that hangs on nobody may be kept by every cache."""
    return Benchmark.objects.visible_to(AnonymousUser())


def public_board_or_404(
    slug: str, phase: str, *, within: Collection[str] | None = (), gold: int | None = None, task_version: int = 1
) -> Board:
    """The phase's current board, or that of the gold and task version, which must have been shown."""
    version = None if gold is None else (gold, task_version)
    phases = Phase.objects.select_related("benchmark__dataset", "split").filter(benchmark__in=public_benchmarks())
    board = board_of(get_object_or_404(phases, benchmark__slug=slug, slug=phase), within=within, version=version)
    if version is not None and board.leaderboard is None:
        raise Http404("no such board")
    return board

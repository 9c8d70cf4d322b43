"""Which boards of which phase a reader is shown."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.db.models import QuerySet

from leaderboard.boards.queries.board import Version
from leaderboard.core.compiled_queries import Prepared
from leaderboard.models import Benchmark, Leaderboard, Phase

OF_A_BOARD = ("gold_version", "ranking")


def _in_state(state: Leaderboard.State, phase: int) -> QuerySet[Leaderboard]:
    boards = Leaderboard.objects.filter(phase=phase, state=state).select_related(*OF_A_BOARD)
    return boards.order_by("-gold_version__number", "-task_version")


CURRENT = Prepared(partial(_in_state, Leaderboard.State.CURRENT), int)
FROZEN = Prepared(partial(_in_state, Leaderboard.State.FROZEN), int)
PUBLIC_PHASE = Prepared(
    lambda benchmark, phase: Phase.objects.select_related("benchmark__dataset", "split__dataset", "scorer").filter(
        benchmark__state=Benchmark.State.PUBLIC, benchmark__slug=benchmark, slug=phase
    ),
    *(str, str),
)


def shown_board(phase: Phase, version: Version | None = None) -> Leaderboard | None:
    """The phase's current board, or the one of that version if it was ever shown."""
    if version is None:
        found = next(iter(CURRENT(phase.pk)), None)
    else:
        public = Leaderboard.objects.filter(phase=phase, state__in=Leaderboard.PUBLIC).select_related(*OF_A_BOARD)
        found = public.filter(gold_version__number=version[0], task_version=version[1]).first()
    if found is not None:
        found.phase = phase  # as it came, with what it was selected with
    return found


def phase_seen(reader: Any, benchmark: str, phase: str) -> Phase | None:
    """The phase of these slugs, if the reader may see it, with its benchmark, split and their dataset, and scorer."""
    public = PUBLIC_PHASE(benchmark, phase)
    if public or not getattr(reader, "is_authenticated", False):
        return public[0] if public else None
    visible = Phase.objects.filter(benchmark__in=Benchmark.objects.visible_to(reader).values("pk"))
    found = visible.select_related("benchmark__dataset", "split__dataset", "scorer")
    return found.filter(benchmark__slug=benchmark, slug=phase).first()


def frozen_boards(phase: Phase) -> list[Leaderboard]:
    """The boards that were current before, the latest first."""
    return FROZEN(phase.pk)

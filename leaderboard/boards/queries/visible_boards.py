"""The public boards of a phase: the current one and those that it replaced."""

from __future__ import annotations

from functools import partial

from django.db.models import QuerySet

from leaderboard.boards.queries.board import Version
from leaderboard.core.compiled_queries import PreparedQuery
from leaderboard.models import Leaderboard, Phase

OF_A_BOARD = ("gold_version", "ranking")


def _in_state(state: Leaderboard.State, phase: int) -> QuerySet[Leaderboard]:
    boards = Leaderboard.objects.filter(phase=phase, state=state).select_related(*OF_A_BOARD)
    return boards.order_by("-gold_version__number", "-task_version")


CURRENT = PreparedQuery(partial(_in_state, Leaderboard.State.CURRENT), int)
FROZEN = PreparedQuery(partial(_in_state, Leaderboard.State.FROZEN), int)


def shown_board(phase: Phase, version: Version | None = None) -> Leaderboard | None:
    """Return the phase's current board, or that of a version if it was ever shown; else None."""
    if version is None:
        board = next(iter(CURRENT(phase.pk)), None)
    else:
        public = Leaderboard.objects.filter(phase=phase, state__in=Leaderboard.PUBLIC).select_related(*OF_A_BOARD)
        board = public.filter(gold_version__number=version[0], task_version=version[1]).first()
    if board is not None:
        board.phase = phase  # the caller's instance, with its related rows loaded
    return board


def frozen_boards(phase: Phase) -> list[Leaderboard]:
    """Return the boards of a phase that were current before, the latest version first."""
    return FROZEN(phase.pk)

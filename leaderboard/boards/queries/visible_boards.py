"""The boards of a phase that were shown: the current one and those before it."""

from __future__ import annotations

from functools import partial

from django.db.models import QuerySet

from leaderboard.boards.queries.board import Version
from leaderboard.core.compiled_queries import Prepared
from leaderboard.models import Leaderboard, Phase

OF_A_BOARD = ("gold_version", "ranking")


def _in_state(state: Leaderboard.State, phase: int) -> QuerySet[Leaderboard]:
    boards = Leaderboard.objects.filter(phase=phase, state=state).select_related(*OF_A_BOARD)
    return boards.order_by("-gold_version__number", "-task_version")


CURRENT = Prepared(partial(_in_state, Leaderboard.State.CURRENT), int)
FROZEN = Prepared(partial(_in_state, Leaderboard.State.FROZEN), int)


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


def frozen_boards(phase: Phase) -> list[Leaderboard]:
    """The boards that were current before, the latest first."""
    return FROZEN(phase.pk)

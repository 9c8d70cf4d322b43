"""The public boards of a phase: the current one and those that it replaced."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TypeVar

from django.contrib.admin.models import LogEntry
from django.db.models import QuerySet, Subquery

from leaderboard.boards.queries.board import Version
from leaderboard.core import response_cache
from leaderboard.models import Leaderboard, Phase

T = TypeVar("T")
LAST_EDIT = Subquery(LogEntry.objects.order_by("-pk").values("pk")[:1])
"""The last edit in Django's admin, which may change a board and not its revision."""


def _boards(**filters: object) -> QuerySet[Leaderboard]:
    boards = Leaderboard.objects.filter(**filters).annotate(last_edit=LAST_EDIT)
    return boards.select_related("gold_version", "ranking")


def _in_state(state: Leaderboard.State, phase: Phase) -> QuerySet[Leaderboard]:
    return _boards(phase=phase, state=state).order_by("-gold_version__number", "-task_version")


def shown_board(phase: Phase, version: Version | None = None) -> Leaderboard | None:
    """Return the phase's current board, or that of a version if it was ever shown; else None."""
    if version is None:
        board = _in_state(Leaderboard.State.CURRENT, phase).first()
    else:
        number, task_version = version
        boards = _boards(phase=phase, state__in=Leaderboard.PUBLIC)
        board = boards.filter(gold_version__number=number, task_version=task_version).first()
    if board is not None:
        board.phase = phase  # the caller's instance, with its related rows loaded
    return board


def shown_at(phase: Phase, at: datetime) -> Leaderboard | None:
    """Return the phase's board that was current just before a time; None if no board was."""
    shown = _boards(phase=phase, state__in=Leaderboard.PUBLIC, shown_from__lt=at)
    board = shown.order_by("-shown_from", "-pk").first()
    if board is not None:
        board.phase = phase  # the caller's instance, with its related rows loaded
    return board


def frozen_boards(phase: Phase) -> list[Leaderboard]:
    """Return the boards of a phase that other boards have replaced, the latest version first."""
    return list(_in_state(Leaderboard.State.FROZEN, phase))


def counted_once(name: str, board: Leaderboard, count: Callable[[], T], *arguments: object) -> T:
    """Return `count()`, which counts a board's rows, from the shared cache if it was counted before.

    name, arguments: what is counted. board: of `shown_board` or `shown_at`. A result is used as long as the board's
    revision and the last edit in Django's admin are the same (as in ETags: boards.web.etag).
    """
    last_edit = board.last_edit  # type: ignore[attr-defined]  # annotated
    # A restored backup may repeat a revision with other rows.
    state = f"{board.created_at} {board.revision} {last_edit}"
    address = repr((name, board.pk, *arguments))
    return response_cache.get_or_make("counts", state, address, count)

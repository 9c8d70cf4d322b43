"""The public boards of a phase: the current one and those that it replaced."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from datetime import datetime
from functools import lru_cache, partial, wraps
from typing import Concatenate, ParamSpec, TypeVar

from django.conf import settings
from django.contrib.admin.models import LogEntry
from django.db.models import QuerySet, Subquery

from leaderboard.boards.queries.board import Version
from leaderboard.core.compiled_queries import PreparedQuery
from leaderboard.core.response_cache import LONGEST_SECONDS
from leaderboard.models import Leaderboard, Phase

P = ParamSpec("P")
T = TypeVar("T")
LAST_EDIT = Subquery(LogEntry.objects.order_by("-pk").values("pk")[:1])
"""The last edit in Django's admin, which may change a board and not its revision."""


def _boards(**filters: object) -> QuerySet[Leaderboard]:
    boards = Leaderboard.objects.filter(**filters).annotate(last_edit=LAST_EDIT)
    return boards.select_related("gold_version", "ranking")


def _in_state(state: Leaderboard.State, phase: int) -> QuerySet[Leaderboard]:
    return _boards(phase=phase, state=state).order_by("-gold_version__number", "-task_version")


CURRENT = PreparedQuery(partial(_in_state, Leaderboard.State.CURRENT), int)
FROZEN = PreparedQuery(partial(_in_state, Leaderboard.State.FROZEN), int)


def shown_board(phase: Phase, version: Version | None = None) -> Leaderboard | None:
    """Return the phase's current board, or that of a version if it was ever shown; else None."""
    if version is None:
        board = next(iter(CURRENT(phase.pk)), None)
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
    return FROZEN(phase.pk)


def read_once(size: int) -> Callable[[Callable[Concatenate[int, P], T]], Callable[Concatenate[Leaderboard, P], T]]:
    """Return a decorator that caches the results of a function that reads a board's rows, in each process.

    The function gets the board's primary key and hashable arguments; its results must not be changed. The decorated
    function gets a board of `shown_board` in place of the key. A result is reused for at most LONGEST_SECONDS, as long
    as the board's revision and the last edit in Django's admin are the same (as in ETags: boards.web.etag). size:
    number of results that a process keeps.
    """

    def decorate(read: Callable[Concatenate[int, P], T]) -> Callable[Concatenate[Leaderboard, P], T]:
        @lru_cache(maxsize=size)
        def cached(board: int, state: Hashable, *args: P.args, **kwargs: P.kwargs) -> T:
            return read(board, *args, **kwargs)

        @wraps(read)
        def of_board(board: Leaderboard, *args: P.args, **kwargs: P.kwargs) -> T:
            if not settings.CACHES_RESPONSES:
                return read(board.pk, *args, **kwargs)
            last_edit = board.last_edit  # type: ignore[attr-defined]  # annotated
            # A restored backup may repeat a revision with other rows.
            state = (board.created_at, board.revision, last_edit, time.time() // LONGEST_SECONDS)
            return cached(board.pk, state, *args, **kwargs)  # type: ignore[arg-type]  # hashable, as documented

        return of_board

    return decorate

"""The read side of a rescoring: how far the board in preparation has come, what it changes, what is out of date."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import QuerySet

from leaderboard.boards.queries import board_state
from leaderboard.evaluation import scorer_of_phase
from leaderboard.models import Leaderboard, Phase, Run, Standing, State, System


@dataclass(frozen=True)
class Progress:
    """How far the board in preparation has come, counted in predictions; `done` are scored, or rejected for good."""

    board: Leaderboard
    done: int
    total: int
    failed: int
    running: int

    @property
    def waiting(self) -> int:
        return self.total - self.done - self.failed - self.running


def progress_of(phase: Phase) -> Progress | None:
    """The board in preparation, if there is one."""
    board = board_state.preparing(phase)
    if board is None:
        return None
    left = board_state.unscored(board)
    on_the_way = _runs_on(board).filter(prediction__in=left)
    live = on_the_way.filter(state__in=(State.QUEUED, State.RUNNING))
    failed = on_the_way.filter(state=State.FAILED).exclude(prediction__in=live.values("prediction"))
    total = board_state.to_score(phase).count()
    return Progress(
        board,
        done=total - left.count(),
        total=total,
        failed=failed.values("prediction").distinct().count(),
        running=live.filter(state=State.RUNNING).count(),
    )


def failed_runs(board: Leaderboard) -> list[Run]:
    """The last run of each prediction that the board waits for and that no run is on its way for."""
    runs = _runs_on(board).filter(prediction__in=board_state.unscored(board))
    runs = runs.select_related("prediction__submission__system__team").order_by("queued_at")
    last = {run.prediction_id: run for run in runs.exclude(state=State.CANCELLED)}
    return [run for run in last.values() if run.state == State.FAILED]


@dataclass(frozen=True)
class Change:
    """A system on the board that is shown and on the one in preparation; None where it has no place or value yet."""

    system: System
    rank: int | None
    value: float | None
    next_rank: int | None
    next_value: float | None

    @property
    def moves(self) -> bool:
        """Whether the system has a rank on both boards, and another one."""
        return None not in (self.rank, self.next_rank) and self.rank != self.next_rank


def changes(shown: Leaderboard, prepared: Leaderboard) -> Sequence[Change]:
    """What changes between a board and the one in its place, in the latter's order; for organisers while prepared."""
    before, after = _standings(shown), _standings(prepared)
    found = [
        Change(
            system=(after.get(pk) or before[pk]).system,
            rank=before[pk].rank if pk in before else None,
            value=before[pk].value if pk in before else None,
            next_rank=after[pk].rank if pk in after else None,
            next_value=after[pk].value if pk in after else None,
        )
        for pk in before | after
    ]
    last = len(found) + 1
    return sorted(found, key=lambda change: (change.next_rank or last, change.rank or last, change.system.name))


def outdated() -> list[tuple[Phase, int]]:
    """Phases whose board was scored by another version of the task than this code has and that no board is
    prepared for, with the version that they were scored by.
    """
    shown = Leaderboard.objects.filter(state=Leaderboard.State.CURRENT)
    rows = shown.select_related("phase__benchmark", "phase__scorer", "phase__split__dataset").order_by("phase")
    return [(board.phase, board.task_version) for board in rows if _is_behind(board)]


def outdated_version(phase: Phase) -> int | None:
    """The task version of the phase's board if this code has a later one and no whole rescoring is on its way."""
    shown = board_state.current(phase)
    return shown.task_version if shown is not None and _is_behind(shown) else None


def _is_behind(shown: Leaderboard) -> bool:
    version = scorer_of_phase.of(shown.phase).version
    if shown.task_version >= version:
        return False
    prepared = board_state.preparing(shown.phase)
    if prepared is None or prepared.task_version != version:
        return True
    # A submission opens the board of the raised version by itself; the others are queued by a rescoring alone.
    runs = _runs_on(prepared).exclude(state=State.CANCELLED)
    return board_state.unscored(prepared).exclude(pk__in=runs.values("prediction")).exists()


def _standings(board: Leaderboard) -> dict[int, Standing]:
    rows = board.standings.select_related("system__team")
    return {row.system_id: row for row in rows}


def _runs_on(board: Leaderboard) -> QuerySet[Run]:
    return Run.objects.filter(
        prediction__submission__phase=board.phase_id,
        gold_version=board.gold_version_id,
        task_version=board.task_version,
    )

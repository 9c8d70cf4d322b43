"""Queries about rescoring: progress of the board in preparation, its rank changes, and boards of old versions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import QuerySet

from leaderboard.boards.queries import board_state
from leaderboard.evaluation import scorer_of_phase
from leaderboard.models import ACTIVE, Leaderboard, Phase, Run, Standing, State, System


@dataclass(frozen=True)
class Progress:
    """Progress of the board in preparation. All numbers are numbers of predictions.

    total: those to score. done: those scored or rejected. failed: those whose last run failed, with no other run queued
    or running. running: those with a running run.
    """

    board: Leaderboard
    done: int
    total: int
    failed: int
    running: int

    @property
    def waiting(self) -> int:
        return self.total - self.done - self.failed - self.running


def progress_of(phase: Phase) -> Progress | None:
    """Return the progress of the board in preparation; None if there is none."""
    board = board_state.preparing(phase)
    if board is None:
        return None
    unscored = board_state.unscored(board)
    runs = _runs_on(board).filter(prediction__in=unscored)
    live = runs.filter(state__in=ACTIVE)
    failed = runs.filter(state=State.FAILED).exclude(prediction__in=live.values("prediction"))
    total = board_state.predictions_to_score(phase).count()
    return Progress(
        board,
        done=total - unscored.count(),
        total=total,
        failed=failed.values("prediction").distinct().count(),
        running=live.filter(state=State.RUNNING).count(),
    )


def failed_runs(board: Leaderboard) -> list[Run]:
    """Return the last run of each prediction that the board waits for, if that run has failed."""
    runs = _runs_on(board).filter(prediction__in=board_state.unscored(board))
    runs = runs.select_related("prediction__submission__system__team").order_by("queued_at")
    last = {run.prediction_id: run for run in runs.exclude(state=State.CANCELLED)}
    return [run for run in last.values() if run.state == State.FAILED]


@dataclass(frozen=True)
class Change:
    """A system's rank and value on the shown board and on the board in preparation; None: missing there."""

    system: System
    rank: int | None
    value: float | None
    next_rank: int | None
    next_value: float | None

    @property
    def changes_rank(self) -> bool:
        """True if the system is ranked on both boards, and differently."""
        return None not in (self.rank, self.next_rank) and self.rank != self.next_rank


def changes(shown: Leaderboard, prepared: Leaderboard) -> Sequence[Change]:
    """Return the rank changes from the shown board to the board in preparation, in the order of the new ranks.

    Only organisers may see them while the board is in preparation.
    """
    before, after = _standings(shown), _standings(prepared)
    rows = [
        Change(
            system=(after.get(pk) or before[pk]).system,
            rank=before[pk].rank if pk in before else None,
            value=before[pk].value if pk in before else None,
            next_rank=after[pk].rank if pk in after else None,
            next_value=after[pk].value if pk in after else None,
        )
        for pk in before | after
    ]
    last = len(rows) + 1
    return sorted(rows, key=lambda change: (change.next_rank or last, change.rank or last, change.system.name))


def outdated() -> list[tuple[Phase, int]]:
    """Return (phase, task version of its current board) for each current board scored by an outdated task or scorer.

    Phases that are being rescored completely are left out.
    """
    shown = Leaderboard.objects.filter(state=Leaderboard.State.CURRENT)
    rows = shown.select_related("phase__benchmark", "phase__scorer", "phase__split__dataset").order_by("phase")
    return [(board.phase, board.task_version) for board in rows if _is_behind(board)]


def outdated_version(phase: Phase) -> int | None:
    """Return the task version of the phase's board if it is outdated (see `outdated`), else None."""
    shown = board_state.current(phase)
    return shown.task_version if shown is not None and _is_behind(shown) else None


def _is_behind(shown: Leaderboard) -> bool:
    version = scorer_of_phase.of(shown.phase).version
    if shown.task_version >= version:
        return False
    prepared = board_state.preparing(shown.phase)
    if prepared is None or prepared.task_version != version:
        return True
    # A submission opens the board of the new version; only a rescoring queues the other predictions.
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

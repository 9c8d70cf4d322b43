"""Scoring again what was scored before, when gold was corrected or a task's version was raised.

The board that is shown stays as it is while the next one is prepared; `boards.settle` switches in one transaction.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from evaluator.task import TASKS
from leaderboard.actions import boards, runs
from leaderboard.models import AuditEntry, GoldVersion, Leaderboard, Phase, Prediction, Reason, Run, State, User


@dataclass(frozen=True)
class Progress:
    """How far the board in preparation has come."""

    board: Leaderboard
    done: int
    total: int
    failed: int


@transaction.atomic
def begin(*, phase: Phase, by: User | None = None) -> int:
    """Queue every prediction of the phase against the present gold and task version; how many were queued.

    May be called again: what waits, runs or is done is left alone, and what failed is queued again.
    """
    phase = Phase.objects.select_for_update().select_related("split__dataset").get(pk=phase.pk)
    gold = phase.split.current_gold
    task_version = TASKS[phase.split.dataset.task].version
    predictions = Prediction.objects.filter(submission__phase=phase, state=State.DONE)
    if gold is None or not predictions.exists():
        return 0
    board = boards.opened(phase=phase, gold_id=gold.pk, task_version=task_version)
    _cancel_superseded(phase, board)
    live = Run.objects.filter(gold_version=gold, task_version=task_version).exclude(
        state__in=(State.FAILED, State.CANCELLED)
    )
    waiting = predictions.exclude(pk__in=live.values("prediction")).order_by("queued_at")
    queued = [runs.queue(prediction=prediction, gold=gold) for prediction in waiting]
    boards.settle(phase)
    if queued:
        AuditEntry.record("rescoring.begun", phase, by=by, gold=gold.number, task_version=task_version, n=len(queued))
    return len(queued)


def begin_for(*, gold: GoldVersion, by: User | None = None) -> int:
    """The same for each phase on the gold's split. Call inside the transaction that keeps the gold."""
    return sum(begin(phase=phase, by=by) for phase in gold.split.phases.all())


def _cancel_superseded(phase: Phase, board: Leaderboard) -> None:
    """Runs that nobody has taken yet, for gold or a task version that is no longer the present one."""
    waiting = Run.objects.filter(prediction__submission__phase=phase, state=State.QUEUED)
    present = waiting.filter(gold_version=board.gold_version_id, task_version=board.task_version)
    waiting.exclude(pk__in=present.values("pk")).update(
        state=State.CANCELLED, reason=Reason.SUPERSEDED, finished_at=timezone.now()
    )


def progress_of(phase: Phase) -> Progress | None:
    """The board in preparation, if there is one."""
    board = phase.leaderboards.filter(state=Leaderboard.State.PREPARING).order_by("-gold_version__number").first()
    if board is None:
        return None
    total = Prediction.objects.filter(submission__phase=phase, state=State.DONE).count()
    left = boards.unscored(board)
    failed = Run.objects.filter(
        prediction__in=left, gold_version=board.gold_version_id, task_version=board.task_version, state=State.FAILED
    )
    return Progress(board, total - left.count(), total, failed.values("prediction").distinct().count())

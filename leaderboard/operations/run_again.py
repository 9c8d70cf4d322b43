"""Runs work again that failed for good because of this server: after a bug, or a disk that was full for a day."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from leaderboard.boards.queries import board_state
from leaderboard.core import db_clock, row_locks
from leaderboard.models import (
    ACTIVE,
    AuditEntry,
    Correction,
    Prediction,
    QuotaCharge,
    Ranking,
    Reason,
    Run,
    State,
    User,
)
from leaderboard.models.state import LeasedWork
from leaderboard.scoring.actions import runs
from leaderboard.work_queue.work import not_enqueued

log = structlog.get_logger(__name__)
SINCE = timedelta(days=30)
"""Age from which failed work is left as it is: nobody waits for it any more."""
OURS = (
    *(Reason.SANDBOX, Reason.STORAGE, Reason.LOST, Reason.INTERNAL),
    *(Reason.ENGINE, Reason.EXIT, Reason.OUTPUT),
)
"""Reasons of failures for which the server is to blame, and neither a file of the benchmark nor its scorer."""


def failed_by_us(model: Any) -> QuerySet[Any]:
    """Return the rows of a kind of work that failed because of this server and can run again, oldest first.

    model: a subclass of LeasedWork.
    """
    recent = db_clock.read() - SINCE
    rows: QuerySet[Any] = model._default_manager.filter(state=State.FAILED, reason__in=OURS, finished_at__gt=recent)
    if model is Correction:
        rows = rows.filter(decision=Correction.Decision.PENDING)
    if model is Run:
        # A prediction has several runs if its board was scored again, or if one has run again.
        others = Run.objects.filter(prediction=OuterRef("prediction"))
        is_scored = Q(state__in=(*ACTIVE, State.DONE, State.REJECTED))
        rows = rows.exclude(Exists(others.filter(is_scored | Q(queued_at__gt=OuterRef("queued_at")))))
    return rows.order_by("queued_at", "pk")


def count() -> int:
    """Return the number of rows that `run_failed_again` would run."""
    rows = [_failed_rankings(), *map(failed_by_us, LeasedWork.__subclasses__())]
    return sum(failed.count() for failed in rows)


def run_failed_again(*, by: User | None = None) -> int:
    """Queue all work again that failed because of this server; return the number of queued rows.

    A submission whose quota charge was refunded is charged again. Each row gets one attempt more; failures that pass do
    not count as one. Sweeps send the messages. by: the operator who asks for it; None: a command on the server.
    """
    queued = 0
    for model in LeasedWork.__subclasses__():
        for row in failed_by_us(model):
            with transaction.atomic():
                is_queued = _score_again(row) if isinstance(row, Run) else _queue_again(row)
                if is_queued:
                    AuditEntry.record("work.run_again", row, by=by)
                    queued += 1
    queued += _failed_rankings().update(failures=0, reason=Reason.NONE, enqueued_at=not_enqueued(db_clock.now()))
    log.info("failed_work_queued", number=queued)
    return queued


def _queue_again(row: Any) -> bool:
    """Queue a failed row; return False if another process was first.

    Its attempts are counted on, so that a worker that froze in an earlier one can write no more.
    """
    at = db_clock.read()
    values: dict[str, Any] = {"state": State.QUEUED, "reason": Reason.NONE, "finished_at": None}
    values |= {"queued_at": at, "enqueued_at": not_enqueued(at)}
    if not type(row)._default_manager.filter(pk=row.pk, state=State.FAILED).update(**values):
        return False
    if isinstance(row, Prediction):
        _charge_again(row)
    return True


def _score_again(failed: Run) -> bool:
    """Queue a new run of the prediction of a failed one on its phase's current gold, unless there is one already."""
    prediction = Prediction.objects.select_related("submission__phase").get(pk=failed.prediction_id)
    phase = prediction.submission.phase
    runs.lock_split(phase)
    row_locks.lock_phase(phase.pk)
    gold = board_state.gold_of(phase)
    if gold is None or not board_state.predictions_to_score(phase).filter(pk=prediction.pk).exists():
        return False
    if prediction.runs.filter(state__in=(*ACTIVE, State.DONE, State.REJECTED)).exists():
        return False
    runs.queue(prediction=prediction, gold=gold)
    _charge_again(prediction)
    return True


def _charge_again(prediction: Prediction) -> None:
    QuotaCharge.objects.filter(submission=prediction.submission_id).update(refunded_at=None)


def _failed_rankings() -> QuerySet[Ranking]:
    return Ranking.objects.filter(failures__gte=settings.MAX_ATTEMPTS, reason__in=OURS)

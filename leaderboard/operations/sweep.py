"""The sweeper: takes back what silent workers hold, and rings again for what nobody came for. Rung by the clock."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from leaderboard.containers.actions import image_files, image_uploads
from leaderboard.containers.actions import run_system as predictions
from leaderboard.core import chunked_upload as pieces
from leaderboard.models import Prediction, RawUpload, Reason, Run, State, WorkerReport
from leaderboard.scoring.actions import runs
from leaderboard.work_queue import notify_workers as doorbell
from leaderboard.work_queue import worker_status as availability
from leaderboard.work_queue.claims import Lost

AT_ONCE = 1000
ASKED_EVERY = timedelta(seconds=30)
GONE_AFTER = timedelta(minutes=10)
"""A worker that was silent for so long is asked no more: nobody would empty its queue."""


def sweep() -> int:
    """Requeue or fail what lost its lease, ring for what waits unheard, forget what nobody sent; how many rows."""
    at = timezone.now()
    made = Prediction.objects.select_related("submission__phase")
    touched = _take_back(Run.objects.select_related("prediction"), runs.give_up, at)
    touched += _take_back(made, predictions.give_up, at)
    # Nobody would empty the queue of workers that are not there.
    heard = Run.objects.all() if availability.of("scorers").ready else Run.objects.filter(scorer=None)
    touched += _ring_again(heard, _ring_for_run, at)
    touched += _ring_again(made, _ring_for_prediction, at)
    _ask_workers(at)
    return touched + image_uploads.forget_old() + pieces.forget_old(RawUpload) + image_files.forget_unused()


def _take_back(rows: Any, give_up: Callable[..., None], at: datetime) -> int:
    lost = [Lost(row, row.attempt, at) for row in rows.filter(state=State.RUNNING, lease_until__lt=at)]
    for claim in lost:
        give_up(claim, reason=Reason.LOST)
    return len(lost)


def _ring_again(rows: Any, ring: Callable[[Any], None], at: datetime) -> int:
    unheard = Q(state=State.QUEUED, rung_at__lt=at - timedelta(seconds=settings.SWEEP_SECONDS))
    waiting = list(rows.filter(unheard).order_by("queued_at")[:AT_ONCE])
    for row in waiting:
        with transaction.atomic():
            if rows.model._default_manager.filter(unheard, pk=row.pk).update(rung_at=at):
                ring(row)
    return len(waiting)


def _ask_workers(at: datetime) -> None:
    """Ask for a new report where the last one ages."""
    aging = WorkerReport.objects.filter(seen_at__lt=at - ASKED_EVERY, seen_at__gt=at - GONE_AFTER)
    for queue in aging.order_by("queue").values_list("queue", flat=True).distinct():
        doorbell.ring_for_report(queue)


def _ring_for_run(run: Run) -> None:
    doorbell.ring_for_run(run.pk, by_scorer=run.scorer_id is not None)


def _ring_for_prediction(prediction: Prediction) -> None:
    doorbell.ring_for_prediction(prediction.pk, queue=availability.queue_of(prediction.submission.phase))

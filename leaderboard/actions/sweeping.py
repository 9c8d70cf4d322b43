"""The sweeper: takes back what silent workers hold, and rings again for what nobody came for. Rung by the clock."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from leaderboard.actions import doorbell, runs
from leaderboard.models import Reason, Run, State

AT_ONCE = 1000


@dataclass(frozen=True)
class Lost(runs.Claim):
    """What a silent worker held; it is nobody's here if the worker has renewed its lease meanwhile."""

    at: datetime

    def own(self) -> Any:
        return super().own().filter(lease_until__lt=self.at)


def sweep() -> int:
    """Requeue or fail runs whose lease has ended, and ring for those that wait unheard; how many rows it touched."""
    at = timezone.now()
    return _take_back(at) + _ring_again(at)


def _take_back(at: datetime) -> int:
    silent = Run.objects.filter(state=State.RUNNING, lease_until__lt=at).select_related("prediction")
    lost = [Lost(run, run.attempt, at) for run in silent]
    for claim in lost:
        runs.give_up(claim, reason=Reason.LOST)
    return len(lost)


def _ring_again(at: datetime) -> int:
    unheard = Q(state=State.QUEUED, rung_at__lt=at - timedelta(seconds=settings.SWEEP_SECONDS))
    waiting = list(Run.objects.filter(unheard).order_by("queued_at").values_list("pk", flat=True)[:AT_ONCE])
    for run_id in waiting:
        with transaction.atomic():
            if Run.objects.filter(unheard, pk=run_id).update(rung_at=at):
                doorbell.ring_for_run(run_id)
    return len(waiting)

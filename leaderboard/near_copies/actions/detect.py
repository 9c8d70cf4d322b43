"""Looking for predictions that are nearly another team's.

The sweeper finds scored predictions that nobody has looked at. A worker of the scoring side first gives them a
signature, then holds it against those of the phase's other teams, and lays side by side, unit by unit, only what the
signatures cannot tell apart: of each other team the likest, and of a bounded number of teams. Scoring goes first.

Nobody but a benchmark's organisers ever reads of it: it is a suspicion, not a finding of fault.
"""

from __future__ import annotations

from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from leaderboard.boards.queries import board_state
from leaderboard.models import Likeness, NearCopy, Prediction, Reason, State, System
from leaderboard.near_copies.actions import similarity
from leaderboard.work_queue.lease import Lease
from leaderboard.work_queue.work import AT_ONCE, NoAnswerError, Work

WAITING = Likeness.objects.select_related("prediction__submission__system", "phase__split__dataset", "phase__benchmark")


def _look(lease: Lease[Likeness]) -> None:
    row = lease.row
    gold = board_state.gold_of(row.phase)
    if gold is None:
        raise NoAnswerError(Reason.BAD_GOLD)
    ordered = similarity.sign(lease, gold)
    # After the signature is there for all to see: of two that look at once, one at least sees the other.
    alike = similarity.likest(row, ordered=ordered)
    found = similarity.found(row, gold, alike) if alike else []
    with transaction.atomic():
        lease.finish(state=State.DONE)
        NearCopy.objects.bulk_create(found, ignore_conflicts=True)


def _queue() -> None:
    """Rows for competing systems' predictions that were scored and not looked at; the sweep enqueues them at once."""
    at = timezone.now()
    long_ago = at - timedelta(days=1)
    scored = Prediction.objects.filter(
        likeness=None, runs__state=State.DONE, submission__system__kind=System.Kind.PARTICIPANT
    )
    # In the order in which they came: a copy is looked at after what it may be one of.
    in_order = scored.order_by("submission__received_at", "pk").distinct()
    found = list(in_order.values_list("pk", "submission__phase")[:AT_ONCE])
    rows = [
        Likeness(prediction_id=prediction, phase_id=phase, queued_at=at, rung_at=long_ago)
        for prediction, phase in found
    ]
    # Two sweepers may find the same prediction: it gets one row.
    Likeness.objects.bulk_create(rows, ignore_conflicts=True)


WORK = Work(name="look_for_copies", rows=WAITING, do=_look, makes_way=True, before_sweep=_queue)

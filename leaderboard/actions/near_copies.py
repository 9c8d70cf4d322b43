"""Looking for predictions that are nearly another team's.

The sweeper finds scored predictions that nobody has looked at. A worker of the scoring side first gives them a
signature, then holds it against those of the phase's other teams, and lays side by side, unit by unit, only what the
signatures cannot tell apart: of each other team the likest, and of a bounded number of teams. Scoring goes first.

Nobody but a benchmark's organisers ever reads of it: it is a suspicion, not a finding of fault.
"""

from __future__ import annotations

from datetime import datetime, timedelta

import structlog
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from leaderboard.actions import boards, claims, doorbell, likenesses, referee
from leaderboard.actions.claims import Claim, LateError
from leaderboard.actions.lease import Lease
from leaderboard.actions.reports import ReportError
from leaderboard.logs import places
from leaderboard.models import Likeness, NearCopy, Prediction, Reason, Run, State, System
from leaderboard.storage import AlteredError

log = structlog.get_logger(__name__)
Mine = Claim[Likeness]
AT_ONCE = 1000
MAKES_WAY = timedelta(minutes=10)
"""As long it lets runs go before it; then its turn has come."""
WAITING = Likeness.objects.select_related("prediction__submission__system", "phase__split__dataset", "phase__benchmark")


def look(*, pk: int) -> None:
    """One prediction from claim to end. Safe to call any number of times, from any number of workers."""
    if not referee.answers() or referee.is_outdated():
        log.warning("sandbox_away_or_outdated", likeness=pk)
        return
    if _makes_way(pk):
        return
    mine = claims.claim(WAITING, pk=pk)
    if mine is None:
        return
    with Lease(every=settings.LEASE_SECONDS / 3, renew=lambda: claims.renew(mine)):
        try:
            _look(mine)
        except LateError:
            log.warning("late_likeness", likeness=pk, attempt=mine.attempt)
        except (ReportError, likenesses.NotLookedError) as error:
            log.error("likeness_refused", likeness=pk, error=str(error))
            give_up(mine, reason=getattr(error, "reason", Reason.BAD_REPORT), final=True)
        except referee.SandboxError as error:
            log.error("sandbox_broke", likeness=pk, error=str(error))
            give_up(mine, reason=Reason.SANDBOX)
        except (FileNotFoundError, AlteredError) as error:
            log.error("stored_file_unusable", likeness=pk, error=type(error).__name__)
            give_up(mine, reason=Reason.STORAGE, final=True)
        except Exception as error:  # noqa: BLE001  (logged, retried)
            log.error("likeness_broke", likeness=pk, error=type(error).__name__, at=places(error.__traceback__))
            give_up(mine, reason=Reason.INTERNAL)


def _makes_way(pk: int) -> bool:
    """Whether runs wait that go first; the sweeper rings again."""
    if not Run.objects.filter(state=State.QUEUED, reason=Reason.NONE, scorer=None).exists():
        return False
    return Likeness.objects.filter(pk=pk, queued_at__gt=timezone.now() - MAKES_WAY).exists()


def _look(mine: Mine) -> None:
    row = mine.row
    gold = boards.gold_of(row.phase)
    if gold is None:
        raise likenesses.NotLookedError(Reason.BAD_GOLD)
    ordered = likenesses.sign(mine, gold)
    # After the signature is there for all to see: of two that look at once, one at least sees the other.
    alike = likenesses.likest(row, ordered=ordered)
    found = likenesses.found(row, gold, alike) if alike else []
    with transaction.atomic():
        if not mine.own().update(state=State.DONE, lease_until=None, finished_at=timezone.now()):
            raise LateError
        NearCopy.objects.bulk_create(found, ignore_conflicts=True)


def give_up(mine: Mine, *, reason: str, final: bool = False) -> None:
    """Queued again while attempts are left, else failed for good."""
    at = timezone.now()
    if final or mine.attempt >= settings.MAX_ATTEMPTS:
        mine.own().update(state=State.FAILED, reason=reason, lease_until=None, finished_at=at)
    elif mine.own().update(state=State.QUEUED, reason=reason, lease_until=None, rung_at=at):
        doorbell.ring_for_likeness(mine.row.pk)


def sweep() -> int:
    """Queue what was scored and not looked at, take back what silent workers hold, ring again; how many were rung."""
    at = timezone.now()
    _queue(at)
    unheard = at - timedelta(seconds=settings.SWEEP_SECONDS)
    lost = Likeness.objects.filter(state=State.RUNNING, lease_until__lt=at)
    spent = lost.filter(attempt__gte=settings.MAX_ATTEMPTS)
    spent.update(state=State.FAILED, reason=Reason.LOST, lease_until=None, finished_at=at)
    lost.update(state=State.QUEUED, reason=Reason.LOST, lease_until=None, rung_at=unheard)
    waiting = Likeness.objects.filter(state=State.QUEUED, rung_at__lte=unheard).order_by("queued_at")
    touched = 0
    for pk in list(waiting.values_list("pk", flat=True)[:AT_ONCE]):
        with transaction.atomic():
            if Likeness.objects.filter(pk=pk, state=State.QUEUED, rung_at__lte=unheard).update(rung_at=at):
                doorbell.ring_for_likeness(pk)
                touched += 1
    return touched


def _queue(at: datetime) -> None:
    """Rows for competing systems' predictions that have their scores; rung for at once."""
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

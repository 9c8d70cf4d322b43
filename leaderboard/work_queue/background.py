"""Work that nobody is charged for: what people ask for at a desk or a page, near-copies and audits, behind scoring.

One life for all of it: claimed under a lease, tried a bounded number of times, taken back from silent workers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import structlog
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from leaderboard.core.logs import places
from leaderboard.core.storage import AlteredError
from leaderboard.evaluation import sandbox_client as referee
from leaderboard.evaluation.report_checks import ReportError
from leaderboard.models import Reason, Run, State
from leaderboard.work_queue import claims
from leaderboard.work_queue.claims import Claim, LateError
from leaderboard.work_queue.lease import Lease

log = structlog.get_logger(__name__)
MAKES_WAY = timedelta(minutes=10)
"""As long such work lets runs go before it; then its turn has come."""


class NoAnswerError(Exception):
    """The sandbox said that it cannot be done; `reason` says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True)
class Work:
    """One kind of it. name: for the log; waiting: a queryset with what the worker reads of a row.

    ring: tells a worker of a row, after the commit; do: the work itself, whose writes name the claim.
    most: how many rows one sweep rings for; None: all.
    """

    name: str
    waiting: Any
    ring: Callable[[int], None]
    do: Callable[[Claim[Any]], None]
    makes_way: bool = False
    most: int | None = None

    @property
    def rows(self) -> Any:
        return self.waiting.model._default_manager


def attend(work: Work, *, pk: int) -> None:
    """One row from claim to end. Safe to call any number of times, from any number of workers."""
    named = {work.name: pk}
    if not referee.answers() or referee.is_outdated():
        log.warning("sandbox_away_or_outdated", **named)
        return
    if work.makes_way and _makes_way(work, pk):
        return
    mine = claims.claim(work.waiting, pk=pk)
    if mine is None:
        return
    with Lease(every=settings.LEASE_SECONDS / 3, renew=lambda: claims.renew(mine)):
        try:
            work.do(mine)
        except LateError:
            log.warning("late", attempt=mine.attempt, **named)
        except (ReportError, NoAnswerError) as error:
            log.error("report_refused", error=str(error), **named)
            give_up(work, mine, reason=getattr(error, "reason", Reason.BAD_REPORT), final=True)
        except referee.SandboxError as error:
            log.error("sandbox_broke", error=str(error), **named)
            give_up(work, mine, reason=Reason.SANDBOX)
        except (FileNotFoundError, AlteredError) as error:
            log.error("stored_file_unusable", error=type(error).__name__, **named)
            give_up(work, mine, reason=Reason.STORAGE, final=True)
        except Exception as error:  # noqa: BLE001  (logged, kept with the row, retried)
            log.error("background_broke", error=type(error).__name__, at=places(error.__traceback__), **named)
            give_up(work, mine, reason=Reason.INTERNAL)


def _makes_way(work: Work, pk: int) -> bool:
    """Whether runs wait that go first; the sweeper rings again."""
    if not Run.objects.filter(state=State.QUEUED, reason=Reason.NONE, scorer=None).exists():
        return False
    return bool(work.rows.filter(pk=pk, queued_at__gt=timezone.now() - MAKES_WAY).exists())


def give_up(work: Work, mine: Claim[Any], *, reason: str, final: bool = False) -> None:
    """Queued again while attempts are left, else failed for good."""
    at = timezone.now()
    if final or mine.attempt >= settings.MAX_ATTEMPTS:
        mine.own().update(state=State.FAILED, reason=reason, lease_until=None, finished_at=at)
    elif mine.own().update(state=State.QUEUED, reason=reason, lease_until=None, rung_at=at):
        work.ring(mine.row.pk)


def sweep(work: Work) -> int:
    """Take back what silent workers hold, and ring again for what nobody came for; how many were rung for."""
    at = timezone.now()
    unheard = at - timedelta(seconds=settings.SWEEP_SECONDS)
    lost = work.rows.filter(state=State.RUNNING, lease_until__lt=at)
    spent = lost.filter(attempt__gte=settings.MAX_ATTEMPTS)
    spent.update(state=State.FAILED, reason=Reason.LOST, lease_until=None, finished_at=at)
    lost.update(state=State.QUEUED, reason=Reason.LOST, lease_until=None, rung_at=unheard)
    waiting = work.rows.filter(state=State.QUEUED, rung_at__lte=unheard).order_by("queued_at")
    touched = 0
    for pk in list(waiting.values_list("pk", flat=True)[: work.most]):
        with transaction.atomic():
            if work.rows.filter(pk=pk, state=State.QUEUED, rung_at__lte=unheard).update(rung_at=at):
                work.ring(pk)
                touched += 1
    return touched

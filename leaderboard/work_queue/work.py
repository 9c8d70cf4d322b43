"""The state machine of all background work: queued, leased, done, or retried and at last failed.

A feature defines one `Work` for each kind. The list in `leaderboard.jobs` gives it a Celery task and a sweep. The
database is the truth: a message names a row and nothing else, and any number of workers may receive it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import chain
from typing import Any

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from leaderboard.core.logs import traceback_locations
from leaderboard.core.storage import AlteredError
from leaderboard.evaluation import sandbox_client
from leaderboard.evaluation.report_checks import ReportError
from leaderboard.models import Reason, Run, State
from leaderboard.work_queue import enqueue
from leaderboard.work_queue.lease import ExpiredLease, Lease, LeaseLostError, lease_end

log = structlog.get_logger(__name__)
MAKES_WAY = timedelta(minutes=10)
"""How long work that makes way lets queued runs go first."""
AT_ONCE = 1000
"""Rows that one sweep enqueues for each kind."""
STORAGE_ERRORS = (FileNotFoundError, AlteredError)


class NoAnswerError(Exception):
    """The sandbox cannot do this work, even if retried; `reason` is its Reason."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True)
class Failure:
    """The outcome of an attempt that raised. final: it is not retried, since the error would recur."""

    reason: str
    final: bool = False


Handler = Callable[[Lease[Any], Any], None]
"""Ends an attempt itself, given its lease and the error. May raise LeaseLostError."""
Errors = Mapping[type[Exception] | tuple[type[Exception], ...], Failure | Handler]


def lease_lost(lease: Lease[Any], error: Exception) -> None:
    """Handler of errors that mean that the lease was lost."""
    raise LeaseLostError from error


class StateColumns:
    """The columns that hold a row's state: conditions for queued and expired rows, and values of each transition.

    cleared: columns that are reset whenever an attempt fails.
    """

    order = "queued_at"
    retries_at_once = True
    """False: the next sweep enqueues a row whose attempt failed."""

    def __init__(self, **cleared: object) -> None:
        self.cleared = cleared

    def queued(self) -> Q:
        return Q(state=State.QUEUED)

    def expired(self, at: datetime) -> Q:
        return Q(state=State.RUNNING, lease_until__lt=at)

    def attempts_left(self, lease: Lease[Any]) -> bool:
        return lease.attempt < settings.MAX_ATTEMPTS

    def claim(self, at: datetime) -> dict[str, Any]:
        return {"state": State.RUNNING, "started_at": at, "reason": Reason.NONE}

    def retry(self, reason: str, enqueued_at: datetime) -> dict[str, Any]:
        return {**self.cleared, "state": State.QUEUED, "reason": reason, "enqueued_at": enqueued_at}

    def fail(self, reason: str, at: datetime) -> dict[str, Any]:
        return {**self.cleared, "state": State.FAILED, "reason": reason, "finished_at": at}


@dataclass(eq=False, repr=False, kw_only=True)
class Work:
    """One kind of background work.

    name: the last part of its Celery task's name, and `kind` in log lines
    rows: queryset of the model, with the relations that the worker reads
    do: the work itself; writes through the lease only, and ends with `Lease.finish`
    queue: Celery queue, or a function of the row that chooses it
    key: the column that messages contain
    errors: outcomes of exceptions raised by `do`; they take precedence over ERRORS
    columns: how the model holds the state

    is_ready: False while a dependency is unavailable, so that no attempt is spent on it
    may_claim: given the key; False if this worker must not claim the row
    makes_way: lets queued runs go first, for MAKES_WAY
    marks_outdated: sets the row's reason while it waits for a sandbox of this release
    on_renewal: called with each renewal of the lease
    lock: locks what must be locked before the row; called with the row in the transaction that fails it for good
    on_failure: called in the transaction of a failure, with the lease and True for the last attempt
    before_sweep: called at the beginning of each sweep
    has_workers: False while no worker would take a message; such rows wait for a later sweep
    former_name: name in the previous release, whose messages may still be in the broker; empty: none
    """

    name: str
    rows: Any
    do: Callable[[Lease[Any]], None]
    queue: str | Callable[[Any], str] = "scoring"
    key: str = "pk"
    errors: Errors = field(default_factory=dict)
    columns: StateColumns = field(default_factory=StateColumns)
    is_ready: Callable[[], bool] = lambda: sandbox_client.answers()  # noqa: PLW0108  (looked up at each call)
    may_claim: Callable[[Any], bool] = lambda key: True
    makes_way: bool = False
    marks_outdated: bool = False
    on_renewal: Callable[[], object] | None = None
    lock: Callable[[Any], object] = lambda row: None
    on_failure: Callable[[Lease[Any], bool], object] = lambda lease, final: None
    before_sweep: Callable[[], object] = lambda: None
    has_workers: Callable[[], bool] = lambda: True
    former_name: str = ""

    def enqueue(self, row: Any) -> None:
        """Send a row to the workers once the transaction has committed."""
        queue = self.queue(row) if callable(self.queue) else self.queue
        enqueue.after_commit(self.name, getattr(row, self.key), queue=queue)

    def run(self, key: Any) -> None:
        """Run one row from claim to end. Safe to call any number of times, from any number of workers."""
        logger = log.bind(kind=self.name, id=str(key))
        if not self.is_ready():
            # Attempts spent during a restart would be used up before it is over. The sweep enqueues again.
            logger.warning("sandbox_unavailable")
            return
        if sandbox_client.is_outdated():
            logger.warning("sandbox_outdated")
            if self.marks_outdated:
                self._all.filter(self.columns.queued(), **{self.key: key}).update(reason=Reason.OUTDATED)
            return
        if (self.makes_way and self._makes_way(key)) or not self.may_claim(key):
            return
        lease = self.claim(key)
        if lease is None:
            return
        with lease.renewed(self.on_renewal):
            try:
                self._attempt(lease)
            except LeaseLostError:
                logger.warning("lease_lost", attempt=lease.attempt)

    def claim(self, key: Any) -> Lease[Any] | None:
        """Compare and swap: return a lease on the row, or None if it is not queued or another worker was first."""
        waiting = self.rows.filter(self.columns.queued(), **{self.key: key})
        row = waiting.values_list("pk", "attempt").first()
        if row is None:
            return None
        pk, attempt = row
        at = timezone.now()
        claimed = self._all.filter(self.columns.queued(), pk=pk, attempt=attempt).update(
            attempt=attempt + 1, lease_until=lease_end(at), **self.columns.claim(at)
        )
        return Lease(self.rows.get(pk=pk), attempt + 1) if claimed else None

    @transaction.atomic
    def retry_or_fail(self, lease: Lease[Any], *, reason: str, final: bool = False, **columns: Any) -> bool:
        """Queue the row again while attempts are left, else fail it. True if it has failed for good.

        columns: further columns to write. Changes nothing if the lease is lost.
        """
        at = timezone.now()
        final = final or not self.columns.attempts_left(lease)
        if final:
            self.lock(lease.row)
            written = self.columns.fail(reason, at)
        else:
            # An expired row is due at once: the sweep that found it enqueues it.
            written = self.columns.retry(reason, _long_ago(lease.at) if isinstance(lease, ExpiredLease) else at)
        if not lease.rows().update(**{**written, "lease_until": None, **columns}):
            return False
        self.on_failure(lease, final)
        if not final and not isinstance(lease, ExpiredLease) and self.columns.retries_at_once:
            self.enqueue(lease.row)
        return final

    def sweep(self) -> int:
        """Requeue or fail rows with expired leases, and enqueue unclaimed rows again; return the number of rows."""
        self.before_sweep()
        at = timezone.now()
        expired = [ExpiredLease(row, row.attempt, at) for row in self.rows.filter(self.columns.expired(at))]
        touched = sum(self.retry_or_fail(lease, reason=Reason.LOST) for lease in expired)
        if not self.has_workers():
            return touched
        due = self.columns.queued() & Q(enqueued_at__lte=_long_ago(at))
        # A queue chosen by row needs all of the row; otherwise its key is enough.
        rows = self.rows if callable(self.queue) else self.rows.select_related(None).only(self.key)
        for row in list(rows.filter(due).order_by(self.columns.order)[:AT_ONCE]):
            with transaction.atomic():
                if self._all.filter(due, pk=row.pk).update(enqueued_at=at):
                    self.enqueue(row)
                    touched += 1
        return touched

    @property
    def _all(self) -> Any:
        return self.rows.model._default_manager

    def _makes_way(self, key: Any) -> bool:
        if not Run.objects.filter(state=State.QUEUED, reason=Reason.NONE, scorer=None).exists():
            return False
        return bool(self._all.filter(**{self.key: key}, queued_at__gt=timezone.now() - MAKES_WAY).exists())

    def _attempt(self, lease: Lease[Any]) -> None:
        """Make one attempt, and handle its exceptions. Raises LeaseLostError."""
        logger = log.bind(kind=self.name, id=str(getattr(lease.row, self.key)))
        try:
            self.do(lease)
        except LeaseLostError:
            raise
        except Exception as error:  # noqa: BLE001  (logged, kept with the row, retried)
            outcomes = chain(self.errors.items(), ERRORS.items())
            outcome = next((outcome for kinds, outcome in outcomes if isinstance(error, kinds)), None)
            if outcome is None:
                # The message may quote a file, so only type and location are logged.
                logger.error("job_failed", error=type(error).__name__, at=traceback_locations(error.__traceback__))
                self.retry_or_fail(lease, reason=Reason.INTERNAL)
            elif isinstance(outcome, Failure):
                logger.error("job_failed", error=f"{type(error).__name__}: {error}")
                reason = error.reason if isinstance(error, NoAnswerError) else outcome.reason
                self.retry_or_fail(lease, reason=reason, final=outcome.final)
            else:
                outcome(lease, error)


ERRORS: Errors = {
    (ReportError, NoAnswerError): Failure(Reason.BAD_REPORT, final=True),
    sandbox_client.SandboxError: Failure(Reason.SANDBOX),
    STORAGE_ERRORS: Failure(Reason.STORAGE, final=True),
}
"""Default outcomes of exceptions. NoAnswerError has its own reason; any other exception is an internal error."""


def _long_ago(at: datetime) -> datetime:
    """Return the time before which enqueued rows are enqueued again."""
    return at - timedelta(seconds=settings.SWEEP_SECONDS)

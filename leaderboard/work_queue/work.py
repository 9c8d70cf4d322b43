"""The state machine of background work: a row is queued, claimed with a lease, and then done, retried, or failed.

Idempotency: a row may be run any number of times, with the effect of one run. A message contains only the row's key,
and may be lost, delivered twice, or received by several workers. `Work.claim` lets only one worker have the row, by
compare and swap in the database (`lease.py`). If an attempt fails or its lease expires, another one follows, up to
MAX_ATTEMPTS; then the row has failed. An attempt that failed for a cause which lies with the server and passes (a full
disk, a store, an engine or a database that does not respond, a busy machine) does not count, and the next one follows
after a pause (`Work.retry_or_fail`).

A worker that is not ready (`Work.why_not_ready`) takes no message (`gate.py`); a message that it has received already
goes back to the broker, for another worker.

A message stands for its row, but a worker that receives it takes the most urgent row of its queue (`Urgency`). So there
are as many messages as rows, and their order in the broker does not matter.

The sweep is a periodic task for each kind of work: it retries or fails rows whose lease has expired, and enqueues a
queued row again if its message no longer waits in the broker. Messages have no names, but queues are first in, first
out: if n messages wait, they are those of the n rows that were enqueued last (`Work._without_message`).

`chosen_work.py` has the work of which it matters which worker gets a row.

To add a kind of background work, define a `Work` and list it in `leaderboard/jobs.py`, which gives it a Celery task
and a sweep.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import IntEnum
from itertools import chain
from typing import Any

import structlog
from django.conf import settings
from django.db import DatabaseError, InterfaceError, OperationalError, transaction
from django.db.models import Q
from django.utils import timezone
from structlog.contextvars import bound_contextvars, unbind_contextvars

from leaderboard.core import db_clock, db_locks, db_schema, disk, process_metrics
from leaderboard.core.logs import traceback_locations
from leaderboard.core.storage import AlteredError, is_store_gone, store_responds
from leaderboard.core.store_errors import StoreUnavailableError
from leaderboard.evaluation import sandbox_client
from leaderboard.evaluation.report_checks import ReportError
from leaderboard.models import Reason, State
from leaderboard.work_queue import enqueue
from leaderboard.work_queue.lease import ExpiredLease, Lease, LeaseLostError, lease_end

log = structlog.get_logger(__name__)
LONGEST_WAIT = timedelta(minutes=10)
"""How long after it was queued a row lets more urgent ones go first."""
AT_ONCE = 1000
"""Maximum number of rows that one sweep enqueues for each kind of work."""
LOST_AFTER = timedelta(hours=1)
"""Age from which a message counts as lost, even if as many messages wait in its queue as queued rows exist."""
SPARED_FOR = timedelta(days=1)
"""Attempts that failed for a cause that passes do not count for this long after the row was queued."""
PAUSE_SHARE, LONGEST_PAUSE = 4, timedelta(minutes=10)
"""The pause after such an attempt: the time since the row was queued, divided by PAUSE_SHARE, and its maximum."""
CONTENDERS = 4
"""Number of rows of a kind for which a worker contends with others before it looks for other work."""
STORAGE_ERRORS = (FileNotFoundError, AlteredError)


class Urgency(IntEnum):
    """Who waits for the work, the most urgent first. Workers take rows of a queue in this order.

    A row lets more urgent ones go first for LONGEST_WAIT at most. Of equally urgent rows, the first enqueued is first.
    """

    SUBMISSION = 1
    """A participant waits for a score."""
    PAGE = 2
    """Somebody looks at a page that waits for the result."""
    CURATION = 3
    """Organisers wait for the result of a long computation."""
    BOARD = 4
    """Nobody waits: the result completes a board that is shown already."""
    CHECK = 5
    """Nobody waits: the result is looked at on some later day."""
    PICTURE = 6
    """Nobody misses the result: pages show the same in another form."""


class WorkerOutdatedError(Exception):
    """Error: the work needs a later release than this worker runs; a worker of that release has to do it."""


class NotRetryableError(Exception):
    """Error: the sandbox can never do this work, so that it is not retried. reason: a `models.Reason`, for the row."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True)
class Failure:
    """Consequence of an exception in an attempt.

    reason: a value of `models.Reason`, stored in the row. final: True if no retry follows, because it would fail in the
    same way. passes: True if the cause lies with the server and passes: the attempt does not count
    (`Work.retry_or_fail`).
    """

    reason: str
    final: bool = False
    passes: bool = False


Handler = Callable[[Lease[Any], Any], None]
"""A function, called with the lease and the exception, that ends the attempt itself. It may raise LeaseLostError."""
Errors = Mapping[type[Exception] | tuple[type[Exception], ...], Failure | Handler]


def lease_lost(lease: Lease[Any], error: Exception) -> None:
    """Raise LeaseLostError from `error`; for `Work.errors`, as the handler of exceptions after a lost lease."""
    raise LeaseLostError from error


class StateColumns:
    """The columns in which a model stores the state of background work.

    Methods return conditions for queued and expired rows, and the column values to write when the state changes.
    cleared: column values that are written, in addition, whenever an attempt fails.
    """

    order = "queued_at"
    """The column by which a sweep sorts the rows that it enqueues."""
    retries_at_once = True
    """True: a row is enqueued as soon as its attempt has failed. False: the next sweep enqueues it."""

    def __init__(self, **cleared: object) -> None:
        self.cleared = cleared

    def queued(self) -> Q:
        return Q(state=State.QUEUED)

    def expired(self, at: datetime) -> Q:
        return Q(state=State.RUNNING, lease_until__lt=at)

    def attempts_left(self, lease: Lease[Any]) -> bool:
        return lease.attempt < settings.MAX_ATTEMPTS

    def give_back(self, lease: Lease[Any], at: datetime) -> dict[str, Any]:
        """Return the column values to write so that the lease's attempt does not count.

        Empty if the row was queued more than SPARED_FOR before `at`: then the attempt counts.
        """
        # The attempt has ended, so its number may be claimed again.
        return {"attempt": lease.attempt - 1} if lease.row.queued_at > at - SPARED_FOR else {}

    def claim(self, at: datetime) -> dict[str, Any]:
        return {"state": State.RUNNING, "started_at": at, "reason": Reason.NONE}

    def retry(self, reason: str, enqueued_at: Any) -> dict[str, Any]:
        return {**self.cleared, "state": State.QUEUED, "reason": reason, "enqueued_at": enqueued_at}

    def fail(self, reason: str, at: Any) -> dict[str, Any]:
        return {**self.cleared, "state": State.FAILED, "reason": reason, "finished_at": at}


@dataclass(eq=False, repr=False, kw_only=True)
class Work:
    """One kind of background work: one Celery task, which works on one row of a model at a time.

    name: the last part of the Celery task's name, and `kind` in log lines
    rows: queryset of all rows of this kind, with the relations that the worker reads
    do: does the work on the leased row; it writes to the row only through the lease, and ends with `Lease.finish`
    urgency: who waits for the work
    queue: name of the Celery queue
    key: name of the column whose value is the message's argument
    errors: exception class raised by `do` -> its consequence; these entries take precedence over ERRORS
    columns: how the model stores the state of a row

    is_ready: returns False while the sandbox or the container engine of this host is unavailable
    may_claim: called with the queued row; returns False if this worker must not claim it; raises WorkerOutdatedError
        if it needs a worker of a later release
    marks_outdated: True: a row that waits because the sandbox server runs other code than this worker gets the reason
        OUTDATED
    on_renewal: called before each renewal of the lease
    lock: called with the row in the transaction that fails it for good; locks rows that must be locked before this one
    on_failure: called in the transaction in which an attempt fails, with the lease and True if no retry follows
    before_sweep: called at the beginning of each sweep
    has_workers: returns False while no worker would take a message; queued rows then wait for a later sweep
    submission_of: returns the key of the row's submission, for log lines; None if the row has none
    peers: all kinds of work with the same queue, from the most urgent; `leaderboard/jobs.py` sets it
    """

    name: str
    rows: Any
    do: Callable[[Lease[Any]], None]
    urgency: Urgency
    queue: str = "scoring"
    key: str = "pk"
    errors: Errors = field(default_factory=dict)
    columns: StateColumns = field(default_factory=StateColumns)
    is_ready: Callable[[], bool] = lambda: sandbox_client.answers()  # noqa: PLW0108  (looked up at each call)
    may_claim: Callable[[Any], bool] = lambda row: True
    marks_outdated: bool = False
    on_renewal: Callable[[], object] | None = None
    lock: Callable[[Any], object] = lambda row: None
    on_failure: Callable[[Lease[Any], bool], object] = lambda lease, final: None
    before_sweep: Callable[[], object] = lambda: None
    has_workers: Callable[[], bool] = lambda: True
    submission_of: Callable[[Any], object] = lambda row: None
    peers: Sequence[Work] = ()

    def enqueue(self, row: Any) -> None:
        """Enqueue a message with the row's key once the current transaction has committed."""
        enqueue.after_commit(self.name, getattr(row, self.key), queue=self._queue_of(row))

    def why_not_ready(self) -> str:
        """Return why this host cannot do work of this kind now, as a key of `gate.MESSAGES`; empty if it can.

        Raises OperationalError or InterfaceError if the database does not respond.
        """
        if not db_schema.fits():
            return "schema_unfit"
        if not store_responds():
            return "store_unavailable"
        if disk.write_error():
            return "disk_unwritable"
        if sandbox_client.is_outdated():
            return "sandbox_outdated"
        if not db_clock.agrees():
            return "clock_differs"
        if not self.is_ready():
            return "engine_unavailable" if sandbox_client.answers() else "sandbox_unavailable"
        return ""

    def take(self, key: Any) -> bool:
        """Do what a message with this key stands for: the most urgent work of the queue that can be claimed now.

        It is the row with this key, unless more urgent ones wait; if it is not queued any more, because a message of
        another row has led to it, any row of the queue. Returns False if this worker is not ready, so that the message
        has to go to another one.
        """
        return self._run(key, self._next)

    def run(self, key: Any) -> bool:
        """Do the work of the row with this key; do nothing if the row cannot be claimed now.

        Idempotent: this may be called any number of times, by any number of workers, and only one of them works on the
        row. An exception of the work is not raised: it is logged, and the row queued again or failed. Returns False if
        this worker is not ready.
        """
        return self._run(key, self._own)

    def _run(self, key: Any, claim: Callable[[Any], tuple[Work, Lease[Any] | None]]) -> bool:
        """Work on the row that `claim` claims. Returns False if this worker is not ready."""
        logger = log.bind(kind=self.name, id=str(key))
        try:
            if why_not := self.why_not_ready():
                # Attempts would fail until none is left.
                logger.warning("message_given_back", reason=why_not)
                if self.marks_outdated and why_not == "sandbox_outdated":
                    self._all.filter(self.columns.queued(), **{self.key: key}).update(reason=Reason.OUTDATED)
                return False
            work, lease = claim(key)
        except WorkerOutdatedError:
            return False
        except (DatabaseError, InterfaceError) as error:
            # A database that cannot be written answers the checks.
            if not (db_locks.transient_message(error) or disk.is_passing(error)):
                raise
            logger.warning("database_unavailable", error=type(error).__name__)
            return False
        if lease is None:
            self._nothing_claimed(key)
        else:
            if work is not self or str(getattr(lease.row, self.key)) != str(key):
                unbind_contextvars("request_id")  # of the request that caused the message, and not this work
            work._perform(lease)
        return True

    def _own(self, key: Any) -> tuple[Work, Lease[Any] | None]:
        """Claim the row with this key, for `run`."""
        row = self._queued(key)
        return self, self._claim(row) if row is not None and self.may_claim(row) else None

    def _next(self, key: Any) -> tuple[Work, Lease[Any] | None]:
        """Claim a row for `take`; return its kind and the lease, which is None if there is no such row."""
        before = [kind for kind in self.peers if kind.urgency < self.urgency]
        if before and not self._has_waited(key):
            for kind in before:
                if lease := kind._claim_first():
                    return kind, lease
        own = self._own(key)
        if own[1] is None:
            for kind in self.peers:
                if lease := kind._claim_first():
                    return kind, lease
        return own

    def _has_waited(self, key: Any) -> bool:
        """Return True if the row with this key need not let more urgent ones go first any more."""
        waited = {f"{self.columns.order}__lte": db_clock.now() - LONGEST_WAIT}
        return bool(self._all.filter(**{self.key: key}, **waited).exists())

    def _claim_first(self) -> Lease[Any] | None:
        """Take a lease on the first queued row that this worker may claim; None if there is none."""
        for row in self.rows.filter(self._waiting()).order_by(self.columns.order)[:CONTENDERS]:
            try:
                if self.may_claim(row) and (lease := self._claim(row)):
                    return lease
            except WorkerOutdatedError:
                continue
        return None

    def _waiting(self) -> Q:
        """Return the condition for queued rows that do not pause after a failure, and can be done by this release."""
        return self.columns.queued() & ~Q(reason=Reason.OUTDATED) & Q(enqueued_at__lte=db_clock.now())

    def is_overtaken(self) -> bool:
        """Return True if more urgent rows wait in the same queue."""
        return any(
            kind.rows.filter(kind._waiting()).order_by().exists() for kind in self.peers if kind.urgency < self.urgency
        )

    def _perform(self, lease: Lease[Any]) -> None:
        """Do the work on a leased row, renew the lease meanwhile, and measure both."""
        if lease.attempt > 1:
            process_metrics.REPEATED_ATTEMPTS.labels(self.name).inc()
        elif (queued_at := getattr(lease.row, "queued_at", None)) is not None:
            waited = (timezone.now() - queued_at).total_seconds()
            process_metrics.JOB_WAIT_SECONDS.labels(self.name).observe(max(0.0, waited))
        began = time.monotonic()
        with bound_contextvars(kind=self.name, id=str(getattr(lease.row, self.key)), **self._submission(lease.row)):
            with lease.renewed(self.on_renewal):
                try:
                    outcome = self._attempt(lease)
                except LeaseLostError:
                    log.warning("lease_lost", attempt=lease.attempt)
                    outcome = "lost"
            seconds = time.monotonic() - began
            process_metrics.ATTEMPT_SECONDS.labels(self.name).observe(seconds)
            process_metrics.ATTEMPTS.labels(self.name, outcome).inc()
            if outcome == "ended":
                log.info("job_ended", attempt=lease.attempt, seconds=round(seconds, 3))

    def claim(self, key: Any) -> Lease[Any] | None:
        """Take a lease on the row with this key; return None if the row is not queued or another worker was first.

        key: value of the column `Work.key`. Each claim increments the row's `attempt`.
        """
        row = self._queued(key)
        return None if row is None else self._claim(row)

    def _queued(self, key: Any) -> Any:
        """Return the row whose column `key` has this value if the row is queued, else None."""
        return self.rows.filter(self.columns.queued(), **{self.key: key}).order_by().first()

    def _claim(self, row: Any) -> Lease[Any] | None:
        """Take a lease on a queued row; return None if another worker has claimed it since it was read.

        Done by compare and swap on the row's `attempt`.
        """
        columns = {"attempt": row.attempt + 1, **self.columns.claim(timezone.now())}
        queued = self._all.filter(self.columns.queued(), pk=row.pk, attempt=row.attempt)
        if not queued.update(lease_until=lease_end(), **columns):
            return None
        for name, value in columns.items():
            setattr(row, name, value)
        return Lease(row, row.attempt)

    def _nothing_claimed(self, key: Any) -> None:
        """Called when a message with this key led to no claim."""

    @transaction.atomic
    def retry_or_fail(
        self, lease: Lease[Any], *, reason: str, final: bool = False, passes: bool = False, **columns: Any
    ) -> bool:
        """Queue the row for another attempt if any is left, else fail it; return True if it has failed for good.

        reason: a value of `models.Reason`, stored in the row. final: fail the row even if attempts are left. columns:
        further column values to write. passes: the cause lies with the server and passes, so the attempt does not count
        (`StateColumns.give_back`), and a sweep enqueues the row after a pause. If the lease is lost, nothing changes
        and False is returned.
        """
        at = timezone.now()
        given_back = self.columns.give_back(lease, at) if passes else {}
        final = (final or not self.columns.attempts_left(lease)) and not given_back
        is_enqueued = False
        if final:
            self.lock(lease.row)
            written = self.columns.fail(reason, db_clock.now())
        else:
            # Without a message, a row is enqueued by the next step of this sweep, or by the next one.
            is_enqueued = self.columns.retries_at_once and not given_back and not isinstance(lease, ExpiredLease)
            enqueued_at = db_clock.now()
            if not is_enqueued:
                enqueued_at = not_enqueued(enqueued_at) if not given_back else enqueued_at + self._pause(lease, at)
            written = self.columns.retry(reason, enqueued_at)
        columns = {**written, "lease_until": None, **columns, **given_back}
        if not lease.rows().update(**columns):
            return False
        self.on_failure(lease, final)
        if is_enqueued:
            self.enqueue(lease.row)
        return final

    def _pause(self, lease: Lease[Any], at: datetime) -> timedelta:
        """Return how long after `at` the row is to be tried again: the longer it has waited already, the later.

        Meanwhile its `enqueued_at` is in the future, and `_without_message` finds it when that time is near.
        """
        waited = at - (getattr(lease.row, "queued_at", None) or lease.row.enqueued_at)
        return max(2 * timedelta(seconds=settings.SWEEP_SECONDS), min(waited / PAUSE_SHARE, LONGEST_PAUSE))

    def sweep(self, kinds: Sequence[Work] = ()) -> int:
        """Retry or fail rows whose lease has expired, and enqueue queued rows again whose message is lost.

        kinds: all kinds of work whose messages may wait in the same queue; empty: only this one. Returns the number of
        rows that failed for good or were enqueued. Several sweeps may run at the same time.
        """
        self.before_sweep()
        at = db_clock.read()
        touched = self._take_back(at)
        if not self.has_workers():
            return touched
        try:
            rows = self._without_message(at, kinds or (self,))
        except enqueue.BrokerError as error:
            log.warning("broker_unavailable", kind=self.name, error=str(error))
            return touched
        for row in rows:
            queued = self._all.filter(self.columns.queued(), pk=row.pk, enqueued_at=row.enqueued_at)
            with transaction.atomic():
                # Each row has a time of its own, by which its message is found among those that wait.
                if queued.update(enqueued_at=db_clock.now()):
                    self.enqueue(row)
                    touched += 1
        return touched

    def _take_back(self, at: datetime) -> int:
        """Retry or fail the rows whose lease expired before `at`; return the number of rows that failed for good."""
        expired = [ExpiredLease(row, row.attempt, at) for row in self.rows.filter(self.columns.expired(at))]
        # Rows that fail for good come last, because they may have to wait for locks that a dead host holds.
        expired.sort(key=self.columns.attempts_left, reverse=True)
        if expired:
            process_metrics.EXPIRED_LEASES.labels(self.name).inc(len(expired))
        failed = 0
        for lease in expired:
            try:
                failed += self.retry_or_fail(lease, reason=Reason.LOST)
            except OperationalError as error:
                if not db_locks.transient_message(error):
                    raise
                log.warning("lease_not_taken_back", kind=self.name, id=str(lease.row.pk), error=type(error).__name__)
                break
        return failed

    def _without_message(self, at: datetime, kinds: Sequence[Work]) -> list[Any]:
        """Return at most AT_ONCE rows that were enqueued more than SWEEP_SECONDS before `at` and whose message is lost.

        Among them are rows that pause after a failure (`_pause`) until about the next sweep, and have no message.

        If n messages wait in the queue, they are assumed to be those of the n rows of all `kinds` that were enqueued
        last; the messages of earlier rows are lost. If the queue also has messages of rows that are no longer queued, a
        lost message is noticed only once those have been received, or after LOST_AFTER. Raises BrokerError if the
        broker cannot be reached.
        """
        interval = timedelta(seconds=settings.SWEEP_SECONDS)
        # Another sweep may have enqueued a row since `at`, but not so much later.
        future = at + interval / 2
        pausing = Q(enqueued_at__gt=future, enqueued_at__lte=at + 2 * interval)
        due = self.columns.queued() & (Q(enqueued_at__lte=at - interval) | pausing)
        return self._lost(self._in_queue().filter(due).order_by(self.columns.order), kinds, at, future)

    def _lost(self, rows: Any, kinds: Sequence[Work], at: datetime, future: datetime) -> list[Any]:
        """Return at most AT_ONCE of the rows: those whose message is lost, and those enqueued after `future`."""
        if not rows.exists():
            return []
        lost = Q(enqueued_at__lte=last_without_message(self.queue, kinds, at))
        return list(rows.filter(lost | Q(enqueued_at__gt=future))[:AT_ONCE])

    def _in_queue(self) -> Any:
        """Return a queryset of all rows of this kind, in any state, with only the columns that `enqueue` reads."""
        return self.rows.select_related(None).only(self.key, "enqueued_at")

    def _queue_of(self, row: Any) -> str:
        return self.queue

    def _enqueued(self, queue: str, since: datetime) -> Iterable[datetime]:
        """Return when each row that is still queued was enqueued to `queue`, if that was after `since`.

        Rows that pause after a failure (`_pause`) are left out.
        """
        rows = self._in_queue().filter(self.columns.queued(), enqueued_at__gt=since, enqueued_at__lte=db_clock.now())
        times: Iterable[datetime] = rows.values_list("enqueued_at", flat=True) if self.queue == queue else ()
        return times

    def passes(self, error: Exception) -> bool:
        """Return True if an attempt failed for a cause that lies with the server and passes.

        The error says so itself, or this host is not ready any more: the sandbox or the engine has died, for example.
        """
        if isinstance(error, NotRetryableError):
            return False
        if disk.is_passing(error) or db_locks.transient_message(error):
            return True
        if isinstance(error, FileNotFoundError) and is_store_gone():
            return True
        try:
            return bool(self.why_not_ready())
        except (OperationalError, InterfaceError) as away:
            return bool(db_locks.transient_message(away))

    @property
    def _all(self) -> Any:
        return self.rows.model._default_manager

    def _submission(self, row: Any) -> dict[str, str]:
        submission = self.submission_of(row)
        return {"submission": str(submission)} if submission is not None else {}

    def _attempt(self, lease: Lease[Any]) -> str:
        """Do the work on the leased row; if it raises an exception, queue the row again or fail it.

        Returns "ended", or "error" after an exception. Raises LeaseLostError if the lease is lost.
        """
        try:
            self.do(lease)
        except LeaseLostError:
            raise
        except Exception as error:  # noqa: BLE001  (logged, kept with the row, retried)
            outcomes = chain(self.errors.items(), ERRORS.items())
            outcome = next((outcome for kinds, outcome in outcomes if isinstance(error, kinds)), None)
            if outcome is None:
                # The message may quote a file, so only type and location are logged.
                log.error("job_failed", error=type(error).__name__, at=traceback_locations(error.__traceback__))
                self.retry_or_fail(lease, reason=Reason.INTERNAL, passes=self.passes(error))
            elif isinstance(outcome, Failure):
                log.error("job_failed", error=f"{type(error).__name__}: {error}")
                reason = error.reason if isinstance(error, NotRetryableError) else outcome.reason
                passes = outcome.passes or self.passes(error)
                self.retry_or_fail(lease, reason=reason, final=outcome.final, passes=passes)
            else:
                outcome(lease, error)
            return "error"
        return "ended"


BUSY: Errors = {sandbox_client.SandboxTimeoutError: Failure(Reason.SANDBOX, passes=True)}
"""Consequence of a timeout on a busy machine: part of ERRORS, and of each `Work.errors` with a SandboxError."""
ERRORS: Errors = {
    (ReportError, NotRetryableError): Failure(Reason.BAD_REPORT, final=True),
    **BUSY,
    sandbox_client.SandboxError: Failure(Reason.SANDBOX),
    StoreUnavailableError: Failure(Reason.STORAGE, passes=True),
    STORAGE_ERRORS: Failure(Reason.STORAGE, final=True),
}
"""Consequences of exceptions in an attempt, unless `Work.errors` has others.

The `reason` of a NotRetryableError replaces the one here. After an exception that is not listed, the row gets the
reason INTERNAL and is retried. Whatever the exception, the attempt does not count if its cause passes (`Work.passes`).
"""


def not_enqueued(at: Any) -> Any:
    """Return a value of `enqueued_at` for a row without a message: so long ago that the next sweep enqueues the row.

    at: the current time by `db_clock`.
    """
    return at - 2 * LOST_AFTER


def last_without_message(queue: str, kinds: Sequence[Work], at: datetime) -> datetime:
    """Return a time: messages of rows that were enqueued to `queue` at this time or earlier are assumed to be lost.

    kinds: all kinds of work with messages in the queue. at: now. Raises BrokerError if the broker cannot be reached.
    """
    lost = at - LOST_AFTER
    # Rows are read before messages are counted: the message of a row that is claimed in between waits no more, and
    # the row is not enqueued, because it is not queued any more.
    enqueued = sorted(chain.from_iterable(kind._enqueued(queue, lost) for kind in kinds), reverse=True)
    n = enqueue.n_waiting(queue)
    return enqueued[n] if n < len(enqueued) else lost

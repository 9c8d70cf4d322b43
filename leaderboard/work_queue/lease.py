"""Leases: the right of one worker to write to a row of background work, for LEASE_SECONDS, renewed while it works.

LEASE_SECONDS is a setting: `leaderboard/environment.py` has its default. Leases begin and end by the database's clock
(`leaderboard.core.db_clock`), since the worker and the sweep may be on hosts whose clocks differ.

A row is leased while its `lease_until` is set. If the worker dies, the lease expires and the sweep requeues the row for
another attempt. Every write goes through `Lease.rows()`, which filters by the number of the attempt (a fencing token),
so a worker that has lost its lease can no longer change the row.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import TracebackType
from typing import Any, Generic, TypeVar

import structlog
from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection
from django.db.models import Model, QuerySet

from leaderboard.core import db_clock
from leaderboard.models import ACTIVE, Reason, State

log = structlog.get_logger(__name__)
Row = TypeVar("Row", bound=Model)
RENEWALS = 3
"""Number of renewals within LEASE_SECONDS, so that a lease survives two failed renewals."""


class LeaseLostError(Exception):
    """Error: the lease expired and the sweep took it away, or the row was cancelled. The attempt may write no more."""


def lease_end() -> Any:
    """Return the time LEASE_SECONDS from now, at which a new lease expires, as a value for a query."""
    return db_clock.now() + timedelta(seconds=settings.LEASE_SECONDS)


@dataclass(frozen=True)
class Lease(Generic[Row]):
    """The lease of one attempt at a row.

    row: the row as it was read when the lease was taken; attempt: the number of the attempt, from 1.
    """

    row: Row
    attempt: int

    def rows(self) -> Any:
        """Return a queryset of the row if this attempt still holds the lease, else an empty one."""
        return type(self.row)._default_manager.filter(pk=self.row.pk, attempt=self.attempt, lease_until__isnull=False)

    def write(self, **columns: Any) -> None:
        """Update columns of the row. Raises LeaseLostError if the lease is lost."""
        if not self.rows().update(**columns):
            raise LeaseLostError

    def finish(self, **columns: Any) -> None:
        """Write the row's final `state` and other columns, set `finished_at` to now, and give up the lease.

        Raises LeaseLostError if the lease is lost.
        """
        self.write(**{"lease_until": None, "finished_at": db_clock.now(), **columns})

    def renew(self) -> bool:
        """Extend the lease to LEASE_SECONDS from now; return False if the lease is lost."""
        return bool(self.rows().update(lease_until=lease_end()))

    def renewed(self, also: Callable[[], object] | None = None) -> Heartbeat:
        """Return a context manager that renews the lease in a thread until its block ends or the lease is lost.

        also: function that the thread calls before each renewal; None for no function.
        """

        def beat() -> bool:
            if also is not None:
                also()
            return self.renew()

        return Heartbeat(seconds=settings.LEASE_SECONDS / RENEWALS, beat=beat)


def cancel_rows(rows: QuerySet[Any], reason: Reason, **columns: Any) -> int:
    """Cancel those of `rows` that are queued or running, and return the number of cancelled rows.

    A worker that works on such a row loses its lease, and its result is dropped. columns: further column values to
    write.
    """
    written = {"state": State.CANCELLED, "reason": reason, "lease_until": None, "finished_at": db_clock.now()}
    return rows.filter(state__in=ACTIVE).update(**written, **columns)


@dataclass(frozen=True)
class ExpiredLease(Lease[Row]):
    """A lease that ended before the time `at`, which lets the sweep write to a dead worker's row.

    It counts as lost if the worker has renewed it since.
    """

    at: datetime

    def rows(self) -> Any:
        return super().rows().filter(lease_until__lt=self.at)


class Heartbeat:
    """A context manager that calls `beat` every `seconds` in a thread, until its block ends or `beat` returns False.

    An error of the database is logged, and the calls go on.
    """

    def __init__(self, *, seconds: float, beat: Callable[[], bool]) -> None:
        self._seconds = seconds
        self._beat = beat
        self._over = threading.Event()

    def __enter__(self) -> Heartbeat:
        # The thread logs with the keys of the job, which are context variables.
        self._thread = threading.Thread(
            target=contextvars.copy_context().run, args=(self._run,), daemon=True, name="heartbeat"
        )
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            while not self._over.wait(self._seconds):
                try:
                    if not self._beat():
                        return
                except (DatabaseError, InterfaceError) as error:
                    # The next beat may reach the database again.
                    log.warning("lease_renewal_failed", error=type(error).__name__)
                    connection.close()
        finally:
            connection.close()

"""A lease on a row: one worker's right to write to it, renewed while the work goes on.

A row is leased while `lease_until` is set. Every write goes through `Lease.rows()`, which names the attempt, so a
worker that lost its lease and comes back late changes nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import TracebackType
from typing import Any, Generic, TypeVar

import structlog
from django.conf import settings
from django.db import DatabaseError, connection
from django.db.models import Model
from django.utils import timezone

log = structlog.get_logger(__name__)
Row = TypeVar("Row", bound=Model)
RENEWALS = 3
"""Renewals per lease duration, so that a lease survives two failed ones."""


class LeaseLostError(Exception):
    """The row belongs to another attempt; nothing may be written."""


def lease_end(at: datetime) -> datetime:
    """Return the end of a lease that is taken or renewed at `at`."""
    return at + timedelta(seconds=settings.LEASE_SECONDS)


@dataclass(frozen=True)
class Lease(Generic[Row]):
    """One attempt at a row. row: as read when the lease was taken."""

    row: Row
    attempt: int

    def rows(self) -> Any:
        """Queryset of the row; empty once the lease is lost."""
        return type(self.row)._default_manager.filter(pk=self.row.pk, attempt=self.attempt, lease_until__isnull=False)

    def write(self, **columns: Any) -> None:
        """Update the row. Raises LeaseLostError."""
        if not self.rows().update(**columns):
            raise LeaseLostError

    def finish(self, **columns: Any) -> None:
        """Update the row and end the work, in the state that `columns` names. Raises LeaseLostError."""
        self.write(**{"lease_until": None, "finished_at": timezone.now(), **columns})

    def renew(self) -> bool:
        """Extend the lease. False once it is lost."""
        return bool(self.rows().update(lease_until=lease_end(timezone.now())))

    def renewed(self, also: Callable[[], object] | None = None) -> Heartbeat:
        """Context manager that renews the lease until the block ends. also: called before each renewal."""

        def beat() -> bool:
            if also is not None:
                also()
            return self.renew()

        return Heartbeat(seconds=settings.LEASE_SECONDS / RENEWALS, beat=beat)


@dataclass(frozen=True)
class ExpiredLease(Lease[Row]):
    """A lease that had ended at `at`. Its rows are empty if the worker has renewed it since."""

    at: datetime

    def rows(self) -> Any:
        return super().rows().filter(lease_until__lt=self.at)


class Heartbeat:
    """Calls `beat` every `seconds` in a thread, until the block ends or `beat` returns False."""

    def __init__(self, *, seconds: float, beat: Callable[[], bool]) -> None:
        self._seconds = seconds
        self._beat = beat
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True, name="heartbeat")

    def __enter__(self) -> Heartbeat:
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
                except DatabaseError as error:
                    # The next beat may reach the database again.
                    log.warning("lease_renewal_failed", error=type(error).__name__)
                    connection.close()
        finally:
            connection.close()

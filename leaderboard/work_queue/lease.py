"""Keeping a lease alive while the work goes on."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType

import structlog
from django.db import DatabaseError, connection

log = structlog.get_logger(__name__)


class Lease:
    """Calls `renew` every `every` seconds in a thread until the block ends, or until the lease is lost."""

    def __init__(self, *, every: float, renew: Callable[[], bool]) -> None:
        self._every = every
        self._renew = renew
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._beat, daemon=True, name="lease")

    def __enter__(self) -> Lease:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()

    def _beat(self) -> None:
        try:
            while not self._over.wait(self._every):
                try:
                    if not self._renew():
                        return
                except DatabaseError as error:
                    # The next beat may reach the database again; the lease outlives two missed beats.
                    log.warning("lease_not_renewed", error=type(error).__name__)
                    connection.close()
        finally:
            connection.close()

"""Detection of transient lock errors: SQLite's lock timeout, PostgreSQL's lock timeouts and deadlocks."""

from __future__ import annotations

from django.db import OperationalError

RETRY_AFTER = 10
"""Value of the Retry-After header, in seconds."""
MESSAGE = "The database is busy. Nothing from this request was saved; try again in a moment."
_WORDS = ("locked", "lock timeout", "deadlock detected")


def is_busy(error: BaseException | None) -> bool:
    """Return whether an error is a database lock timeout or deadlock, so that the request can be retried."""
    return isinstance(error, OperationalError) and any(word in str(error) for word in _WORDS)

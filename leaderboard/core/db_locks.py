"""A database that others hold: SQLite after its timeout, PostgreSQL where locks time out or cross. It passes."""

from __future__ import annotations

from django.db import OperationalError

RETRY_AFTER = 10
"""Seconds that are asked of who comes back."""
MESSAGE = "The server is busy writing. Nothing of this request was kept; try again in a moment."
_WORDS = ("locked", "lock timeout", "deadlock detected")


def is_busy(error: BaseException | None) -> bool:
    """Whether the request could do nothing for it, and the server little."""
    return isinstance(error, OperationalError) and any(word in str(error) for word in _WORDS)

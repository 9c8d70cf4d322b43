"""The database's clock, which all hosts of a site share.

A host's own clock may be wrong by hours. So a time that other hosts compare with the current time, such as the end of a
lease, is written and compared by the database's clock. That clock may be wrong too: what cannot be undone, such as the
opening of a sealed phase, also waits for the clock of the host that does it (`earliest`).
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import structlog
from django.db import connection
from django.db.models import DateTimeField, Value
from django.db.models.functions import Now
from django.utils import timezone

log = structlog.get_logger(__name__)
TOLERANCE = timedelta(seconds=30)
"""Largest difference between the clocks of this host and of the database with which they count as equal."""


def now() -> Any:
    """Return the database's current time, to be used as a value in a query; a `timedelta` may be added or subtracted.

    On PostgreSQL this is an expression that the server evaluates, on SQLite the current time of this process.
    """
    return Now() if connection.vendor == "postgresql" else timezone.now()


def column() -> Any:
    """Return an expression for the database's current time, to be read as an annotation of another query."""
    return Now() if connection.vendor == "postgresql" else Value(timezone.now(), DateTimeField())


def read() -> datetime:
    """Return the database's current time. On PostgreSQL this executes a query."""
    if connection.vendor != "postgresql":
        return timezone.now()
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        at: datetime = cursor.fetchone()[0]
        return at


def offset() -> timedelta:
    """Return by how much the database's clock is ahead of this host's: zero on SQLite, which has no clock of its own.

    The query takes a moment, of which half is attributed to each way. On PostgreSQL this executes a query.
    """
    if connection.vendor != "postgresql":
        return timedelta()
    before = timezone.now()
    at = read()
    return at - before - (timezone.now() - before) / 2


def agrees() -> bool:
    """Return whether the clocks of this host and of the database differ by TOLERANCE at most."""
    return abs(offset()) <= TOLERANCE


def earliest(by_database: datetime | None = None) -> datetime:
    """Return the current time by the slower one of two clocks, the database's and this host's.

    What cannot be undone goes by it, such as the deletion of what is old: a clock that is ahead causes nothing early.
    If the clocks differ by more than TOLERANCE, an error is logged. by_database: the database's time, if `read` has
    returned it just now; None: it is read.
    """
    database, host = by_database or read(), timezone.now()
    ahead = database - host
    if abs(ahead) > TOLERANCE:
        log.error("clocks_differ", database_ahead_seconds=round(ahead.total_seconds(), 1))
    return min(database, host)

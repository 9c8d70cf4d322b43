"""The database's clock, which all hosts of a site share.

A host's own clock may be wrong by hours. So a time that other hosts compare with the current time, such as the end of a
lease, is written and compared by the database's clock.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.db import connection
from django.db.models import DateTimeField, Value
from django.db.models.functions import Now
from django.utils import timezone

CLOSE = timedelta(minutes=1)
"""Difference from which this host's clock counts as wrong: machines that are synchronised differ by milliseconds."""


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


def agrees() -> bool:
    """Return whether the clock of this host and that of the database differ by less than CLOSE. Executes a query."""
    return abs(read() - timezone.now()) < CLOSE

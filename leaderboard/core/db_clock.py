"""The database's clock, which all hosts of a site share.

A host's own clock may be wrong by hours. So times that another host compares with the present, such as the end of a
lease, are written and compared by this clock.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import connection
from django.db.models import DateTimeField, Value
from django.db.models.functions import Now
from django.utils import timezone


def now() -> Any:
    """Return the present time as a value or filter of a query; a `timedelta` may be added or subtracted.

    On PostgreSQL this is an expression that the server evaluates. SQLite has the clock of this process.
    """
    return Now() if connection.vendor == "postgresql" else timezone.now()


def column() -> Any:
    """Return the present time as a column of a query that is made anyway."""
    return Now() if connection.vendor == "postgresql" else Value(timezone.now(), DateTimeField())


def read() -> datetime:
    """Return the present time. On PostgreSQL this takes a query."""
    if connection.vendor != "postgresql":
        return timezone.now()
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        at: datetime = cursor.fetchone()[0]
        return at

"""Transient database errors, after which a request may be repeated, and the timeouts of PostgreSQL sessions.

A worker that freezes, or whose host vanishes, inside a transaction would hold its locks until TCP gives up, which takes
hours. So PostgreSQL itself ends a session that leaves a transaction idle, and a statement that waits too long for a
lock (`session_options`). Where a whole phase waits for a lock, the pause is shorter (`idle_limit`). SQLite has a
timeout for its one lock (settings.py).
"""

from __future__ import annotations

import traceback
from typing import Any

from django.conf import settings
from django.db import DatabaseError, InterfaceError, OperationalError, connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Func, QuerySet, TextField, Value

RETRY_AFTER = 10
"""Value of the Retry-After header, in seconds."""
BUSY = "The database is busy. Nothing from this request was saved; try again in a moment."
AWAY = "The database does not respond. Nothing from this request was saved; try again in a moment."
_BUSY_WORDS = ("locked", "lock timeout", "deadlock detected")
_BUSY_STATES = ("55P03", "40P01", "40001", "57014")
"""SQLSTATEs of PostgreSQL: lock timeout, deadlock, serialization failure, statement timeout."""
_COMMIT = BaseDatabaseWrapper._commit.__code__  # type: ignore[attr-defined]  # the stubs lack it
_AWAY_STATES = ("57P01", "57P02", "57P03", "53300", "25P03")
"""SQLSTATEs of a session that PostgreSQL ends or refuses: shutdown, crash, start, too many connections, idle."""


def transient_message(error: BaseException | None) -> str:
    """Return the message for a database error after which the request may be repeated; empty for any other error, and
    for None.
    """
    if not isinstance(error, DatabaseError | InterfaceError):
        return ""
    cause = error.__cause__
    state = getattr(cause, "sqlstate", None)
    is_operational = isinstance(error, OperationalError)
    if state in _BUSY_STATES or (is_operational and any(word in str(error) for word in _BUSY_WORDS)):
        return BUSY
    # psycopg gives no SQLSTATE to a connection that cannot be made or was lost.
    is_lost = hasattr(cause, "sqlstate") and state is None and (is_operational or isinstance(error, InterfaceError))
    return AWAY if is_lost or state in _AWAY_STATES or str(state).startswith("08") else ""


def is_commit_unknown(error: BaseException) -> bool:
    """Return True if the connection was lost during COMMIT, so that nobody knows whether it took effect.

    If the connection was lost before, nothing was committed.
    """
    frames = (frame for frame, _ in traceback.walk_tb(error.__traceback__))
    return transient_message(error) == AWAY and any(frame.f_code is _COMMIT for frame in frames)


def session_options(*, lock_seconds: int, idle_seconds: int, pooled: bool = False) -> dict[str, Any]:
    """Return psycopg's connection options, which keep a dead or frozen process from blocking other processes.

    lock_seconds: longest wait for a lock. idle_seconds: longest pause between two statements of a transaction. Both
    ends of the connection notice within 25 seconds that the other host has vanished. pooled: the connection leads to
    PgBouncer, whose sessions serve several clients: they get the timeouts from its configuration.
    """
    client = {
        "connect_timeout": 5,
        "keepalives_idle": 10,
        "keepalives_interval": 5,
        "keepalives_count": 3,
        "tcp_user_timeout": 25_000,
    }
    if pooled:
        return client
    server = {
        "lock_timeout": lock_seconds * 1000,
        "idle_in_transaction_session_timeout": idle_seconds * 1000,
        "tcp_keepalives_idle": 10,
        "tcp_keepalives_interval": 5,
        "tcp_keepalives_count": 3,
        "tcp_user_timeout": 25_000,
    }
    return {**client, "options": " ".join(f"-c {name}={value}" for name, value in server.items())}


def allow_idle_transaction() -> None:
    """Let the current transaction pause between its statements while it copies files. It must lock no existing rows."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL idle_in_transaction_session_timeout = 0")


IDLE_LIMIT = "idle_in_transaction_session_timeout"


def idle_limit(seconds: str) -> Func | Value:
    """Return an expression that lets PostgreSQL end this session if it pauses for `seconds` within the transaction.

    It is a column of the query that takes the lock, so that it costs no statement. It holds until the transaction ends.
    seconds: with its unit, as `lock_idle` returns it. On SQLite the expression does nothing.
    """
    if connection.vendor != "postgresql":
        return Value(seconds)
    return Func(Value(IDLE_LIMIT), Value(seconds), Value(True), function="set_config", output_field=TextField())


def lock_idle() -> str:
    """Return the longest pause of a transaction that holds a lock for which a phase waits (LOCK_IDLE_SECONDS)."""
    return f"{settings.LOCK_IDLE_SECONDS}s"


def locked(rows: QuerySet[Any], seconds: str | None = None) -> QuerySet[Any]:
    """Return the queryset, which locks its rows until the transaction ends, or until the process has frozen.

    seconds: of `idle_limit`; None: `lock_idle`.
    """
    return rows.select_for_update(no_key=True).annotate(idle_limit=idle_limit(seconds or lock_idle()))


RANKING = 1
"""Kind of `try_lock`: the process that ranks the new releases of a phase."""


def try_lock(kind: int, key: int) -> bool:
    """Lock (kind, key) until the current transaction ends; return False at once if another transaction has locked it.

    kind: a constant of this module. The lock ends with a process that freezes (`idle_limit`). Returns True on SQLite,
    where no two transactions write at the same time.
    """
    if connection.vendor != "postgresql":
        return True
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_try_advisory_xact_lock(%s, %s), set_config(%s, %s, true)", [kind, key, IDLE_LIMIT, lock_idle()]
        )
        return bool(cursor.fetchone()[0])

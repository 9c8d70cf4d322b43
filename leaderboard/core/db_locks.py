"""Transient database errors, after which a request may be repeated, and the timeouts of PostgreSQL sessions.

A worker that freezes, or whose host vanishes, inside a transaction would hold its locks until TCP gives up, which takes
hours. So PostgreSQL ends a session whose transaction pauses too long between two statements, and a statement that waits
too long for a lock (`session_options`). For a transaction with a lock for which all work of a phase waits, the longest
pause is shorter (`idle_limit`). SQLite has a timeout for its only lock (settings.py).
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.db import DatabaseError, InterfaceError, OperationalError, connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Func, QuerySet, TextField, Value

RETRY_AFTER = 10
"""Value of the Retry-After header, in seconds."""
NOTHING_SAVED = "Nothing from this request was saved; try again in a moment."
MAY_BE_SAVED = (
    "What you sent may have been saved: look before you send it again. A submission that is sent again with the same "
    "Idempotency-Key, or from the same form, is made only once."
)
BUSY = f"The database is busy. {NOTHING_SAVED}"
AWAY = f"The database does not respond. {NOTHING_SAVED}"
_BUSY_WORDS = ("locked", "lock timeout", "deadlock detected")
_BUSY_STATES = ("55P03", "40P01", "40001", "57014")
"""SQLSTATEs of PostgreSQL: lock timeout, deadlock, serialization failure, statement timeout."""
_COMMIT = BaseDatabaseWrapper._commit.__code__  # type: ignore[attr-defined]  # the stubs lack it
_AWAY_STATES = ("57P01", "57P02", "57P03", "53300", "25P03")
"""SQLSTATEs of a session that PostgreSQL ends or refuses: shutdown, crash, start, too many connections, idle."""


def transient_message(error: BaseException | None) -> str:
    """Return the message to the user if an error is a transient one of the database, after which a retry may succeed.

    Empty for any other error, and for None.
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
    """Return True if the database connection was lost during COMMIT, so that the transaction may or may not be stored.

    If the connection was lost before COMMIT, nothing was stored, and this returns False.
    """
    frames = (frame for frame, _ in traceback.walk_tb(error.__traceback__))
    return transient_message(error) == AWAY and any(frame.f_code is _COMMIT for frame in frames)


def session_options(*, lock_seconds: int, idle_seconds: int) -> dict[str, Any]:
    """Return psycopg's connection options, which keep a dead or frozen process from blocking other processes.

    lock_seconds: longest wait for a lock. idle_seconds: longest pause between two statements of a transaction. Client
    and server each notice within 25 seconds that the other host has vanished.
    """
    client = {
        "connect_timeout": 5,
        "keepalives_idle": 10,
        "keepalives_interval": 5,
        "keepalives_count": 3,
        "tcp_user_timeout": 25_000,
    }
    server = {
        "lock_timeout": lock_seconds * 1000,
        "idle_in_transaction_session_timeout": idle_seconds * 1000,
        "tcp_keepalives_idle": 10,
        "tcp_keepalives_interval": 5,
        "tcp_keepalives_count": 3,
        "tcp_user_timeout": 25_000,
    }
    return {**client, "options": " ".join(f"-c {name}={value}" for name, value in server.items())}


LOCK_SECONDS, SHORT_LOCK_SECONDS = 60, 5
"""Longest wait of a statement for a lock on PostgreSQL, and that after `wait_briefly`."""


def wait_briefly() -> None:
    """Let this process's statements wait SHORT_LOCK_SECONDS for a lock. Call it before the process uses the database.

    Requests that wait for locks would fill all threads of a web process; the response is a 503 that asks to try again.
    """
    options = settings.DATABASES["default"]["OPTIONS"]
    if "options" in options:
        limit = f"lock_timeout={SHORT_LOCK_SECONDS * 1000}"
        options["options"] = re.sub(r"\block_timeout=\d+", limit, options["options"])


def allow_idle_transaction() -> None:
    """Let the current transaction pause between statements without limit, for one that copies files.

    The transaction must lock no existing rows: other processes would wait as long.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL idle_in_transaction_session_timeout = 0")


IDLE_LIMIT = "idle_in_transaction_session_timeout"


def idle_limit(seconds: str) -> Func | Value:
    """Return an expression that makes PostgreSQL end the session if its transaction pauses for longer than `seconds`.

    Annotate the query that takes a lock with the expression, so that it needs no extra statement. The limit applies
    until the transaction ends. seconds: a number with its unit, such as "5s". On SQLite the expression has no effect.
    """
    if connection.vendor != "postgresql":
        return Value(seconds)
    return Func(Value(IDLE_LIMIT), Value(seconds), Value(True), function="set_config", output_field=TextField())


def lock_idle() -> str:
    """Return settings.LOCK_IDLE_SECONDS with its unit, such as "5s".

    This is the longest pause of a transaction that holds a lock for which all work of a phase waits.
    """
    return f"{settings.LOCK_IDLE_SECONDS}s"


def locked(rows: QuerySet[Any], seconds: str | None = None) -> QuerySet[Any]:
    """Return a queryset that locks the rows it reads until the transaction ends (SELECT ... FOR NO KEY UPDATE).

    If the transaction pauses for longer than `seconds`, as a frozen process does, PostgreSQL ends it (`idle_limit`).
    seconds: a number with its unit; None: `lock_idle()`.
    """
    locking = rows.select_for_update(of=("self",), no_key=True)
    return locking.annotate(idle_limit=idle_limit(seconds or lock_idle()))


RANKING = 1
"""Kind of `try_lock`: the process that ranks the new releases of a phase."""
MIGRATING = 2
"""Kind of `migration_lock`: the process that migrates the database."""


@contextmanager
def migration_lock(database: BaseDatabaseWrapper, *, wait: Callable[[], object]) -> Iterator[None]:
    """Lock the schema of a database during the `with` block, so that one process at a time migrates it.

    wait: called as long as another process holds the lock; it pauses, or raises an exception. The lock ends with the
    session. Has no effect on SQLite, where a migration is a transaction that locks the whole database.
    """
    if database.vendor != "postgresql":
        yield
        return
    with database.cursor() as cursor:
        while not cursor.execute("SELECT pg_try_advisory_lock(%s, 0)", [MIGRATING]).fetchone()[0]:
            wait()
    try:
        yield
    finally:
        with database.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_unlock(%s, 0)", [MIGRATING])


def try_lock(kind: int, key: int) -> bool:
    """Lock (kind, key) until the current transaction ends; return False at once if another transaction has locked it.

    kind: a constant of this module, such as RANKING. key: a number, such as a primary key. PostgreSQL ends a
    transaction that pauses for too long (`idle_limit`), and its lock. Always returns True on SQLite, where no two
    transactions write at the same time.
    """
    if connection.vendor != "postgresql":
        return True
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_try_advisory_xact_lock(%s, %s), set_config(%s, %s, true)", [kind, key, IDLE_LIMIT, lock_idle()]
        )
        return bool(cursor.fetchone()[0])

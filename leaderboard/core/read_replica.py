"""Public pages read from a replica of the database, if HOLDOUT_DATABASE_REPLICA_URL names one.

Only requests of visitors who are not logged in, for `/` and the paths in PATHS, read from the replica. All other
requests, and all that write, use the primary database. A replica that is unavailable, or behind by more than
STALE_SECONDS, is not used.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Lock, local
from typing import Any

import structlog
from django.conf import settings
from django.db import Error, connections
from django.http import HttpRequest, HttpResponseBase

log = structlog.get_logger(__name__)
ALIAS = "replica"
CHECK_SECONDS = 5.0
STALE_SECONDS = 2 * CHECK_SECONDS
"""How far a page may be behind the primary: the replica has what the primary had at the previous check."""
PATHS = ("/benchmarks/", "/systems/", "/tasks/", "/feed.atom", "/api/v1/benchmarks/")
_thread = local()


class Router:
    """Django database router: a thread reads from the replica while `replica_middleware` allows it.

    After a write, the thread also reads from the primary.
    """

    def db_for_read(self, model: Any, **_: Any) -> str | None:
        return ALIAS if getattr(_thread, "reads_replica", False) else None

    def db_for_write(self, model: Any, **_: Any) -> str:
        # A request that writes, or locks, reads what it wrote.
        _thread.reads_replica = False
        return "default"

    def allow_relation(self, a: Any, b: Any, **_: Any) -> bool:
        return True

    def allow_migrate(self, db: str, app_label: str, **_: Any) -> bool:
        return db != ALIAS


class Freshness:
    """Check whether this process may read from the replica; repeated by requests, at most every CHECK_SECONDS."""

    def __init__(self) -> None:
        self.usable = False
        self._checked = float("-inf")
        self._expected = ""
        self._lock = Lock()

    def check(self) -> bool:
        """Return whether the replica responded to the latest check, and had all that the primary had one check earlier.

        Checks again if that was more than CHECK_SECONDS ago; other threads get False meanwhile.
        """
        if time.monotonic() - self._checked > CHECK_SECONDS and self._lock.acquire(blocking=False):
            try:
                was_usable, self.usable = self.usable, False
                self.usable = self._is_fresh()
                if was_usable and not self.usable:
                    log.warning("replica_unavailable", error="it is behind")
            except Error as error:
                self.fail(error)
            finally:
                self._checked = time.monotonic()
                self._lock.release()
        return self.usable

    def fail(self, error: BaseException) -> None:
        """Record that the replica failed, so that this process reads from the primary until the next check."""
        log.warning("replica_unavailable", error=type(error).__name__)
        self.usable, self._checked = False, time.monotonic()
        connections[ALIAS].close()

    def _is_fresh(self) -> bool:
        with connections["default"].cursor() as primary:
            primary.execute("SELECT pg_current_wal_lsn()")
            position = str(primary.fetchone()[0])
        expected, self._expected = self._expected or position, position
        with connections[ALIAS].cursor() as replica:
            # A server that is no replica is never used: it might be another site's.
            replica.execute("SELECT pg_is_in_recovery() AND pg_last_wal_replay_lsn() >= %s::pg_lsn", [expected])
            return bool(replica.fetchone()[0])


freshness = Freshness()


def replica_middleware(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Return a middleware that lets public pages read from the replica.

    A request that fails there is repeated on the primary.
    """

    def middleware(request: HttpRequest) -> HttpResponseBase:
        if ALIAS not in settings.DATABASES or not is_anonymous_read(request) or not freshness.check():
            return get_response(request)
        _thread.reads_replica = True
        try:
            response = get_response(request)
        finally:
            _thread.reads_replica = False
        if response.status_code >= 500:
            # Such a request has written nothing. The replica may be away, or have ended a query that was in its way.
            freshness.fail(ConnectionError())
            response = get_response(request)
        return response

    return middleware


def is_anonymous_read(request: HttpRequest) -> bool:
    """Return whether a request is a GET or HEAD of a public page (see PATHS) without a session and without a token."""
    return (
        request.method in ("GET", "HEAD")
        and (request.path == "/" or request.path.startswith(PATHS))
        and settings.SESSION_COOKIE_NAME not in request.COOKIES
        and "Authorization" not in request.headers
    )

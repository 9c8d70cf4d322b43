"""Health checks for monitors: `/health/live`, `/health/ready` and `/health/disk` return 200 if all is well, else 503.

`live`: this process responds. `ready`: database, broker, sandbox and file store respond too, the database's schema fits
this code, the clocks of the database and of this host agree, and the disk is not full.
`disk`: at least DISK_ALARM_BYTES are free. The checks run before host validation, redirects and sessions, because
monitors use an IP address and plain HTTP.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future
from threading import Lock, Thread

import structlog
from django.db import connection
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse

from leaderboard.celery import app
from leaderboard.core import db_clock, db_schema, disk
from leaderboard.core.storage import check_stores
from leaderboard.core.web import error_pages
from leaderboard.evaluation import sandbox_client

log = structlog.get_logger()
UPGRADING = "The site is being upgraded. Nothing from this request was saved; try again in a moment."
PATIENCE = 2.0
"""Seconds after which a dependency that has not responded counts as away."""


class UnfitSchemaError(Exception):
    """Error: the database's schema does not fit this code; the message says which migration, and what to do."""


def health_middleware(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Return a middleware that responds to `/health/live`, `/health/ready` and `/health/disk`.

    It passes on all other requests, unless the last check has found that the database's schema does not fit this code:
    these get a 503.
    """

    def middleware(request: HttpRequest) -> HttpResponseBase:
        if request.path == "/health/live":
            return HttpResponse("ok\n", content_type="text/plain")
        if request.path == "/health/ready":
            responding = results()
            # What is wrong with the schema is not secret, and whoever upgrades has to know it.
            reason = {"reason": found} if (found := db_schema.last_found()) else {}
            return JsonResponse({**responding, **reason}, status=200 if all(responding.values()) else 503)
        if request.path == "/health/disk":
            low = disk.is_low()
            return JsonResponse({"low": low}, status=503 if low else 200)
        if db_schema.last_found():
            return error_pages.unavailable(request, "busy", UPGRADING)
        return get_response(request)

    return middleware


def _database() -> None:
    # A connection of its own thread, which is new: one that is open already does not show that others can be opened.
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    finally:
        connection.close()


def _schema() -> None:
    try:
        found = db_schema.check()
    finally:
        connection.close()
    if found:
        raise UnfitSchemaError(found)


def _clock() -> None:
    try:
        ahead = db_clock.offset()
    finally:
        connection.close()
    if abs(ahead) > db_clock.TOLERANCE:
        raise OSError(f"the database's clock is {ahead.total_seconds():.0f} s ahead of this host's")


def _broker() -> None:
    with app.connection_for_write() as broker:
        broker.ensure_connection(max_retries=1, timeout=PATIENCE)


def _sandbox() -> None:
    sandbox_client.check(patience=PATIENCE)


def _disk() -> None:
    if disk.is_full():
        raise OSError("the disk is almost full: uploads may fail")


CHECKS = {
    "database": _database,
    "schema": _schema,
    "clock": _clock,
    "broker": _broker,
    "sandbox": _sandbox,
    "disk": _disk,
    "store": check_stores,
}
_running: dict[str, Future[None]] = {}
_running_lock = Lock()


def results() -> dict[str, bool]:
    """Run all CHECKS at the same time; return name of the check -> whether it passed within PATIENCE.

    A check that is still running for another request is not started again, so that a check that hangs occupies only one
    thread.
    """
    with _running_lock:
        for name in CHECKS:
            if name not in _running or _running[name].done():
                _running[name] = _start(name)
        pending = dict(_running)
    deadline = time.monotonic() + PATIENCE
    return {name: _responds(name, future, deadline) for name, future in pending.items()}


def _start(name: str) -> Future[None]:
    """Run the check `name` in a daemon thread, and return a future, which gets the check's exception if it fails."""
    future: Future[None] = Future()

    def run() -> None:
        try:
            CHECKS[name]()
        except Exception as error:  # noqa: BLE001  any exception of a driver means that the dependency does not respond
            future.set_exception(error)
        else:
            future.set_result(None)

    Thread(target=run, name=f"health-{name}", daemon=True).start()
    return future


def _responds(name: str, future: Future[None], deadline: float) -> bool:
    try:
        future.result(max(0.0, deadline - time.monotonic()))
    except Exception as error:  # noqa: BLE001  see _start; TimeoutError if the check still runs
        log.warning("not_ready", part=name, error=type(error).__name__)
        return False
    return True

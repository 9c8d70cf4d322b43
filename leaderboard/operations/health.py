"""Health checks for monitors: `/health/live`, `/health/ready` and `/health/disk`; 200 if all is well, else 503.

`live`: this process responds. `ready`: database, broker and sandbox respond too, and the disk is not full. `disk`:
more than HOLDOUT_DISK_ALARM_MB is free. The checks run before host validation, redirects and sessions, because monitors
use an IP address and plain HTTP.
"""

from __future__ import annotations

from collections.abc import Callable

import structlog
from django.db import connection
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse

from leaderboard.celery import app
from leaderboard.core import disk
from leaderboard.evaluation import sandbox_client

log = structlog.get_logger()
PATIENCE = 2.0
"""Timeout in seconds for the broker and for the sandbox."""


def health_middleware(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Return a middleware that responds to the three paths of health checks and passes on all other requests."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        if request.path == "/health/live":
            return HttpResponse("ok\n", content_type="text/plain")
        if request.path == "/health/ready":
            results = {name: _answers(name, check) for name, check in CHECKS.items()}
            return JsonResponse(results, status=200 if all(results.values()) else 503)
        if request.path == "/health/disk":
            low = disk.is_low()
            return JsonResponse({"low": low}, status=503 if low else 200)
        return get_response(request)

    return middleware


def _database() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


def _broker() -> None:
    with app.connection_for_write() as broker:
        broker.ensure_connection(max_retries=1, timeout=PATIENCE)


def _sandbox() -> None:
    sandbox_client.check(patience=PATIENCE)


def _disk() -> None:
    if disk.is_full():
        raise OSError("less than a tenth of HOLDOUT_DISK_ALARM_MB is free on the disk: uploads may fail")


CHECKS = {"database": _database, "broker": _broker, "sandbox": _sandbox, "disk": _disk}


def _answers(name: str, check: Callable[[], None]) -> bool:
    try:
        check()
    except Exception as error:  # noqa: BLE001  any exception of a driver means that the dependency does not respond
        log.warning("not_ready", part=name, error=type(error).__name__)
        return False
    return True

"""Whether this process lives, and whether it can do its work: for supervisors and load balancers."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe


@require_safe
@never_cache
def live(request: HttpRequest) -> JsonResponse:
    """200 as long as requests are answered at all."""
    return JsonResponse({"status": "live"})


@require_safe
@never_cache
def ready(request: HttpRequest) -> JsonResponse:
    """200 when the database answers with the schema that this code expects, else 503.

    A sandbox that is away is told but does not take the site down: boards can be read without it.
    """
    database = _database()
    parts = {"database": database, "sandbox": "ok" if Path(settings.SANDBOX_SOCKET).is_socket() else "away"}
    is_ready = database == "ok"
    return JsonResponse({"status": "ready" if is_ready else "not ready", **parts}, status=200 if is_ready else 503)


def _database() -> str:
    try:
        executor = MigrationExecutor(connection)
        waiting = executor.migration_plan(executor.loader.graph.leaf_nodes())
    except DatabaseError:
        return "away"
    return "migrations wait" if waiting else "ok"

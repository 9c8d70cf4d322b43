"""Reports of workers and other processes: how they are stored, and which processes run older code.

When workers report is described in `worker_status`. Processes without a queue report periodically.
"""

from __future__ import annotations

import socket
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

import structlog
from django.db import DatabaseError, InterfaceError, connection

from leaderboard.core import db_clock, db_schema
from leaderboard.models import WorkerReport
from leaderboard.work_queue.lease import Heartbeat
from leaderboard.work_queue.worker_status import REPORT_SECONDS

log = structlog.get_logger(__name__)
MIGRATIONS = "migrations"
"""Key of a report's `detail`: what `db_schema.newest` returns in the process."""


def store(
    queue: str, *, ready: bool, message: str = "", detail: Mapping[str, object] | None = None, **columns: Any
) -> WorkerReport:
    """Store and return the report of this host's processes that serve a queue, with the migrations of their code.

    queue: the Celery queue that they serve, or another name of SELF_REPORTING. message: why they are not ready, and how
    to fix it. detail: about the container engine. columns: values of other columns, which otherwise stay as they are.
    """
    values = {"ready": ready, "message": message, "seen_at": db_clock.read(), **columns}
    values["detail"] = {**(detail or {}), MIGRATIONS: db_schema.newest()}
    return WorkerReport.objects.update_or_create(queue=queue, host=socket.gethostname(), defaults=values)[0]


def report_periodically(queue: str) -> Heartbeat:
    """Store a report that this process is ready, now and every REPORT_SECONDS in a thread, which is returned.

    It is not ready, for the reason in the report, if its code does not fit the database (`db_schema.check`). The thread
    ends with the process. queue: as for `store`.
    """

    def report() -> bool:
        try:
            why_not = db_schema.check()
            store(queue, ready=not why_not, message=why_not)
        except (DatabaseError, InterfaceError) as error:
            log.warning("report_failed", queue=queue, error=type(error).__name__)
        finally:
            # A process of the pool must not inherit an open connection.
            connection.close()
        return True

    thread = Heartbeat(seconds=REPORT_SECONDS, beat=report)
    report()
    return thread.__enter__()


def lacking(keys: Iterable[db_schema.Key], since: datetime) -> dict[str, datetime]:
    """Return the processes with code that lacks one of the migrations `keys`: "web on host-a" -> its last report.

    since: by the database's clock; processes that have not reported since then do not count. Only columns of the first
    release are read, so that this works on the database of an older one.
    """
    keys = list(keys)
    reports = WorkerReport.objects.filter(seen_at__gt=since).values_list("queue", "host", "detail", "seen_at")
    return {
        f"{queue} on {host}": seen_at
        for queue, host, detail, seen_at in reports.order_by("queue", "host")
        if not all(db_schema.knows(detail.get(MIGRATIONS, {}), key) for key in keys)
    }

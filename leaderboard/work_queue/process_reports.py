"""Reports of processes that no message asks for one, and which of all processes run older code.

Workers with a container engine report when a message asks them to (`containers.actions.workers`).
"""

from __future__ import annotations

import socket
from collections.abc import Iterable
from datetime import datetime

import structlog
from django.db import DatabaseError, InterfaceError, connection

from leaderboard.core import db_clock, db_schema
from leaderboard.models import WorkerReport
from leaderboard.work_queue.lease import Heartbeat
from leaderboard.work_queue.worker_status import REPORT_SECONDS

log = structlog.get_logger(__name__)
MIGRATIONS = "migrations"
"""Key of a report's `detail`: what `db_schema.newest` returns in the process."""


def report_periodically(queue: str) -> Heartbeat:
    """Store a report that this process is ready, now and every REPORT_SECONDS in a thread, which is returned.

    It is not ready, for the reason in the report, if its code does not fit the database (`db_schema.check`). The thread
    ends with the process. queue: the Celery queue that the worker serves, or another name of SELF_REPORTING.
    """

    def report() -> bool:
        try:
            why_not = db_schema.check()
            values = {"ready": not why_not, "message": why_not, "detail": {MIGRATIONS: db_schema.newest()}}
            values["seen_at"] = db_clock.read()
            WorkerReport.objects.update_or_create(queue=queue, host=socket.gethostname(), defaults=values)
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

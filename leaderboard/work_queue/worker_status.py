"""Availability of workers according to their reports, and the reason if none can run containers.

Workers with a container engine report when a message asks them to (`containers.actions.workers`), which shows that they
receive messages. The others report by themselves (`report_periodically`), because a message would wait in their queue
behind the backlog.
"""

from __future__ import annotations

import socket
from dataclasses import dataclass

import structlog
from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection
from django.db.models import QuerySet

from leaderboard.core import db_clock
from leaderboard.models import Phase, WorkerReport
from leaderboard.models.worker import FRESH
from leaderboard.work_queue.lease import Heartbeat

log = structlog.get_logger(__name__)
SELF_REPORTING = ("scoring", "notifications")
"""Celery queues whose workers report by themselves."""
REPORT_SECONDS = 30.0


@dataclass(frozen=True)
class Availability:
    """Availability of a queue's workers. ready: whether one of them can run containers now.

    why_not: for users, the reason if none can, and what to do. runtime: the container runtime that the worker reports.
    """

    ready: bool
    why_not: str = ""
    runtime: str = ""


def queue_of(phase: Phase) -> str:
    """Return the name of the Celery queue of a phase's containers: `systems-gpu` if they need a GPU, else `systems`."""
    return "systems-gpu" if phase.gpus else "systems"


SCORERS = "scorers"
"""Celery queue of custom scorers."""


def most_processors(queue: str) -> float | None:
    """Return the largest number of processors that a ready worker of the queue has recently reported.

    None if no such worker has reported a number.
    """
    fresh = _fresh(queue).filter(ready=True)
    processors = [report.detail["processors"] for report in fresh if "processors" in report.detail]
    return max(processors, default=None)


def _fresh(queue: str) -> QuerySet[WorkerReport]:
    """Return the recent reports of a queue's workers, by the clock that all hosts share."""
    return WorkerReport.objects.filter(queue=queue, seen_at__gt=db_clock.now() - FRESH)


def of(queue: str = "systems") -> Availability:
    """Return the availability of a queue's workers: whether one can run containers now. Takes one query."""
    if queue == SCORERS:
        if not settings.SCORERS:
            return Availability(
                False, "Scorer images are switched off on this server; the operator can set HOLDOUT_SCORERS=on."
            )
    elif not settings.SYSTEMS:
        return Availability(
            False, "Containers are switched off on this server; the operator can set HOLDOUT_SYSTEMS=on."
        )
    fresh = [*_fresh(queue)]
    ready = next((report for report in fresh if report.ready and not report.draining), None)
    if ready is not None:
        return Availability(True, runtime=str(ready.detail.get("runtime", "")))
    if any(report.ready for report in fresh):
        return Availability(False, "The hosts that run containers are about to be restarted; try again later.")
    if fresh:
        return Availability(False, fresh[0].message)
    if queue == "systems-gpu":
        return Availability(
            False,
            "This phase needs a GPU, but no worker with a GPU has reported. Ask the operator of this site.",
        )
    return Availability(False, f"No worker with a container engine has reported; start one: manage.py serve {queue}.")


def report_periodically(queue: str) -> Heartbeat:
    """Start a thread that stores a report of this process now and every REPORT_SECONDS, until the process ends."""

    def report() -> bool:
        values = {"ready": True, "message": "", "seen_at": db_clock.read()}
        try:
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

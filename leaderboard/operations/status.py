"""State of the site for its operators: services, workers, queues, and work that failed or was repeated."""

from __future__ import annotations

import platform
import time
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import celery
import django
from django.conf import settings
from django.db import connection
from django.db.models import Count, F, Min, Q
from django.urls import reverse
from django.utils import timezone

from evaluator.code_digest import SHA256
from leaderboard.core import db_clock, disk, store_errors
from leaderboard.models import Benchmark, Phase, Prediction, Reason, Run, State, WorkerReport
from leaderboard.models.state import LeasedWork
from leaderboard.operations import health, periodic
from leaderboard.operations.metrics import QUEUES
from leaderboard.work_queue import enqueue, worker_status

LATELY = timedelta(days=1)
MAX_ROWS = 50
"""Number of failed and repeated rows that are listed; all are counted."""
RECENT, LATE_FACTOR, SOON = 20, 3, timedelta(minutes=2)
"""Scoring is late if a file waits longer than SOON, and LATE_FACTOR times longer than any of the RECENT last ones."""
LATE_SWEEPS = 5
"""A sweep that is older than this many intervals is late."""


@dataclass(frozen=True)
class Worker:
    """The last report of a queue's workers on a host. state: "ready", "not ready" or "gone" (the report is too old).

    age: of the report, such as "40 s". message: why the worker is not ready.
    """

    queue: str
    host: str
    state: str
    age: str
    message: str


@dataclass(frozen=True)
class Queue:
    """Background work of one kind. queued, running: numbers of rows.

    oldest: age of the row that has been queued longest, such as "12 min"; empty if none is queued. late: number of rows
    whose lease has expired.
    """

    kind: str
    queued: int
    running: int
    oldest: str
    late: int


@dataclass(frozen=True)
class Trouble:
    """A run or prediction that failed, or was tried more than once. key: its primary key.

    url, submission_url: pages of the record and its submission in the admin, since not every operator may open the
    submission's page on the site. attempt: number of attempts.
    """

    kind: str
    key: str
    url: str
    submission: str
    submission_url: str
    state: str
    reason: str
    attempt: int
    at: datetime


def age(seconds: float) -> str:
    """Format a duration, rounded down to a unit: "40 s", "12 min", "3 h" or "2 d"."""
    for unit, size, limit in (("s", 1, 120), ("min", 60, 7200), ("h", 3600, 172_800)):
        if seconds < limit:
            return f"{max(0, int(seconds / size))} {unit}"
    return f"{int(seconds / 86_400)} d"


def services() -> dict[str, bool]:
    """Return name of a service -> whether it responds, the content of `/health/ready`."""
    return health.results()


def public_services() -> dict[str, bool]:
    """Return name of a service for visitors, such as "Uploads" -> whether it works."""
    responds = services()
    reads, stores = responds["database"], responds["store"] and responds["disk"]
    works = reads and stores and responds["broker"] and not last_sweep()[1]
    found = {
        "Pages and leaderboards": reads,
        "Downloads": reads and responds["store"],
        "Uploads": reads and stores and responds["sandbox"],
        "Scoring": works and responds["sandbox"] and _is_ready("scoring") and not _is_scoring_late(),
    }
    if reads and (phases := _phases_that_take_images()):
        found["Container images"] = works and all(worker_status.of_phase(phase).ready for phase in phases)
    return found


def _is_ready(queue: str) -> bool:
    """Return True if a worker of the queue has lately reported that it is ready."""
    return any(report.is_fresh and report.ready for report in WorkerReport.objects.filter(queue=queue))


def _phases_that_take_images() -> list[Phase]:
    """Return a phase for each different need of GPUs, of the public phases that are open and take container images."""
    at = db_clock.read()
    open_phases = Phase.objects.filter(
        Q(closes_at=None) | Q(closes_at__gt=at),
        Q(opens_at=None) | Q(opens_at__lte=at),
        takes_images=True,
        benchmark__state=Benchmark.State.PUBLIC,
    )
    return list({(phase.gpus, phase.gpu_memory_gb): phase for phase in open_phases}.values())


def _is_scoring_late() -> bool:
    """Return True if a file has waited for its score for much longer than the last ones did.

    Workers that are frozen report for a while that they are ready, or for ever if only their main process is not.
    """
    at = timezone.now()
    runs = Run.objects.filter(scorer=None)
    waiting = runs.filter(Q(state=State.QUEUED, reason=Reason.NONE) | Q(state=State.RUNNING, lease_until__lt=at))
    oldest = waiting.aggregate(since=Min("queued_at"))["since"]
    if oldest is None:
        return False
    done = runs.filter(state=State.DONE, finished_at__isnull=False).order_by("-finished_at")
    took = done.annotate(took=F("finished_at") - F("queued_at")).values_list("took", flat=True)[:RECENT]
    return bool(at - oldest > max([SOON, *(LATE_FACTOR * seconds for seconds in took)]))


def workers() -> list[Worker]:
    """Return the last report of each worker that has reported within a day, sorted by queue and host."""
    at = timezone.now()
    reports = WorkerReport.objects.filter(seen_at__gt=at - LATELY).order_by("queue", "host")
    return [
        Worker(
            queue=report.queue,
            host=report.host,
            state="gone" if not report.is_fresh else "ready" if report.ready else "not ready",
            age=age((at - report.seen_at).total_seconds()),
            message=report.message,
        )
        for report in reports
    ]


def last_sweep() -> tuple[str, bool]:
    """Return (age of the last sweep, such as "40 s", or "unknown"; True if the age is too large or unknown)."""
    at = periodic.last_completed()
    if at is None:
        return "unknown", True
    seconds = time.time() - at
    return age(seconds), seconds > LATE_SWEEPS * settings.SWEEP_SECONDS


def queues() -> list[Queue]:
    """Return each kind of background work that has queued or running rows."""
    at = timezone.now()
    rows = []
    for model in sorted(LeasedWork.__subclasses__(), key=lambda model: model.__name__):
        counts = model._default_manager.order_by().aggregate(
            queued=Count("pk", filter=Q(state=State.QUEUED)),
            running=Count("pk", filter=Q(state=State.RUNNING)),
            since=Min("queued_at", filter=Q(state=State.QUEUED)),
            late=Count("pk", filter=Q(lease_until__lt=at)),
        )
        if counts["queued"] or counts["running"]:
            since = counts.pop("since")
            oldest = age((at - since).total_seconds()) if since else ""
            rows.append(Queue(kind=str(model._meta.verbose_name), oldest=oldest, **counts))
    return rows


def messages() -> dict[str, int] | None:
    """Return name of a Celery queue -> number of waiting messages, without empty queues.

    None if the broker does not respond.
    """
    try:
        counts = {queue: enqueue.n_waiting(queue) for queue in QUEUES}
    except enqueue.BrokerError:
        return None
    return {queue: n for queue, n in counts.items() if n}


def troubles() -> tuple[list[Trouble], int]:
    """Return (runs and predictions of the last day that failed or were repeated, newest first; number of all of these).

    The list has at most MAX_ROWS.
    """
    since = timezone.now() - LATELY
    failed, repeated = Q(state=State.FAILED, finished_at__gt=since), Q(attempt__gt=1, started_at__gt=since)
    found: list[Trouble] = []
    n = 0
    for model, submission in ((Run, "prediction__submission"), (Prediction, "submission")):
        rows: Any = model._default_manager.filter(failed | repeated)
        n += rows.count()
        for row in rows.select_related(submission).order_by("-started_at")[:MAX_ROWS]:
            of = row.prediction.submission if isinstance(row, Run) else row.submission
            found.append(
                Trouble(
                    kind=str(model._meta.verbose_name),
                    key=str(row.pk),
                    url=reverse(f"admin:leaderboard_{model._meta.model_name}_change", args=[row.pk]),
                    submission=str(of.pk),
                    submission_url=reverse("admin:leaderboard_submission_change", args=[of.pk]),
                    state=row.get_state_display(),
                    reason=row.get_reason_display() if row.reason else "",
                    attempt=row.attempt,
                    at=row.finished_at or row.started_at or row.queued_at,
                )
            )
    return sorted(found, key=lambda row: row.at, reverse=True)[:MAX_ROWS], n


def disk_space() -> dict[str, Any]:
    """Return facts about the disk space for the site's data: name -> value.

    free: free space in bytes. alarm: threshold of the alarm in bytes. low: whether less than that is free. full:
    whether uploads may fail (`disk.is_full`).
    """
    return {
        "free": disk.free_bytes(),
        "alarm": settings.DISK_ALARM_BYTES,
        "low": disk.is_low(),
        "full": disk.is_full(),
    }


def store_error_counts() -> dict[str, int]:
    """Return operation of the file store -> number of its errors, without operations that never failed."""
    return {operation: n for operation, n in store_errors.counts().items() if n}


def versions() -> dict[str, str]:
    """Return name -> version of the code, the interpreter, the main libraries and the database."""
    return {
        "Evaluator code": SHA256[:12],
        "Python": platform.python_version(),
        "Django": django.get_version(),
        "Celery": str(celery.__version__),
        connection.display_name: _database_version(),
    }


def _database_version() -> str:
    return ".".join(str(part) for part in connection.get_database_version())

"""Status reports of container workers. The web process reads them, because it has no container engine itself."""

from __future__ import annotations

import socket
import time
from typing import Any

import structlog
from django.conf import settings

from leaderboard.containers.actions import engine, image_files, scorer_engine
from leaderboard.core import db_clock
from leaderboard.core.store_errors import StoreUnavailableError
from leaderboard.models import GoldVersion, Prediction, Run, State, WorkerReport
from leaderboard.work_queue import enqueue

log = structlog.get_logger(__name__)
SYSTEMS, SCORERS = "systems", "scorers"
_full_report: dict[str, float] = {}
"""Monotonic time in seconds of this process's last report of a ready engine, by queue."""


def enqueue_report(queue: str) -> None:
    """Ask a worker of a queue for a status report, once the transaction has committed."""
    enqueue.after_commit("report", queue, queue=queue)


def report(*, queue: str = SYSTEMS) -> WorkerReport:
    """Check the engine, clean up after dead workers, and store and return the result for the web process."""
    missing = _missing(queue)
    if missing:
        return _say(queue=queue, ready=False, message=missing)
    try:
        detail = dict(engine.health_check())
    except engine.SandboxError as error:
        return _say(queue=queue, ready=False, message=str(error))
    try:
        removed = engine.reap(keep=under_way)
    except engine.SandboxError as error:
        log.warning("reaper_failed", error=str(error))
    else:
        if removed:
            log.warning("container_removed", what=removed)
        engine.forget(image_files.idle())
    _full_report[queue] = time.monotonic()
    return _say(queue=queue, ready=True, detail=detail)


def _missing(queue: str) -> str:
    """Return a sentence about what a worker of this queue lacks besides an engine; empty if it lacks nothing."""
    if queue != SCORERS:
        return ""
    if not settings.SCORERS:
        return "Scorer images are switched off for this worker (HOLDOUT_SCORERS)."
    gold = GoldVersion.objects.order_by("-pk").first()
    try:
        if gold is None or gold.file.storage.exists(str(gold.file.name)):
            return ""
    except StoreUnavailableError:
        pass
    return "This worker cannot read the gold: give it access to the gold folder, or the credential of the gold bucket."


def ready(queue: str = SYSTEMS) -> bool:
    """Return whether this worker can run a container now.

    `report`, which runs a test container, is repeated after SWEEP_SECONDS; until then only the engine's status is
    asked.
    """
    if time.monotonic() - _full_report.get(queue, float("-inf")) < settings.SWEEP_SECONDS:
        try:
            engine.check()
        except engine.SandboxError as error:
            log.warning("engine_unavailable", error=str(error))
        else:
            return True
    return report(queue=queue).ready


def heartbeat(*, queue: str = SYSTEMS) -> None:
    """Refresh the timestamp of this worker's report, so that the report stays valid during long work."""
    WorkerReport.objects.filter(queue=queue, host=socket.gethostname()).update(seen_at=db_clock.now())


def under_way() -> frozenset[str]:
    """Return the ids of all running executions, of systems and of scorers, since both may use one engine."""
    predicted = frozenset(engine.name_of(prediction) for prediction in Prediction.objects.filter(state=State.RUNNING))
    scored = Run.objects.filter(state=State.RUNNING, scorer__isnull=False)
    return predicted.union(*(scorer_engine.names_of(run) for run in scored))


def _say(*, queue: str, ready: bool, message: str = "", detail: dict[str, Any] | None = None) -> WorkerReport:
    fields = {"ready": ready, "message": message, "detail": detail or {}, "seen_at": db_clock.read()}
    stored, _ = WorkerReport.objects.update_or_create(queue=queue, host=socket.gethostname(), defaults=fields)
    return stored

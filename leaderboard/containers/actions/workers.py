"""Status reports of container workers, which the web process reads because it has no engine itself."""

from __future__ import annotations

import socket
import time
from typing import Any

import structlog
from django.conf import settings
from django.utils import timezone

from leaderboard.containers.actions import engine, image_files, scorer_engine
from leaderboard.models import GoldVersion, Prediction, Run, State, WorkerReport
from leaderboard.work_queue import enqueue

log = structlog.get_logger(__name__)
SYSTEMS, SCORERS = "systems", "scorers"
_full_report: dict[str, float] = {}
"""Monotonic time of this process's last report of a ready engine, by queue."""


def enqueue_report(queue: str) -> None:
    """Enqueue a status report by the workers of a queue."""
    enqueue.after_commit("report", queue, queue=queue)


def report(*, queue: str = SYSTEMS) -> WorkerReport:
    """Check the engine, store the result for the web process, and clean up after dead workers."""
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
    """Return what a worker of this queue lacks besides an engine; empty: nothing."""
    if queue != SCORERS:
        return ""
    if not settings.SCORERS:
        return "Scorer images are switched off for this worker (HOLDOUT_SCORERS)."
    gold = GoldVersion.objects.order_by("-pk").first()
    if gold is not None and not gold.file.storage.exists(str(gold.file.name)):
        return (
            "This worker cannot read the gold: give it access to the gold folder, or the credential of the gold bucket."
        )
    return ""


def ready(queue: str = SYSTEMS) -> bool:
    """Return whether a container can be run now. The full report, which runs a test container, is made once a sweep."""
    if time.monotonic() - _full_report.get(queue, float("-inf")) < settings.SWEEP_SECONDS:
        try:
            engine.check()
        except engine.SandboxError as error:
            log.warning("engine_unavailable", error=str(error))
        else:
            return True
    return report(queue=queue).ready


def heartbeat(*, queue: str = SYSTEMS) -> None:
    """Refresh the timestamp of this worker's report during long work."""
    WorkerReport.objects.filter(queue=queue, host=socket.gethostname()).update(seen_at=timezone.now())


def under_way() -> frozenset[str]:
    """Return the ids of running executions of both queues, which may share an engine."""
    predicted = frozenset(engine.name_of(prediction) for prediction in Prediction.objects.filter(state=State.RUNNING))
    scored = Run.objects.filter(state=State.RUNNING, scorer__isnull=False)
    return predicted.union(*(scorer_engine.names_of(run) for run in scored))


def _say(*, queue: str, ready: bool, message: str = "", detail: dict[str, Any] | None = None) -> WorkerReport:
    fields = {"ready": ready, "message": message, "detail": detail or {}, "seen_at": timezone.now()}
    stored, _ = WorkerReport.objects.update_or_create(queue=queue, host=socket.gethostname(), defaults=fields)
    return stored

"""Workers say whether they are ready; the web reads that, since it has no engine to ask."""

from __future__ import annotations

import socket
import time
from typing import Any

import structlog
from django.conf import settings
from django.utils import timezone

from leaderboard.actions import engine, image_files
from leaderboard.models import Prediction, State, WorkerReport

log = structlog.get_logger(__name__)
SYSTEMS = "systems"
_full_report = {"at": float("-inf")}
"""When this process last made a report of a ready engine, by the monotonic clock."""


def report(*, queue: str = SYSTEMS) -> WorkerReport:
    """Ask the engine, tell the web what it said, and remove what dead workers left behind."""
    try:
        detail = dict(engine.ahead())
    except engine.SandboxError as error:
        return _say(queue=queue, ready=False, message=str(error))
    try:
        removed = engine.reap(keep=under_way)
    except engine.SandboxError as error:
        log.warning("reaper_broke", error=str(error))
    else:
        if removed:
            log.warning("reaped", what=removed)
        engine.forget(image_files.idle())
    _full_report["at"] = time.monotonic()
    return _say(queue=queue, ready=True, detail=detail)


def ready() -> bool:
    """Whether a container can be run at this moment. The whole report, with its own container, once a sweep."""
    if time.monotonic() - _full_report["at"] < settings.SWEEP_SECONDS:
        try:
            engine.check()
        except engine.SandboxError as error:
            log.warning("engine_away", error=str(error))
        else:
            return True
    return report().ready


def still_here(*, queue: str = SYSTEMS) -> None:
    """A worker that is busy for long says that it is there."""
    WorkerReport.objects.filter(queue=queue, host=socket.gethostname()).update(seen_at=timezone.now())


def under_way() -> frozenset[str]:
    """The executions that some worker holds."""
    return frozenset(engine.name_of(prediction) for prediction in Prediction.objects.filter(state=State.RUNNING))


def _say(*, queue: str, ready: bool, message: str = "", detail: dict[str, Any] | None = None) -> WorkerReport:
    said = {"ready": ready, "message": message, "detail": detail or {}, "seen_at": timezone.now()}
    made, _ = WorkerReport.objects.update_or_create(queue=queue, host=socket.gethostname(), defaults=said)
    return made

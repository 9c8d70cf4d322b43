"""Status reports of container workers. The web process reads them, because it has no container engine itself."""

from __future__ import annotations

import socket
from datetime import timedelta
from typing import Any

import structlog
from django.conf import settings

from leaderboard.celery import app
from leaderboard.containers.actions import engine, image_cache, placement, scorer_engine
from leaderboard.core import db_clock
from leaderboard.core.store_errors import StoreUnavailableError
from leaderboard.models import AuditEntry, GoldVersion, Image, Prediction, Run, State, User, WorkerReport
from leaderboard.work_queue import enqueue, process_reports

log = structlog.get_logger(__name__)
SYSTEMS, SYSTEMS_GPU, SCORERS = "systems", "systems-gpu", "scorers"


def enqueue_report(queue: str) -> None:
    """Ask a worker of the Celery queue `queue` for a status report, once the current transaction has committed."""
    enqueue.after_commit("report", queue, queue=queue)


def report(*, queue: str = SYSTEMS) -> WorkerReport:
    """Check this host's container engine, and store and return the report of the result, which the web process reads.

    Also remove unused images if space is low, and containers left by dead workers. queue: name of the Celery queue that
    this worker serves.
    """
    missing = _missing(queue)
    if missing:
        return _store(queue, ready=False, message=missing)
    try:
        fields = _space()
        if fields["disk_low"]:
            return _store(queue, ready=False, message=_too_full(fields["disk_free_bytes"]), **fields)
        fields["detail"] = dict(engine.health_check())
        offer = engine.offer()
        gpus = engine.gpus() if queue == SYSTEMS_GPU else []
    except engine.SandboxError as error:
        return _store(queue, ready=False, message=str(error))
    if queue == SYSTEMS_GPU and not gpus:
        return _store(queue, ready=False, message="This worker offers no GPU: all chosen ones are in MIG mode.")
    try:
        removed = engine.reap(keep=under_way)
    except engine.SandboxError as error:
        log.warning("reaper_failed", error=str(error))
    else:
        if removed:
            log.warning("container_removed", what=removed)
    note_drained(socket.gethostname())
    fields |= {"cpus": offer.cpus, "memory_bytes": offer.memory_bytes, "checked_at": db_clock.read()}
    if gpus:
        fields["detail"]["gpus"] = ", ".join(sorted(gpu.name for gpu in gpus))
        fields |= {"gpus": len(gpus), "gpu_memory_gb": min(gpu.memory_gb for gpu in gpus)}
    return _store(queue, ready=True, **fields)


def _space() -> dict[str, Any]:
    """Remove the least recently used images if space is low; return fields of the report: name -> value.

    images: id of each image that stays -> its size in bytes. disk_free_bytes: free bytes on the engine's disk; None if
    not known. disk_low: whether these are too few. Raises SandboxError for a failure of the engine.
    """
    images = image_cache.make_room()
    is_low, free = image_cache.is_disk_low(), engine.disk_free_bytes()
    if is_low:
        log.error("engine_disk_low", free_mb=(free or 0) // 1_000_000, floor_mb=settings.ENGINE_DISK_BYTES // 1_000_000)
    return {"images": images, "disk_free_bytes": free, "disk_low": is_low}


def _too_full(free: int) -> str:
    return (
        f"The engine's disk has {free // 1_000_000:,} MB left, expected {settings.ENGINE_DISK_BYTES // 1_000_000:,} MB "
        "or more: free some, for example with docker system prune. Until then no container is started here."
    )


def _missing(queue: str) -> str:
    """Return a sentence that says why this worker could not serve the queue even with an engine; empty if it could.

    A worker needs GPUs for SYSTEMS_GPU, and access to gold for SCORERS.
    """
    if queue == SYSTEMS_GPU and not settings.GPUS:
        return "This worker offers no GPU; say which ones, for example HOLDOUT_GPUS=all."
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


def ready(queue: str = "") -> bool:
    """Return whether this host can run a container now. queue: name of the worker's queue; empty: `own_queue()`.

    If this host's last report is older than SWEEP_SECONDS or not good, make a new one (`report`), which runs a test
    container; otherwise only ask the engine for its status.
    """
    queue = queue or own_queue()
    since = db_clock.now() - timedelta(seconds=settings.SWEEP_SECONDS)
    own = WorkerReport.objects.filter(queue=queue, host=socket.gethostname())
    if own.filter(ready=True, checked_at__gt=since).exists():
        try:
            engine.check()
        except engine.SandboxError as error:
            log.warning("engine_unavailable", error=str(error))
        else:
            return True
    return report(queue=queue).ready


def make_room_for(image: Image) -> None:
    """Remove unused images from this host's engine, so that there is room to load `image`.

    An error of the engine is only logged: loading may still succeed.
    """
    try:
        image_cache.make_room(needed_bytes=image.unpacked_bytes or image.archive_bytes)
    except engine.SandboxError as error:
        log.warning("image_removal_failed", error=str(error))


def drain(worker: WorkerReport, *, by: User | None = None) -> None:
    """Let a worker's host start no more containers; running ones go on.

    by: the user who asks for it; None: a command on the server.
    """
    if WorkerReport.objects.filter(pk=worker.pk, draining=False).update(draining=True, drained_at=None):
        log.info("worker_draining", queue=worker.queue, host=worker.host)
        AuditEntry.record("worker.draining", worker, by=by, host=worker.host)
    note_drained(worker.host)


def resume(worker: WorkerReport, *, by: User | None = None) -> None:
    """Let a worker's host that was drained start containers again.

    by: the user who asks for it; None: a command on the server.
    """
    if WorkerReport.objects.filter(pk=worker.pk, draining=True).update(draining=False, drained_at=None):
        log.info("worker_resumed", queue=worker.queue, host=worker.host)
        AuditEntry.record("worker.resumed", worker, by=by, host=worker.host)
        enqueue_report(worker.queue)


def note_drained(host: str) -> None:
    """Record and log, once, that a draining host no longer runs any container; do nothing if it does."""
    draining = WorkerReport.objects.filter(host=host, draining=True, drained_at=None)
    if draining.exists() and not placement.running_on(host).exists() and draining.update(drained_at=db_clock.now()):
        log.info("worker_drained", host=host)


def set_ending(is_ending: bool) -> None:
    """Store whether this host's worker is ending; while it is, its processes start no container."""
    WorkerReport.objects.filter(queue=own_queue(), host=socket.gethostname()).update(ending=is_ending)


def heartbeat(*, queue: str = "") -> None:
    """Set the time of this worker's report to now, so that the report stays valid during long work.

    queue: name of the worker's queue; empty: `own_queue()`.
    """
    WorkerReport.objects.filter(queue=queue or own_queue(), host=socket.gethostname()).update(seen_at=db_clock.now())


def own_queue() -> str:
    """Return the name of the queue of submitted systems that this worker reads: SYSTEMS_GPU or SYSTEMS."""
    return SYSTEMS_GPU if SYSTEMS_GPU in app.amqp.queues.consume_from else SYSTEMS


def under_way() -> frozenset[str]:
    """Return the ids of all running executions of systems and scorers, which may share one engine."""
    predicted = frozenset(engine.name_of(prediction) for prediction in Prediction.objects.filter(state=State.RUNNING))
    scored = Run.objects.filter(state=State.RUNNING, scorer__isnull=False)
    return predicted.union(*(scorer_engine.names_of(run) for run in scored))


def _store(queue: str, *, ready: bool, **columns: Any) -> WorkerReport:
    columns = {"disk_low": False, "gpus": 0, "gpu_memory_gb": 0, **columns}
    return process_reports.store(queue, ready=ready, **columns)

"""Celery tasks and the steps of a sweep, in one list. `celery -A leaderboard.jobs worker` and `beat` run them."""

import time
from collections.abc import Callable, Iterable
from functools import partial
from threading import Thread
from typing import Any
from uuid import UUID

import django
import structlog
from celery.exceptions import Reject
from celery.signals import beat_init, worker_ready, worker_shutting_down
from django.conf import settings
from django.db import DatabaseError

from leaderboard.celery import app

django.setup()

from leaderboard.archives.actions import exports, imports
from leaderboard.boards.queries import prepared_board
from leaderboard.comparisons.actions import head_to_head, rank_ranges
from leaderboard.containers.actions import run_scorer, run_system, workers
from leaderboard.curation.actions import baselines, run_generator
from leaderboard.datasets.actions import audits, corrections, gold_diffs, gold_uploads
from leaderboard.near_duplicates.actions import detect
from leaderboard.notifications.actions import deliver as notices
from leaderboard.operations import disk_alarm
from leaderboard.operations import sweep as housekeeping
from leaderboard.plots.actions import pictures
from leaderboard.scoring.actions import board_histories, releases, runs, sealed_phases
from leaderboard.submissions.actions import validation
from leaderboard.work_queue import gate as gates
from leaderboard.work_queue.enqueue import request_context, task_name
from leaderboard.work_queue.work import Work

log = structlog.get_logger(__name__)
Part = Work | Callable[[], object]
SWEEPS: tuple[Part, ...] = (
    disk_alarm.sweep,
    validation.WORK,
    runs.WORK,
    run_scorer.WORK,
    run_system.WORK,
    housekeeping.sweep,
    sealed_phases.sweep,
    releases.sweep,
    board_histories.sweep,
    rank_ranges.WORK,
    *((notices.sweep,) if settings.NOTIFICATIONS else ()),
    head_to_head.WORK,
    detect.WORK,
    pictures.WORK,
    audits.WORK,
    run_generator.WORK,
    baselines.WORK,
    exports.WORK,
    imports.WORK,
    gold_uploads.WORK,
    gold_diffs.WORK,
    corrections.sweep,
)
"""Steps of a sweep. Each kind of background work is one entry, which also defines its Celery task."""


def register(parts: Iterable[Part]) -> None:
    """Register a Celery task for each Work in `parts`.

    The task's argument is the primary key of the row to work on.
    """
    kinds = sorted((part for part in parts if isinstance(part, Work)), key=lambda kind: kind.urgency)
    for part in kinds:
        part.peers = tuple(kind for kind in kinds if kind.queue == part.queue)
        app.task(_task(part), name=task_name(part.name), bind=True)


def _task(work: Work) -> Callable[[Any, str], None]:
    def run(task: Any, key: str) -> None:
        with request_context(task.request):
            if not work.take(key):
                # For another worker. This one holds it until it has stopped consuming.
                time.sleep(gates.PAUSE_SECONDS)
                raise Reject("this worker is not ready", requeue=True)

    return run


register(SWEEPS)
GATE = gates.Gate(
    {
        "scoring": runs.why_not_ready,
        workers.SYSTEMS: run_system.WORK.why_not_ready,
        workers.SYSTEMS_GPU: run_system.WORK.why_not_ready,
        workers.SCORERS: run_scorer.WORK.why_not_ready,
    }
)
app.steps["consumer"].add(gates.step(GATE))


@app.task(name=task_name("report"))
def report(queue: str) -> None:
    workers.report(queue=queue)


@app.task(name=task_name("deliver"))
def deliver(notice_id: str) -> None:
    notices.deliver(notice_id=UUID(notice_id))


def steps() -> dict[str, Callable[[], object]]:
    """Return the steps of a sweep by name. The steps do not depend on each other."""
    kinds = tuple(part for part in SWEEPS if isinstance(part, Work))
    return {
        part.name if isinstance(part, Work) else f"{part.__module__}.{part.__name__}": (
            partial(part.sweep, kinds) if isinstance(part, Work) else part
        )
        for part in SWEEPS
    }


@beat_init.connect
def refuse_celery_beat(**_: object) -> None:
    """Make `celery beat` exit with an error: it has no schedule, because the process `beat` runs the sweeps."""
    raise SystemExit(
        "celery -A leaderboard.jobs beat has no schedule, so it would run no sweep; start instead: "
        "python manage.py serve beat"
    )


@worker_ready.connect
def report_first(sender: Any = None, **_: object) -> None:
    """Request a status report from a worker that has just started, if it runs containers.

    Later reports are requested by the sweep.
    """
    if {workers.SYSTEMS, workers.SYSTEMS_GPU} & set(sender.app.amqp.queues.consume_from):
        workers.set_ending(False)
    for queue in (workers.SYSTEMS, workers.SYSTEMS_GPU, workers.SCORERS):
        if queue in sender.app.amqp.queues.consume_from:
            workers.enqueue_report(queue)


@worker_shutting_down.connect
def end_soon(**_: object) -> None:
    """Let a worker that runs submitted images finish its containers after SIGTERM, for at most DRAIN_SECONDS."""
    if {workers.SYSTEMS, workers.SYSTEMS_GPU} & set(app.amqp.queues.consume_from):
        Thread(target=run_system.end_soon, name="drain", daemon=True).start()


@worker_ready.connect
def report_outdated(**_: object) -> None:
    """Log each current board that an earlier version of its task or scorer scored; curators decide about rescoring."""
    try:
        for phase, version in prepared_board.outdated():
            log.warning("task_version_raised", phase=str(phase), scored_by=version)
    except DatabaseError as error:
        log.warning("outdated_boards_unknown", error=type(error).__name__)

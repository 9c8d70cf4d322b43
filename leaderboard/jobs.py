"""What workers do: an id in, one action out. Run by `celery -A leaderboard.jobs worker`."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

import django
import structlog
from celery.signals import worker_ready
from django.conf import settings
from django.db import DatabaseError, InterfaceError, OperationalError

from leaderboard.celery import app

django.setup()

from leaderboard.archives.actions import exports
from leaderboard.archives.actions import imports as arrivals
from leaderboard.boards.queries import prepared_board as preparing
from leaderboard.comparisons.actions import head_to_head as side_by_sides
from leaderboard.comparisons.actions import rank_ranges as comparisons
from leaderboard.containers.actions import run_scorer as scorer_runs
from leaderboard.containers.actions import run_system as predictions
from leaderboard.containers.actions import workers
from leaderboard.core.logs import places
from leaderboard.curation.actions import run_dry_run as dry_run_scores
from leaderboard.curation.actions import run_generator as generating
from leaderboard.datasets.actions import audits as split_audits
from leaderboard.datasets.actions import corrections
from leaderboard.datasets.actions import gold_diffs as gold_differences
from leaderboard.near_copies.actions import detect as near_copies
from leaderboard.notifications.actions import deliver as notices
from leaderboard.operations import disk_alarm
from leaderboard.operations import sweep as sweeping
from leaderboard.rehearsals import actions as rehearsals
from leaderboard.scoring.actions import releases, runs
from leaderboard.scoring.actions import sealed_phases as sealing
from leaderboard.work_queue import notify_workers as doorbell

log = structlog.get_logger(__name__)


@app.task(name="leaderboard.jobs.score")
def score(run_id: str) -> None:
    runs.score(run_id=UUID(run_id))


@app.task(name="leaderboard.jobs.run_scorer")
def run_scorer(run_id: str) -> None:
    scorer_runs.score(run_id=UUID(run_id))


@app.task(name="leaderboard.jobs.predict")
def predict(prediction_id: str) -> None:
    predictions.predict(prediction_id=UUID(prediction_id))


@app.task(name="leaderboard.jobs.report")
def report(queue: str) -> None:
    workers.report(queue=queue)


@app.task(name="leaderboard.jobs.compare")
def compare(board_id: str) -> None:
    comparisons.compare(board_id=int(board_id))


@app.task(name="leaderboard.jobs.side_by_side")
def side_by_side(pk: str) -> None:
    side_by_sides.compare(pk=int(pk))


@app.task(name="leaderboard.jobs.look_for_copies")
def look_for_copies(pk: str) -> None:
    near_copies.look(pk=int(pk))


@app.task(name="leaderboard.jobs.audit_split")
def audit_split(pk: str) -> None:
    split_audits.audit(pk=int(pk))


@app.task(name="leaderboard.jobs.lay_beside")
def lay_beside(pk: str) -> None:
    gold_differences.lay_beside(pk=int(pk))


@app.task(name="leaderboard.jobs.dry_run")
def dry_run(pk: str) -> None:
    dry_run_scores.run(pk=int(pk))


@app.task(name="leaderboard.jobs.export_archive")
def export_archive(pk: str) -> None:
    exports.write(pk=int(pk))


@app.task(name="leaderboard.jobs.generate")
def generate(pk: str) -> None:
    generating.generate(pk=int(pk))


@app.task(name="leaderboard.jobs.deliver")
def deliver(notice_id: str) -> None:
    notices.deliver(notice_id=UUID(notice_id))


SWEEPS: tuple[Callable[[], object], ...] = (
    disk_alarm.sweep,
    sweeping.sweep,
    sealing.sweep,
    rehearsals.sweep,
    releases.sweep,
    comparisons.sweep,
    *((notices.sweep,) if settings.NOTICES else ()),
    side_by_sides.sweep,
    near_copies.sweep,
    split_audits.sweep,
    generating.sweep,
    dry_run_scores.sweep,
    exports.sweep,
    arrivals.sweep,
    gold_differences.sweep,
    corrections.sweep,
)


@app.task(name="leaderboard.jobs.sweep")
def sweep() -> None:
    """One row or file that breaks its sweep holds up none of the others. A database that is away ends all of them."""
    for one in SWEEPS:
        try:
            one()
        except (InterfaceError, OperationalError):
            raise
        except Exception as error:  # noqa: BLE001  (logged at each beat; the others are as due)
            log.error("sweep_broke", sweep=one.__module__, error=type(error).__name__, at=places(error.__traceback__))


@worker_ready.connect
def report_first(sender: Any = None, **_: object) -> None:
    """A worker with an engine says so when it starts; from then on the sweeper asks."""
    for queue in (workers.SYSTEMS, workers.SCORERS):
        if queue in sender.app.amqp.queues.consume_from:
            doorbell.ring_for_report(queue)


@worker_ready.connect
def tell_what_is_outdated(**_: object) -> None:
    """One line for each board that an upgrade has left behind; to score it again is a curator's decision."""
    try:
        for phase, version in preparing.outdated():
            log.warning("task_version_raised", phase=str(phase), scored_by=version)
    except DatabaseError as error:
        log.warning("outdated_boards_unknown", error=type(error).__name__)

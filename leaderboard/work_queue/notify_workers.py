"""Telling a worker that a row waits. A lost ring is no loss: the sweeper rings again."""

from __future__ import annotations

from uuid import UUID

import structlog
from django.db import transaction
from kombu.exceptions import OperationalError

from leaderboard.celery import app

log = structlog.get_logger(__name__)
RETRY = {"max_retries": 1, "interval_start": 0, "interval_step": 0.1}


def ring_for_run(run_id: UUID, *, by_scorer: bool = False) -> None:
    """Ring once the row is committed. by_scorer: at the workers that run organisers' own scorers."""
    task, queue = ("leaderboard.jobs.run_scorer", "scorers") if by_scorer else ("leaderboard.jobs.score", "scoring")
    transaction.on_commit(lambda: _send(task, str(run_id), queue), robust=True)


def ring_for_prediction(prediction_id: UUID, *, queue: str) -> None:
    """The same for a prediction that a container shall make."""
    transaction.on_commit(lambda: _send("leaderboard.jobs.predict", str(prediction_id), queue), robust=True)


def ring_for_board(board_id: int) -> None:
    """Ring for a leaderboard's comparisons once the row is committed."""
    transaction.on_commit(lambda: _send("leaderboard.jobs.compare", str(board_id)), robust=True)


def ring_for_side_by_side(pk: int) -> None:
    """The same for two systems that somebody wants to see side by side."""
    transaction.on_commit(lambda: _send("leaderboard.jobs.side_by_side", str(pk)), robust=True)


def ring_for_likeness(pk: int) -> None:
    """The same for predictions whose near-copies are looked for."""
    transaction.on_commit(lambda: _send("leaderboard.jobs.look_for_copies", str(pk)), robust=True)


def ring_for_audit(pk: int) -> None:
    """The same for a split that shall be audited."""
    transaction.on_commit(lambda: _send("leaderboard.jobs.audit_split", str(pk)), robust=True)


def ring_for_correction(pk: int) -> None:
    """The same for gold that shall be laid beside what it corrects."""
    transaction.on_commit(lambda: _send("leaderboard.jobs.lay_beside", str(pk)), robust=True)


def ring_for_dry_run(pk: int) -> None:
    """The same for a baseline that shall be scored before a phase opens."""
    transaction.on_commit(lambda: _send("leaderboard.jobs.dry_run", str(pk)), robust=True)


def ring_for_export(pk: int) -> None:
    """The same for an archive that shall be written."""
    transaction.on_commit(lambda: _send("leaderboard.jobs.export_archive", str(pk)), robust=True)


def ring_for_generation(pk: int) -> None:
    """The same for a generator that shall run on raw files."""
    transaction.on_commit(lambda: _send("leaderboard.jobs.generate", str(pk)), robust=True)


def ring_for_notice(notice_id: UUID) -> None:
    """Ring for a mail or a webhook's call, at the worker that talks with the world outside."""
    transaction.on_commit(lambda: _send("leaderboard.jobs.deliver", str(notice_id), "notices"), robust=True)


def ring_for_report(queue: str) -> None:
    """Ask the workers of a queue what state they are in."""
    transaction.on_commit(lambda: _send("leaderboard.jobs.report", queue, queue), robust=True)


def _send(task: str, identifier: str, queue: str = "scoring") -> None:
    try:
        app.send_task(task, args=[identifier], queue=queue, retry_policy=RETRY)
    except (OperationalError, OSError) as error:
        log.warning("doorbell_unreachable", task=task, id=identifier, error=type(error).__name__)

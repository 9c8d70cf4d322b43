"""Enqueues Celery tasks after commit, by name and id only. A lost message is harmless: the sweep enqueues it again."""

from __future__ import annotations

import structlog
from django.db import transaction
from kombu.exceptions import OperationalError

from leaderboard.celery import app

log = structlog.get_logger(__name__)
RETRY = {"max_retries": 1, "interval_start": 0, "interval_step": 0.1}


def task_name(name: str) -> str:
    """Celery's name of a task. Messages of an older release carry it, so a renamed task keeps its former name too."""
    return f"leaderboard.jobs.{name}"


def after_commit(name: str, key: object, *, queue: str) -> None:
    """Enqueue `name` for the row `key` once the transaction has committed."""
    transaction.on_commit(lambda: _send(task_name(name), str(key), queue), robust=True)


def _send(task: str, identifier: str, queue: str = "scoring") -> None:
    try:
        app.send_task(task, args=[identifier], queue=queue, retry_policy=RETRY)
    except (OperationalError, OSError) as error:
        log.warning("enqueue_failed", kind=task, id=identifier, error=type(error).__name__)

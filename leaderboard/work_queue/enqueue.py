"""Enqueuing of Celery tasks after the transaction has committed.

A message contains only the task's name and the key of a row. A lost message is harmless, because the sweep enqueues the
row again; so is one that is delivered twice, because `Work.run` is idempotent.
"""

from __future__ import annotations

import structlog
from django.db import transaction
from kombu.exceptions import OperationalError

from leaderboard.celery import app

log = structlog.get_logger(__name__)
RETRY = {"max_retries": 1, "interval_start": 0, "interval_step": 0.1}


def task_name(name: str) -> str:
    """Return Celery's name for a task, such as `leaderboard.jobs.score`.

    Messages of an older release may have a task's former name, so a renamed task is registered under that one too.
    """
    return f"leaderboard.jobs.{name}"


def after_commit(name: str, key: object, *, queue: str) -> None:
    """Send the task `name`, with the argument `key`, to a Celery queue once the current transaction has committed.

    key: the key of the row to work on. A broker that cannot be reached is logged, not raised.
    """
    transaction.on_commit(lambda: _send(task_name(name), str(key), queue), robust=True)


def _send(task: str, identifier: str, queue: str = "scoring") -> None:
    try:
        app.send_task(task, args=[identifier], queue=queue, retry_policy=RETRY)
    except (OperationalError, OSError) as error:
        log.warning("enqueue_failed", kind=task, id=identifier, error=type(error).__name__)

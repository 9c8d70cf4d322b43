"""Enqueuing of Celery tasks after the current transaction has committed.

A message contains only the task's name, the key of a row and, for the logs, the id of the request. A lost message is
harmless, because the sweep enqueues the row again; so is a message that is delivered twice, because `Work.run` is
idempotent.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from contextvars import copy_context
from functools import partial
from threading import Thread
from typing import Any

import structlog
from amqp.exceptions import AMQPError, MessageNacked, PreconditionFailed
from django.conf import settings
from django.db import transaction
from kombu.exceptions import OperationalError
from structlog.contextvars import bound_contextvars, get_contextvars

from leaderboard.celery import app

log = structlog.get_logger(__name__)
RETRY = {"max_retries": 1, "interval_start": 0, "interval_step": 0.1}
PATIENCE = 5.0
"""Timeout in seconds of a connection on which messages are counted."""
CONFIRM_SECONDS = 2.0
"""Timeout in seconds of RabbitMQ's confirmation that it has a message."""
SEND_SECONDS, SEND_AGAIN_SECONDS = 3.0, 0.1
"""How long a request waits until its message is sent, and how long if the previous message was not sent in time."""


REQUEST_ID = "holdout_request_id"
"""Header of a message with the id of the request that caused the work, which is stored nowhere else."""


class BrokerError(Exception):
    """Error: the broker cannot be reached."""


def task_name(name: str) -> str:
    """Return Celery's name for a task: `leaderboard.jobs.score` for `score`."""
    return f"leaderboard.jobs.{name}"


def after_commit(name: str, key: object, *, queue: str) -> None:
    """Send the task `name`, with the argument `key`, to a Celery queue once the current transaction has committed.

    key: of the row to work on. If the broker cannot be reached, this is logged, and nothing is raised.
    """
    transaction.on_commit(lambda: _send(task_name(name), str(key), queue), robust=True)


def _send(task: str, identifier: str, queue: str = "scoring") -> None:
    send = partial(_send_now, task, identifier, queue)
    if settings.CELERY_BROKER_URL.startswith("folder://"):
        send()
    elif not _patience.run(send):
        log.warning("enqueue_failed", kind=task, id=identifier, error="Timeout")


class _Patience:
    """Limits how long requests wait for a broker that hangs: its client gives up only after 12 s.

    Each message is sent in a thread. While a message that took too long is still being sent, further messages are
    dropped; the sweep enqueues their rows later.
    """

    def __init__(self) -> None:
        self._hanging: Thread | None = None

    def run(self, send: Callable[[], bool]) -> bool:
        """Call `send` in a thread. Return False if it does not return in time, or if an earlier call still runs.

        In the second case, `send` is not called. send: sends one message; returns False for a failure that it logged.
        """
        if self._hanging is not None and self._hanging.is_alive():
            return False
        sent: list[bool] = []
        thread = Thread(target=lambda context: sent.append(context.run(send)), args=(copy_context(),), daemon=True)
        thread.start()
        # After a failure, requests wait no longer than a broker takes that responds again.
        thread.join(SEND_SECONDS if self._hanging is None else SEND_AGAIN_SECONDS)
        self._hanging = None if sent == [True] else thread
        return bool(sent)


_patience = _Patience()


def _send_now(task: str, identifier: str, queue: str) -> bool:
    """Send a message to the broker. Return False, after logging the error, if the broker cannot be reached.

    task: Celery's name of the task. identifier: its argument, the key of a row. If the broker's queue is of another
    type than settings.QUEUE_TYPE, this is logged, and True returned: the broker responds.
    """
    headers = {REQUEST_ID: request_id} if (request_id := get_contextvars().get("request_id")) else None
    try:
        app.send_task(
            task,
            args=[identifier],
            queue=queue,
            retry_policy=RETRY,
            confirm_timeout=CONFIRM_SECONDS,
            headers=headers,
        )
    except PreconditionFailed:
        log.error("queue_type_differs", queue=queue, expected=settings.QUEUE_TYPE)
    except (OperationalError, OSError, AMQPError, MessageNacked) as error:
        log.warning("enqueue_failed", kind=task, id=identifier, error=type(error).__name__)
        return False
    return True


def request_context(message: Any) -> AbstractContextManager[None]:
    """Return a context manager that adds the request id of a message to all log lines in its block.

    message: the attribute `request` of a Celery task that is running.
    """
    request_id = message.get(REQUEST_ID)
    return bound_contextvars(**({"request_id": request_id} if request_id else {}))


def n_waiting(queue: str) -> int:
    """Return the number of messages that wait in a Celery queue, without those that a worker has already received.

    Raises BrokerError if the broker cannot be reached.
    """
    with app.connection_for_write() as broker:
        try:
            broker.ensure_connection(max_retries=1, timeout=PATIENCE)
            with suppress(*broker.channel_errors):  # nothing was ever sent to this queue
                channel = broker.default_channel
                n = int(channel.queue_declare(queue, passive=True).message_count)
                if n == 0 and settings.QUEUE_TYPE == "quorum":
                    # RabbitMQ also reports 0 while the queue has no leader. Getting a message fails then.
                    message = channel.basic_get(queue)
                    if message is not None:
                        channel.basic_reject(message.delivery_tag, requeue=True)
                        n = 1 + int(message.delivery_info["message_count"])
                return n
        except (OperationalError, OSError, *broker.connection_errors) as error:
            raise BrokerError(f"{queue}: {type(error).__name__}") from error
    return 0

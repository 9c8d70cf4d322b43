"""Lets a worker consume messages only while its host is ready to do the work.

A worker that is not ready would take each message of its queue, give it back, and so keep others from the work. So a
thread of Celery's main process checks every CHECK_SECONDS (without messages, IDLE_SECONDS) whether this host is ready,
and the worker stops consuming until it is: `Step`, a bootstep of Celery's consumer, cancels or adds its queues. The
messages stay in the broker for other workers. Messages that the worker has received already go back after
PAUSE_SECONDS (`leaderboard/jobs.py`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import structlog
from celery import bootsteps
from celery.signals import task_received
from celery.worker.consumer.tasks import Tasks
from django.db import DatabaseError, InterfaceError, connection

from leaderboard.core import db_schema
from leaderboard.work_queue import process_reports
from leaderboard.work_queue.lease import Heartbeat
from leaderboard.work_queue.worker_status import REPORT_SECONDS, SELF_REPORTING

log = structlog.get_logger(__name__)
CHECK_SECONDS = 2.0
IDLE_SECONDS, STEADY_SECONDS = 10.0, 60.0
"""How often a worker without messages is checked that is ready, or that has not been ready for STEADY_SECONDS.

A message is followed by a check within CHECK_SECONDS.
"""
SWITCH_SECONDS = 1.0
"""How often the consumer looks whether the gate was opened or closed."""
PAUSE_SECONDS = 2.0
"""How long a worker that is not ready holds a message before it gives it back: until its gate is closed."""
DATABASE, SCHEMA = "database_unavailable", "schema_unfit"
MESSAGES = {
    DATABASE: "The database does not respond.",
    "store_unavailable": "The file store does not respond.",
    "disk_unwritable": "A disk of this host is full or cannot be written to; df shows which. Free some space.",
    "sandbox_unavailable": "The sandbox of this host does not respond. Start it: manage.py serve sandbox.",
    "sandbox_outdated": "The sandbox and the workers of this host run different releases. Restart both.",
    "worker_outdated": "This host runs an earlier release than the site. Upgrade it.",
    "clock_differs": "The clock of this host differs from that of the database. Synchronise both, for example by NTP.",
    "engine_unavailable": "The container engine of this host does not respond.",
}
"""`reason` in the logs -> why a worker is not ready and what to do, in sentences for operators.

Those of SCHEMA are `db_schema.last_found`, which names the migration.
"""


class Gate:
    """Whether the queues of this worker are open, with the thread that checks it.

    checks: name of a queue -> function that returns why this host is not ready for it, a key of MESSAGES; empty if it
    is. It may raise DatabaseError or InterfaceError.
    """

    def __init__(self, checks: Mapping[str, Callable[[], str]]) -> None:
        self._checks = checks
        self._why_not: dict[str, str] = {}
        self._reported = self._checked = self._changed = 0.0
        self._got_message = False
        self._thread: Heartbeat | None = None

    def is_open(self, queue: str) -> bool:
        """Return whether a worker may consume messages of the queue; True for a queue without a check."""
        return not self._why_not.get(queue)

    def start(self, queues: set[str]) -> None:
        """Check the queues now, and every CHECK_SECONDS in a thread. Does nothing but the first time."""
        if self._thread is None:
            task_received.connect(self._note_message, weak=False)
            self._thread = Heartbeat(seconds=CHECK_SECONDS, beat=lambda: self._beat(queues))
            self._beat(queues)
            self._thread.__enter__()

    def _note_message(self, **_: object) -> None:
        self._got_message = True

    def _beat(self, queues: set[str]) -> bool:
        now = time.monotonic()
        is_steady = not any(self._why_not.values()) or now - self._changed > STEADY_SECONDS
        if is_steady and not self._got_message and now - self._checked < IDLE_SECONDS:
            return True
        self._got_message, self._checked = False, now
        try:
            self.check(queues)
        finally:
            # A process of the pool must not inherit an open connection.
            connection.close()
        return True

    def check(self, queues: set[str]) -> None:
        """Open or close each of the queues, log what changes, and store what pages show about this worker."""
        is_due = time.monotonic() - self._reported >= REPORT_SECONDS
        for queue in sorted(queues):
            before, now = self._why_not.get(queue, ""), self._why_not_ready(queue)
            self._why_not[queue] = now
            if now != before:
                self._changed = time.monotonic()
                if now:
                    log.warning("worker_waits", queue=queue, reason=now)
                else:
                    log.warning("worker_ready", queue=queue)
            if now != DATABASE and (is_due or now != before):
                self._report(queue, now)
                self._reported = time.monotonic()

    def _why_not_ready(self, queue: str) -> str:
        try:
            if queue in self._checks:
                return self._checks[queue]()
            if db_schema.check():
                return SCHEMA
        except (DatabaseError, InterfaceError) as error:
            log.warning("database_unavailable", error=type(error).__name__)
            return DATABASE
        except Exception as error:  # noqa: BLE001  a host on which the check itself fails is not ready
            log.error("readiness_unknown", queue=queue, error=type(error).__name__)
            return "engine_unavailable" if queue not in SELF_REPORTING else "sandbox_unavailable"
        return ""

    @staticmethod
    def _report(queue: str, why_not: str) -> None:
        """Store whether this worker is ready. A check of a container engine has stored it already, with details."""
        message = db_schema.last_found() if why_not == SCHEMA else MESSAGES.get(why_not, "")
        try:
            if queue in SELF_REPORTING or why_not not in ("", "engine_unavailable"):
                process_reports.store(queue, ready=not why_not, message=message)
        except (DatabaseError, InterfaceError) as error:
            log.warning("report_failed", queue=queue, error=type(error).__name__)

    def switch(self, consumer: Any) -> None:
        """Let Celery's consumer consume exactly the open queues. Call in the thread of its event loop.

        The list of queues in Celery's settings stays as it is: they say what the worker serves.
        """
        messages = consumer.task_consumer
        if messages is None:  # it is connecting
            return
        consumed = {queue.name for queue in messages.queues}
        for name, queue in list(consumer.app.amqp.queues.consume_from.items()):
            if (name in consumed) == self.is_open(name):
                continue
            if self.is_open(name):
                messages.add_queue(queue)
                messages.consume()
            else:
                messages.cancel_by_queue(name)


def step(gate: Gate) -> type[bootsteps.StartStopStep]:
    """Return the bootstep of Celery's consumer that obeys a gate. It starts again with each connection."""

    class Step(bootsteps.StartStopStep):
        requires = (Tasks,)

        def start(self, c: Any) -> None:
            gate.start(set(c.app.amqp.queues.consume_from))
            gate.switch(c)
            # The timer has a thread of its own if the broker has no event loop.
            self.timer = c.timer.call_repeatedly(SWITCH_SECONDS, lambda: c.call_soon(gate.switch, c))

        def stop(self, c: Any) -> None:
            self.timer.cancel()

    return Step

"""Background work of which it matters which worker does it: a message only wakes a worker, which chooses a row itself.

The row is chosen and claimed in one transaction, so the order of the messages has no effect. Everything else is as in
`work.py`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction

from leaderboard.core import db_clock
from leaderboard.work_queue import enqueue
from leaderboard.work_queue.lease import Lease
from leaderboard.work_queue.work import AT_ONCE, Work, last_without_message

PASS_ON_SECONDS = 1.0
"""Pause before a message that led to no claim is sent again (`ChosenWork.passes_on`)."""


@dataclass(eq=False, repr=False, kw_only=True)
class ChosenWork(Work):
    """One kind of background work, the rows of which are in several queues, and are chosen by the workers.

    queue_of: row -> name of its queue
    routed_rows: queryset of all rows with only the columns that `queue_of` reads
    choose: called in the transaction of a claim with a queryset of the queued rows and the name of the queue; returns
        the row that this worker claims, locked, or None
    passes_on: called with the name of the queue if a message led to no claim; returns True if the message is to be sent
        again
    """

    queue: str = ""  # none is that of all rows
    queue_of: Callable[[Any], str]
    routed_rows: Any
    choose: Callable[[Any, str], Any | None]
    passes_on: Callable[[str], bool]

    def claim(self, key: Any) -> Lease[Any] | None:
        """Take a lease on a row that this worker chooses in the queue of the row with this key, which need not wait.

        None means that it chooses none, or that there is no such row.
        """
        queue = self._queue_of_key(key)
        if queue is None:
            return None
        with transaction.atomic():
            chosen = self.choose(self.rows.filter(self.columns.queued()), queue)
            return None if chosen is None else self._claim(self.rows.get(pk=chosen.pk))

    def _own(self, key: Any) -> tuple[Work, Lease[Any] | None]:
        return self, self.claim(key)

    _next = _own

    def _nothing_claimed(self, key: Any) -> None:
        """Send the row's message again after PASS_ON_SECONDS, if `passes_on` asks for it."""
        queue = self._queue_of_key(key)
        if queue is not None and self.passes_on(queue):
            time.sleep(PASS_ON_SECONDS)
            enqueue.after_commit(self.name, key, queue=queue)

    def _lost(self, rows: Any, kinds: Sequence[Work], at: datetime, future: datetime) -> list[Any]:
        limits = {queue: last_without_message(queue, kinds, at) for queue in {self.queue_of(row) for row in rows}}
        lost = [row for row in rows if row.enqueued_at <= limits[self.queue_of(row)] or row.enqueued_at > future]
        return lost[:AT_ONCE]

    def _in_queue(self) -> Any:
        return self.routed_rows

    def _queue_of(self, row: Any) -> str:
        return self.queue_of(row)

    def _queue_of_key(self, key: Any) -> str | None:
        """Return the name of the queue to which the row with this key is enqueued; None if there is no such row."""
        row = self._in_queue().filter(**{self.key: key}).first()
        return None if row is None else self.queue_of(row)

    def _enqueued(self, queue: str, since: datetime) -> Iterable[datetime]:
        rows = self._in_queue().filter(self.columns.queued(), enqueued_at__gt=since, enqueued_at__lte=db_clock.now())
        return [row.enqueued_at for row in rows if self.queue_of(row) == queue]

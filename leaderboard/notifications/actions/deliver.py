"""Delivery of notices, by email and webhook: enqueue the due ones, attempt each, retry those that failed.

`sweep` first has the kinds of notifications (`kinds`) write the notices of new events: for each user an entry of the
list on the site, which may be mailed, and for each webhook a call. A worker without access to gold delivers the
notices (`deliver`), webhook calls with a signature (`webhook_signature`). Notifications do not delay scoring, and they
are written even if the process that finished the submission crashed. docs/api.md describes the JSON of each event.
"""

from __future__ import annotations

import json
import uuid
from datetime import datetime, timedelta
from typing import Any

import structlog
from django.conf import settings
from django.core.mail import send_mail
from django.db.models import QuerySet
from django.urls import reverse
from django.utils import timezone

from leaderboard.core import db_clock, http_client
from leaderboard.core.text.mail_text import without_links
from leaderboard.models import Notice
from leaderboard.notifications.actions import kinds, webhook_signature
from leaderboard.work_queue import enqueue

log = structlog.get_logger(__name__)

WINDOW = timedelta(days=2)
"""Maximum age of an event for which a notice is still written."""
RETENTION = timedelta(days=30)
"""Time after the last delivery attempt after which a notice is deleted."""
RETRY_DELAYS = tuple(timedelta(seconds=seconds) for seconds in (30, 120, 600, 3600, 21600))
"""Delay between two delivery attempts of a notice: the first entry follows the first attempt, and so on.

The delay is set before the attempt. If the worker dies during the attempt, the notice is retried after this delay too.
"""
ATTEMPTS = len(RETRY_DELAYS) + 1
"""Maximum number of delivery attempts; after the last one the notice has failed."""
MAX_DELIVERIES_PER_SWEEP = 200
"""Maximum number of deliveries that one sweep enqueues."""
QUEUE = "notifications"
"""Celery queue of deliveries."""


def sweep() -> int:
    """Write notices of new events, enqueue due deliveries, and delete old notices; return the number written.

    Old notices are those whose delivery ended more than RETENTION ago.
    """
    at = timezone.now()
    written = sum(kind.write(at - WINDOW, at) for kind in kinds.KINDS if kind.write)
    due = Notice.objects.filter(state=Notice.State.QUEUED, due_at__lte=at).order_by("due_at", "pk")
    if due.exists():
        _enqueue_due(due)
    Notice.objects.filter(finished_at__lt=db_clock.earliest() - RETENTION).delete()
    return written


def _enqueue_due(due: QuerySet[Notice]) -> None:
    """Enqueue the deliveries of due notices, except for the first n, where n is the number of messages in the queue.

    Deliveries are enqueued in the order in which they fall due, so those messages are of the first n notices.
    """
    try:
        n = enqueue.n_waiting(QUEUE)
    except enqueue.BrokerError as error:
        log.warning("broker_unavailable", kind="deliver", error=str(error))
        return
    for pk in due.values_list("pk", flat=True)[n : n + MAX_DELIVERIES_PER_SWEEP]:
        enqueue_delivery(pk)


def enqueue_delivery(pk: uuid.UUID) -> None:
    """Enqueue the delivery of a notice, by its primary key, for the worker that has access to the internet."""
    enqueue.after_commit("deliver", pk, queue=QUEUE)


def deliver(*, notice_id: uuid.UUID) -> None:
    """Make one delivery attempt if the notice is queued and due, and no other worker has claimed it.

    Idempotent: a message received twice causes only one attempt, since the first one postpones the notice.
    """
    at = timezone.now()
    notice = Notice.objects.select_related("user", "webhook").filter(pk=notice_id, state=Notice.State.QUEUED).first()
    if notice is None or notice.due_at > at:
        return
    attempt = notice.attempts + 1
    claim = Notice.objects.filter(pk=notice_id, state=Notice.State.QUEUED, attempts=notice.attempts, due_at__lte=at)
    if not claim.update(attempts=attempt, due_at=at + RETRY_DELAYS[min(attempt, len(RETRY_DELAYS)) - 1]):
        return  # another worker has claimed this attempt
    if not kinds.is_for(notice):
        Notice.objects.filter(pk=notice_id).delete()
        return
    delivered, response = _call(notice, at) if notice.webhook else _mail(notice)
    ended: dict[str, Any] = {}
    if delivered or attempt >= ATTEMPTS:
        state = Notice.State.DONE if delivered else Notice.State.FAILED
        ended = {"state": state, "finished_at": timezone.now()}
    Notice.objects.filter(pk=notice_id, state=Notice.State.QUEUED, attempts=attempt).update(answer=response, **ended)


def _call(notice: Notice, at: datetime) -> tuple[bool, str]:
    assert notice.webhook is not None
    body = json.dumps(notice.body, sort_keys=True).encode()
    try:
        status = http_client.post(
            notice.webhook.url,
            body,
            webhook_signature.signed_headers(notice.webhook, str(notice.pk), body, at),
            also=tuple(settings.WEBHOOK_HOSTS),
        )
    except http_client.RequestFailedError as error:
        return False, str(error)
    return 200 <= status < 300, f"status {status}"


def _mail(notice: Notice) -> tuple[bool, str]:
    subject, text = kinds.words(notice)
    try:
        # Names and messages in it were written by others.
        send_mail(without_links(subject)[:200], without_links(text) + _footer(), None, [notice.user.email])
    except OSError as error:  # includes smtplib's exceptions
        log.warning("mail_failed", kind="notice", id=str(notice.pk), error=type(error).__name__)
        return False, "the mail server did not accept the mail"
    return True, "sent"


def _footer() -> str:
    return f"\nYou get this email because you subscribed to it: {settings.BASE_URL}{reverse('my_notices')}\n"

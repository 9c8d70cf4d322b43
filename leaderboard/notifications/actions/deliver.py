"""Notifications by email and webhook: write a notice for each subscriber of an event, and deliver it.

`sweep` finds finished submissions and other events, and writes one `Notice` for each email and each webhook call;
those of an announcement are written when it is published. A worker without access to gold delivers the notices
(`deliver`) and retries failed ones. Each webhook call has a signature, an HMAC-SHA256 header (`signed_headers`), by
which its receiver can check that the call is authentic. Notifications do not delay scoring, and they are written even
if the process that finished the submission crashed.

A notice of a finished submission contains the state that the submission's page shows, but no score: the page and the
API decide which scores to disclose. A notice of a replaced board contains ranks and values as both boards show them
publicly (`rank_changes`).

To add a new notification: write a module with an event name, `write` and `words`, as `near_duplicates` and
`rank_changes` are, and call its functions in `sweep` and in `_words`. `recipients` finds the subscribers who have no
notice of the event yet. docs/api.md describes the JSON of each event.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import uuid
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

import structlog
from django.conf import settings
from django.core.mail import send_mail
from django.db.models import Exists, OuterRef, Q
from django.urls import reverse
from django.utils import timezone

from leaderboard.core import http_client
from leaderboard.core.plain_text import one_line
from leaderboard.models import Notice, Prediction, Run, State, Submission, User, Webhook
from leaderboard.notifications.actions import near_duplicates, rank_changes, recipients
from leaderboard.notifications.actions.recipients import Event
from leaderboard.submissions.queries import progress
from leaderboard.work_queue import enqueue

log = structlog.get_logger(__name__)

ENDED = (State.DONE, State.REJECTED, State.FAILED)
"""States in which subscribers are notified of a submission: every terminal state except CANCELLED."""
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
    written = _write(at) + near_duplicates.write(at - WINDOW, at)
    written += rank_changes.write(at - WINDOW, at)
    due = Notice.objects.filter(state=Notice.State.QUEUED, due_at__lte=at).order_by("due_at")
    for pk in due.values_list("pk", flat=True)[:MAX_DELIVERIES_PER_SWEEP]:
        enqueue_delivery(pk)
    Notice.objects.filter(finished_at__lt=at - RETENTION).delete()
    return written


def enqueue_delivery(pk: uuid.UUID) -> None:
    """Enqueue the delivery of a notice, by its primary key, for the worker that has access to the internet."""
    enqueue.after_commit("deliver", pk, queue=QUEUE)


def _write(at: datetime) -> int:
    if not (Webhook.objects.exists() or User.objects.filter(mailed_since__isnull=False).exists()):
        return 0
    ends = {subject: (ended_at, status) for subject, ended_at, status in _ends(at)}
    events = (
        Event(subject, status.submission.system.team.members.all(), ended_at)
        for subject, (ended_at, status) in ends.items()
    )
    untold = ((ends[subject][1], subject, user, webhook) for subject, user, webhook in recipients.unnotified(events))
    # A submission to a draft benchmark or a rehearsal is notified only to members who may open its page.
    return recipients.queue(
        [
            _notice(user, webhook, subject, status, at)
            for status, subject, user, webhook in untold
            if status.submission.phase.benchmark.is_visible_to(user)
        ]
    )


def _ends(at: datetime) -> Iterable[tuple[uuid.UUID, datetime, progress.Progress]]:
    """Yield (id, time, progress) for each submission that finished within WINDOW and that somebody subscribed to.

    The id is that of the run or failed prediction with which the submission finished, and the time is when it did. A
    rescoring is no event: runs that finished after a scored run of the same prediction are left out.
    """
    earlier = Run.objects.filter(
        prediction=OuterRef("prediction"), state=State.DONE, finished_at__lt=OuterRef("finished_at")
    )
    window = Q(state__in=ENDED, finished_at__gt=at - WINDOW)
    runs = (
        Run.objects.filter(window).exclude(Exists(earlier)).values_list("pk", "finished_at", "prediction__submission")
    )
    # The prediction of a failed container has no run.
    failed_predictions = Prediction.objects.filter(window, state__in=(State.REJECTED, State.FAILED))
    ends = [*runs, *failed_predictions.values_list("pk", "finished_at", "submission")]
    subscribed = Submission.objects.filter(
        Q(system__team__members__mailed_since__isnull=False) | Q(system__team__members__webhooks__isnull=False),
        pk__in={end[2] for end in ends},
    )
    followed = progress.with_related(subscribed.distinct()).prefetch_related("system__team__members__webhooks")
    progress_of = {row.pk: progress.of(row) for row in followed}
    for pk, ended_at, submission in ends:
        status = progress_of.get(submission)
        if status is not None and ended_at is not None and status.state in ENDED:
            yield pk, ended_at, status


def _notice(user: User, webhook: Webhook | None, subject: uuid.UUID, status: progress.Progress, at: datetime) -> Notice:
    key, submission = uuid.uuid4(), status.submission
    body = {
        "id": str(key),
        "event": "submission.finished",
        "at": at.isoformat(),
        "submission": str(submission.pk),
        "benchmark": submission.phase.benchmark.slug,
        "phase": submission.phase.slug,
        "system": submission.system.name,
        "team": submission.system.team.name,
        "state": status.state.value,
        "reason": status.reason.value,
        "reason_text": status.reason.label if status.reason else "",
        "page": settings.BASE_URL + submission.get_absolute_url(),
        "url": settings.BASE_URL + reverse("api_submission", args=[submission.pk]),
    }
    return Notice(
        id=key, user=user, webhook=webhook, submission=submission, subject=subject, body=body, due_at=at, created_at=at
    )


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
    if notice.body["event"] == near_duplicates.EVENT and not near_duplicates.is_for(notice):
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
            signed_headers(notice.webhook, str(notice.pk), body, at),
            also=tuple(settings.WEBHOOK_HOSTS),
        )
    except http_client.RequestFailedError as error:
        return False, str(error)
    return 200 <= status < 300, f"status {status}"


def signed_headers(webhook: Webhook, notice: str, body: bytes, at: datetime) -> dict[str, str]:
    """Return the headers of a webhook call; one is the webhook signature, `Holdout-Signature: sha256=HEX`.

    HEX is the HMAC-SHA256, under the webhook's secret, of the Unix time in `Holdout-Timestamp`, a full stop, and the
    body. notice: the notice's id, which is the same in each attempt.
    """
    stamp = str(int(at.timestamp()))
    digest = hmac.new(secret(webhook).encode(), stamp.encode() + b"." + body, hashlib.sha256).hexdigest()
    return {
        "Content-Type": "application/json",
        "User-Agent": "Holdout",
        "Holdout-Id": notice,
        "Holdout-Timestamp": stamp,
        "Holdout-Signature": f"sha256={digest}",
    }


def secret(webhook: Webhook) -> str:
    """Return the secret under which a webhook's calls are signed.

    It is derived from the webhook's salt and the site's SECRET_KEY, so a copy of the database does not reveal it.
    """
    words = f"webhook:{webhook.pk}:{webhook.salt}".encode()
    return hmac.new(settings.SECRET_KEY.encode(), words, hashlib.sha256).hexdigest()


def _mail(notice: Notice) -> tuple[bool, str]:
    subject, text = _words(notice)
    try:
        send_mail(subject[:200], text, None, [notice.user.email])
    except OSError as error:  # includes smtplib's exceptions
        log.warning("mail_failed", notice=str(notice.pk), error=type(error).__name__)
        return False, "the mail server did not accept it"
    return True, "sent"


def _words(notice: Notice) -> tuple[str, str]:
    match notice.body["event"]:
        case "announcement":
            return _of_announcement(notice)
        case near_duplicates.EVENT:
            subject, text = near_duplicates.words(notice)
            return subject, text + _footer()
        case rank_changes.EVENT:
            subject, text = rank_changes.words(notice)
            return subject, text + _footer()
    return _of_end(notice)


def _of_announcement(notice: Notice) -> tuple[str, str]:
    """Return the mail's subject and text for an announcement; line breaks are those of the organisers' text."""
    title, benchmark, page = (one_line(str(notice.body[name])) for name in ("title", "benchmark", "page"))
    lines = [one_line(line) for line in str(notice.body["text"]).splitlines()]
    body = "\n".join([title, "", *lines, "", page, ""])
    return f"{benchmark}: {title}", body + _footer()


def _footer() -> str:
    return f"\nYou get this email because you subscribed to it: {settings.BASE_URL}{reverse('my_notices')}\n"


def _of_end(notice: Notice) -> tuple[str, str]:
    fields = {name: one_line(str(value)) for name, value in notice.body.items()}
    reason = f" ({fields['reason_text']})" if fields["reason_text"] else ""
    text = (
        f"{fields['system']} of {fields['team']}, submitted to {fields['benchmark']}, phase {fields['phase']}, "
        f"is finished: {fields['state']}{reason}.\n\n{fields['page']}\n"
    )
    return f"{fields['system']}: {fields['state']} ({fields['benchmark']})", text + _footer()

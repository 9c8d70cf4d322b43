"""Telling people that their submissions have ended, and more that they asked for: what, and the telling.

The sweeper looks for ends that nobody was told of and writes notices; a worker without gold delivers them. Neither
holds up the scoring, and an end is told even if whoever wrote it was killed right after. A notice tells the state that
the submission's page tells, and no score: what may be revealed of those, the page and the API know. Of a switch of
boards a notice tells ranks and values as both boards show them to everybody (`move_notices`).
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
from leaderboard.notifications.actions import near_copies, rank_changes, recipients
from leaderboard.notifications.actions.recipients import Event
from leaderboard.submissions.queries import progress
from leaderboard.work_queue import enqueue

log = structlog.get_logger(__name__)

ENDED = (State.DONE, State.REJECTED, State.FAILED)
WINDOW = timedelta(days=2)
"""An end that is older is told no more."""
KEPT = timedelta(days=30)
PAUSES = tuple(timedelta(seconds=seconds) for seconds in (30, 120, 600, 3600, 21600))
"""Before each further attempt; a worker that dies in one holds its notice for as long."""
ATTEMPTS = len(PAUSES) + 1
AT_ONCE = 200


def sweep() -> int:
    """Write what is to be told, ring for what is due, forget what is old; how many were written."""
    at = timezone.now()
    written = _write(at) + near_copies.write(at - WINDOW, at)
    written += rank_changes.write(at - WINDOW, at)
    due = Notice.objects.filter(state=Notice.State.QUEUED, due_at__lte=at).order_by("due_at")
    for pk in due.values_list("pk", flat=True)[:AT_ONCE]:
        enqueue_delivery(pk)
    Notice.objects.filter(finished_at__lt=at - KEPT).delete()
    return written


def enqueue_delivery(pk: uuid.UUID) -> None:
    """Send a notice to the worker that talks to the world outside."""
    enqueue.after_commit("deliver", pk, queue="notices")


def _write(at: datetime) -> int:
    if not (Webhook.objects.exists() or User.objects.filter(mailed_since__isnull=False).exists()):
        return 0
    ends = {subject: (ended_at, found) for subject, ended_at, found in _ends(at)}
    events = (
        Event(subject, found.submission.system.team.members.all(), ended_at)
        for subject, (ended_at, found) in ends.items()
    )
    untold = ((ends[subject][1], subject, user, webhook) for subject, user, webhook in recipients.untold(events))
    # Of a draft or a rehearsal, a team's members are notified as far as they may open the page.
    return recipients.queue(
        [
            _notice(user, webhook, subject, found, at)
            for found, subject, user, webhook in untold
            if found.submission.phase.benchmark.is_visible_to(user)
        ]
    )


def _ends(at: datetime) -> Iterable[tuple[uuid.UUID, datetime, progress.Progress]]:
    """(what has ended, when, the submission's progress) of the first end of each submission.

    A rescoring ends nothing: a run after one that gave scores is left out. So is what its page does not call over yet.
    """
    earlier = Run.objects.filter(
        prediction=OuterRef("prediction"), state=State.DONE, finished_at__lt=OuterRef("finished_at")
    )
    window = Q(state__in=ENDED, finished_at__gt=at - WINDOW)
    runs = (
        Run.objects.filter(window).exclude(Exists(earlier)).values_list("pk", "finished_at", "prediction__submission")
    )
    # What a container failed to make has no run.
    made = Prediction.objects.filter(window, state__in=(State.REJECTED, State.FAILED))
    ends = [*runs, *made.values_list("pk", "finished_at", "submission")]
    wanted = Submission.objects.filter(
        Q(system__team__members__mailed_since__isnull=False) | Q(system__team__members__webhooks__isnull=False),
        pk__in={end[2] for end in ends},
    )
    followed = progress.followed(wanted.distinct()).prefetch_related("system__team__members__webhooks")
    found = {one.pk: progress.of(one) for one in followed}
    for pk, ended_at, submission in ends:
        told = found.get(submission)
        if told is not None and ended_at is not None and told.state in ENDED:
            yield pk, ended_at, told


def _notice(user: User, webhook: Webhook | None, subject: uuid.UUID, found: progress.Progress, at: datetime) -> Notice:
    key, submission = uuid.uuid4(), found.submission
    body = {
        "id": str(key),
        "event": "submission.finished",
        "at": at.isoformat(),
        "submission": str(submission.pk),
        "benchmark": submission.phase.benchmark.slug,
        "phase": submission.phase.slug,
        "system": submission.system.name,
        "team": submission.system.team.name,
        "state": found.state.value,
        "reason": found.reason.value,
        "reason_text": found.reason.label if found.reason else "",
        "page": settings.BASE_URL + submission.get_absolute_url(),
        "url": settings.BASE_URL + reverse("api_submission", args=[submission.pk]),
    }
    return Notice(
        id=key, user=user, webhook=webhook, submission=submission, subject=subject, body=body, due_at=at, created_at=at
    )


def deliver(*, notice_id: uuid.UUID) -> None:
    """One attempt, if it is due and nobody else has it. Safe to call any number of times, from anywhere."""
    at = timezone.now()
    notice = Notice.objects.select_related("user", "webhook").filter(pk=notice_id, state=Notice.State.QUEUED).first()
    if notice is None or notice.due_at > at:
        return
    attempt = notice.attempts + 1
    mine = Notice.objects.filter(pk=notice_id, state=Notice.State.QUEUED, attempts=notice.attempts, due_at__lte=at)
    if not mine.update(attempts=attempt, due_at=at + PAUSES[min(attempt, len(PAUSES)) - 1]):
        return  # another worker has it
    if notice.body["event"] == near_copies.EVENT and not near_copies.is_for(notice):
        Notice.objects.filter(pk=notice_id).delete()
        return
    arrived, answer = _call(notice, at) if notice.webhook else _mail(notice)
    over: dict[str, Any] = {}
    if arrived or attempt >= ATTEMPTS:
        state = Notice.State.DONE if arrived else Notice.State.FAILED
        over = {"state": state, "finished_at": timezone.now()}
    Notice.objects.filter(pk=notice_id, state=Notice.State.QUEUED, attempts=attempt).update(answer=answer, **over)


def _call(notice: Notice, at: datetime) -> tuple[bool, str]:
    assert notice.webhook is not None
    body = json.dumps(notice.body, sort_keys=True).encode()
    try:
        status = http_client.post(
            notice.webhook.url,
            body,
            signed(notice.webhook, str(notice.pk), body, at),
            also=tuple(settings.WEBHOOK_HOSTS),
        )
    except http_client.NotCalledError as error:
        return False, str(error)
    return 200 <= status < 300, f"status {status}"


def signed(webhook: Webhook, notice: str, body: bytes, at: datetime) -> dict[str, str]:
    """The headers of a call: what it is, and that it is ours: HMAC-SHA256 of `timestamp.body` under the secret."""
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
    """What a webhook's owner checks calls with. A copy of the database without the site's key does not tell it."""
    words = f"webhook:{webhook.pk}:{webhook.salt}".encode()
    return hmac.new(settings.SECRET_KEY.encode(), words, hashlib.sha256).hexdigest()


def _mail(notice: Notice) -> tuple[bool, str]:
    subject, text = _words(notice)
    try:
        send_mail(subject[:200], text, None, [notice.user.email])
    except OSError as error:  # what smtplib raises is one, too
        log.warning("mail_not_sent", notice=str(notice.pk), error=type(error).__name__)
        return False, "the mail server did not take it"
    return True, "sent"


def _words(notice: Notice) -> tuple[str, str]:
    match notice.body["event"]:
        case "announcement":
            return _of_announcement(notice)
        case near_copies.EVENT:
            subject, text = near_copies.words(notice)
            return subject, text + _why()
        case rank_changes.EVENT:
            subject, text = rank_changes.words(notice)
            return subject, text + _why()
    return _of_end(notice)


def _of_announcement(notice: Notice) -> tuple[str, str]:
    """Subject and text; the text's lines are the organisers' own."""
    title, benchmark, page = (one_line(str(notice.body[name])) for name in ("title", "benchmark", "page"))
    lines = [one_line(line) for line in str(notice.body["text"]).splitlines()]
    body = "\n".join([title, "", *lines, "", page, ""])
    return f"{benchmark}: {title}", body + _why()


def _why() -> str:
    return f"\nYou are told because you asked for it: {settings.BASE_URL}{reverse('my_notices')}\n"


def _of_end(notice: Notice) -> tuple[str, str]:
    told = {name: one_line(str(value)) for name, value in notice.body.items()}
    reason = f" ({told['reason_text']})" if told["reason_text"] else ""
    text = (
        f"{told['system']} of {told['team']}, submitted to {told['benchmark']}, phase {told['phase']}, "
        f"has ended: {told['state']}{reason}.\n\n{told['page']}\n"
    )
    return f"{told['system']}: {told['state']} ({told['benchmark']})", text + _why()

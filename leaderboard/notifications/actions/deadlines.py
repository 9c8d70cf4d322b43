"""Reminders that a phase closes soon, to the benchmark's followers and participants.

Each reminder is about one deadline: if the deadline is moved, there are reminders of the new one, and those of the old
one are dropped.
"""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from leaderboard.benchmarks.queries.followers import followers_of
from leaderboard.core.text.plain_text import one_line
from leaderboard.models import Benchmark, Notice, Phase, Split
from leaderboard.notifications.actions import recipients
from leaderboard.notifications.actions.recipients import Event

EVENT = "phase.closing"
LEAD_TIMES = (timedelta(days=1), timedelta(days=7))
"""Times before a deadline at which people are reminded, the shortest first. If nothing swept at such a time, the
reminder is written later, unless that of a shorter lead time is due by then."""
_DEADLINES = uuid.UUID("6c0d7f0a-9a55-5a0e-8f6e-0d1c52d1b7f2")
"""UUID namespace of the ids of (phase, deadline, lead time)."""


def write(since: datetime, at: datetime) -> int:
    """Queue the reminders that are due at `at`, for those who followed or took part when the reminders fell due.

    since: not used; other kinds of notifications need it. Returns the number of notices written.
    """
    due = {_subject(phase, lead): (phase, lead) for phase in _closing(at) for lead in [_lead(phase, at)]}
    known = recipients.notified(due)
    notices = []
    for subject, (phase, lead) in due.items():
        if subject in known:
            continue
        due_at = _deadline(phase) - lead
        people = followers_of(phase.benchmark, by=due_at).prefetch_related("webhooks")
        body = _body(phase, lead, at)
        event = Event(subject, people, due_at)
        notices += [recipient.notice(body, at) for recipient in recipients.unnotified([event], "news_mailed_since")]
    return recipients.queue(notices)


def is_for(notice: Notice) -> bool:
    """Return True if a reminder is still right: the phase closes at the time that it names, which has not passed.

    The benchmark must be published, and the recipient must still be allowed to see it.
    """
    closes_at = datetime.fromisoformat(notice.body["closes_at"])
    return (
        closes_at > timezone.now()
        and Phase.objects.filter(
            benchmark__in=Benchmark.objects.visible_to(notice.user).filter(slug=notice.body["benchmark"]),
            benchmark__state__in=Benchmark.PUBLISHED,
            slug=notice.body["phase"],
            closes_at=closes_at,
        ).exists()
    )


def words(notice: Notice) -> tuple[str, str]:
    """Return (subject, text) of a reminder's mail, without the footer that all mails get."""
    fields = {name: one_line(str(value)) for name, value in notice.body.items()}
    closes_at, days = datetime.fromisoformat(fields["closes_at"]), notice.body["days"]
    subject = f"{fields['benchmark_title']}, {fields['phase_title']} closes in less than {days} day{'s'[: days != 1]}"
    return subject, f"The last submissions are accepted at {closes_at:%Y-%m-%d %H:%M} UTC.\n\n{fields['page']}\n"


def _closing(at: datetime) -> list[Phase]:
    """Return the open phases of published benchmarks that close within the longest lead time."""
    opened = Q(opens_at=None) | Q(opens_at__lte=at)
    closing = Phase.objects.filter(
        opened,
        benchmark__state__in=Benchmark.PUBLISHED,
        split__state=Split.State.PUBLISHED,
        closes_at__gt=at,
        closes_at__lte=at + LEAD_TIMES[-1],
    )
    return list(closing.select_related("benchmark"))


def _deadline(phase: Phase) -> datetime:
    assert phase.closes_at is not None, "_closing returns phases that close"
    return phase.closes_at


def _lead(phase: Phase, at: datetime) -> timedelta:
    return next(lead for lead in LEAD_TIMES if _deadline(phase) - at <= lead)


def _subject(phase: Phase, lead: timedelta) -> uuid.UUID:
    return uuid.uuid5(_DEADLINES, f"{phase.pk}:{_deadline(phase).isoformat()}:{lead.days}")


def _body(phase: Phase, lead: timedelta, at: datetime) -> dict[str, Any]:
    return {
        "event": EVENT,
        "at": at.isoformat(),
        "benchmark": phase.benchmark.slug,
        "benchmark_title": phase.benchmark.title,
        "phase": phase.slug,
        "phase_title": phase.title,
        "closes_at": _deadline(phase).isoformat(),
        "days": lead.days,
        "page": settings.BASE_URL + phase.get_absolute_url(),
    }

"""Notices to a benchmark's organisers that a team has asked to register. They name the team, not its message."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Any

from django.conf import settings
from django.urls import reverse

from leaderboard.core.text.mail_text import quoted
from leaderboard.core.text.plain_text import one_line
from leaderboard.models import Notice, Registration
from leaderboard.notifications.actions import recipients
from leaderboard.notifications.actions.recipients import Event

EVENT = "registration.requested"
_REQUESTS = uuid.UUID("b3f6a5d2-7c1e-5d94-8f2b-61c0e4a97d35")
"""UUID namespace of the ids of registrations. A unique constraint on `Notice` refuses a second notice with an id."""


def write(since: datetime, at: datetime) -> int:
    """Queue notices of open registrations requested after `since`, for the organisers of their benchmark.

    at: the present time. Returns the number of notices written.
    """
    rows = Registration.objects.filter(
        state=Registration.State.REQUESTED, requested_at__gt=since, benchmark__organisers__isnull=False
    ).distinct()
    rows = rows.select_related("benchmark", "team").prefetch_related("benchmark__organisers__webhooks")
    requests = {uuid.uuid5(_REQUESTS, str(row.pk)): row for row in rows}
    events = (Event(subject, row.benchmark.organisers.all(), row.requested_at) for subject, row in requests.items())
    return recipients.queue(
        [recipient.notice(_body(requests[recipient.subject], at), at) for recipient in recipients.unnotified(events)]
    )


def is_for(notice: Notice) -> bool:
    """Return True if the recipient still organises the benchmark. Called before each delivery."""
    return notice.user.benchmarks.filter(slug=notice.body["benchmark"]).exists()


def words(notice: Notice) -> tuple[str, str]:
    """Return (subject, text) of the mail about a requested registration, without the footer that all mails get."""
    team, benchmark, page = (one_line(str(notice.body[name])) for name in ("team", "benchmark_title", "page"))
    text = f"A team asks to take part in {benchmark}. Its name is:\n\n{quoted(team)}\n\nApprove or decline it here:\n"
    text += f"\n{page}\n"
    return f"{team} asks to register for {benchmark}", text


def _body(registration: Registration, at: datetime) -> dict[str, Any]:
    benchmark = registration.benchmark
    return {
        "event": EVENT,
        "at": at.isoformat(),
        "benchmark": benchmark.slug,
        "benchmark_title": benchmark.title,
        "team": registration.team.name,
        "page": settings.BASE_URL + reverse("manage_participants", args=[benchmark.slug]),
    }

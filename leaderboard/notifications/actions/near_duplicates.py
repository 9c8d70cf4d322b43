"""Notices to a benchmark's organisers about near-duplicate predictions, once per pair of systems and phase.

A notice leaves the site, so it does not name the systems: organisers see them on the page to which it links. See
docs/adr/0013 and docs/adr/0018.
"""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import NamedTuple

from django.conf import settings
from django.db.models import Min, QuerySet
from django.urls import reverse

from leaderboard.core.text.plain_text import one_line
from leaderboard.models import NearDuplicate, Notice, Phase
from leaderboard.notifications.actions import recipients
from leaderboard.notifications.actions.recipients import Event

EVENT = "near_duplicate.found"
_PAIRS = uuid.UUID("0c7d9a44-6a0e-5f0b-9a8e-3d5f3e0b8a11")
"""UUID namespace of the ids of pairs. A unique constraint on `Notice` refuses a second notice with the same id."""


class Pair(NamedTuple):
    """Primary keys of a phase and of two of its systems; a is the smaller key."""

    phase: int
    a: int
    b: int


def write(since: datetime, at: datetime) -> int:
    """Queue notices of pairs first found after `since`, for the organisers of their benchmark.

    at: the present time. Returns the number of notices written.
    """
    organised = NearDuplicate.objects.filter(phase__benchmark__organisers__isnull=False)
    found = _first_of_pairs(organised.filter(detected_at__gt=since, dismissed_at=None))
    known = recipients.notified(_subject(pair) for pair in found)
    recent = {pair: detected_at for pair, detected_at in found.items() if _subject(pair) not in known}
    if not recent:
        return 0
    phases = Phase.objects.select_related("benchmark").prefetch_related("benchmark__organisers__webhooks")
    phases_by_key = phases.in_bulk({pair.phase for pair in recent})
    first_detected = _first_of_pairs(NearDuplicate.objects.filter(phase__in=phases_by_key))
    pairs = {_subject(pair): pair for pair, detected_at in recent.items() if first_detected[pair] == detected_at}
    events = (
        Event(subject, phases_by_key[pair.phase].benchmark.organisers.all(), recent[pair])
        for subject, pair in pairs.items()
    )
    return recipients.queue(
        [
            recipient.notice(_body(phases_by_key[pairs[recipient.subject].phase], at), at)
            for recipient in recipients.unnotified(events)
        ]
    )


def is_for(notice: Notice) -> bool:
    """Return True if the recipient still organises the benchmark. Called before each delivery."""
    return notice.user.benchmarks.filter(slug=notice.body["benchmark"]).exists()


def words(notice: Notice) -> tuple[str, str]:
    """Return (subject, text) of the mail about near-duplicates, without the footer that all mails get."""
    fields = {name: one_line(str(value)) for name, value in notice.body.items()}
    text = (
        f"Two teams' predictions in {fields['benchmark']}, phase {fields['phase']}, are nearly the same. "
        f"This page shows the systems and their similarity:\n\n{fields['page']}\n\n"
        "This is only a suspicion, and only organisers see it. "
        "You get no further email about further files of these two systems.\n"
    )
    return f"Near-duplicates in {fields['benchmark']}, {fields['phase']}", text


def _first_of_pairs(rows: QuerySet[NearDuplicate]) -> dict[Pair, datetime]:
    """Return the time at which a near-duplicate of each pair of systems in a phase was first found."""
    systems = ("a__submission__system", "b__submission__system")
    grouped = rows.order_by().values_list("phase", *systems).annotate(first=Min("detected_at"))
    first_by_pair: dict[Pair, datetime] = {}
    for phase, a, b, first in grouped:
        pair = Pair(phase, min(a, b), max(a, b))
        first_by_pair[pair] = min(first, first_by_pair.get(pair, first))
    return first_by_pair


def _subject(pair: Pair) -> uuid.UUID:
    return uuid.uuid5(_PAIRS, f"{pair.phase}:{pair.a}:{pair.b}")


def _body(phase: Phase, at: datetime) -> dict[str, str]:
    benchmark = phase.benchmark
    return {
        "event": EVENT,
        "at": at.isoformat(),
        "benchmark": benchmark.slug,
        "phase": phase.slug,
        "page": settings.BASE_URL + reverse("manage_near_duplicates", args=[benchmark.slug]),
    }

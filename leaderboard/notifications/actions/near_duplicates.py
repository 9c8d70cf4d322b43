"""Notices to a benchmark's organisers about near-duplicate predictions, once per pair of systems and phase.

A notice leaves the site, so it does not name the systems: organisers see them on the page to which it links. See
docs/adr/0013 and docs/adr/0018.
"""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import NamedTuple

from django.conf import settings
from django.db.models import Min, Q, QuerySet
from django.urls import reverse

from leaderboard.core.plain_text import one_line
from leaderboard.models import NearDuplicate, Notice, Phase, User, Webhook
from leaderboard.notifications.actions import recipients
from leaderboard.notifications.actions.recipients import Event

EVENT = "near_copy.found"
NEW_EVENT = "near_duplicate.found"
"""New name of the event, which replaces EVENT. Webhooks get it in `new_event`, and from the next release in `event`."""
_PAIRS = uuid.UUID("0c7d9a44-6a0e-5f0b-9a8e-3d5f3e0b8a11")
"""UUID namespace of the ids of pairs. A unique constraint on `Notice` refuses a second notice with the same id."""


class Pair(NamedTuple):
    """Primary keys of a phase and of two of its systems; a is the smaller key."""

    phase: int
    a: int
    b: int


def write(since: datetime, at: datetime) -> int:
    """Queue notices of pairs first found after `since`, for organisers who had subscribed by then.

    at: the present time. Returns the number of notices written.
    """
    wants = Q(phase__benchmark__organisers__mailed_since__isnull=False) | Q(
        phase__benchmark__organisers__webhooks__isnull=False
    )
    recent = _first_of_pairs(NearDuplicate.objects.filter(wants, detected_at__gt=since, dismissed_at=None))
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
            _notice(phases_by_key[pairs[subject].phase], subject, user, webhook, at)
            for subject, user, webhook in recipients.unnotified(events)
        ]
    )


def is_for(notice: Notice) -> bool:
    """Return True if the recipient still organises the benchmark. Called before each delivery."""
    return notice.user.benchmarks.filter(slug=notice.body["benchmark"]).exists()


def words(notice: Notice) -> tuple[str, str]:
    """Return the mail's subject and text, without the footer."""
    fields = {name: one_line(str(value)) for name, value in notice.body.items()}
    text = (
        f"Two teams' predictions in {fields['benchmark']}, phase {fields['phase']}, are nearly the same. "
        f"This page shows the systems and their similarity:\n\n{fields['page']}\n\n"
        "This is only a suspicion, and only organisers see it. "
        "You get no further email about further files of these two systems.\n"
    )
    return f"Near-duplicates in {fields['benchmark']}, {fields['phase']}", text


def _first_of_pairs(rows: QuerySet[NearDuplicate]) -> dict[Pair, datetime]:
    """Return the time at which each pair of systems in a phase was first found, whichever of the two is `a`."""
    systems = ("a__submission__system", "b__submission__system")
    grouped = rows.order_by().values_list("phase", *systems).annotate(first=Min("detected_at"))
    first_by_pair: dict[Pair, datetime] = {}
    for phase, a, b, first in grouped:
        pair = Pair(phase, min(a, b), max(a, b))
        first_by_pair[pair] = min(first, first_by_pair.get(pair, first))
    return first_by_pair


def _subject(pair: Pair) -> uuid.UUID:
    return uuid.uuid5(_PAIRS, f"{pair.phase}:{pair.a}:{pair.b}")


def _notice(phase: Phase, subject: uuid.UUID, user: User, webhook: Webhook | None, at: datetime) -> Notice:
    key, benchmark = uuid.uuid4(), phase.benchmark
    body = {
        "id": str(key),
        "event": EVENT,
        "new_event": NEW_EVENT,
        "at": at.isoformat(),
        "benchmark": benchmark.slug,
        "phase": phase.slug,
        "page": settings.BASE_URL + reverse("manage_near_duplicates", args=[benchmark.slug]),
    }
    return Notice(id=key, user=user, webhook=webhook, subject=subject, body=body, due_at=at, created_at=at)

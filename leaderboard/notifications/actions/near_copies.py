"""Telling a benchmark's organisers that a near-copy was found, once for two systems in a phase (ADR 13, ADR 18).

A notice leaves the site, so it names neither system: who they are stands on the page, for organisers alone.
"""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import NamedTuple

from django.conf import settings
from django.db.models import Min, Q, QuerySet
from django.urls import reverse

from leaderboard.core.plain_text import one_line
from leaderboard.models import NearCopy, Notice, Phase, User, Webhook
from leaderboard.notifications.actions import recipients
from leaderboard.notifications.actions.recipients import Event

EVENT = "near_copy.found"
_PAIRS = uuid.UUID("0c7d9a44-6a0e-5f0b-9a8e-3d5f3e0b8a11")
"""What the ids of pairs are made under, so that the outbox's constraints know one again."""


class Pair(NamedTuple):
    """Two systems of a phase, by their keys; a is the lesser."""

    phase: int
    a: int
    b: int


def write(since: datetime, at: datetime) -> int:
    """Queue what organisers asked for before it was found, of what was found since then; how many were written."""
    wants = Q(phase__benchmark__organisers__mailed_since__isnull=False) | Q(
        phase__benchmark__organisers__webhooks__isnull=False
    )
    recent = _first_of_pairs(NearCopy.objects.filter(wants, found_at__gt=since, dismissed_at=None))
    if not recent:
        return 0
    phases = Phase.objects.select_related("benchmark").prefetch_related("benchmark__organisers__webhooks")
    phases_by_key = phases.in_bulk({pair.phase for pair in recent})
    ever = _first_of_pairs(NearCopy.objects.filter(phase__in=phases_by_key))
    pairs = {_subject(pair): pair for pair, found_at in recent.items() if ever[pair] == found_at}
    events = (
        Event(subject, phases_by_key[pair.phase].benchmark.organisers.all(), recent[pair])
        for subject, pair in pairs.items()
    )
    untold = recipients.untold(events)
    return recipients.queue(
        [_notice(phases_by_key[pairs[subject].phase], subject, user, by, at) for subject, user, by in untold]
    )


def is_for(notice: Notice) -> bool:
    """Whether the person still organises the benchmark; asked when the notice is sent."""
    return notice.user.benchmarks.filter(slug=notice.body["benchmark"]).exists()


def words(notice: Notice) -> tuple[str, str]:
    """Subject and text of the mail."""
    told = {name: one_line(str(value)) for name, value in notice.body.items()}
    text = (
        f"Two teams' predictions in {told['benchmark']}, phase {told['phase']}, are nearly the same. "
        f"Which systems they are, and how alike, stands here:\n\n{told['page']}\n\n"
        "It is a suspicion, and only organisers read of it. Further files of the two bring no further mail.\n"
    )
    return f"Near-copies in {told['benchmark']}, {told['phase']}", text


def _first_of_pairs(rows: QuerySet[NearCopy]) -> dict[Pair, datetime]:
    """When the first of the rows was found of each two systems in a phase, in whichever order a row has them."""
    systems = ("a__submission__system", "b__submission__system")
    grouped = rows.order_by().values_list("phase", *systems).annotate(first=Min("found_at"))
    found: dict[Pair, datetime] = {}
    for phase, a, b, first in grouped:
        pair = Pair(phase, min(a, b), max(a, b))
        found[pair] = min(first, found.get(pair, first))
    return found


def _subject(pair: Pair) -> uuid.UUID:
    return uuid.uuid5(_PAIRS, f"{pair.phase}:{pair.a}:{pair.b}")


def _notice(phase: Phase, subject: uuid.UUID, user: User, webhook: Webhook | None, at: datetime) -> Notice:
    key, benchmark = uuid.uuid4(), phase.benchmark
    body = {
        "id": str(key),
        "event": EVENT,
        "at": at.isoformat(),
        "benchmark": benchmark.slug,
        "phase": phase.slug,
        "page": settings.BASE_URL + reverse("manage_near_copies", args=[benchmark.slug]),
    }
    return Notice(id=key, user=user, webhook=webhook, subject=subject, body=body, due_at=at, created_at=at)

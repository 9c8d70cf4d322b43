"""Telling a benchmark's organisers that a near-copy was found, once for two systems in a phase (ADR 13, ADR 18).

A notice leaves the site, so it names neither system: who they are stands on the page, for organisers alone.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from datetime import datetime

from django.conf import settings
from django.db.models import Q
from django.urls import reverse

from leaderboard.models import NearCopy, Notice, User, Webhook
from leaderboard.plain import one_line

EVENT = "near_copy.found"
_PAIRS = uuid.UUID("0c7d9a44-6a0e-5f0b-9a8e-3d5f3e0b8a11")
"""What the ids of pairs are made under, so that the outbox's constraints know one again."""


def write(since: datetime, at: datetime) -> int:
    """Queue what organisers asked for before it was found, of what was found since then; how many were written."""
    wants = Q(phase__benchmark__organisers__mailed_since__isnull=False) | Q(
        phase__benchmark__organisers__webhooks__isnull=False
    )
    rows = NearCopy.objects.filter(wants, found_at__gt=since, dismissed_at=None).distinct()
    rows = rows.select_related("phase__benchmark", "a__submission", "b__submission").order_by("found_at", "pk")
    made: list[Notice] = []
    for row in rows:
        if not _is_first(row):
            continue
        subject = _subject(row)
        known = set(Notice.objects.filter(subject=subject).values_list("user", "webhook"))
        made += [_notice(row, subject, *to, at) for to in _recipients(row) if _key(*to) not in known]
    # Two sweepers may find the same pair, and two rows be of one: the constraints let one notice of it through.
    before = Notice.objects.filter(pk__in=[notice.pk for notice in made])
    Notice.objects.bulk_create(made, ignore_conflicts=True)
    return before.count()


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


def _is_first(row: NearCopy) -> bool:
    """Whether nothing was found of the two systems before, in either order."""
    a, b = row.a.submission.system_id, row.b.submission.system_id
    either = Q(a__submission__system=a, b__submission__system=b) | Q(a__submission__system=b, b__submission__system=a)
    first = NearCopy.objects.filter(either, phase=row.phase_id).order_by("found_at", "pk").values_list("pk", flat=True)
    return first[0] == row.pk


def _subject(row: NearCopy) -> uuid.UUID:
    a, b = sorted((row.a.submission.system_id, row.b.submission.system_id))
    return uuid.uuid5(_PAIRS, f"{row.phase_id}:{a}:{b}")


def _recipients(row: NearCopy) -> Iterable[tuple[User, Webhook | None]]:
    for user in row.phase.benchmark.organisers.filter(is_active=True).prefetch_related("webhooks"):
        if user.mailed_since is not None and user.mailed_since <= row.found_at:
            yield user, None
        for webhook in user.webhooks.all():
            if webhook.created_at <= row.found_at:
                yield user, webhook


def _key(user: User, webhook: Webhook | None) -> tuple[int, uuid.UUID | None]:
    return user.pk, webhook.pk if webhook else None


def _notice(row: NearCopy, subject: uuid.UUID, user: User, webhook: Webhook | None, at: datetime) -> Notice:
    key, benchmark = uuid.uuid4(), row.phase.benchmark
    body = {
        "id": str(key),
        "event": EVENT,
        "at": at.isoformat(),
        "benchmark": benchmark.slug,
        "phase": row.phase.slug,
        "page": settings.BASE_URL + reverse("manage_near_copies", args=[benchmark.slug]),
    }
    return Notice(id=key, user=user, webhook=webhook, subject=subject, body=body, due_at=at, created_at=at)

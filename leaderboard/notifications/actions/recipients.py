"""Who is told of what happened: by mail and by webhook, whoever had asked before it did, and nobody twice.

The sweeper asks at each beat about all that happened within days, so that a few queries serve however much it was.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from leaderboard.models import Notice, User, Webhook


class Event(NamedTuple):
    """Something to be told. subject: as notices name it; people: with their webhooks fetched; at: when it happened."""

    subject: UUID
    people: Iterable[User]
    at: datetime


def untold(events: Iterable[Event]) -> Iterator[tuple[UUID, User, Webhook | None]]:
    """(subject, who, by which webhook; None: by mail) of all that no notice was written of."""
    events = list(events)
    known: defaultdict[UUID, set[tuple[int, UUID | None]]] = defaultdict(set)
    there = Notice.objects.filter(subject__in={event.subject for event in events})
    for subject, user, webhook in there.values_list("subject", "user", "webhook").iterator():
        known[subject].add((user, webhook))
    for event in events:
        for person, by in _asked(event):
            if (person.pk, by and by.pk) not in known[event.subject]:
                yield event.subject, person, by


def queue(notices: list[Notice]) -> int:
    """Write them; how many. Two sweepers may find the same: the constraints let one notice of it through."""
    Notice.objects.bulk_create(notices, ignore_conflicts=True)
    return Notice.objects.filter(pk__in=[notice.pk for notice in notices]).count() if notices else 0


def _asked(event: Event) -> Iterator[tuple[User, Webhook | None]]:
    for person in event.people:
        if not person.is_active:
            continue
        if person.mailed_since is not None and person.mailed_since <= event.at:
            yield person, None
        for webhook in person.webhooks.all():
            if webhook.created_at <= event.at:
                yield person, webhook

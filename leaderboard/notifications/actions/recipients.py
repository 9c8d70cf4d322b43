"""Recipients of notices by mail and webhook: users who subscribed before the event, each notified once.

The sweep passes all events of the last days in one call, so that the number of queries is constant.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from leaderboard.models import Notice, User, Webhook


class Event(NamedTuple):
    """An event of which people are notified.

    subject: the event's id, stored in its notices; people: those whom the event concerns, subscribed or not, with their
    webhooks prefetched; at: the time of the event.
    """

    subject: UUID
    people: Iterable[User]
    at: datetime


def unnotified(events: Iterable[Event]) -> Iterator[tuple[UUID, User, Webhook | None]]:
    """Yield (event's subject, user, webhook) of each notice that has not been written yet; webhook None: a mail."""
    events = list(events)
    notified: defaultdict[UUID, set[tuple[int, UUID | None]]] = defaultdict(set)
    existing = Notice.objects.filter(subject__in={event.subject for event in events})
    for subject, user, webhook_id in existing.values_list("subject", "user", "webhook").iterator():
        notified[subject].add((user, webhook_id))
    for event in events:
        for person, webhook in _subscriptions(event):
            if (person.pk, webhook and webhook.pk) not in notified[event.subject]:
                yield event.subject, person, webhook


def queue(notices: list[Notice]) -> int:
    """Insert notices into the outbox; return how many were inserted.

    Idempotent: a unique constraint drops notices that a concurrent sweep has already inserted.
    """
    Notice.objects.bulk_create(notices, ignore_conflicts=True)
    return Notice.objects.filter(pk__in=[notice.pk for notice in notices]).count() if notices else 0


def _subscriptions(event: Event) -> Iterator[tuple[User, Webhook | None]]:
    for person in event.people:
        if not person.is_active:
            continue
        if person.mailed_since is not None and person.mailed_since <= event.at:
            yield person, None
        for webhook in person.webhooks.all():
            if webhook.created_at <= event.at:
                yield person, webhook

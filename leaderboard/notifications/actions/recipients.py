"""Recipients of notices: the users whom an event concerns, each notified once, on the site, by mail and by webhook.

Each user gets an entry of the list on the site, which is also mailed if the user had switched on mails before the
event, and a call of each webhook that was added before the event. The sweep passes all events of the last days in one
call, so that the number of queries is constant.
"""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, Literal, NamedTuple
from uuid import UUID

from leaderboard.models import Benchmark, Notice, Submission, User, Webhook

Switch = Literal["mailed_since", "news_mailed_since"]
"""Field of `User` that has the time since which mails of a kind are on: those about the user's own submissions and
benchmarks, or those about benchmarks that the user follows or takes part in."""


class Event(NamedTuple):
    """An event of which people are notified.

    subject: the event's id, stored in its notices; people: those whom the event concerns, with their webhooks
    prefetched; at: the time of the event.
    """

    subject: UUID
    people: Iterable[User]
    at: datetime


class Recipient(NamedTuple):
    """A notice to be written. webhook None: an entry of the user's list; is_mailed: it is mailed too."""

    subject: UUID
    user: User
    webhook: Webhook | None
    is_mailed: bool

    def notice(self, body: Mapping[str, Any], at: datetime, submission: Submission | None = None) -> Notice:
        """Return the notice for this recipient, not stored yet.

        body: the event's JSON, as webhook calls send it, without the id. at: the present time. submission: the one that
        the notice is about; None: it is about something else.
        """
        key = uuid.uuid4()
        is_sent = self.webhook is not None or self.is_mailed
        return Notice(
            id=key,
            user=self.user,
            webhook=self.webhook,
            submission=submission,
            subject=self.subject,
            body={"id": str(key), **body},
            state=Notice.State.QUEUED if is_sent else Notice.State.SITE,
            finished_at=None if is_sent else at,
            due_at=at,
            created_at=at,
        )


def notified(subjects: Iterable[UUID]) -> set[UUID]:
    """Return those of the subjects about which at least one notice was written.

    If one was, all were, because the notices of an event are inserted in one transaction.
    """
    return set(Notice.objects.filter(subject__in=set(subjects)).values_list("subject", flat=True))


def unnotified(events: Iterable[Event], switch: Switch = "mailed_since") -> Iterator[Recipient]:
    """Yield, event by event, the recipients for whom no notice of the event has been written yet.

    switch: the field of User with the time since which the user has had mails of this kind switched on.
    """
    events = list(events)
    existing_of: defaultdict[UUID, set[tuple[int, UUID | None]]] = defaultdict(set)
    existing = Notice.objects.filter(subject__in={event.subject for event in events})
    for subject, user, webhook_id in existing.values_list("subject", "user", "webhook").iterator():
        existing_of[subject].add((user, webhook_id))
    for event in events:
        for recipient in _recipients(event, switch):
            webhook = recipient.webhook
            if (recipient.user.pk, webhook and webhook.pk) not in existing_of[event.subject]:
                yield recipient


def queue(notices: list[Notice]) -> int:
    """Insert notices into the outbox, except those about drafts, of which nobody is notified; return how many were.

    Idempotent: a unique constraint drops notices that a concurrent sweep has already inserted.
    """
    slugs = {notice.body["benchmark"] for notice in notices}
    drafts = Benchmark.objects.filter(slug__in=slugs, state=Benchmark.State.DRAFT).values_list("slug", flat=True)
    if slugs and (unsent := set(drafts)):
        notices = [notice for notice in notices if notice.body["benchmark"] not in unsent]
    Notice.objects.bulk_create(notices, ignore_conflicts=True)
    return Notice.objects.filter(pk__in=[notice.pk for notice in notices]).count() if notices else 0


def _recipients(event: Event, switch: Switch) -> Iterator[Recipient]:
    for person in event.people:
        if not person.is_active:
            continue
        mailed_since = getattr(person, switch)
        yield Recipient(event.subject, person, None, mailed_since is not None and mailed_since <= event.at)
        for webhook in person.webhooks.all():
            if webhook.created_at <= event.at:
                yield Recipient(event.subject, person, webhook, is_mailed=False)

"""Announcements and the public contact of a benchmark."""

from __future__ import annotations

from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import URLValidator, validate_email
from django.db import transaction
from django.utils import timezone

from leaderboard.benchmarks.queries.followers import followers_of
from leaderboard.core.names.names import check_signs
from leaderboard.core.refusal import Code, Refused
from leaderboard.core.rights import check_manages
from leaderboard.models import Announcement, AuditEntry, Benchmark, Notice, User

LONGEST = 5000
LONGEST_TITLE = 200


@transaction.atomic
def announce(*, benchmark: Benchmark, title: str, text: str, by: User) -> Announcement:
    """Publish an announcement, and notify the benchmark's followers and participants.

    Raises Refused: NOT_AN_ORGANISER; INVALID_VALUE for an invalid title or text.
    """
    check_manages(benchmark, by)
    title = " ".join(title.split())
    if not 1 <= len(title) <= LONGEST_TITLE:
        raise Refused(Code.INVALID_VALUE, f"The title has {len(title)} characters; expected 1 to {LONGEST_TITLE}.")
    check_signs(title, of="title")
    check_signs(text, of="text", lines=True)
    if len(text) > LONGEST:
        raise Refused(Code.INVALID_VALUE, f"The text has {len(text):,} characters; expected at most {LONGEST:,}.")
    announcement = Announcement.objects.create(
        benchmark=benchmark, title=title, text=text.strip(), created_by=by, created_at=timezone.now()
    )
    AuditEntry.record("announcement.made", announcement, by=by, title=title)
    if settings.NOTIFICATIONS and benchmark.is_published:
        _notify(announcement)
    return announcement


@transaction.atomic
def take_back(*, announcement: Announcement, by: User) -> None:
    """Delete an announcement and its notices; mails already sent cannot be recalled.

    Raises Refused NOT_AN_ORGANISER.
    """
    check_manages(announcement.benchmark, by)
    AuditEntry.record("announcement.taken_back", announcement, by=by, title=announcement.title)
    Notice.objects.filter(subject=announcement.pk).delete()
    announcement.delete()


@transaction.atomic
def set_contact(*, benchmark: Benchmark, contact: str, by: User) -> None:
    """Set the benchmark's public contact: a mail address or an https URL; empty: no contact.

    Raises Refused: NOT_AN_ORGANISER; INVALID_VALUE for another text.
    """
    check_manages(benchmark, by)
    change = {"before": benchmark.contact, "after": checked_contact(contact)}
    benchmark.contact = change["after"]
    benchmark.save(update_fields=["contact"])
    AuditEntry.record("benchmark.contact", benchmark, by=by, contact=change)


def checked_contact(contact: str) -> str:
    """Return the contact, stripped. Raises Refused INVALID_VALUE unless it is empty, a mail address or an https URL."""
    contact = contact.strip()
    if contact and not (_is_mail_address(contact) or _is_https_url(contact)):
        raise Refused(
            Code.INVALID_VALUE,
            f"The contact is {contact[:100]!r}; expected an email address, or a page's address with https://.",
        )
    return contact


def _is_mail_address(contact: str) -> bool:
    try:
        validate_email(contact)
    except ValidationError:
        return False
    return True


def _is_https_url(contact: str) -> bool:
    try:
        URLValidator(schemes=["https"])(contact)
    except ValidationError:
        return False
    return urlsplit(contact).username is None and len(contact) <= 300


def _notify(announcement: Announcement) -> None:
    """Write a notice for each follower and participant. The sweep lets workers send the mails."""
    benchmark, at = announcement.benchmark, announcement.created_at
    body = {
        "event": "announcement",
        "at": at.isoformat(),
        "benchmark": benchmark.title,
        "title": announcement.title,
        "text": announcement.text,
        "page": settings.BASE_URL + benchmark.get_absolute_url(),
    }
    Notice.objects.bulk_create(
        Notice(
            user=user,
            subject=announcement.pk,
            body=body,
            state=Notice.State.QUEUED if user.news_mailed_since else Notice.State.SITE,
            finished_at=None if user.news_mailed_since else at,
            due_at=at,
            created_at=at,
        )
        for user in followers_of(benchmark, by=at)
    )

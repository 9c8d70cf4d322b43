"""What organisers tell everybody: announcements, and where questions go."""

from __future__ import annotations

from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import URLValidator, validate_email
from django.db import transaction
from django.utils import timezone

from leaderboard.core.names.names import check_signs
from leaderboard.core.refusal import Code, Refused
from leaderboard.core.rights import check_manages
from leaderboard.models import Announcement, AuditEntry, Benchmark, Notice, User

LONGEST = 5000
LONGEST_TITLE = 200


@transaction.atomic
def announce(*, benchmark: Benchmark, title: str, text: str, by: User) -> Announcement:
    """Dated now, and mailed to those of the benchmark's participants who have mails on. For its organisers."""
    check_manages(benchmark, by)
    title = " ".join(title.split())
    if not 1 <= len(title) <= LONGEST_TITLE:
        raise Refused(Code.INVALID_NAME, f"The title has {len(title)} characters; expected 1 to {LONGEST_TITLE}.")
    check_signs(title, of="title")
    check_signs(text, of="text", lines=True)
    if len(text) > LONGEST:
        raise Refused(Code.INVALID_NAME, f"The text has {len(text):,} characters; expected at most {LONGEST:,}.")
    made = Announcement.objects.create(
        benchmark=benchmark, title=title, text=text.strip(), made_by=by, made_at=timezone.now()
    )
    AuditEntry.record("announcement.made", made, by=by, title=title)
    if settings.NOTICES and benchmark.state == Benchmark.State.PUBLIC:
        _queue_mails(made)
    return made


@transaction.atomic
def take_back(*, announcement: Announcement, by: User) -> None:
    """It is shown no more, and mails that still wait are not sent; what was sent was sent. For organisers."""
    check_manages(announcement.benchmark, by)
    AuditEntry.record("announcement.taken_back", announcement, by=by, title=announcement.title)
    Notice.objects.filter(subject=announcement.pk, state=Notice.State.QUEUED).delete()
    announcement.delete()


@transaction.atomic
def set_contact(*, benchmark: Benchmark, contact: str, by: User) -> None:
    """A mail address or the https address of a page, which everybody reads; empty: none. For organisers."""
    check_manages(benchmark, by)
    contact = checked_contact(contact)
    benchmark.contact = contact
    benchmark.save(update_fields=["contact"])
    AuditEntry.record("benchmark.contact", benchmark, by=by, contact=contact)


def checked_contact(contact: str) -> str:
    """Without blanks at its ends. Raises Refused where it is neither empty, nor an address, nor a page."""
    contact = contact.strip()
    if contact and not (_is_address(contact) or _is_page(contact)):
        raise Refused(
            Code.INVALID_NAME, "That is no contact; expected a mail address, or a page's address with https://."
        )
    return contact


def _is_address(contact: str) -> bool:
    try:
        validate_email(contact)
    except ValidationError:
        return False
    return True


def _is_page(contact: str) -> bool:
    try:
        URLValidator(schemes=["https"])(contact)
    except ValidationError:
        return False
    return urlsplit(contact).username is None and len(contact) <= 300


def _queue_mails(made: Announcement) -> None:
    """To the outbox; the sweeper rings for what is due."""
    benchmark = made.benchmark
    followers = User.objects.filter(
        is_active=True, mailed_since__isnull=False, teams__systems__submissions__phase__benchmark=benchmark
    )
    body = {
        "event": "announcement",
        "at": made.made_at.isoformat(),
        "benchmark": benchmark.title,
        "title": made.title,
        "text": made.text,
        "page": settings.BASE_URL + benchmark.get_absolute_url(),
    }
    Notice.objects.bulk_create(
        Notice(user_id=user, subject=made.pk, body=body, due_at=made.made_at, created_at=made.made_at)
        for user in followers.distinct().values_list("pk", flat=True)
    )

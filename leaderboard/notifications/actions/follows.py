"""Follow a benchmark, stop following it, and mark notices as read."""

from __future__ import annotations

import uuid

from django.utils import timezone

from leaderboard.models import Benchmark, Follow, User


def follow(*, benchmark: Benchmark, by: User) -> None:
    """Notify a user of the benchmark's announcements and deadlines from now on. Idempotent."""
    Follow.objects.get_or_create(user=by, benchmark=benchmark, defaults={"created_at": timezone.now()})


def unfollow(*, benchmark: Benchmark, by: User) -> None:
    """Stop following a benchmark; notices that are written already stay."""
    Follow.objects.filter(user=by, benchmark=benchmark).delete()


def mark_as_read(*, by: User, notice: uuid.UUID | None = None) -> None:
    """Mark one notice of a user as read, or all of them. notice: its id; None: all."""
    unread = by.notices.filter(webhook=None, read_at=None)
    if notice is not None:
        unread = unread.filter(pk=notice)
    unread.update(read_at=timezone.now())

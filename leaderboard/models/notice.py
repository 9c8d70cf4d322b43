"""Notifications about finished submissions, announcements and other events: a list for each user, mails, webhooks.

The kinds of notifications are in `leaderboard/notifications/actions/kinds.py`.
"""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.crypto import get_random_string

from .benchmark import Benchmark
from .leaderboard import Leaderboard
from .submission import Submission


def new_salt() -> str:
    return get_random_string(32)


class Webhook(models.Model):
    """A user's webhook URL. The secret that signs its calls is derived from `salt` and the site's key, and not stored.

    previous_salt: `salt` before the secret was last changed; the former secret also signs calls for a day after that.
    Empty: the secret was never changed.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="webhooks")
    url = models.URLField(max_length=500)
    salt = models.CharField(max_length=32, default=new_salt, editable=False)
    previous_salt = models.CharField(max_length=32, default="", editable=False)
    rotated_at = models.DateTimeField(null=True, editable=False, help_text="when the secret was last changed")
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["created_at"]
        constraints = [models.UniqueConstraint(fields=["user", "url"], name="webhook_once_a_person")]

    def __str__(self) -> str:
        return self.url


class Notice(models.Model):
    """One webhook call; or, if `webhook` is null, one entry of a user's list, which is also mailed if the user wants.

    Calls and mails are retried until they are delivered or have failed in all attempts.
    subject: id of the event of which the notice informs, so that a user gets one notice of each event. It is the id of
    the finished run or prediction, of the announcement, or an id made for the event; for a test call, the notice's id.
    due_at: time of the next attempt. A worker that claims the notice sets a later time, so that the notice is retried
    if the worker dies.
    """

    class State(models.TextChoices):
        QUEUED = "queued"
        DONE = "done", "delivered"
        FAILED = "failed", "failed after all attempts"
        SITE = "site", "on the site only"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="notices")
    webhook = models.ForeignKey(Webhook, null=True, on_delete=models.CASCADE, related_name="notices")
    submission = models.ForeignKey(Submission, null=True, on_delete=models.CASCADE, related_name="notices")
    subject = models.UUIDField()
    body = models.JSONField()
    state = models.CharField(max_length=10, choices=State.choices, default=State.QUEUED)
    attempts = models.PositiveSmallIntegerField(default=0)
    due_at = models.DateTimeField()
    answer = models.CharField(max_length=100, blank=True, help_text="result of the last attempt")
    created_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True, blank=True)
    read_at = models.DateTimeField(null=True, blank=True, help_text="when its user marked it as read")

    class Meta:
        ordering = ["-created_at"]
        indexes = [
            models.Index(fields=["state", "due_at"]),
            models.Index(fields=["subject"], name="notice_of_event"),
            # Every page of a logged-in user counts these.
            models.Index(fields=["user"], condition=Q(webhook=None, read_at=None), name="notice_unread"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["user", "subject"], condition=Q(webhook=None), name="one_mail_a_person_and_end"
            ),
            models.UniqueConstraint(fields=["webhook", "subject"], name="one_call_a_webhook_and_end"),
            models.CheckConstraint(
                condition=Q(state="queued", finished_at=None) | (~Q(state="queued") & Q(finished_at__isnull=False)),
                name="notice_finished_when_over",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.body.get('event', '')} to {self.webhook or self.user}"


class RankSnapshot(models.Model):
    """The ranks of a leaderboard when the sweep last looked for systems that had lost ranks.

    revision: the leaderboard's revision at that time. rows: id of a system -> [rank, id of its release].
    notified_at: when teams were last notified of lost ranks; null: never.
    """

    leaderboard = models.OneToOneField(
        Leaderboard, primary_key=True, on_delete=models.CASCADE, related_name="rank_snapshot"
    )
    revision = models.PositiveBigIntegerField()
    rows = models.JSONField()
    notified_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"ranks of {self.leaderboard_id} at revision {self.revision}"


class Follow(models.Model):
    """A user's wish to be notified of a benchmark's announcements and deadlines."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="follows")
    benchmark = models.ForeignKey(Benchmark, on_delete=models.CASCADE, related_name="follows")
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["benchmark__title"]
        constraints = [models.UniqueConstraint(fields=["user", "benchmark"], name="follow_once")]

    def __str__(self) -> str:
        return f"{self.user} follows {self.benchmark}"

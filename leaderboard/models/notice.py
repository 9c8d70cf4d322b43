"""Notifications of finished submissions, announcements and other events: an outbox of mails and webhook calls.

The kinds of notifications are in `leaderboard/notifications/actions/kinds.py`.
"""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.crypto import get_random_string

from .submission import Submission


def new_salt() -> str:
    return get_random_string(32)


class Webhook(models.Model):
    """A user's webhook URL. Its signing secret is derived from `salt` and the site's secret key, and not stored."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="webhooks")
    url = models.URLField(max_length=500)
    salt = models.CharField(max_length=32, default=new_salt, editable=False)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["created_at"]
        constraints = [models.UniqueConstraint(fields=["user", "url"], name="webhook_once_a_person")]

    def __str__(self) -> str:
        return self.url


class Notice(models.Model):
    """One mail (`webhook` is null) or one webhook call, retried until it is delivered or has failed in all attempts.

    subject: id of the event that the notice is about, so that a user gets one notice of each event. It is the id of the
    finished run or prediction, of the announcement, or an id made for the event; for a test call, the notice's own id.
    due_at: time of the next attempt. A worker postpones it when it claims the notice, so that the notice is retried if
    the worker dies.
    """

    class State(models.TextChoices):
        QUEUED = "queued"
        DONE = "done", "delivered"
        FAILED = "failed", "failed after all attempts"

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

    class Meta:
        ordering = ["-created_at"]
        indexes = [models.Index(fields=["state", "due_at"])]
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

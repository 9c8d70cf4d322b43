"""Subscriptions to notifications: add, remove and test webhooks, change their secrets, and switch mails on or off.

Calls are signed in `webhook_signature` and sent in `deliver`.
"""

from __future__ import annotations

import uuid
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from leaderboard.accounts.actions import account_mails
from leaderboard.core import http_client
from leaderboard.core.refusal import Code, Refused
from leaderboard.core.text.mail_text import quoted
from leaderboard.models import AuditEntry, Notice, User, Webhook
from leaderboard.models.notice import new_salt
from leaderboard.notifications.actions import kinds
from leaderboard.notifications.actions.deliver import enqueue_delivery
from leaderboard.notifications.actions.recipients import Switch

MAX_WEBHOOKS = 3
"""Maximum number of webhooks of one user."""
TESTS_AN_HOUR = 10
"""Maximum number of test calls that one user may queue within an hour."""


@transaction.atomic
def add(*, url: str, by: User) -> Webhook:
    """Add a webhook for a user.

    Raises Refused: INVALID_VALUE for a malformed URL or a host that is not public, ALREADY_EXISTS if the user has a
    webhook with this URL, LIMIT_REACHED if the user has MAX_WEBHOOKS webhooks.
    """
    User.objects.select_for_update(no_key=True).get(pk=by.pk)
    try:
        target = http_client.target(url)
    except http_client.AddressError as error:
        raise Refused(Code.INVALID_VALUE, f"This address cannot be used: {error}.") from None
    if _is_private(target.host) and target.host not in settings.WEBHOOK_HOSTS:
        raise Refused(
            Code.INVALID_VALUE,
            f"This address cannot be used: {target.host} is not on the public internet; expected a public host.",
        )
    if by.webhooks.filter(url=url).exists():
        raise Refused(Code.ALREADY_EXISTS, "You already have a webhook with this URL; expected another URL.")
    if by.webhooks.count() >= MAX_WEBHOOKS:
        raise Refused(
            Code.LIMIT_REACHED,
            f"You have {MAX_WEBHOOKS} webhooks, the maximum; remove one first.",
            heading="The webhook was not added",
        )
    webhook = Webhook.objects.create(user=by, url=url, created_at=timezone.now())
    account_mails.tell(
        by, f"A webhook was added, which tells another server what you are notified of:\n\n{quoted(url)}"
    )
    AuditEntry.record("webhook.added", webhook, by=by, host=target.host)
    return webhook


@transaction.atomic
def remove(*, webhook: Webhook, by: User) -> None:
    """Delete a webhook with its notices, delivered or not; its URL is not called any more."""
    AuditEntry.record("webhook.removed", webhook, by=by)
    webhook.delete()


@transaction.atomic
def rotate_secret(*, webhook: Webhook, by: User) -> Webhook:
    """Give a webhook a new secret and return it; for a day the previous secret signs calls too."""
    webhook = Webhook.objects.select_for_update().get(pk=webhook.pk)
    webhook.previous_salt, webhook.salt, webhook.rotated_at = webhook.salt, new_salt(), timezone.now()
    webhook.save(update_fields=["previous_salt", "salt", "rotated_at"])
    account_mails.tell(by, f"A webhook has a new secret:\n\n{quoted(webhook.url)}")
    AuditEntry.record("webhook.secret_changed", webhook, by=by)
    return webhook


@transaction.atomic
def test(*, webhook: Webhook, by: User) -> Notice:
    """Queue a test call of a webhook: an event `test` without further data.

    Raises Refused THROTTLED if the user has queued TESTS_AN_HOUR tests within the last hour.
    """
    User.objects.select_for_update(no_key=True).get(pk=by.pk)
    at, key = timezone.now(), uuid.uuid4()
    recent = Notice.objects.filter(
        user=by, body__event="test", webhook__isnull=False, created_at__gt=at - timedelta(hours=1)
    )
    if recent.count() >= TESTS_AN_HOUR:
        raise Refused(
            Code.THROTTLED,
            f"You have sent {TESTS_AN_HOUR} tests within an hour, the maximum; try again later.",
            heading="The test was not sent",
        )
    body = {"id": str(key), "event": "test", "at": at.isoformat()}
    notice = Notice.objects.create(id=key, user=by, webhook=webhook, subject=key, body=body, due_at=at, created_at=at)
    enqueue_delivery(notice.pk)
    return notice


@transaction.atomic
def mail(*, to: User, is_on: bool, switch: Switch = "mailed_since") -> None:
    """Switch a user's mails of some kinds on or off.

    is_on: True: events from now on are mailed. False: none are, and queued notices stay on the site only. switch: the
    field of User for these kinds of notifications.
    """
    if is_on == (getattr(to, switch) is not None):
        return
    at = timezone.now()
    setattr(to, switch, at if is_on else None)
    to.save(update_fields=[switch])
    if not is_on:
        queued = Notice.objects.filter(user=to, webhook=None, state=Notice.State.QUEUED)
        queued.filter(body__event__in=kinds.events_of(switch)).update(state=Notice.State.SITE, finished_at=at)


def _is_private(host: str) -> bool:
    """Return True for an IP address that is not public. A host name passes: `http_client` checks its address later."""
    try:
        return not http_client.is_public(host)
    except ValueError:
        return False

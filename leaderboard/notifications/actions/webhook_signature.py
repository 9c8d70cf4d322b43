"""Webhook signatures by Standard Webhooks (https://www.standardwebhooks.com), and the secrets behind them."""

from __future__ import annotations

import base64
import hmac
from datetime import datetime, timedelta

from django.conf import settings

from leaderboard.models import Webhook

OVERLAP = timedelta(days=1)
"""Time after a change of the secret in which calls are signed with the previous secret too."""


def secret(webhook: Webhook) -> str:
    """Return the secret under which a webhook's calls are signed: `whsec_` and the key in base64."""
    return "whsec_" + base64.b64encode(_key(webhook, webhook.salt)).decode()


def signed_headers(webhook: Webhook, notice: str, body: bytes, at: datetime) -> dict[str, str]:
    """Return the headers of the call of a webhook with `body`, among them its signature.

    `webhook-signature` has one signature, and two for OVERLAP after a change of the secret.
    notice: the notice's id, which is the same in each attempt.
    """
    stamp = str(int(at.timestamp()))
    keys = [_key(webhook, webhook.salt)]
    if previous_signs_until(webhook, at):
        keys.append(_key(webhook, webhook.previous_salt))
    content = f"{notice}.{stamp}.".encode() + body
    signatures = [base64.b64encode(hmac.digest(key, content, "sha256")).decode() for key in keys]
    return {
        "Content-Type": "application/json",
        "User-Agent": "Holdout",
        "webhook-id": notice,
        "webhook-timestamp": stamp,
        "webhook-signature": " ".join(f"v1,{signature}" for signature in signatures),
    }


def previous_signs_until(webhook: Webhook, at: datetime) -> datetime | None:
    """Return the time until which the previous secret signs calls, too; None: it signs none at `at`."""
    if webhook.rotated_at is None or at >= webhook.rotated_at + OVERLAP:
        return None
    return webhook.rotated_at + OVERLAP


def _key(webhook: Webhook, salt: str) -> bytes:
    """Return the key with which a webhook's calls are signed. salt: the webhook's current or previous salt.

    It is derived from the salt and the site's SECRET_KEY, so a copy of the database does not reveal it.
    """
    words = f"webhook:{webhook.pk}:{salt}".encode()
    return hmac.digest(settings.SECRET_KEY.encode(), words, "sha256")

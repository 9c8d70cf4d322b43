"""API tokens: shown once, stored hashed, expiring."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from knox.models import AuthToken

from leaderboard.models import AuditEntry, User


@transaction.atomic
def issue(*, by: User) -> tuple[AuthToken, str]:
    """Create an API token for the user `by`. Return its row and its secret, which is shown once and not stored."""
    token, secret = AuthToken.objects.create(user=by)
    AuditEntry.record("token.issued", by, by=by, key=token.token_key, until=token.expiry.isoformat())
    return token, secret


@transaction.atomic
def revoke(*, token: Any, by: User) -> None:
    """Delete the token, so that requests with it are rejected."""
    AuditEntry.record("token.revoked", by, by=by, key=token.token_key)
    token.delete()

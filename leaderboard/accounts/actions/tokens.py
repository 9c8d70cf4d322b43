"""API tokens: shown once, stored hashed, expiring."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from knox.models import AuthToken

from leaderboard.models import AuditEntry, User


@transaction.atomic
def issue(*, by: User) -> tuple[AuthToken, str]:
    """A token of this person: its row, and the secret that is shown once."""
    token, secret = AuthToken.objects.create(user=by)
    AuditEntry.record("token.issued", by, by=by, key=token.token_key, until=token.expiry.isoformat())
    return token, secret


@transaction.atomic
def revoke(*, token: Any, by: User) -> None:
    """The token opens nothing from here on."""
    AuditEntry.record("token.revoked", by, by=by, key=token.token_key)
    token.delete()

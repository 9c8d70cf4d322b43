"""API tokens: shown once, stored hashed, expiring, and deleted when the password changes."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.db import transaction
from knox.models import AuthToken

from leaderboard.accounts.actions import account_mails
from leaderboard.core.names import names
from leaderboard.core.refusal import Code, Refused
from leaderboard.models import AuditEntry, TokenDetails, User

LIFETIMES = (30, 90, 365)
"""Days after which a token may expire."""
DEFAULT_DAYS = 90


def check_name(name: str) -> None:
    """Raise Refused INVALID_NAME for a token's name with control characters."""
    names.check_signs(name, of="token's name", refuse=Code.INVALID_NAME)


@transaction.atomic
def issue(
    *, by: User, name: str = "", scope: str = TokenDetails.Scope.SUBMIT, days: int = DEFAULT_DAYS
) -> tuple[AuthToken, str]:
    """Create an API token for the user `by`. Return its row and its secret, which is shown once and not stored.

    days: one of LIFETIMES. Raises Refused: INVALID_NAME for a name with control characters; CHANGED_MEANWHILE if the
    password has changed since `by` was loaded from the database.
    """
    check_name(name)
    # Without the lock, a token that is requested with the old password could outlive the change.
    if User.objects.select_for_update(no_key=True).filter(pk=by.pk, password=by.password).first() is None:
        raise Refused(
            Code.CHANGED_MEANWHILE,
            "The password has just been changed. Log in with the new password, and create the token again.",
            heading="No token was created",
        )
    token, secret = AuthToken.objects.create(user=by, expiry=timedelta(days=days))
    TokenDetails.objects.create(token=token, name=name, scope=scope)
    account_mails.tell(
        by,
        f"An API token was created, which begins with {token.token_key}. Its scope is: "
        f"{TokenDetails.Scope(scope).label}. It expires on {token.expiry:%Y-%m-%d}.",
    )
    AuditEntry.record("token.issued", by, by=by, key=token.token_key, scope=scope, until=token.expiry.isoformat())
    return token, secret


@transaction.atomic
def revoke(*, token: Any, by: User) -> None:
    """Delete the token, so that requests with it are rejected."""
    AuditEntry.record("token.revoked", by, by=by, key=token.token_key)
    token.delete()


def ended_by_password(user: User) -> AuditEntry | None:
    """Return the audit entry of the password change that revoked the user's tokens.

    None if a token was issued or revoked since then, or if no password change has revoked any.
    """
    last = AuditEntry.objects.filter(subject=f"user:{user.pk}", action__startswith="token.").first()
    return last if last and last.action == "token.ended_by_password" else None


class TokensEndWithPassword:
    """Password validator that accepts every password, and deletes a user's tokens when the password has changed.

    Django calls `password_changed` of all validators after a change in any form or command, but not when it computes
    the hash of an unchanged password again.
    """

    def validate(self, password: str, user: User | None = None) -> None:
        return

    def get_help_text(self) -> str:
        return "Each change of your password ends all your sessions and revokes all your API tokens."

    @transaction.atomic
    def password_changed(self, password: str, user: User) -> None:
        tokens = AuthToken.objects.filter(user=user)
        if keys := list(tokens.values_list("token_key", flat=True)):
            tokens.delete()
            AuditEntry.record("token.ended_by_password", user, tokens=keys)

"""Curators: users who may create benchmarks and manage all of them; appointed by the operator."""

from __future__ import annotations

from django.db import transaction

from leaderboard.accounts.actions import account_mails
from leaderboard.models import AuditEntry, User


@transaction.atomic
def appoint(*, username: str, is_curator: bool = True) -> bool:
    """Make a user a curator, or with is_curator=False withdraw that role; return True if this changed anything.

    Raises User.DoesNotExist for an unknown name.
    """
    user = User.objects.select_for_update().get(username=username)
    if user.is_curator == is_curator:
        return False
    User.objects.filter(pk=user.pk).update(is_curator=is_curator)
    account_mails.tell(user, "You are a curator." if is_curator else "You are no longer a curator.")
    AuditEntry.record("curator.appointed" if is_curator else "curator.dismissed", user)
    return True

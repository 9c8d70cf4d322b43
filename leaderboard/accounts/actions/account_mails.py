"""Mails to users about changes of their account, by which they notice what somebody else did with it."""

from __future__ import annotations

from typing import Any

from allauth.account.adapter import get_adapter
from django.db import transaction

from leaderboard.models import User


def tell(user: User, change: str, *, address: str | None = None) -> None:
    """Mail a user that a change was made, once the transaction is committed. Nothing is sent without a mail server.

    change: a sentence that names it. address: to which the mail goes; None: the user's primary address at that time.
    """

    def send() -> None:
        adapter: Any = get_adapter()
        adapter.send_notification_mail("accounts/email/changed", user, {"change": change}, email=address)

    # The change is made, whatever becomes of the mail; Django logs an error.
    transaction.on_commit(send, robust=True)

"""Networks from which a user has logged in: failed attempts from other networks do not lock the user out on these."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.utils.crypto import salted_hmac

from leaderboard.models import AuditEntry

ACTION = "login.new_network"


def remember(user: Any, network: str) -> None:
    """Store in the audit log that the user has logged in from a network: a keyed digest of it, not the address.

    network: as `client_network.network_of` returns it.
    """
    if not is_known([user], network):
        AuditEntry.record(ACTION, user, by=user, network=_digest(network))


def is_known(users: Iterable[Any], network: str) -> bool:
    """Return whether one of the users has logged in from the network."""
    subjects = [f"user:{user.pk}" for user in users]
    return AuditEntry.objects.filter(subject__in=subjects, action=ACTION, detail__network=_digest(network)).exists()


def _digest(network: str) -> str:
    return salted_hmac("known-network", network, algorithm="sha256").hexdigest()[:32]

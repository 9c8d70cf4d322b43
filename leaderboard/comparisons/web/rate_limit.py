"""How much work one reader may ask of the workers by looking at pages: by address, and by person who is logged in."""

from __future__ import annotations

import hashlib
import ipaddress
from datetime import timedelta

from allauth.account.adapter import get_adapter
from django.core.cache import cache
from django.http import HttpRequest
from django.utils import timezone

from leaderboard.models import SideBySide, State

WITHIN = timedelta(hours=1)
MOST_WAITING = 5
"""Pairs of one reader that wait at a time: a quarter of what the site keeps waiting."""
MOST_WITHIN = 60
"""Pairs that one reader may have computed in an hour: a board of a hundred systems has 4,950."""
Asked = list[tuple[int, float]]
"""(row's number, when it was asked for in seconds) of each pair within the hour."""


class Reader:
    """Who looks at a page. Kept in the cache: what is lost there, or missed by two requests at once, is a few pairs."""

    def __init__(self, request: HttpRequest) -> None:
        names = [f"address {_network(get_adapter().get_client_ip(request))}"]
        if request.user.is_authenticated:
            names.append(f"person {request.user.pk}")
        self._keys = [f"side-by-side-{hashlib.sha256(name.encode()).hexdigest()}" for name in names]
        self.was_let = False

    def may_ask(self) -> bool:
        """Whether another pair may be computed for this reader."""
        self.was_let = all(self._has_room(_asked(key)) for key in self._keys)
        return self.was_let

    def _has_room(self, asked: Asked) -> bool:
        if len(asked) >= MOST_WITHIN:
            return False
        waiting = SideBySide.objects.filter(pk__in=[pk for pk, _ in asked], state__in=(State.QUEUED, State.RUNNING))
        return len(asked) < MOST_WAITING or waiting.count() < MOST_WAITING

    def has_asked(self, pk: int) -> None:
        for key in self._keys:
            cache.set(key, [*_asked(key), (pk, timezone.now().timestamp())], WITHIN.total_seconds())


def _asked(key: str) -> Asked:
    since = (timezone.now() - WITHIN).timestamp()
    return [(pk, at) for pk, at in cache.get(key, []) if at > since]


def _network(address: str) -> str:
    """A household has 2**64 addresses of IPv6: they count as one."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    return str(ipaddress.ip_network(f"{found}/64", strict=False)) if found.version == 6 else str(found)

"""Rate limit of head-to-head comparisons, by IP address and by logged-in user."""

from __future__ import annotations

import hashlib
from datetime import timedelta

from django.core.cache import cache
from django.http import HttpRequest
from django.utils import timezone

from leaderboard.core.web.client_network import network_of
from leaderboard.models import ACTIVE, HeadToHead

WITHIN = timedelta(hours=1)
MOST_WAITING = 5
"""Maximum pairs of one viewer in the queue at a time: a quarter of the site's limit."""
MOST_WITHIN = 60
"""Maximum pairs that one viewer may request in an hour. (A board of a hundred systems has 4,950 pairs.)"""
RequestLog = list[tuple[int, float]]
"""(pk of the HeadToHead row, Unix time of the request) of each pair requested within the last hour."""


class Viewer:
    """One viewer's recent requests, kept in the cache. Lost entries and races only allow a few additional pairs."""

    def __init__(self, request: HttpRequest) -> None:
        names = [f"address {network_of(request)}"]
        if request.user.is_authenticated:
            names.append(f"person {request.user.pk}")
        self._keys = [f"head-to-head-{hashlib.sha256(name.encode()).hexdigest()}" for name in names]
        self.was_let = False

    def may_ask(self) -> bool:
        """Return True if another pair may be computed for this viewer, and store the result in `was_let`."""
        self.was_let = all(self._has_room(_recent(key)) for key in self._keys)
        return self.was_let

    def _has_room(self, recent: RequestLog) -> bool:
        if len(recent) >= MOST_WITHIN:
            return False
        waiting = HeadToHead.objects.filter(pk__in=[pk for pk, _ in recent], state__in=ACTIVE)
        return len(recent) < MOST_WAITING or waiting.count() < MOST_WAITING

    def record_request(self, pk: int) -> None:
        for key in self._keys:
            cache.set(key, [*_recent(key), (pk, timezone.now().timestamp())], WITHIN.total_seconds())


def _recent(key: str) -> RequestLog:
    since = (timezone.now() - WITHIN).timestamp()
    return [(pk, at) for pk, at in cache.get(key, []) if at > since]

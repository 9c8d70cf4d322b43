"""Waiting for background work of this site for as long as it moves, however long it takes on a slow machine."""

from __future__ import annotations

import time
from typing import Any

from django.db.models import Max

from leaderboard.models.state import LeasedWork


def movement() -> list[Any]:
    """Return a value that changes when background work of any kind is claimed, renews its lease, or ends."""
    times = {name: Max(name) for name in ("started_at", "lease_until", "finished_at")}
    return [model._default_manager.order_by().aggregate(**times) for model in LeasedWork.__subclasses__()]


class Patience:
    """Ends when no background work has moved for `seconds`."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._last: list[Any] = []
        self._moved = time.monotonic()

    @property
    def idle(self) -> float:
        """The seconds since background work was last seen to move."""
        return time.monotonic() - self._moved

    def is_over(self) -> bool:
        """Look whether background work has moved; return True if it has not for too long."""
        if (now := movement()) != self._last:
            self._last, self._moved = now, time.monotonic()
        return self.idle > self.seconds

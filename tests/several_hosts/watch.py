"""What the database says during the faults: when each submission was scored, and when leases of dead hosts ended."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import Any

from django.db import DatabaseError, InterfaceError, connection

from leaderboard.models import Prediction, Run, State
from leaderboard.models.state import TERMINAL
from tests.several_hosts.traffic import Traffic

EVERY = 0.25
AT_ONCE = 500


@dataclass
class Lost:
    """The rows that were leased when a fault began, and after how many seconds each was in other hands."""

    stage: str
    began: float
    rows: dict[tuple[Any, Any], int] = field(default_factory=dict)
    returned: list[float] = field(default_factory=list)


class Watch(threading.Thread):
    def __init__(self, traffic: Traffic) -> None:
        super().__init__(daemon=True, name="watch")
        self.traffic = traffic
        self.scored: dict[str, float] = {}
        """Submission -> seconds since the start at which its run was seen to be over."""
        self.losses: list[Lost] = []
        self.over = threading.Event()

    def run(self) -> None:
        while not self.over.wait(EVERY):
            try:
                self._look()
            except (DatabaseError, InterfaceError):
                connection.close()
        connection.close()

    def _look(self) -> None:
        pending = [row.pk for row in self.traffic.accepted if row.pk not in self.scored][:AT_ONCE]
        ended = Run.objects.filter(prediction__submission__in=pending, state__in=TERMINAL)
        for pk in ended.values_list("prediction__submission", flat=True):
            self.scored[str(pk)] = self.traffic.now()
        for loss in self.losses:
            if loss.rows:
                self._follow(loss)

    def _follow(self, loss: Lost) -> None:
        leased = leases()
        at = time.monotonic() - loss.began
        for key, attempt in list(loss.rows.items()):
            if leased.get(key) != attempt:
                del loss.rows[key]
                loss.returned.append(at)

    def stop(self) -> None:
        self.over.set()
        self.join()


def leases() -> dict[tuple[Any, Any], int]:
    """Return the running rows of scorings and containers, each with the number of its attempt."""
    return {
        (model, pk): attempt
        for model in (Run, Prediction)
        for pk, attempt in model.objects.filter(state=State.RUNNING).values_list("pk", "attempt")
    }

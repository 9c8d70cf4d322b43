"""Locks of phases and splits, for which publications and uploads wait. No other module locks their rows by hand.

A process that freezes while it holds one holds up others for LOCK_IDLE_SECONDS at most (`db_locks.locked`).
"""

from __future__ import annotations

from django.db.models import QuerySet

from leaderboard.core import db_locks
from leaderboard.models import Phase, Split


def lock_phase(phase_id: int, *related: str) -> Phase:
    """Lock a phase's row until the transaction ends, and return the phase. Publication is serialized by this lock.

    A process that freezes in the transaction holds up other processes for at most LOCK_IDLE_SECONDS. related: names of
    related rows to read as well, as for `select_related`; they are not locked.
    """
    phases = Phase.objects.select_related(*related) if related else Phase.objects.all()
    phase: Phase = db_locks.locked(phases).get(pk=phase_id)
    return phase


def lock_phases(phases: QuerySet[Phase]) -> list[Phase]:
    """Lock the rows of phases as `lock_phase` does, in the order of their keys, and return the phases."""
    return list(db_locks.locked(phases.order_by("pk")))


def lock_split(split_id: int) -> Split:
    """Lock a split's row until the transaction ends, as `lock_phase` does a phase's; return the split.

    Uploads to all phases of the split wait for this lock.
    """
    split: Split = db_locks.locked(Split.objects.filter(pk=split_id)).get()
    return split

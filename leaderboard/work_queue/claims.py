"""Claiming rows that wait: compare and swap, a lease, and writes that name their attempt.

The same for runs, predictions that a container makes, systems side by side, the looking for near-copies, audits of
splits, and gold that is laid beside what it corrects. The database is the truth.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from leaderboard.models import (
    ArchiveExport,
    Correction,
    DryRun,
    Generation,
    Likeness,
    Prediction,
    Reason,
    Run,
    SideBySide,
    SplitAudit,
    State,
)

Row = TypeVar("Row", Run, Prediction, SideBySide, Likeness, SplitAudit, Correction, DryRun, ArchiveExport, Generation)


class LateError(Exception):
    """The row went to another attempt; nothing may be written."""


@dataclass(frozen=True)
class Claim(Generic[Row]):
    """A worker's right to write to a row, until it is taken away."""

    row: Row
    attempt: int

    def own(self) -> Any:
        """The row as a queryset, if this attempt still holds it."""
        return type(self.row)._default_manager.filter(pk=self.row.pk, state=State.RUNNING, attempt=self.attempt)


@dataclass(frozen=True)
class Lost(Claim[Row]):
    """What a silent worker held; it is nobody's here if the worker has renewed its lease meanwhile."""

    at: datetime

    def own(self) -> Any:
        return super().own().filter(lease_until__lt=self.at)


def claim(waiting: Any, *, pk: UUID | int) -> Claim[Any] | None:
    """The row is ours, or another worker has it (None). `waiting`: a queryset with what the worker reads of it."""
    attempt = waiting.filter(pk=pk, state=State.QUEUED).values_list("attempt", flat=True).first()
    if attempt is None:
        return None
    at = timezone.now()
    claimed = waiting.model._default_manager.filter(pk=pk, state=State.QUEUED, attempt=attempt).update(
        state=State.RUNNING, attempt=attempt + 1, started_at=at, lease_until=lease_end(at), reason=Reason.NONE
    )
    return Claim(waiting.get(pk=pk), attempt + 1) if claimed else None


def renew(mine: Claim[Any]) -> bool:
    """Push the lease's end on; False when the row is no longer ours."""
    return bool(mine.own().update(lease_until=lease_end(timezone.now())))


def lease_end(at: datetime) -> datetime:
    return at + timedelta(seconds=settings.LEASE_SECONDS)

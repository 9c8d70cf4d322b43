"""Which release represents a system, and what rank that has: the rule, of what was told alone."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from leaderboard.models import Release, System


@dataclass(frozen=True, slots=True)
class Told:
    """One release. value: of the primary measure of the whole, as revealed; None: it was not."""

    release: int
    sequence: int
    system: int
    kind: str
    submission: UUID
    received_at: datetime
    value: float | None

    @classmethod
    def of(cls, release: Release, value: float | None) -> Told:
        """A release that comes with its submission and system, and what it revealed of the primary measure."""
        submission = release.submission
        return cls(
            release=release.pk,
            sequence=release.sequence,
            system=submission.system_id,
            kind=submission.system.kind,
            submission=submission.pk,
            received_at=submission.received_at,
            value=value,
        )


def represented(told: Iterable[Told], *, chosen: Mapping[int, UUID], sign: int) -> dict[int, Told]:
    """By system the release of the submission that its team chose, without one its best; of equals the one whose
    submission came first. sign: +1 where more is better, -1 where less is."""

    def merit(one: Told) -> tuple[bool, bool, float, float]:
        known = one.value is not None
        came = one.received_at.timestamp() if known else one.sequence
        return one.submission == chosen.get(one.system), known, sign * (one.value or 0.0), -came

    best: dict[int, Told] = {}
    for one in told:
        held = best.get(one.system)
        if held is None or merit(one) > merit(held):
            best[one.system] = one
    return best


def ranked(best: Mapping[int, Told], *, out: Collection[int], sign: int) -> dict[int, int]:
    """Ranks of the systems that compete, shared by ties. out: who is disqualified."""
    values = {
        system: sign * one.value
        for system, one in best.items()
        if one.value is not None and system not in out and one.kind == System.Kind.PARTICIPANT
    }
    places: dict[float, int] = {}
    for place, value in enumerate(sorted(values.values(), reverse=True), start=1):
        places.setdefault(value, place)
    return {system: places[value] for system, value in values.items()}

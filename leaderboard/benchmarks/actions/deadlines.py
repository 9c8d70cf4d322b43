"""Deadlines of phases: extend them for everybody or for one team, and set the time zone in which dates are shown."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.utils import timezone

from leaderboard.core import db_clock, row_locks, time_zones, validation
from leaderboard.core.refusal import Code, Refused
from leaderboard.core.rights import check_manages
from leaderboard.models import AuditEntry, Extension, Phase, Team, User
from leaderboard.submissions.queries import deadlines


@transaction.atomic
def extend(*, phase: Phase, closes_at: datetime, reason: str, by: User, team: Team | None = None) -> Extension:
    """Extend a phase's deadline to `closes_at`, for everybody (team: None) or for one team.

    The reason of an extension for everybody is public; that of an extension for one team is shown to the team and to
    organisers. If a sealed phase would be unsealed before its new deadline, an extension for everybody postpones the
    unsealing; an extension for one team is refused. Raises Refused: NOT_AN_ORGANISER; INVALID_REASON; INVALID_VALUE for
    a `closes_at` that is past or not later than the current deadline; NOT_POSSIBLE for a phase that has no
    deadline or is already unsealed.
    """
    check_manages(phase.benchmark, by)
    reason = " ".join(reason.split())
    if not 1 <= len(reason) <= 300:
        raise Refused(Code.INVALID_REASON, f"The reason has {len(reason)} characters; expected 1 to 300.")
    validation.check_moments(closes_at=closes_at)
    phase = row_locks.lock_phase(phase.pk, "benchmark")
    before = deadlines.closes_at(phase, team)
    if before is None:
        raise Refused(
            Code.NOT_POSSIBLE,
            "This phase has no deadline that could be extended: it never closes.",
            heading="The deadline was not moved",
        )
    _check_later(phase, before, closes_at)
    _check_sealed(phase, closes_at, team)
    if team is None:
        phase.closes_at = closes_at
        if phase.sealed_until is not None and phase.sealed_until < closes_at:
            phase.sealed_until = closes_at
        phase.save(update_fields=["closes_at", "sealed_until"])
    extension = Extension.objects.create(
        phase=phase,
        team=team,
        before=before,
        closes_at=closes_at,
        reason=reason,
        created_by=by,
        created_at=timezone.now(),
    )
    details = {"before": before.isoformat(), "until": closes_at.isoformat(), "reason": reason}
    AuditEntry.record("phase.extended", phase, by=by, team=team.pk if team else None, **details)
    return extension


def _check_later(phase: Phase, before: datetime, closes_at: datetime) -> None:
    if closes_at <= before:
        date = time_zones.describe(before, phase.time_zone)
        raise Refused(
            Code.INVALID_VALUE,
            f"The new end is {time_zones.describe(closes_at, phase.time_zone)}, and the phase closes on {date}; "
            "expected a later end: deadlines cannot be moved earlier.",
        )
    if closes_at <= db_clock.read():
        raise Refused(
            Code.INVALID_VALUE,
            f"{time_zones.describe(closes_at, phase.time_zone)} has passed; expected a time in the future.",
        )


def _check_sealed(phase: Phase, closes_at: datetime, team: Team | None) -> None:
    if phase.unsealed_at is not None:
        raise Refused(
            Code.NOT_POSSIBLE,
            "This phase is unsealed: its finals are scored, so its deadline can no longer be moved.",
            heading="The deadline was not moved",
        )
    if team is not None and phase.sealed_until is not None and closes_at > phase.sealed_until:
        date = time_zones.describe(phase.sealed_until, phase.time_zone)
        raise Refused(
            Code.INVALID_VALUE,
            f"The phase will be unsealed and scored on {date}; expected that time or an earlier one as a single team's "
            "deadline.",
        )


@transaction.atomic
def set_zone(*, phase: Phase, time_zone: str, by: User) -> None:
    """Set the time zone in which a phase's dates are shown in addition to UTC; deadlines stay the same.

    Raises Refused: NOT_AN_ORGANISER; INVALID_VALUE for an unknown time zone.
    """
    check_manages(phase.benchmark, by)
    if time_zone not in time_zones.names():
        raise Refused(
            Code.INVALID_VALUE,
            f"The time zone is {time_zone[:60]!r}; expected UTC, AoE or an IANA name such as Europe/Berlin.",
        )
    change = {"before": phase.time_zone, "after": time_zone}
    phase.time_zone = time_zone
    phase.save(update_fields=["time_zone"])
    AuditEntry.record("phase.time_zone", phase, by=by, time_zone=change)

"""Editing of a phase, with a reason for the audit trail.

Fields on which scores and disclosure depend cannot change once there are submissions. Deadlines of published benchmarks
are extended in `deadlines`, and tracks are edited in `boards.actions.tracks`.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Count

from leaderboard.benchmarks.actions.benchmarks import check_phase
from leaderboard.core import row_locks
from leaderboard.core.refusal import Code, Refused
from leaderboard.core.rights import check_manages
from leaderboard.models import AuditEntry, Phase, Split, User
from leaderboard.models.benchmark import FIXED_ONCE_SUBMITTED, PHASE_FIELDS, Change
from leaderboard.scoring.actions import runs

EDITABLE = {name for name, field in PHASE_FIELDS.items() if field.change is not Change.ELSEWHERE}
NOT_CHANGED = "The phase was not changed"
LONGEST_REASON = 300


def fixed_fields(phase: Phase) -> dict[str, str]:
    """Return, by name, the fields that must not change any more, each with the sentence that says why."""
    fixed = {}
    if has_results(phase):
        why = "Fixed: the phase has submissions, and their scores depend on it."
        fixed = dict.fromkeys(
            FIXED_ONCE_SUBMITTED, f"{why} Reset the draft first." if phase.benchmark.is_draft else why
        )
    begun = phase.benchmark.is_published and not phase.is_to_come()
    if begun:
        fixed["opens_at"] = "Fixed: the phase has opened."
    if phase.closes_at is not None and phase.benchmark.is_published:
        fixed["closes_at"] = "Participants rely on it. Extend it on the page of the deadline."
    if phase.disclosure == Phase.Disclosure.SEALED and "closes_at" in fixed:
        fixed["sealed_until"] = "It moves with the deadline."
    if phase.unsealed_at is not None:
        fixed["finals_per_team"] = "Fixed: the finals are scored."
    return fixed


def has_results(phase: Phase) -> bool:
    """Return whether the phase has submissions or a board, which may have a baseline that was not submitted."""
    return phase.submissions.exists() or phase.leaderboards.exists()


def version_of(phase: Phase) -> str:
    """Return an identifier of the phase's current version. Any edit, by a page or in the admin, changes it."""
    return str(Phase.objects.values_list("n_entries", flat=True).get(pk=phase.pk))


@transaction.atomic
def edit(*, phase: Phase, changes: Mapping[str, Any], reason: str, seen: str, by: User) -> list[str]:
    """Change fields of a phase. Return the names of the fields whose values have changed.

    changes: new values by name of the field; names outside EDITABLE are ignored. reason: for the audit trail. seen:
    `version_of` the phase that the user saw. Raises Refused: NOT_AN_ORGANISER; INVALID_VALUE for an invalid value or
    reason; NOT_POSSIBLE for a fixed field (`fixed_fields`), for fewer finals than a team has already chosen, and if
    somebody else has changed the phase since.
    """
    check_manages(phase.benchmark, by)
    reason = " ".join(reason.split())
    if not 1 <= len(reason) <= LONGEST_REASON:
        expected = f"expected 1 to {LONGEST_REASON}"
        raise Refused(Code.INVALID_REASON, f"The reason has {len(reason)} characters; {expected}.", field_name="reason")
    # No submission is accepted meanwhile: see `runs.lock_split`.
    runs.lock_split(phase)
    locked = row_locks.lock_phase(phase.pk, "benchmark", "split")
    if seen != version_of(locked):
        raise Refused(
            Code.CHANGED_MEANWHILE,
            "Someone else has changed this phase since you opened the page. Check the values, and save again.",
            heading=NOT_CHANGED,
        )
    before = {name: getattr(locked, name) for name in changes if name in EDITABLE}
    after = {name: value for name, value in changes.items() if name in before and before[name] != value}
    for name, why in fixed_fields(locked).items():
        if name in after:
            raise Refused(Code.NOT_POSSIBLE, why, heading=NOT_CHANGED, field_name=name)
    for name, value in after.items():
        setattr(locked, name, value)
    if locked.is_sealed:
        locked.closes_at = locked.closes_at or locked.sealed_until
    _check_finals(locked)
    check_phase(locked)
    if not after:
        return []
    locked.save(update_fields=[*after, "closes_at"])
    values = {name: {"before": _as_json(before[name]), "after": _as_json(value)} for name, value in after.items()}
    AuditEntry.record("phase.edited", locked, by=by, reason=reason, **values)
    return list(after)


def _check_finals(phase: Phase) -> None:
    """Raise Refused if a team has chosen more finals than the phase allows."""
    most = phase.finals.values("team").annotate(n=Count("*")).order_by("-n").values_list("n", flat=True).first() or 0
    if most > phase.finals_per_team:
        raise Refused(
            Code.IN_USE,
            f"A team has already chosen {most} finals; expected at least that many.",
            heading=NOT_CHANGED,
            field_name="finals_per_team",
        )


def _as_json(value: Any) -> Any:
    if isinstance(value, Split):
        return value.name
    return value.isoformat() if isinstance(value, datetime) else value

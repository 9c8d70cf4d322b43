"""Sealed phases: teams choose finals among their submissions; only finals are scored, once, at the unsealing date."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from uuid import UUID

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from leaderboard.boards.queries import board_state
from leaderboard.core import db_clock, row_locks
from leaderboard.core.refusal import Code, Refused
from leaderboard.evaluation import sandbox_client
from leaderboard.models import (
    ACTIVE,
    AuditEntry,
    Bar,
    Final,
    Phase,
    Prediction,
    State,
    Submission,
    System,
    Team,
    User,
)
from leaderboard.scoring.actions import runs

log = structlog.get_logger(__name__)
LOST = (State.REJECTED, State.FAILED, State.CANCELLED)
"""States of a prediction in which its submission cannot be a final."""
WAITS = timedelta(minutes=3)
"""Longest time for which a request that submits a file waits for the sandbox to start, for storage and for locks."""


@transaction.atomic
def choose(*, submission: Submission, by: User) -> Final:
    """Choose a submission as one of its team's finals, before the phase's unsealing date.

    Idempotent: for a submission that already is a final, returns its row. Raises Refused: NOT_A_MEMBER; BARRED if the
    organisers have barred the team or the user; NOT_POSSIBLE for a phase that is not sealed or whose unsealing date has
    passed, or for a submission that was rejected, failed or cancelled; LIMIT_REACHED if the team has chosen the phase's
    maximum of finals.
    """
    phase = _choosing(submission, by)
    team = submission.system.team
    existing = Final.objects.filter(submission=submission).first()
    if existing is not None:
        return existing
    if Bar.objects.against(benchmark=phase.benchmark_id, team=team, user=by).exists():
        raise Refused(
            Code.BARRED,
            f"The organisers of {phase.benchmark} have removed your team: it can choose no other finals.",
            heading="The final was not chosen",
        )
    # A rejection that has begun is awaited; one that begins later finds the final and removes it.
    list(submission.predictions.select_for_update(no_key=True).values_list("pk"))
    if not _usable(phase).filter(pk=submission.pk).exists():
        raise Refused(
            Code.NOT_POSSIBLE,
            "This submission has no predictions that can be scored; choose another submission.",
            heading="The final was not chosen",
        )
    if Final.objects.filter(phase=phase, team=team).count() >= phase.finals_per_team:
        most = phase.finals_per_team
        raise Refused(
            Code.LIMIT_REACHED,
            f"{team} has chosen {most} final{'s' if most != 1 else ''}, the maximum for a team in "
            "this phase; remove one first.",
        )
    AuditEntry.record("final.chosen", submission, by=by)
    return Final.objects.create(submission=submission, phase=phase, team=team, chosen_by=by, chosen_at=db_clock.now())


@transaction.atomic
def unchoose(*, submission: Submission, by: User) -> bool:
    """Remove a submission from its team's finals; return True if it was one.

    Raises Refused: NOT_A_MEMBER; NOT_POSSIBLE for a phase that is not sealed or whose unsealing date has passed.
    """
    _choosing(submission, by)
    removed = bool(Final.objects.filter(submission=submission).delete()[0])
    if removed:
        AuditEntry.record("final.given_back", submission, by=by)
    return removed


def remove_lost(submission_id: UUID) -> None:
    """Remove a submission whose predictions are lost (LOST) from its team's finals, so that another may be chosen.

    The finals of a phase that has been unsealed stay. Call in the transaction in which the predictions are lost.
    """
    Final.objects.filter(submission=submission_id, phase__unsealed_at=None).delete()


def sweep() -> int:
    """Unseal every sealed phase whose unsealing date has passed; return the number of phases. Called periodically."""
    due = Phase.objects.filter(disclosure=Phase.Disclosure.SEALED, unsealed_at=None, sealed_until__lte=db_clock.now())
    return sum(unseal(phase=phase) for phase in list(due.order_by("sealed_until")))


@transaction.atomic
def unseal(*, phase: Phase) -> bool:
    """Unseal a phase whose unsealing date has passed, and queue its finals for scoring; return True if it did.

    Teams that chose no final get one by default (`default_finals`). Idempotent: returns False, and changes nothing, if
    the date has not passed by the clocks of both the database and this host, the phase is not sealed any more, or a
    predictions file that was received in time may still be in validation.
    """
    row_locks.lock_split(phase.split_id)
    phase = row_locks.lock_phase(phase.pk, "split__dataset")
    at = db_clock.read()
    if not phase.is_sealed or phase.sealed_until is None:
        return False
    if db_clock.earliest(at) < phase.sealed_until:
        return False
    if _may_be_validating(phase, at):
        return False
    uploaded = Prediction.objects.filter(submission__phase=phase, submission__kind=Submission.Kind.PREDICTIONS)
    if uploaded.filter(state__in=ACTIVE).exists():
        return False  # a file that was received in time counts, although its validation ends later
    Final.objects.bulk_create(
        Final(submission=submission, phase=phase, team=submission.system.team, chosen_at=at)
        for submission in default_finals(phase)
    )
    phase.unsealed_at = at
    phase.save(update_fields=["unsealed_at"])
    gold = board_state.gold_of(phase)
    queued = 0
    for prediction in board_state.predictions_to_score(phase).order_by("sequence"):
        assert gold is not None, "predictions are accepted only for phases with gold"
        runs.queue(prediction=prediction, gold=gold)
        queued += 1
    AuditEntry.record("phase.unsealed", phase, finals=queued)
    log.info("phase_unsealed", phase=str(phase), finals=queued)
    return True


def _may_be_validating(phase: Phase, at: datetime) -> bool:
    """Return whether a file that was received before the deadline may still be validated in its request at `at`.

    Such a file has no row in the database yet.
    """
    longest = timedelta(seconds=sandbox_client.WALL_FACTOR * settings.VALIDATE_SECONDS) + WAITS
    assert phase.closes_at is not None, "a constraint of the database ensures that a sealed phase closes"
    return phase.closes_at > at - longest or phase.extensions.filter(closes_at__gt=at - longest).exists()


def default_finals(phase: Phase, *, teams: QuerySet[Team] | None = None) -> list[Submission]:
    """Return the submissions that would be finals by default if the phase were unsealed now, the earliest first.

    teams: only their submissions are read and returned; None: those of all teams.
    These are the latest submission of each team that has chosen no final, and the latest submission of each baseline or
    other system that does not compete, unless one is chosen: such systems share a team but are all scored. Submissions
    with finished predictions are preferred to those whose container still waits or runs. A final whose predictions are
    lost counts as not chosen.
    """
    chosen = Final.objects.filter(phase=phase).exclude(submission__predictions__state__in=LOST)
    latest = _usable(phase).select_related("system__team").order_by("received_at", "pk")
    if teams is not None:
        latest = latest.filter(system__team__in=teams)
    participants = latest.filter(system__kind=System.Kind.PARTICIPANT).exclude(system__team__in=chosen.values("team"))
    others = latest.exclude(system__kind=System.Kind.PARTICIPANT)
    others = others.exclude(system__in=chosen.values("submission__system"))
    latest_by = {("team", submission.system.team_id): submission for submission in _whole_last(participants)}
    latest_by |= {("system", submission.system_id): submission for submission in _whole_last(others)}
    return sorted(latest_by.values(), key=lambda submission: (submission.received_at, submission.pk))


def _whole_last(submissions: QuerySet[Submission]) -> Iterable[Submission]:
    """Return submissions sorted so that those with finished predictions come last; otherwise the order is unchanged.

    The caller then takes the last submission of each team or system.
    """
    done = set(Prediction.objects.filter(submission__in=submissions, state=State.DONE).values_list("submission"))
    return sorted(submissions, key=lambda submission: (submission.pk,) in done)


def _usable(phase: Phase) -> QuerySet[Submission]:
    """Return the phase's submissions that may become finals: not rejected, failed or cancelled."""
    return phase.submissions.exclude(predictions__state__in=LOST)


def _choosing(submission: Submission, by: User) -> Phase:
    if not submission.system.team.members.filter(pk=by.pk).exists():
        raise Refused(Code.NOT_A_MEMBER, "You are not a member of the team that made this submission.")
    phase = row_locks.lock_phase(submission.phase_id)
    if phase.disclosure != Phase.Disclosure.SEALED:
        raise Refused(
            Code.NOT_POSSIBLE,
            "This phase scores every submission; there are no finals to choose.",
            heading="The finals were not changed",
        )
    if not is_choosing(phase, db_clock.read()):
        raise Refused(
            Code.NOT_POSSIBLE,
            f"Finals could be changed until {phase.sealed_until:%Y-%m-%d %H:%M} UTC; that time has passed.",
            heading="The finals were not changed",
        )
    return phase


def is_choosing(phase: Phase, at: datetime | None = None) -> bool:
    """Return True if finals can be chosen at `at` (default: now), before the unsealing date of a sealed phase.

    From that date on, returns False even if the sweep has not unsealed the phase yet.
    """
    return phase.is_sealed and phase.sealed_until is not None and (at or timezone.now()) < phase.sealed_until

"""Sealed phases: teams choose their finals, and at its date each phase is opened and its finals are scored, once."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

import structlog
from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from leaderboard.boards.queries import board_state
from leaderboard.core.refusal import Code, Refused
from leaderboard.models import AuditEntry, Final, Phase, Prediction, Split, State, Submission, System, User
from leaderboard.scoring.actions import runs

log = structlog.get_logger(__name__)
LOST = (State.REJECTED, State.FAILED, State.CANCELLED)


@transaction.atomic
def choose(*, submission: Submission, by: User) -> Final:
    """Make a submission one of its team's finals; the same twice is one. Before the phase is opened.

    Raises Refused: NOT_A_MEMBER; NOT_TAKEN for a phase that is not sealed, is opened, or a submission that came to
    nothing; QUOTA_EXCEEDED where the team has chosen as many as it may.
    """
    phase = _choosing(submission, by)
    team = submission.system.team
    there = Final.objects.filter(submission=submission).first()
    if there is not None:
        return there
    if not _usable(phase).filter(pk=submission.pk).exists():
        raise Refused(
            Code.NOT_TAKEN,
            "This submission has no predictions to be scored; expected one that has.",
            heading="The final was not chosen",
        )
    if Final.objects.filter(phase=phase, team=team).count() >= phase.finals_per_team:
        most = phase.finals_per_team
        raise Refused(
            Code.QUOTA_EXCEEDED,
            f"{team} has chosen {most} final{'s' if most != 1 else ''}, as many as this phase takes of a team; give "
            "one back first.",
        )
    AuditEntry.record("final.chosen", submission, by=by)
    return Final.objects.create(submission=submission, phase=phase, team=team, chosen_by=by, chosen_at=timezone.now())


@transaction.atomic
def give_back(*, submission: Submission, by: User) -> bool:
    """Take a submission out of its team's finals; whether it was one. Raises Refused as `choose` does."""
    _choosing(submission, by)
    gone = bool(Final.objects.filter(submission=submission).delete()[0])
    if gone:
        AuditEntry.record("final.given_back", submission, by=by)
    return gone


def sweep() -> int:
    """Open every sealed phase whose date has come; how many. Run by the clock."""
    due = Phase.objects.filter(disclosure=Phase.Disclosure.SEALED, unsealed_at=None, sealed_until__lte=timezone.now())
    # A rehearsal that ended before its date stays shut.
    due = due.exclude(benchmark__rehearsal__ended_at__lt=F("sealed_until"))
    return sum(unseal(phase=phase) for phase in list(due.order_by("sealed_until")))


@transaction.atomic
def unseal(*, phase: Phase) -> bool:
    """Open a phase whose date has come: what each team chose, or its latest, is queued. False: it is open, or early."""
    Split.objects.select_for_update().get(pk=phase.split_id)
    phase = Phase.objects.select_for_update(of=("self",)).select_related("split__dataset").get(pk=phase.pk)
    at = timezone.now()
    if not phase.is_sealed or phase.sealed_until is None or at < phase.sealed_until:
        return False
    Final.objects.bulk_create(
        Final(submission=submission, phase=phase, team=submission.system.team, chosen_at=at)
        for submission in by_default(phase)
    )
    phase.unsealed_at = at
    phase.save(update_fields=["unsealed_at"])
    gold = board_state.gold_of(phase)
    queued = 0
    for prediction in board_state.to_score(phase).order_by("arrival"):
        assert gold is not None, "predictions are taken for phases with gold alone"
        runs.queue(prediction=prediction, gold=gold)
        queued += 1
    AuditEntry.record("phase.unsealed", phase, finals=queued)
    log.info("phase_unsealed", phase=str(phase), finals=queued)
    return True


def by_default(phase: Phase) -> list[Submission]:
    """What is final without anybody's choice, were the phase opened at this moment.

    The latest submission of each team that chose none; and of each system that does not compete its latest, since a
    baseline stands in no other's way.
    """
    chosen = Final.objects.filter(phase=phase)
    latest = _usable(phase).select_related("system__team").order_by("received_at", "pk")
    participants = latest.filter(system__kind=System.Kind.PARTICIPANT).exclude(system__team__in=chosen.values("team"))
    others = latest.exclude(system__kind=System.Kind.PARTICIPANT)
    others = others.exclude(system__in=chosen.values("submission__system"))
    found = {("team", one.system.team_id): one for one in _whole_last(participants)}
    found |= {("system", one.system_id): one for one in _whole_last(others)}
    return sorted(found.values(), key=lambda one: (one.received_at, one.pk))


def _whole_last(submissions: QuerySet[Submission]) -> Iterable[Submission]:
    """Those whose predictions are there after those whose container still runs, else in their order."""
    there = set(Prediction.objects.filter(submission__in=submissions, state=State.DONE).values_list("submission"))
    return sorted(submissions, key=lambda one: (one.pk,) in there)


def _usable(phase: Phase) -> QuerySet[Submission]:
    """What came to something, or still may."""
    return phase.submissions.exclude(predictions__state__in=LOST)


def _choosing(submission: Submission, by: User) -> Phase:
    if not submission.system.team.members.filter(pk=by.pk).exists():
        raise Refused(Code.NOT_A_MEMBER, "You are not a member of the team that sent this.")
    phase = Phase.objects.select_for_update().get(pk=submission.phase_id)
    if phase.disclosure != Phase.Disclosure.SEALED:
        raise Refused(
            Code.NOT_TAKEN,
            "This phase scores every submission; there are no finals to choose.",
            heading="The finals stay as they are",
        )
    if not is_choosing(phase):
        raise Refused(
            Code.NOT_TAKEN,
            f"The finals were to be chosen until {phase.sealed_until:%Y-%m-%d %H:%M} UTC.",
            heading="The finals stay as they are",
        )
    return phase


def is_choosing(phase: Phase, at: datetime | None = None) -> bool:
    """Whether finals can be chosen: the date has not come, whether or not the sweeper has."""
    return phase.is_sealed and phase.sealed_until is not None and (at or timezone.now()) < phase.sealed_until

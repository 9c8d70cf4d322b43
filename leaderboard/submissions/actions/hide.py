"""Hiding of a submission from all boards of its phase, by the benchmark's organisers or by the submission's team.

A hidden submission keeps its scores, its receipt and its quota charge. Under the disclosure policy `ladder`
(`evaluator.disclosure.ladder`), new scores are still compared with its revealed score. On every board of the
phase, another submission of the system that is not hidden represents the system; without one, the system leaves the
board. A submission hidden by both organisers and team is on the boards again only when both show it.
"""

from __future__ import annotations

from datetime import timedelta

from django.db import transaction

from leaderboard.boards.actions import boards
from leaderboard.comparisons.actions import rank_ranges
from leaderboard.core import db_clock, row_locks
from leaderboard.core.refusal import Code, Refused
from leaderboard.core.rights import check_manages
from leaderboard.models import AuditEntry, Benchmark, HiddenSubmission, Phase, Submission, User

LONGEST_REASON = 300
MOST_A_DAY = 20
"""Maximum number of times that a team may hide submissions to one phase in 24 hours: each time ranks all boards again.
"""


@transaction.atomic
def hide(*, submission: Submission, reason: str, by: User) -> None:
    """Hide a submission, as an organiser; if organisers hide it already, replace the reason.

    reason: shown to the submission's team and the organisers only. A queued or running submission is still scored, but
    not shown. Raises Refused: NOT_AN_ORGANISER, INVALID_REASON for a reason that is empty or longer than LONGEST_REASON
    characters.
    """
    phase = _locked_phase(submission)
    check_manages(phase.benchmark, by)
    reason = " ".join(reason.split())
    if not 1 <= len(reason) <= LONGEST_REASON:
        raise Refused(Code.INVALID_REASON, f"The reason has {len(reason)} characters; expected 1 to {LONGEST_REASON}.")
    HiddenSubmission.objects.update_or_create(
        submission=submission,
        by_team=False,
        unhidden_at=None,
        defaults={"reason": reason},
        create_defaults={"reason": reason, "hidden_by": by, "hidden_at": db_clock.now()},
    )
    AuditEntry.record("submission.hidden", submission, by=by, phase=phase.pk, reason=reason)
    _update_standings(phase, submission)


@transaction.atomic
def unhide(*, submission: Submission, by: User) -> bool:
    """Show a submission again that organisers hid: all boards become as if organisers had never hidden it.

    Does nothing and returns False if organisers do not hide it now. Raises Refused NOT_AN_ORGANISER.
    """
    phase = _locked_phase(submission)
    check_manages(phase.benchmark, by)
    return _end(phase, submission, by_team=False, by=by, action="submission.unhidden")


@transaction.atomic
def take_off(*, submission: Submission, by: User) -> None:
    """Hide a submission, as a member of its team. Does nothing if the team hides it already.

    Raises Refused: NOT_A_MEMBER; NOT_POSSIBLE if the organisers do not allow teams to hide submissions, and in a sealed
    phase, which has no board yet; THROTTLED if the team has hidden submissions to this phase MOST_A_DAY times within 24
    hours.
    """
    phase = _locked_phase(submission)
    _check_member(submission, by)
    reason = why_not_to_take_off(phase)
    if reason:
        raise Refused(Code.NOT_POSSIBLE, reason, heading="The submission was not taken off")
    hidden = HiddenSubmission.objects.filter(submission__phase=phase, by_team=True)
    if hidden.now().filter(submission=submission).exists():
        return
    recent = hidden.filter(submission__system__team=submission.system.team_id)
    if recent.filter(hidden_at__gt=db_clock.now() - timedelta(days=1)).count() >= MOST_A_DAY:
        raise Refused(
            Code.THROTTLED,
            f"Your team has taken {MOST_A_DAY} submissions off this board within 24 hours, the maximum. Try later.",
        )
    HiddenSubmission.objects.create(submission=submission, by_team=True, hidden_by=by, hidden_at=db_clock.now())
    AuditEntry.record("submission.taken_off", submission, by=by, phase=phase.pk)
    _update_standings(phase, submission)


@transaction.atomic
def put_back(*, submission: Submission, by: User) -> bool:
    """Show a submission again that its team hid, as a member of the team; return True.

    Does nothing and returns False if the team does not hide it now. Raises Refused NOT_A_MEMBER.
    """
    phase = _locked_phase(submission)
    _check_member(submission, by)
    return _end(phase, submission, by_team=True, by=by, action="submission.put_back")


@transaction.atomic
def set_teams_may_hide(*, benchmark: Benchmark, allowed: bool, by: User) -> None:
    """Allow teams to hide their submissions from the benchmark's boards, or forbid it; hidden ones stay hidden.

    Raises Refused NOT_AN_ORGANISER.
    """
    check_manages(benchmark, by)
    if benchmark.teams_may_hide != allowed:
        benchmark.teams_may_hide = allowed
        benchmark.save(update_fields=["teams_may_hide"])
        AuditEntry.record("benchmark.teams_may_hide", benchmark, by=by, allowed=allowed)


def why_not_to_take_off(phase: Phase) -> str:
    """Return a sentence that says why teams may not hide submissions from the phase's boards; empty if they may."""
    if not phase.benchmark.teams_may_hide:
        return "The organisers of this benchmark do not allow teams to take submissions off the board."
    if phase.is_sealed:
        return "This phase is sealed, so no submission is on a board yet. Choose another final instead."
    return ""


def _end(phase: Phase, submission: Submission, *, by_team: bool, by: User, action: str) -> bool:
    hidden = HiddenSubmission.objects.now().filter(submission=submission, by_team=by_team)
    if not hidden.update(unhidden_at=db_clock.now(), unhidden_by=by):
        return False
    AuditEntry.record(action, submission, by=by, phase=phase.pk)
    _update_standings(phase, submission)
    return True


def _locked_phase(submission: Submission) -> Phase:
    """Lock the row of a submission's phase until the transaction ends, and return the phase.

    Publication on the phase's boards takes the same lock.
    """
    return row_locks.lock_phase(submission.phase_id, "benchmark")


def _check_member(submission: Submission, by: User) -> None:
    if not submission.system.team.members.filter(pk=by.pk).exists():
        raise Refused(Code.NOT_A_MEMBER, "Only members of the submission's team may do this.")


def _update_standings(phase: Phase, submission: Submission) -> None:
    # Of all boards: even a cancelled one may be resumed.
    for board in phase.leaderboards.select_related("gold_version"):
        if boards.recompute_standing(board, submission.system):
            rank_ranges.rank_again(board)

"""Hiding of a submission from all boards of its phase by the benchmark's organisers, and showing it again.

A hidden submission keeps its scores, its receipt and its quota charge. Under the disclosure policy `ladder`
(`leaderboard.boards.disclosure.ladder`), new scores are still compared with its revealed score. On every board of the
phase, its system is represented by another of its submissions that is not hidden, or leaves the board if there is none.
"""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from leaderboard.boards.actions import boards
from leaderboard.comparisons.actions import rank_ranges
from leaderboard.core.refusal import Code, Refused
from leaderboard.models import AuditEntry, HiddenSubmission, Phase, Submission, User

LONGEST_REASON = 300


@transaction.atomic
def hide(*, submission: Submission, reason: str, by: User) -> HiddenSubmission:
    """Hide a submission; if it is hidden already, replace the reason.

    reason: shown to the submission's team and the organisers only. A queued or running submission is still scored, but
    not shown. Raises Refused: NOT_AN_ORGANISER, INVALID_NAME for a reason that is empty or longer than LONGEST_REASON
    characters.
    """
    phase = _locked_phase(submission, by)
    reason = " ".join(reason.split())
    if not 1 <= len(reason) <= LONGEST_REASON:
        raise Refused(Code.INVALID_NAME, f"The reason has {len(reason)} characters; expected 1 to {LONGEST_REASON}.")
    hidden, _ = HiddenSubmission.objects.update_or_create(
        submission=submission,
        unhidden_at=None,
        defaults={"reason": reason},
        create_defaults={"reason": reason, "hidden_by": by, "hidden_at": timezone.now()},
    )
    AuditEntry.record("submission.hidden", submission, by=by, phase=phase.pk, reason=reason)
    _update_standings(phase, submission)
    return hidden


@transaction.atomic
def unhide(*, submission: Submission, by: User) -> bool:
    """Show a hidden submission again: all boards become as if it had never been hidden.

    Does nothing and returns False if the submission is not hidden. Raises Refused NOT_AN_ORGANISER.
    """
    phase = _locked_phase(submission, by)
    hidden = HiddenSubmission.objects.now().filter(submission=submission)
    if not hidden.update(unhidden_at=timezone.now(), unhidden_by=by):
        return False
    AuditEntry.record("submission.unhidden", submission, by=by, phase=phase.pk)
    _update_standings(phase, submission)
    return True


def _locked_phase(submission: Submission, by: User) -> Phase:
    """Lock the phase's row, as publishing on its boards does, and return it. Raises Refused NOT_AN_ORGANISER."""
    rows = Phase.objects.select_for_update(of=("self",), no_key=True).select_related("benchmark")
    phase = rows.get(pk=submission.phase_id)
    if not phase.benchmark.is_managed_by(by):
        raise Refused(Code.NOT_AN_ORGANISER, "Only the benchmark's organisers may do this.")
    return phase


def _update_standings(phase: Phase, submission: Submission) -> None:
    # Of all boards: even a cancelled one may be resumed.
    for board in phase.leaderboards.select_related("gold_version"):
        if boards.recompute_standing(board, submission.system):
            rank_ranges.rank_again(board)

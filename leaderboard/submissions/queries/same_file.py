"""Earlier submissions of the same predictions file."""

from __future__ import annotations

from leaderboard.models import Phase, Submission, Team


def latest_with(*, phase: Phase, team: Team, sha256: str) -> Submission | None:
    """Return the team's latest submission to the phase of a predictions file with this digest; None if there is none.

    Refunded submissions do not count: for them the server failed, or the file was rejected.
    """
    same = Submission.objects.filter(phase=phase, system__team=team, kind=Submission.Kind.PREDICTIONS)
    same = same.filter(predictions__sha256=sha256, charge__refunded_at=None)
    return same.select_related("system").order_by("-received_at", "pk").first()

"""Exact scores, as they were computed and stored: for those who manage the benchmark alone.

Everybody else is shown what `leaderboard.boards.disclosure.policies` makes of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.db.models import QuerySet

from leaderboard.boards.disclosure.policies import policy_of
from leaderboard.models import Phase, Run, Score, State

COLUMNS = (
    *("submission", "received_at", "system", "team", "gold_version", "task_version"),
    *("measure", "slice", "value", "low", "high", "n", "n_groups"),
)


def of_run(run: Run | None, phase: Phase) -> QuerySet[Score]:
    """Return the overall exact scores of a finished run; none where the phase shows them anyway, or without a run."""
    policy = policy_of(phase)
    if run is None or run.state != State.DONE or (policy.exact and phase.disclosure != Phase.Disclosure.LADDER):
        return Score.objects.none()
    return run.scores.filter(slice_key="").order_by("pk")


def of_phase(phase: Phase) -> Iterator[dict[str, Any]]:
    """Yield all exact scores of a phase, each as a dict with the keys COLUMNS."""
    scores = Score.objects.filter(run__prediction__submission__phase=phase, run__state=State.DONE).select_related(
        "run__gold_version", "run__prediction__submission__system__team"
    )
    for score in scores.order_by("run__prediction__sequence", "run", "pk").iterator(chunk_size=2000):
        submission = score.run.prediction.submission
        yield {
            "submission": submission.pk,
            "received_at": submission.received_at,
            "system": submission.system.name,
            "team": submission.system.team.name,
            "gold_version": score.run.gold_version.number,
            "task_version": score.run.task_version,
            **{name: getattr(score, name) for name in ("measure", "slice", "value", "low", "high", "n", "n_groups")},
        }

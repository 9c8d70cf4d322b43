"""What comes out of a run: a release, in sequence, as its phase's policy allows."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from django.db.models import Max

from leaderboard import costs
from leaderboard.actions import boards, comparisons
from leaderboard.disclosure import reveal, reveal_cost
from leaderboard.models import Phase, Release, Run, System


def slice_key(slice_: dict[str, Any]) -> str:
    """A slice as canonical JSON; the whole is the empty string."""
    return json.dumps(slice_, sort_keys=True, ensure_ascii=False, separators=(",", ":")) if slice_ else ""


def publish(*, run: Run, primary: str, scores: list[dict[str, Any]], warnings: list[str], at: datetime) -> Release:
    """Reveal a run as its phase's policy says, and set its system's standing. Call inside the run's transaction."""
    submission = run.prediction.submission
    # One release at a time a phase: the sequence has no gaps, and two publishers cannot rank against each other.
    phase = Phase.objects.select_for_update().get(pk=submission.phase_id)
    last = phase.releases.aggregate(last=Max("sequence"))["last"] or 0
    release = Release.objects.create(
        phase=phase,
        sequence=last + 1,
        run=run,
        submission=submission,
        policy=phase.disclosure,
        primary=primary,
        values=reveal(phase=phase, scores=scores),
        warnings=warnings,
        cost=reveal_cost(phase=phase, cost=costs.of(run.prediction)),
        released_at=at,
    )
    board = boards.of_run(phase=phase, run=run)
    stands = boards.stand(board=board, system=submission.system, release=release)
    if stands and submission.system.kind == System.Kind.PARTICIPANT:
        comparisons.changed(board)
    boards.rank(board)
    boards.settle(phase)
    return release

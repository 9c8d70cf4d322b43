"""What comes out of a run: a release, and from releases alone the leaderboard's standings."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from django.db.models import Max

from evaluator.task import TASKS
from leaderboard.disclosure import reveal
from leaderboard.models import Leaderboard, Phase, Release, Run, Standing, System


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
        released_at=at,
    )
    board = _board_for(phase, run)
    _stand(board, submission.system, release)
    rank(board)
    return release


def _board_for(phase: Phase, run: Run) -> Leaderboard:
    has_current = phase.leaderboards.filter(state=Leaderboard.State.CURRENT).exists()
    board, _ = Leaderboard.objects.get_or_create(
        phase=phase,
        gold_version=run.gold_version,
        task_version=run.task_version,
        defaults={"state": Leaderboard.State.PREPARING if has_current else Leaderboard.State.CURRENT},
    )
    return board


def primary_value(release: Release) -> float | None:
    """The primary measure of the whole, as revealed."""
    for score in release.values:
        if score["measure"] == release.primary and not score["slice"]:
            value = score["value"]
            return None if value is None else float(value)
    return None


def _stand(board: Leaderboard, system: System, release: Release) -> None:
    """The system's best release represents it; of equals the earlier one."""
    value = primary_value(release)
    standing, created = Standing.objects.get_or_create(
        leaderboard=board, system=system, defaults={"release": release, "value": value}
    )
    sign = direction(board, release.primary)
    better = value is not None and (standing.value is None or sign * value > sign * standing.value)
    if not created and better:
        standing.release, standing.value = release, value
        standing.save(update_fields=["release", "value"])


def direction(board: Leaderboard, measure: str) -> int:
    """+1 where more is better, -1 where less is."""
    task = TASKS[board.phase.split.dataset.task]
    return -1 if task.measure(measure).higher_is_better is False else 1


def rank(board: Leaderboard) -> None:
    """Ranks of the competing systems; equal values share a rank, whatever the order they came in."""
    competing = board.standings.filter(system__kind=System.Kind.PARTICIPANT, value__isnull=False)
    valued = [
        (standing.value, standing) for standing in competing.select_related("release") if standing.value is not None
    ]
    if not valued:
        return
    sign = direction(board, valued[0][1].release.primary)
    valued.sort(key=lambda pair: (-sign * pair[0], pair[1].pk))
    changed, place, previous = [], 0, None
    for position, (value, standing) in enumerate(valued, start=1):
        if value != previous:
            place, previous = position, value
        if standing.rank != place:
            standing.rank = place
            changed.append(standing)
    Standing.objects.bulk_update(changed, ["rank"])

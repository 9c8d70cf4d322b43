"""Board rows for tests: releases with given scores, created by the real publishing code."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from leaderboard.accounts.actions import teams
from leaderboard.core import row_locks
from leaderboard.models import (
    BoardHistory,
    Image,
    PastStanding,
    Prediction,
    Release,
    Run,
    State,
    Submission,
    System,
    Team,
)
from leaderboard.scoring.actions import board_histories, releases
from tests.support.rows.tiny_world import World

SYMMETRIC = {
    "accuracy": 0.75,
    "symmetric_gap": 0.4,
    "group_accuracy": 0.25,
    "claim_consistency": 0.5,
}


def score(measure: str, value: float | None, n: int = 4, **slice_: Any) -> dict[str, Any]:
    """Return a revealed score with an interval of 0.1 to either side; without a value, without an interval."""
    low = None if value is None else max(-1.0, value - 0.1)
    high = None if value is None else min(1.0, value + 0.1)
    return {"measure": measure, "slice": slice_, "value": value, "low": low, "high": high, "n": n}


def symmetric_scores(accuracy: float | None = 0.75, *, original: float = 1.0, generated: float = 0.6) -> list[Any]:
    """Return the scores that a run on the tiny symmetric split reveals."""
    whole = {**SYMMETRIC, "accuracy": accuracy, "symmetric_gap": original - generated}
    return [
        *(score(measure, value, 1 if measure == "group_accuracy" else 4) for measure, value in whole.items()),
        score("accuracy", original, 1, origin="original"),
        score("accuracy", generated, 3, origin="generated"),
        score("accuracy", 0.5, 2, label="SUPPORTS"),
        score("accuracy", None, 0, label="REFUTES"),
    ]


def stand(
    world: World,
    name: str,
    scores: list[dict[str, Any]] | None = None,
    *,
    team: str = "",
    primary: str = "accuracy",
    warnings: tuple[str, ...] = (),
    at: datetime | None = None,
    spent: dict[str, float] | None = None,
    track: str = "",
    **described: Any,
) -> Release:
    """Create a system with a published run.

    described: fields of the system. spent: the measured cost of its container; None: it was uploaded as a file.
    """
    home = Team.objects.get_or_create(name=team)[0] if team else world.system.team
    system = teams.system(team=home, name=name, by=world.researcher)
    System.objects.filter(pk=system.pk).update(**described)
    at = at or timezone.now()
    run = world.insert_run(
        state=State.DONE, track=track, at=at, finished_at=at, outcomes="outcomes", outcomes_sha256="0" * 64, attempt=1
    )
    Submission.objects.filter(pk=run.prediction.submission_id).update(system=system)
    if spent is not None:
        image = Image.objects.get_or_create(reference=f"registry.example/system@sha256:{'0' * 64}")[0]
        Submission.objects.filter(pk=run.prediction.submission_id).update(kind=Submission.Kind.IMAGE, image=image)
        Prediction.objects.filter(pk=run.prediction_id).update(cost=spent)
    described = {"primary": primary, "warnings": list(warnings), "at": at}
    return publish(run, scores=symmetric_scores() if scores is None else scores, **described)


def publish(run: Run, **described: Any) -> Release | None:
    """Release a run, and rank its board. described: as for `releases.publish`; by default accuracy ranks the board."""
    described = {"primary": "accuracy", "warnings": [], "at": timezone.now(), **described}
    with transaction.atomic():
        phase = row_locks.lock_phase(run.prediction.submission.phase_id)
        release = releases.publish(phase=phase, run=Run.objects.get(pk=run.pk), **described)
    releases.update_boards(run.prediction.submission.phase_id)
    return release


def derive_past_standings() -> None:
    """Derive all past standings again: a test has inserted or backdated rows behind the site's back."""
    BoardHistory.objects.all().delete()
    PastStanding.objects.all().delete()
    board_histories.sweep(seconds=60.0)

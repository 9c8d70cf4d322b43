"""A board with many teams and submissions, inserted directly: publishing each of them would take hours."""

from __future__ import annotations

import random
import uuid
from collections.abc import Iterator
from datetime import timedelta
from itertools import islice
from typing import Any

from django.db import connection
from django.utils import timezone

from leaderboard.boards.actions import boards
from leaderboard.models import (
    Leaderboard,
    Prediction,
    Release,
    ReleaseSlice,
    Run,
    Standing,
    State,
    Submission,
    System,
    Team,
)
from leaderboard.scoring.actions import releases
from tests.support.rows.tiny_world import World

AT_ONCE = 5000
ORIGINS = ("original", "generated")


class BigBoard:
    """Teams with one system each; submissions are added in turn, and the best one represents its system."""

    def __init__(self, world: World, n_teams: int = 200, seed: int = 1) -> None:
        self.world, self.random, self.n = world, random.Random(seed), 0
        changes = {"number": 2, "measures": [*world.gold.measures, "fever_score"], "pk": None, "sha256": "1" * 64}
        for name, value in changes.items():
            setattr(world.gold, name, value)
        world.gold.save(force_insert=True)
        teams = Team.objects.bulk_create(Team(name=f"Team {number}") for number in range(n_teams))
        described = {"description": "A method.", "paper_url": "https://papers.example/1"}
        self.systems = System.objects.bulk_create(
            System(team=team, name=f"System {number} of {team.name}", **described) for number, team in enumerate(teams)
        )
        self.best: dict[int, tuple[float, str]] = {}
        self.board = Leaderboard.objects.create(
            phase=world.phase, gold_version=world.gold, task_version=1, state="current", shown_from=timezone.now()
        )

    def grow(self, n: int) -> None:
        """Add submissions until there are n finished ones, then rank the systems."""
        numbers = iter(range(self.n, n))
        while batch := list(islice(numbers, AT_ONCE)):
            self._add(batch)
        self.n = n
        Standing.objects.filter(leaderboard=self.board).delete()
        of_submission = Release.objects.filter(submission__in=[pk for _, pk in self.best.values()])
        by_submission = {str(release.submission_id): release for release in of_submission}
        Standing.objects.bulk_create(
            Standing(
                leaderboard=self.board,
                system_id=system,
                release=by_submission[pk],
                value=value,
                received_at=by_submission[pk].released_at,
            )
            for system, (value, pk) in self.best.items()
        )
        boards.rank(self.board)
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")

    @property
    def first(self) -> str:
        """The name of the system with the best value of all submissions."""
        pk = max(self.best, key=lambda system: self.best[system][0])
        return next(system.name for system in self.systems if system.pk == pk)

    def _add(self, numbers: list[int]) -> None:
        phase, at = self.world.phase, timezone.now() - timedelta(days=30)
        submissions, predictions, runs, published = [], [], [], []
        for number in numbers:
            system = self.systems[number % len(self.systems)]
            when = at + timedelta(seconds=number)
            done: dict[str, Any] = {"state": State.DONE, "queued_at": when, "finished_at": when, "attempt": 1}
            submission = Submission(phase=phase, system=system, submitted_by=self.world.researcher, received_at=when)
            prediction = Prediction(
                submission=submission, file="f", name="p.jsonl", sha256="0" * 64, inputs_sha256="0" * 64, **done
            )
            run = Run(
                id=uuid.UUID(int=self.random.getrandbits(128), version=4),
                prediction=prediction,
                gold_version=self.world.gold,
                task_version=1,
                enqueued_at=when,
                outcomes="o",
                outcomes_sha256="0" * 64,
                **done,
            )
            values = list(self._values())
            published.append(
                Release(
                    phase=phase,
                    sequence=number + 1,
                    run=run,
                    submission=submission,
                    policy="full",
                    primary="accuracy",
                    values=values,
                    released_at=when,
                )
            )
            value, key = values[0]["value"], str(submission.pk)
            if value > self.best.get(system.pk, (-1.0, ""))[0]:
                self.best[system.pk] = value, key
            submissions.append(submission)
            predictions.append(prediction)
            runs.append(run)
        Submission.objects.bulk_create(submissions)
        Prediction.objects.bulk_create(predictions)
        Run.objects.bulk_create(runs)
        Release.objects.bulk_create(published)
        ReleaseSlice.objects.bulk_create((row for release in published for row in releases.by_slice(release)), AT_ONCE)

    def _values(self) -> Iterator[dict[str, Any]]:
        for measure in self.world.gold.measures:
            yield self._score(measure, {})
        for origin in ORIGINS:
            yield self._score("accuracy", {"origin": origin})

    def _score(self, measure: str, slice_: dict[str, str]) -> dict[str, Any]:
        value = self.random.random()
        ends = {"low": max(0.0, value - 0.05), "high": min(1.0, value + 0.05)}
        return {"measure": measure, "slice": slice_, "value": value, "n": 4, **ends}

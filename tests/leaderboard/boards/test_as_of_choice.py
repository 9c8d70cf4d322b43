"""Boards as of a day: the database selects one representing row per system, by the rule in `choosing.represented`."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from leaderboard.boards.queries import Board, as_of
from leaderboard.boards.queries.representative import ShownRun, represented
from leaderboard.models import Leaderboard, Release, System
from leaderboard.systems.actions import systems
from tests.support.rows.board_rows import score, stand
from tests.support.rows.tiny_world import World, build

pytestmark = pytest.mark.django_db
FIRST = datetime(2026, 3, 1, 12, tzinfo=UTC)
END = FIRST + timedelta(days=30)


@pytest.fixture
def world() -> World:
    return build()


def create_releases(world: World, draw: random.Random, n: int) -> None:
    """Releases of few systems, with few values and times, so that they tie; some have no value or no scores."""
    for _ in range(n):
        value = draw.choice([None, 0.0, 0.25, 0.5, 0.5, 1.0])
        scores: list[Any] = draw.choice([[], [score("accuracy", value)], [score("accuracy", value)]])
        stand(world, f"System {draw.randrange(5)}", scores, at=FIRST + timedelta(hours=draw.randrange(3)))


def by_reading_all(choices: dict[int, UUID], sign: int, *, end: datetime = END) -> dict[int, ShownRun]:
    shown_runs = []
    releases = Release.objects.filter(released_at__lt=end).select_related("submission__system")
    for release in releases.order_by("sequence"):
        values = [score["value"] for score in release.values if score["measure"] == "accuracy" and not score["slice"]]
        submission, system = release.submission, release.submission.system
        about = (release.pk, release.sequence, system.pk, system.kind, submission.pk, submission.received_at)
        shown_runs.append(ShownRun(*about, values[0] if values else None))
    return represented(shown_runs, chosen=choices, sign=sign)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("seed", range(5))
def test_it_equals_reading_all_releases(world: World, seed: int, sign: int) -> None:
    draw = random.Random(seed)
    create_releases(world, draw, 30)
    entered = list(Release.objects.values_list("submission__system", "submission"))
    choices = dict(draw.sample(entered, 2)) if seed % 2 else {}
    board = Leaderboard.objects.get()
    best = as_of._best(as_of._until_then(board, END), "accuracy", chosen=choices, sign=sign)
    assert best == by_reading_all(choices, sign)
    assert len(best) == System.objects.filter(name__startswith="System").count() > 1


@pytest.mark.parametrize("seed", range(4))
def test_on_every_day_it_equals_the_releases_until_then(world: World, seed: int) -> None:
    draw = random.Random(seed)
    for day in range(12):
        for _ in range(draw.randrange(3)):
            value = draw.choice([None, 0.25, 0.5, 0.5, 1.0])
            stand(world, f"System {draw.randrange(4)}", [score("accuracy", value)], at=FIRST + timedelta(days=day))
    turned = Release.objects.filter(released_at__lt=FIRST + timedelta(days=6)).latest("sequence").submission
    systems.represent(submission=turned, by=world.researcher)
    board = Board(world.phase, Leaderboard.objects.get(), world.gold, [])
    for day in range(13):
        end = FIRST + timedelta(days=day, hours=1)
        # Choices were made today: on the earlier days there were none.
        assert as_of._represented(board, end, chosen={}, sign=1) == by_reading_all({}, 1, end=end), day
    own = {turned.system_id: turned.pk}
    assert as_of._represented(board, END, chosen=own, sign=1) == by_reading_all(own, 1)


def test_the_query_returns_at_most_a_row_per_system(world: World) -> None:
    create_releases(world, random.Random(9), 12)
    board = Leaderboard.objects.get()
    with CaptureQueriesContext(connection) as queries:
        best = as_of._best(as_of._until_then(board, END), "accuracy", chosen={}, sign=1)
    assert len(queries) == 1 and "ROW_NUMBER" in queries[0]["sql"]
    with connection.cursor() as cursor:
        cursor.execute(queries[0]["sql"])
        assert len(cursor.fetchall()) == len(best) < 12


def test_later_releases_are_not_chosen(world: World) -> None:
    stand(world, "System 1", [score("accuracy", 0.5)], at=FIRST)
    stand(world, "System 1", [score("accuracy", 0.9)], at=FIRST + timedelta(days=2))
    until_then = as_of._until_then(Leaderboard.objects.get(), FIRST + timedelta(days=1))
    (best,) = as_of._best(until_then, "accuracy", chosen={}, sign=1).values()
    assert best.value == 0.5

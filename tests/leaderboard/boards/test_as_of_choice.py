"""As of a day the database chooses what represents a system, a row each; the rule is `choosing.represented`."""

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
from tests.support.board_rows import score, stand
from tests.support.tiny_world import World, build

pytestmark = pytest.mark.django_db
FIRST = datetime(2026, 3, 1, 12, tzinfo=UTC)
END = FIRST + timedelta(days=30)


@pytest.fixture
def world() -> World:
    return build()


def released(world: World, draw: random.Random, n: int) -> None:
    """Releases of few systems, with few values and few times, so that they tie; some tell no value, or nothing."""
    for _ in range(n):
        value = draw.choice([None, 0.0, 0.25, 0.5, 0.5, 1.0])
        told: list[Any] = draw.choice([[], [score("accuracy", value)], [score("accuracy", value)]])
        stand(world, f"System {draw.randrange(5)}", told, at=FIRST + timedelta(hours=draw.randrange(3)))


def by_reading_all(chosen: dict[int, UUID], sign: int, *, until: datetime = END) -> dict[int, ShownRun]:
    told = []
    releases = Release.objects.filter(released_at__lt=until).select_related("submission__system")
    for one in releases.order_by("sequence"):
        cells = [score["value"] for score in one.values if score["measure"] == "accuracy" and not score["slice"]]
        sent, system = one.submission, one.submission.system
        about = (one.pk, one.sequence, system.pk, system.kind, sent.pk, sent.received_at)
        told.append(ShownRun(*about, cells[0] if cells else None))
    return represented(told, chosen=chosen, sign=sign)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("seed", range(5))
def test_it_is_what_reading_all_would_choose(world: World, seed: int, sign: int) -> None:
    draw = random.Random(seed)
    released(world, draw, 30)
    entered = list(Release.objects.values_list("submission__system", "submission"))
    chosen = dict(draw.sample(entered, 2)) if seed % 2 else {}
    board = Leaderboard.objects.get()
    found = as_of._best(as_of._until_then(board, END), "accuracy", chosen=chosen, sign=sign)
    assert found == by_reading_all(chosen, sign)
    assert len(found) == System.objects.filter(name__startswith="System").count() > 1


@pytest.mark.parametrize("seed", range(4))
def test_on_every_day_it_is_what_the_releases_until_then_give(world: World, seed: int) -> None:
    draw = random.Random(seed)
    for day in range(12):
        for _ in range(draw.randrange(3)):
            value = draw.choice([None, 0.25, 0.5, 0.5, 1.0])
            stand(world, f"System {draw.randrange(4)}", [score("accuracy", value)], at=FIRST + timedelta(days=day))
    turned = Release.objects.filter(released_at__lt=FIRST + timedelta(days=6)).latest("sequence").submission
    systems.represent(submission=turned, by=world.researcher)
    board = Board(world.phase, Leaderboard.objects.get(), world.gold, [])
    for day in range(13):
        until = FIRST + timedelta(days=day, hours=1)
        # Decided today: of the days before it, nothing was.
        assert as_of._represented(board, until, chosen={}, sign=1) == by_reading_all({}, 1, until=until), day
    own = {turned.system_id: turned.pk}
    assert as_of._represented(board, END, chosen=own, sign=1) == by_reading_all(own, 1)


def test_no_more_rows_come_out_of_it_than_systems(world: World) -> None:
    released(world, random.Random(9), 12)
    board = Leaderboard.objects.get()
    with CaptureQueriesContext(connection) as asked:
        found = as_of._best(as_of._until_then(board, END), "accuracy", chosen={}, sign=1)
    assert len(asked) == 1 and "ROW_NUMBER" in asked[0]["sql"]
    with connection.cursor() as cursor:
        cursor.execute(asked[0]["sql"])
        assert len(cursor.fetchall()) == len(found) < 12


def test_what_came_later_is_not_chosen(world: World) -> None:
    stand(world, "System 1", [score("accuracy", 0.5)], at=FIRST)
    stand(world, "System 1", [score("accuracy", 0.9)], at=FIRST + timedelta(days=2))
    told = as_of._until_then(Leaderboard.objects.get(), FIRST + timedelta(days=1))
    (one,) = as_of._best(told, "accuracy", chosen={}, sign=1).values()
    assert one.value == 0.5

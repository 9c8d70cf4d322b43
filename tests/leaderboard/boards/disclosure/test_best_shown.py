"""What a ladder's next answer must beat: one row is asked for, and it is the one that reading them all would find."""

from __future__ import annotations

import random
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from leaderboard.boards.queries import board_state
from leaderboard.models import Disqualification, Leaderboard, Release, System, Team
from tests.support.board_rows import score, stand
from tests.support.tiny_world import World, build

pytestmark = pytest.mark.django_db
TEAMS = ("", "Compilers", "Engines")
KINDS = (*["participant"] * 4, "baseline", "organiser")


@pytest.fixture
def world() -> World:
    return build()


def by_reading_all(board: Leaderboard, primary: str, *, team: int | None) -> float | None:
    """The best value that was told, of every release of the board."""
    telling = Release.objects.filter(
        phase=board.phase_id,
        run__gold_version=board.gold_version_id,
        run__task_version=board.task_version,
        submission__system__kind=System.Kind.PARTICIPANT,
    ).exclude(values=[])
    if team is not None:
        telling = telling.filter(submission__system__team=team)
    values = [value for release in telling if (value := board_state.primary_value(release)) is not None]
    return (max if board_state.direction(board, primary) > 0 else min)(values, default=None)


def told(draw: random.Random) -> list[dict[str, Any]]:
    """Nothing, no value, or one of few or of all digits; with a slice that is better than any whole."""
    value = draw.choice([None, 0.0, 1.0, draw.randint(0, 4) / 4, draw.random(), draw.random() / 1e9])
    own = [score("accuracy", value), score("symmetric_gap", 2.0), score("accuracy", 3.0, origin="original")]
    return draw.choice([[], own, own, own])


def boards_of(world: World, draw: random.Random) -> None:
    for number in range(25):
        kind, team = draw.choice(KINDS), draw.choice(TEAMS)
        # Of one name several submissions, in whatever order they are good.
        name = f"{kind} {number % 7} {team}"
        stand(world, name, told(draw), team=team, kind=kind)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("seed", range(4))
def test_it_is_what_reading_all_would_find(world: World, seed: int, sign: int, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(seed)
    boards_of(world, draw)
    board = Leaderboard.objects.get()
    out = draw.choice(list(System.objects.filter(kind="participant")))
    given = {"reason": "two accounts", "created_by": world.curator, "created_at": board.created_at}
    Disqualification.objects.create(phase=world.phase, system=out, **given)
    monkeypatch.setattr(board_state, "direction", lambda *_: sign)
    asked = [None, *Team.objects.values_list("pk", flat=True)]
    found = [board_state.best_shown(board, "accuracy", team=team) for team in asked]
    assert found == [by_reading_all(board, "accuracy", team=team) for team in asked]
    assert len(set(found)) > 1 and found[0] is not None


def test_nothing_told_is_nothing_to_beat(world: World) -> None:
    stand(world, "Bernoulli", [])
    stand(world, "Given", [score("accuracy", 0.9)], kind="baseline")
    stand(world, "Valueless", [score("accuracy", None)])
    assert board_state.best_shown(Leaderboard.objects.get(), "accuracy", team=None) is None


def test_another_board_of_the_phase_is_not_asked(world: World) -> None:
    stand(world, "Bernoulli", [score("accuracy", 0.9)])
    board = Leaderboard.objects.get()
    later = Leaderboard(phase=world.phase, gold_version=board.gold_version, task_version=board.task_version + 1)
    assert board_state.best_shown(later, "accuracy", team=None) is None


def test_one_row_comes_out_of_the_database(world: World) -> None:
    for number in range(5):
        stand(world, f"System {number}", [score("accuracy", number / 10)])
    board = Leaderboard.objects.get()
    with CaptureQueriesContext(
        connection,
    ) as asked:
        assert board_state.best_shown(board, "accuracy", team=None) == 0.4
    assert [query["sql"].endswith("LIMIT 1") for query in asked if "releaseslice" in query["sql"]] == [True]

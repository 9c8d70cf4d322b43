"""The best value a ladder has shown so far: one query for one row gives the same as reading all releases."""

from __future__ import annotations

import random
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from leaderboard.boards.queries import board_state
from leaderboard.models import Disqualification, Leaderboard, Release, System, Team
from tests.support.rows.board_rows import score, stand
from tests.support.rows.tiny_world import World, build

pytestmark = pytest.mark.django_db
TEAMS = ("", "Compilers", "Engines")
KINDS = (*["participant"] * 4, "baseline", "organiser")


@pytest.fixture
def world() -> World:
    return build()


def values_by_reading_all(board: Leaderboard, *, team: int | None, competing: bool = True) -> list[float]:
    """The revealed values among all releases of the board."""
    telling = Release.objects.filter(
        phase=board.phase_id,
        run__gold_version=board.gold_version_id,
        run__task_version=board.task_version,
    ).exclude(values=[])
    kind = {"submission__system__kind": System.Kind.PARTICIPANT}
    telling = telling.filter(**kind) if competing else telling.exclude(**kind)
    if team is not None:
        telling = telling.filter(submission__system__team=team)
    return [value for release in telling if (value := board_state.primary_value(release)) is not None]


def random_values(draw: random.Random) -> list[dict[str, Any]]:
    """No scores, no value, or a value of few or of all digits, with a slice that is better than any whole."""
    value = draw.choice([None, 0.0, 1.0, draw.randint(0, 4) / 4, draw.random(), draw.random() / 1e9])
    own = [score("accuracy", value), score("symmetric_gap", 2.0), score("accuracy", 3.0, origin="original")]
    return draw.choice([[], own, own, own])


def boards_of(world: World, draw: random.Random) -> None:
    for number in range(25):
        kind, team = draw.choice(KINDS), draw.choice(TEAMS)
        # Each system has several submissions, whose values are in no order.
        name = f"{kind} {number % 7} {team}"
        stand(world, name, random_values(draw), team=team, kind=kind)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("seed", range(4))
def test_it_equals_reading_all_releases(world: World, seed: int, sign: int, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(seed)
    boards_of(world, draw)
    board = Leaderboard.objects.get()
    disqualified = draw.choice(list(System.objects.filter(kind="participant")))
    fields = {"reason": "two accounts", "created_by": world.curator, "created_at": board.created_at}
    Disqualification.objects.create(phase=world.phase, system=disqualified, **fields)
    monkeypatch.setattr(board_state, "direction", lambda *_: sign)
    team_ids = [None, *Team.objects.values_list("pk", flat=True)]
    best_values = [board_state.best_shown(board, "accuracy", team=team) for team in team_ids]
    best, worst = (max, min) if sign > 0 else (min, max)
    by_team = [values_by_reading_all(board, team=team) for team in team_ids]
    assert best_values == [best(values, default=None) for values in by_team]
    assert [board_state.n_shown(board, "accuracy", team=team) for team in team_ids] == list(map(len, by_team))
    others = values_by_reading_all(board, team=None, competing=False)
    assert board_state.weakest_baseline(board, "accuracy") == worst(others, default=None)
    assert len(set(best_values)) > 1 and best_values[0] is not None


def test_without_revealed_values_there_is_no_best(world: World) -> None:
    stand(world, "Bernoulli", [])
    stand(world, "Given", [score("accuracy", 0.9)], kind="baseline")
    stand(world, "Valueless", [score("accuracy", None)])
    board = Leaderboard.objects.get()
    assert board_state.best_shown(board, "accuracy", team=None) is None
    assert board_state.weakest_baseline(board, "accuracy") == 0.9


def test_another_board_of_the_phase_is_ignored(world: World) -> None:
    stand(world, "Bernoulli", [score("accuracy", 0.9)])
    board = Leaderboard.objects.get()
    later = Leaderboard(phase=world.phase, gold_version=board.gold_version, task_version=board.task_version + 1)
    assert board_state.best_shown(later, "accuracy", team=None) is None


def test_the_query_returns_one_row(world: World) -> None:
    for number in range(5):
        stand(world, f"System {number}", [score("accuracy", number / 10)])
    board = Leaderboard.objects.get()
    with CaptureQueriesContext(
        connection,
    ) as queries:
        assert board_state.best_shown(board, "accuracy", team=None) == 0.4
    assert [query["sql"].endswith("LIMIT 1") for query in queries if "releaseslice" in query["sql"]] == [True]

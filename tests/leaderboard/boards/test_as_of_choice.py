"""Boards as of a day: past standings are derived by the rule in `representative.represented`."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.db.models import Q
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from leaderboard.boards.actions import past_standings
from leaderboard.boards.queries import board_state, paging, reading
from leaderboard.boards.queries.representative import ShownRun, represented
from leaderboard.models import AuditEntry, Leaderboard, Release, Submission, System
from leaderboard.submissions.actions import hide
from leaderboard.systems.actions import systems
from tests.support.api_calls import ROOT
from tests.support.rows.board_rows import score, stand
from tests.support.rows.tiny_world import World, build

pytestmark = pytest.mark.django_db
FIRST = datetime(2026, 3, 1, 12, tzinfo=UTC)
END = FIRST + timedelta(days=30)
API = f"{ROOT}/benchmarks/tiny/phases/test/leaderboard/"


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


def represented_at(end: datetime) -> dict[int, int]:
    """Return the release that represents each system at a time, by system id."""
    board = Leaderboard.objects.select_related("phase__benchmark", "phase__split", "gold_version").get()
    assert past_standings.catch_up(board)
    rows = board.past_standings.filter(Q(until=None) | Q(until__gte=end), since__lt=end)
    return dict(rows.values_list("system", "release"))


def by_id(best: dict[int, ShownRun]) -> dict[int, int]:
    return {system: run.release for system, run in best.items()}


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("seed", range(5))
def test_it_equals_reading_all_releases(world: World, seed: int, sign: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(board_state, "direction", lambda *_: sign)
    draw = random.Random(seed)
    create_releases(world, draw, 30)
    entered = list(Release.objects.values_list("submission__system", "submission"))
    choices = dict(draw.sample(entered, 2)) if seed % 2 else {}
    for system, submission in choices.items():
        AuditEntry.record("system.represented", System.objects.get(pk=system), submission=str(submission))
    best = represented_at(timezone.now())
    assert best == by_id(by_reading_all(choices, sign))
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
    for day in range(13):
        end = FIRST + timedelta(days=day, hours=1)
        # Choices were made today: on the earlier days there were none.
        assert represented_at(end) == by_id(by_reading_all({}, 1, end=end)), day
    assert represented_at(timezone.now()) == by_id(by_reading_all({turned.system_id: turned.pk}, 1))


def test_a_hidden_submission_represents_nothing_while_it_is_hidden(world: World) -> None:
    better = stand(world, "System 1", [score("accuracy", 0.9)], at=FIRST)
    worse = stand(world, "System 1", [score("accuracy", 0.5)], at=FIRST)
    system, submission = worse.submission.system_id, Submission.objects.get(pk=better.submission_id)
    moments = []
    world.benchmark.organisers.add(world.curator)
    hide.hide(submission=submission, reason="a test", by=world.curator)
    moments.append(timezone.now())
    hide.unhide(submission=submission, by=world.curator)
    assert represented_at(END) == {system: better.pk}
    assert represented_at(moments[0]) == {system: worse.pk}
    assert represented_at(timezone.now()) == {system: better.pk}


def test_later_releases_are_not_chosen(world: World) -> None:
    early = stand(world, "System 1", [score("accuracy", 0.5)], at=FIRST)
    stand(world, "System 1", [score("accuracy", 0.9)], at=FIRST + timedelta(days=2))
    assert represented_at(FIRST + timedelta(days=1)) == {early.submission.system_id: early.pk}


def test_few_rows_are_read_of_a_board_with_many_systems(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page of a past day costs what a page costs: the database selects its rows, whatever the filters."""
    for module in (paging, reading):
        monkeypatch.setattr(module, "MOST_ROWS", 4, raising=False)
    create_releases(world, random.Random(9), 40)
    Leaderboard.objects.update(shown_from=FIRST)
    with CaptureQueriesContext(connection) as queries:
        answer = Client().get(f"{API}?as_of=2026-03-02&page_size=2&sort=system")
    assert answer.json()["count"] == 4 and len(answer.json()["rows"]) == 2
    assert "audit" not in "".join(query["sql"] for query in queries)

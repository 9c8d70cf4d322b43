"""One process a phase ranks the releases of all, exactly as if each had been ranked on its own."""

from __future__ import annotations

import threading

import pytest
from django.db import connection, transaction
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from leaderboard.core import db_locks, row_locks
from leaderboard.models import Leaderboard, Phase, Release, Run, Standing, State, Submission, System, Team
from leaderboard.scoring.actions import releases
from leaderboard.submissions.queries import progress
from tests.benchmark.support.big_board import BigBoard
from tests.support.postgresql import on_postgresql
from tests.support.rows.board_rows import publish
from tests.support.rows.tiny_world import World, build

VALUES = st.one_of(st.none(), st.sampled_from((0.0, 0.25, 0.5, 1.0)))


def scores_of(value: float | None) -> list[dict[str, object]]:
    return [{"measure": "accuracy", "slice": {}, "value": value, "low": None, "high": None, "n": 4}]


def scored(world: World, system: System, value: float | None) -> Run:
    """Return a run whose release is stored, and which no board includes."""
    at = timezone.now()
    run = world.insert_run(state=State.DONE, at=at, finished_at=at, outcomes="o", outcomes_sha256="0" * 64, attempt=1)
    Submission.objects.filter(pk=run.prediction.submission_id).update(system=system)
    run = Run.objects.get(pk=run.pk)
    with transaction.atomic():
        phase = row_locks.lock_phase(world.phase.pk)
        releases.publish(phase=phase, run=run, primary="accuracy", scores=scores_of(value), warnings=[], at=at)
    return run


def systems(world: World, n: int) -> list[System]:
    teams = [Team.objects.create(name=f"Team {number}") for number in range(n)]
    return [System.objects.create(team=team, name=f"System of {team.name}") for team in teams]


def expected(entries: list[tuple[int, float | None]]) -> dict[int, tuple[float | None, int | None]]:
    """Return (best value, rank) by system, from the rule alone."""
    best: dict[int, float | None] = {}
    for system, value in entries:
        known = best.get(system)
        best[system] = value if known is None else known if value is None else max(known, value)
    values = [value for value in best.values() if value is not None]
    return {
        system: (value, None if value is None else 1 + sum(other > value for other in values))
        for system, value in best.items()
    }


@pytest.mark.django_db
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.integers(0, 3), VALUES), min_size=1, max_size=8), st.data())
def test_batches_of_any_size_give_the_same_board(db: None, entries: list[tuple[int, float | None]], data) -> None:
    with transaction.atomic():
        world = build()
        ours = systems(world, 4)
        for system, value in entries:
            scored(world, ours[system], value)
            if data.draw(st.booleans()):
                releases.update_boards(world.phase.pk)
        releases.update_boards(world.phase.pk)
        rows = Standing.objects.values_list("system", "value", "rank")
        assert {pk: (value, rank) for pk, value, rank in rows} == {
            ours[system].pk: row for system, row in expected(entries).items()
        }
        assert Phase.objects.get().ranked_sequence == len(entries)
        transaction.set_rollback(True)


@pytest.mark.django_db
def test_a_submission_is_done_once_its_board_includes_it() -> None:
    world = build()
    run = scored(world, world.system, 0.5)
    of_run = progress.with_related(Submission.objects.filter(pk=run.prediction.submission_id))
    assert progress.of(of_run.get()).state == State.RUNNING and not Standing.objects.exists()
    assert releases.sweep() == 0
    assert progress.of(of_run.get()).state == State.DONE and Standing.objects.get().rank == 1


@pytest.mark.django_db
def test_ranking_again_changes_nothing() -> None:
    world = build()
    for system, value in zip(systems(world, 2), (0.5, 0.25), strict=True):
        publish(scored_later(world, system), scores=scores_of(value))
    before = list(Standing.objects.order_by("pk").values())
    revision = Leaderboard.objects.get().revision
    Phase.objects.update(ranked_sequence=0)
    releases.update_boards(world.phase.pk)
    assert list(Standing.objects.order_by("pk").values()) == before
    assert Leaderboard.objects.get().revision == revision


def scored_later(world: World, system: System) -> Run:
    run = world.insert_run()
    Submission.objects.filter(pk=run.prediction.submission_id).update(system=system)
    return Run.objects.get(pk=run.pk)


@pytest.mark.django_db(transaction=True)
@on_postgresql
def test_whoever_ranks_takes_the_releases_of_those_who_found_the_lock_taken() -> None:
    world = build()
    first, second = systems(world, 2)
    scored(world, first, 0.25)
    is_locked, goes_on = threading.Event(), threading.Event()

    def rank_slowly() -> None:
        with transaction.atomic():
            assert db_locks.try_lock(db_locks.RANKING, world.phase.pk)
            is_locked.set()
            goes_on.wait(60)
        releases.update_boards(world.phase.pk)
        connection.close()

    holder = threading.Thread(target=rank_slowly)
    holder.start()
    assert is_locked.wait(60)
    scored(world, second, 0.5)
    releases.update_boards(world.phase.pk)
    assert not Standing.objects.exists(), "the lock is taken: this process has gone on"
    goes_on.set()
    holder.join()
    assert list(Standing.objects.order_by("rank").values_list("system", "rank")) == [(second.pk, 1), (first.pk, 2)]
    assert Release.objects.count() == 2


@pytest.mark.django_db(transaction=True)
@on_postgresql
def test_one_ranking_takes_the_releases_that_come_while_it_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """The wait before a ranking locks nothing that publication needs."""
    world = build()
    first, second = systems(world, 2)
    run = world.insert_run(state=State.RUNNING, attempt=1, lease_until=timezone.now())
    scored(world, first, 0.25)
    releases.update_boards(world.phase.pk)
    waits, rankings = [], []

    def release_another(seconds: float) -> None:
        def store() -> None:
            scored(world, second, 0.5)
            connection.close()

        waits.append(seconds)
        thread = threading.Thread(target=store)
        thread.start()
        thread.join()

    rank = releases._update_boards
    monkeypatch.setattr(releases, "SYSTEMS_A_SECOND", 2)
    monkeypatch.setattr(releases.time, "sleep", release_another)
    monkeypatch.setattr(releases, "_update_boards", lambda phase: rankings.append(1) or rank(phase))
    scored(world, first, 0.75)
    releases.update_boards(world.phase.pk)
    assert (waits, len(rankings)) == ([0.5], 1)
    assert list(Standing.objects.order_by("rank").values_list("system", "rank")) == [(first.pk, 1), (second.pk, 2)]
    Run.objects.filter(pk=run.pk).update(state=State.QUEUED, lease_until=None)
    assert releases._pause(world.phase.pk) == 0, "no other run is being scored"


@pytest.mark.django_db
@on_postgresql
def test_new_ranks_are_written_without_touching_indexes() -> None:
    """Migration 0032 leaves room on the pages for them."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('track_counts', 'on', false)")  # off in CI, which saves time
        BigBoard(build(), n_teams=150).grow(150)  # ranks all standings, which have just been inserted
        cursor.execute(
            "SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_xact_user_tables WHERE relname = 'leaderboard_standing'"
        )
        updated, hot = cursor.fetchone()
    assert updated == 150 and hot == 150

"""Releases are numbered in sequence, the best one represents its system, and ties share a rank in any order."""

from __future__ import annotations

import itertools

import pytest

from leaderboard.accounts.actions import teams
from leaderboard.models import Leaderboard, Standing, System
from tests.support.rows.board_rows import publish
from tests.support.rows.module_rows import shared_states
from tests.support.rows.tiny_world import World, build

pytestmark = pytest.mark.django_db


world, _django_db_helper = shared_states(world=build)


def release(world: World, value: float | None, system: System | None = None):
    system = system or world.system
    run = world.insert_run()
    type(run.prediction.submission).objects.filter(pk=run.prediction.submission_id).update(system=system)
    scores = [{"measure": "accuracy", "slice": {}, "value": value, "low": None, "high": None, "n": 4}]
    return publish(run, scores=scores)


def test_releases_are_numbered_from_one(world):
    assert [release(world, value).sequence for value in (0.1, 0.9, 0.5)] == [1, 2, 3]


def test_the_best_release_represents_its_system_and_the_earlier_of_ties(world):
    releases = [release(world, value) for value in (0.5, 0.75, 0.75, 0.25)]
    assert Standing.objects.get().release == releases[1]


def test_a_release_without_a_value_gives_way_to_one_with_a_value(world):
    release(world, None)
    assert Standing.objects.get().rank is None
    release(world, 0.0)
    assert (Standing.objects.get().value, Standing.objects.get().rank) == (0.0, 1)


@pytest.mark.parametrize("order", list(itertools.permutations(range(4))))
def test_ties_share_a_rank_in_any_order(world, order):
    values = {"a": 0.5, "b": 0.75, "c": 0.5, "d": 0.25}
    systems = {name: teams.system(team=world.system.team, name=name, by=world.researcher) for name in values}
    for index in order:
        name = list(values)[index]
        release(world, values[name], systems[name])
    ranks = {standing.system.name: standing.rank for standing in Standing.objects.all()}
    assert ranks == {"b": 1, "a": 2, "c": 2, "d": 4}


def test_a_system_that_does_not_compete_has_and_takes_no_rank(world):
    baseline = teams.system(team=world.system.team, name="majority", by=world.curator, kind=System.Kind.BASELINE)
    release(world, 0.9, baseline)
    release(world, 0.1)
    assert Standing.objects.get(system=baseline).rank is None
    assert Standing.objects.get(system=world.system).rank == 1


def test_another_task_version_creates_a_board_in_preparation(world):
    release(world, 0.5)
    run = world.insert_run(task_version=2)
    scores = [{"measure": "accuracy", "slice": {}, "value": 0.5, "low": None, "high": None, "n": 4}]
    publish(run, scores=scores)
    states = dict(Leaderboard.objects.values_list("task_version", "state"))
    assert states == {1: "current", 2: "preparing"}

"""Migration 0024 identifies teams of baselines by their submissions, not by their names alone."""

from __future__ import annotations

from importlib import import_module

import pytest
from django.apps import apps

from leaderboard.models import System, Team
from tests.support.rows.tiny_world import World, build

pytestmark = pytest.mark.django_db
link = import_module("leaderboard.migrations.0024_team_of_baselines").link


@pytest.fixture
def world() -> World:
    """The person's only team has the name, and has submitted to the benchmark."""
    world = build()
    world.insert_run()
    Team.objects.filter(pk=world.system.team_id).update(name="Baselines of tiny")
    return world


def test_a_team_that_submitted_a_baseline_becomes_the_benchmarks(world: World) -> None:
    System.objects.filter(pk=world.system.pk).update(kind=System.Kind.BASELINE)
    link(apps, None)
    world.benchmark.refresh_from_db()
    assert world.benchmark.baselines_team_id == world.system.team_id


def test_a_team_that_only_has_the_name_does_not(world: World) -> None:
    link(apps, None)
    world.benchmark.refresh_from_db()
    assert world.benchmark.baselines_team_id is None

"""A rescoring whose workers are killed or that is overtaken: each prediction counts once, the board switches once."""

from __future__ import annotations

import pytest

from leaderboard.accounts.actions import teams
from leaderboard.models import Run, State
from leaderboard.scoring.actions import runs
from tests.support.rows.corrected_gold import (
    HALF,
    assert_switched_once,
    correct,
    score_all,
    shown,
    states,
    two_systems,
)
from tests.support.rows.tiny_world import LABELS, World
from tests.support.workers.killed_workers import let_leases_end
from tests.support.workers.running_stack import empty_queue

pytest_plugins = ["tests.support.workers.running_stack", "tests.support.workers.killed_workers"]
pytestmark = pytest.mark.django_db(transaction=True)
OLD = [("Bernoulli", 1, 1.0), ("Third", 2, 0.5), ("Contrary", 3, 0.0)]
NEW = [("Contrary", 1, 1.0), ("Third", 2, 0.5), ("Bernoulli", 3, 0.0)]


@pytest.fixture
def world(transactional_db: None, sandbox: str) -> World:
    """Four scored predictions of three systems."""
    world = two_systems()
    third = teams.system(team=world.system.team, name="Third", by=world.researcher)
    world.submit(HALF, system=third)
    world.submit(LABELS)
    score_all()
    empty_queue()
    return world


def test_a_worker_killed_in_the_transaction_that_switches(world: World, faulty, stack_later) -> None:
    """The results of the last run and the switch are committed together or not at all."""
    correct(world)
    first, *others = Run.objects.filter(state=State.QUEUED).order_by("queued_at")
    last = others.pop()
    for run in others:
        runs.WORK.run(run.pk)
    worker = faulty("second-uncommitted")
    worker.kill()
    worker.wait()
    assert {first.pk, last.pk} == set(
        Run.objects.filter(state__in=(State.DONE, State.RUNNING), gold_version__number=2)
        .exclude(pk__in=[run.pk for run in others])
        .values_list("pk", flat=True)
    )
    assert shown(world) == OLD
    assert states(world) == [(1, 1, "current"), (2, 1, "preparing")]
    let_leases_end()
    runs.WORK.sweep()
    stack_later().drain()
    assert_switched_once(world, 2)
    assert shown(world) == NEW

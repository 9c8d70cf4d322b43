"""A rescoring whose workers are killed or that is overtaken: each prediction counts once, the board switches once."""

from __future__ import annotations

import pytest

from leaderboard.accounts.actions import teams
from leaderboard.boards.queries.prepared_board import progress_of
from leaderboard.models import Run, State
from leaderboard.scoring.actions import rescoring, runs
from tests.support.rows.corrected_gold import (
    HALF,
    assert_switched_once,
    correct,
    rows_of,
    score_all,
    shown,
    states,
    two_systems,
)
from tests.support.rows.tiny_world import LABELS, World, gold_lines
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


@pytest.mark.parametrize("point", ["second-claimed", "second-uncommitted"])
def test_a_worker_killed_during_a_rescoring_loses_nothing(world: World, faulty, stack_later, point: str) -> None:
    correct(world)
    worker = faulty(point)
    worker.kill()
    worker.wait()
    progress = progress_of(world.phase)
    assert progress is not None and (progress.done, progress.running, progress.waiting) == (1, 1, 2)
    assert shown(world) == OLD
    let_leases_end()
    assert runs.WORK.sweep() >= 1
    stack_later().drain()
    assert_switched_once(world, 2)
    assert shown(world) == NEW
    assert rows_of(world.phase.leaderboards.get(gold_version=world.gold)) == OLD
    assert sorted(Run.objects.filter(gold_version__number=2).values_list("attempt", flat=True)) == [1, 1, 1, 2]


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


def test_cancelling_while_a_dying_worker_has_a_run(world: World, faulty, stack_later) -> None:
    correct(world)
    worker = faulty("claimed")
    held_run = Run.objects.get(state=State.RUNNING)
    rescoring.cancel(phase=world.phase, by=world.curator)
    worker.kill()
    worker.wait()
    let_leases_end()
    assert runs.WORK.sweep() == 0, "nobody asks for it any more"
    held_run.refresh_from_db()
    assert held_run.state == State.CANCELLED
    assert shown(world) == OLD
    rescoring.resume(phase=world.phase, gold=held_run.gold_version, by=world.curator)
    stack_later().drain()
    assert_switched_once(world, 2)
    assert shown(world) == NEW


def test_corrections_and_a_submission_during_scoring(world: World, stack_later) -> None:
    stack = stack_later()
    correct(world)
    late_system = teams.system(team=world.system.team, name="Late", by=world.researcher)
    world.submit(LABELS, system=late_system)
    correct(world, gold_lines().replace(b"\n", b"\r\n"))
    stack.drain()
    assert_switched_once(world, 3)
    assert shown(world) == [("Bernoulli", 1, 1.0), ("Late", 1, 1.0), ("Third", 3, 0.5), ("Contrary", 4, 0.0)]
    assert [state for _, _, state in states(world)].count("current") == 1

"""A worker that is killed while a generator runs: another worker completes the preview, with the same result.

The workers are real Celery processes over the test's database and broker; they are killed with -9.
"""

from __future__ import annotations

import signal
import threading
from datetime import timedelta

import pytest
from django.conf import settings
from django.utils import timezone

from leaderboard.core.refusal import Code
from leaderboard.curation.actions import request_preview, run_generator
from leaderboard.models import Generation, State
from tests.support.rows import generator_previews
from tests.support.rows.tiny_world import World, build
from tests.support.simultaneous_calls import together
from tests.support.workers.running_stack import empty_queue

pytest_plugins = ["tests.support.workers.running_stack", "tests.support.workers.killed_workers"]
pytestmark = [pytest.mark.django_db(transaction=True)]
PATIENCE = 120


@pytest.fixture
def world(transactional_db: None, sandbox: str) -> World:
    empty_queue()
    return build()


def started(world: World) -> Generation:
    return request_preview.begin(
        dataset=world.split.dataset,
        generator="holdout",
        sources={"gold": [world.split.dataset.raw_files.first() or generator_previews.raw(world)]},
        parameters={"parts": "a=0.5,b=0.5", "by": "group"},
        options={},
        seed=5,
        by=world.curator,
    )


def digests(generation: Generation) -> list[tuple[str, str]]:
    return list(generation.parts.values_list("name", "sha256"))


def wait_for(generation: Generation) -> Generation:
    waited = threading.Event()
    for _ in range(PATIENCE * 10):
        generation.refresh_from_db()
        if generation.is_over:
            return generation
        waited.wait(0.1)
    pytest.fail(f"the preview is still {generation.state}")


def test_one_of_several_simultaneous_requests_starts_a_preview(world: World) -> None:
    generator_previews.raw(world)
    answers = together([lambda: started(world)] * 3)
    assert answers.count(Code.NOT_READY) == 2, answers
    assert Generation.objects.count() == 1


@pytest.mark.parametrize(
    ("point", "n_parts", "n_looked_at"), [("asking", 0, 0), ("parts-kept", 2, 0), ("second-part", 2, 1)]
)
def test_another_worker_completes_a_killed_workers_preview(
    world: World, faulty, stack_later, point: str, n_parts: int, n_looked_at: int
) -> None:
    generation = started(world)
    worker = faulty(point, module="faulty_generator")
    generation.refresh_from_db()
    assert (generation.state, generation.attempt) == (State.RUNNING, 1)
    assert [bool(part.facts) for part in generation.parts.all()].count(True) == n_looked_at
    before = digests(generation)
    assert len(before) == n_parts
    worker.send_signal(signal.SIGKILL)
    worker.wait()
    assert run_generator.WORK.sweep() == 0, "a lease that has not ended is not taken"
    Generation.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    assert run_generator.WORK.sweep() == 1
    stack_later()
    assert wait_for(generation).state == State.DONE
    assert generation.attempt == 2 and all(part.facts for part in generation.parts.all())
    assert before in ([], digests(generation))


def test_a_message_delivered_ten_times_makes_one_preview(world: World, stack_later) -> None:
    generation = started(world)
    for _ in range(10):
        run_generator.WORK.enqueue(generation)
    stack_later()
    assert wait_for(generation).state == State.DONE
    assert generation.attempt == 1 and generation.parts.count() == 2


def test_a_lost_message_is_enqueued_again(world: World, stack_later) -> None:
    generation = started(world)
    empty_queue()
    Generation.objects.update(enqueued_at=timezone.now() - timedelta(seconds=settings.SWEEP_SECONDS + 1))
    assert run_generator.WORK.sweep() == 1
    stack_later()
    assert wait_for(generation).state == State.DONE

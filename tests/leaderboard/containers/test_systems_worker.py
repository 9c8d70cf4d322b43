"""A host with a real engine: the images that stay on it, containers that run at the same time, and SIGTERM."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as site

from leaderboard.containers.actions import engine, placement, workers
from leaderboard.models import Image, Prediction, Reason, Stage, State, Submission, WorkerReport
from leaderboard.operations import processes
from tests.support import container_images
from tests.support.image_fixtures import WAITS_AT, needs_engine, submit, work
from tests.support.rows.tiny_world import LABELS, World

pytest_plugins = [
    "tests.support.workers.running_stack",
    "tests.support.workers.killed_workers",
    "tests.support.image_fixtures",
]
pytestmark = [pytest.mark.engine, pytest.mark.django_db(transaction=True), needs_engine]


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[Image]:
    """The images that were loaded into the engine, in order."""
    loaded: list[Image] = []
    load = engine.load

    def counted(image: Image, *arguments: Any, **options: Any) -> Any:
        loaded.append(image)
        return load(image, *arguments, **options)

    monkeypatch.setattr(engine, "load", counted)
    return loaded


def ran(world: World, archive: Path) -> Image:
    submission = submit(world, archive)
    work()
    assert Prediction.objects.get(submission=submission).state == State.DONE
    image = Submission.objects.select_related("image").get(pk=submission.pk).image
    assert image is not None
    return image


def test_an_image_stays_on_the_engine_until_another_needs_its_space(
    world: World, right: Path, archives: Callable[[str], Path], loads: list[Image], settings: Any
) -> None:
    first = ran(world, right)
    workers.report()
    assert ran(world, right) == first and loads == [first], "it is loaded once"
    assert WorkerReport.objects.get(queue="systems").images == {first.digest: first.unpacked_bytes}
    settings.IMAGE_CACHE_BYTES = first.unpacked_bytes + 1
    second = ran(world, archives("# another\n" + container_images.answering(LABELS)))
    assert second.digest != first.digest
    assert not container_images.is_there(first.digest) and container_images.is_there(second.digest)
    # A container of it that no row knows of, such as another site's, keeps it there.
    settings.IMAGE_CACHE_BYTES = 0
    command = ["docker", "create", "--network", "none", second.digest]
    container = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    try:
        workers.report()
        assert container_images.is_there(second.digest)
    finally:
        subprocess.run(["docker", "rm", container], check=True, capture_output=True)
    workers.report()
    assert not container_images.is_there(second.digest)


def test_what_the_engine_offers_is_reported(world: World) -> None:
    report = WorkerReport.objects.get(queue="systems")
    assert report.cpus >= 1 and report.memory_bytes > 10**8
    assert report.disk_free_bytes is None or report.disk_free_bytes > site.ENGINE_DISK_BYTES


@pytest.mark.slow
def test_sigterm_lets_containers_finish_for_a_while_and_then_hands_them_back(
    world: World, patient: Path, stack_later: Callable[[], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two containers run at the same time. After SIGTERM the worker starts nothing, and it ends by itself."""
    world.phase.limits = {"wall_seconds": WAITS_AT, "cpus": 0.5, "memory_bytes": 10**8}
    world.phase.save()
    for _ in range(2):
        submit(world, patient)
    monkeypatch.setattr(site, "SYSTEM_CPUS", 0.5)
    stack = stack_later()
    worker = stack.start_worker(
        command=processes.systems(),
        HOLDOUT_ENGINE_CPUS="1",
        HOLDOUT_ENGINE_MEMORY_MB="1000",
        HOLDOUT_DRAIN_SECONDS="1",
    )
    running = placement.running_on(WorkerReport.objects.get(queue="systems").host)
    stack.follow(lambda: running.filter(prediction__stage=Stage.RUNNING).count() == 2, "two containers")
    submit(world, patient)
    worker.process.send_signal(signal.SIGTERM)
    stack.follow(lambda: not worker.alive(), "the worker")
    states = Prediction.objects.order_by("queued_at").values_list("state", "reason", "attempt")
    assert list(states) == [(State.QUEUED, Reason.LOST, 1)] * 2 + [(State.QUEUED, Reason.NONE, 0)]
    assert container_images.left(site.INSTANCE) == []
    report = WorkerReport.objects.get(queue="systems")
    assert report.ending

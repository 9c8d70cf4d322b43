"""Events while a container runs: withdrawal, a lost lease, corrected gold, a closing phase, failing disks and engines.
Each case ends in one terminal state, and nothing is left in the engine."""

from __future__ import annotations

import errno
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.utils import timezone

from evaluator.sandbox.containers import execution
from evaluator.sandbox.containers.docker import DockerSandbox
from leaderboard.containers.actions import engine, images, run_system, workers
from leaderboard.models import Prediction, QuotaCharge, Reason, Run, Stage, State, Submission
from leaderboard.work_queue import worker_status
from tests.support import container_images as made
from tests.support.image_fixtures import WAITS_AT, accuracy, assert_one_result, needs_engine, submit, work
from tests.support.rows import corrected_gold
from tests.support.rows.tiny_world import World
from tests.support.workers.killed_workers import let_leases_end

pytest_plugins = ["tests.support.image_fixtures"]
pytestmark = [pytest.mark.engine, pytest.mark.django_db(transaction=True), needs_engine]
PATIENCE = 120.0


class Held:
    """A container that runs, in a worker that is a thread; `let_go` makes the worker check whether it has ended."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.running, self.go_on = threading.Event(), threading.Event()
        self.threads: list[threading.Thread] = []
        wait = execution.Run._wait
        first = iter([True])

        def wait_until_released(*args: Any) -> bool:
            if next(first, False):
                self.running.set()
                assert self.go_on.wait(PATIENCE)
            return wait(*args)

        monkeypatch.setattr(execution.Run, "_wait", wait_until_released)

    def start(self, submission: Submission) -> None:
        """Returns when its container has started."""
        key = submission.predictions.get().pk

        def worker() -> None:
            try:
                run_system.WORK.run(key)
            finally:
                connection.close()

        thread = threading.Thread(target=worker)
        thread.start()
        self.threads.append(thread)
        assert self.running.wait(PATIENCE)

    def let_go(self) -> None:
        self.go_on.set()
        for thread in self.threads:
            thread.join(PATIENCE)
            assert not thread.is_alive()


@pytest.fixture
def held_worker(monkeypatch: pytest.MonkeyPatch) -> Iterator[Held]:
    held_container = Held(monkeypatch)
    yield held_container
    held_container.let_go()


def charge(submission: Submission) -> QuotaCharge:
    return QuotaCharge.objects.get(submission=submission)


def test_withdrawal_while_it_runs(world: World, patient: Path, held_worker: Held) -> None:
    """The container never ends by itself; the withdrawal ends it, and the late worker writes nothing."""
    world.phase.limits = {"wall_seconds": WAITS_AT}
    world.phase.save()
    submission = submit(world, patient)
    held_worker.start(submission)
    assert len(made.left(settings.INSTANCE)) == 4
    assert images.cancel(submission=submission, by=world.researcher)
    held_worker.let_go()
    assert made.left(settings.INSTANCE) == []
    prediction = submission.predictions.get()
    assert (prediction.state, prediction.reason) == (State.CANCELLED, Reason.WITHDRAWN)
    assert (prediction.log, prediction.cost, bool(prediction.file)) == ("", {}, False)
    assert charge(submission).refunded_at is None
    assert not Run.objects.exists()
    assert not images.cancel(submission=submission, by=world.researcher)


def test_a_worker_that_lost_its_lease_writes_nothing(world: World, right: Path, held_worker: Held) -> None:
    """Another attempt runs meanwhile, and the first worker returns with an obsolete result."""
    submission = submit(world, right)
    held_worker.start(submission)
    let_leases_end()
    assert run_system.WORK.sweep() == 1
    work()
    before = assert_one_result(submission)
    assert before.attempt == 2
    held_worker.let_go()
    after = assert_one_result(submission)
    assert (after.finished_at, after.sha256, after.log) == (before.finished_at, before.sha256, before.log)


def test_a_report_never_takes_the_container_of_a_live_worker(world: World, right: Path, held_worker: Held) -> None:
    submission = submit(world, right)
    held_worker.start(submission)
    before = made.left(settings.INSTANCE)
    assert workers.report().ready
    assert made.left(settings.INSTANCE) == before and len(before) == 4
    held_worker.let_go()
    work()
    assert assert_one_result(submission).attempt == 1


def test_a_gold_correction_meanwhile_is_used_for_scoring(world: World, right: Path, held_worker: Held) -> None:
    submission = submit(world, right)
    held_worker.start(submission)
    corrected_gold.correct(world)
    held_worker.let_go()
    (run,) = Run.objects.all()
    assert run.gold_version.number == 2
    work()
    assert Run.objects.get().state == State.DONE
    assert accuracy(submission) == 0.0, "every label was swapped"


def test_a_phase_that_closes_meanwhile_still_scores_it(world: World, right: Path, held_worker: Held) -> None:
    submission = submit(world, right)
    held_worker.start(submission)
    world.phase.closes_at = timezone.now() - timedelta(seconds=1)
    world.phase.save()
    held_worker.let_go()
    work()
    assert_one_result(submission)


def test_a_full_disk_while_collecting_leaves_no_half_file(
    world: World, right: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    submission = submit(world, right)
    storage = Prediction._meta.get_field("file").storage
    save = type(storage)._save

    def full(self: Any, name: str, content: Any) -> str:
        Path(self.path(name)).parent.mkdir(parents=True, exist_ok=True)
        Path(self.path(name)).write_bytes(content.read(10))
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(type(storage), "_save", full)
    run_system.WORK.run(submission.predictions.get().pk)
    prediction = submission.predictions.get()
    assert (prediction.state, prediction.reason, prediction.attempt) == (State.QUEUED, Reason.INTERNAL, 1)
    assert not [name for name in storage.listdir("")[1] if name.startswith(prediction.pk.hex)]
    monkeypatch.setattr(type(storage), "_save", save)
    work()
    assert assert_one_result(submission).attempt == 2


def altered(path: Path) -> None:
    path.chmod(0o600)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize("damage", [Path.unlink, altered])
@pytest.mark.parametrize("which", ["archive", "inputs"])
def test_a_stored_file_that_is_missing_or_altered_is_our_failure(
    world: World, right: Path, which: str, damage: Callable[[Path], None]
) -> None:
    submission = submit(world, right)
    image = submission.image
    assert image is not None
    damage(Path(image.archive.path if which == "archive" else world.split.inputs.path))
    for _ in range(settings.MAX_ATTEMPTS):
        work()
    prediction = submission.predictions.get()
    assert (prediction.state, prediction.reason) == (State.FAILED, Reason.STORAGE)
    assert (prediction.log, prediction.cost) == ("", {}), "nothing was run"
    assert charge(submission).refunded_at is not None
    if which == "archive" and damage is Path.unlink:
        resubmitted = submit(world, right)
        assert resubmitted.image == image, "uploaded again, it is stored again"
        work()
        assert_one_result(resubmitted)


def test_a_container_that_is_always_killed_is_charged(world: World, archives: Callable[[str], Path]) -> None:
    """The engine cannot distinguish a kill from a system that exits with this status: it retries, then charges."""
    submission = submit(world, archives("import os\nos._exit(137)"))
    for _ in range(settings.MAX_ATTEMPTS - 1):
        work()
        assert submission.predictions.get().state == State.QUEUED
    work()
    prediction = submission.predictions.get()
    assert (prediction.state, prediction.reason) == (State.REJECTED, Reason.SYSTEM_EXIT)
    assert charge(submission).refunded_at is None


def test_more_processors_than_the_engine_has_fail_at_once_with_a_refund(world: World, right: Path) -> None:
    world.phase.limits = {"cpus": 1000.0}
    world.phase.save()
    submission = submit(world, right)
    work()
    prediction = submission.predictions.get()
    assert (prediction.state, prediction.reason, prediction.attempt) == (State.FAILED, Reason.ENGINE, 1)
    assert charge(submission).refunded_at is not None


def test_an_unavailable_engine_costs_no_attempt(world: World, right: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    submission = submit(world, right)
    real_sandbox = engine.sandbox()
    unavailable = DockerSandbox(instance=settings.INSTANCE, url=f"unix://{settings.DATA}/nobody.sock")
    monkeypatch.setattr(engine, "sandbox", lambda: unavailable)
    for _ in range(settings.MAX_ATTEMPTS + 1):
        work()
    prediction = submission.predictions.get()
    assert (prediction.state, prediction.attempt) == (State.QUEUED, 0)
    worker_state = worker_status.of()
    assert not worker_state.ready and "engine" in worker_state.why_not
    monkeypatch.setattr(engine, "sandbox", lambda: real_sandbox)
    work()
    assert_one_result(submission)


def test_a_sandbox_that_disconnects_while_collecting(
    world: World, right: Path, held_worker: Held, hung_up: str, settings: Any
) -> None:
    submission = submit(world, right)
    held_worker.start(submission)
    socket, settings.SANDBOX_SOCKET = settings.SANDBOX_SOCKET, hung_up
    held_worker.let_go()
    prediction = submission.predictions.get()
    assert (prediction.state, prediction.reason, prediction.stage) == (State.QUEUED, Reason.SANDBOX, "")
    settings.SANDBOX_SOCKET = socket
    work()
    assert assert_one_result(submission).attempt == 2


def test_stages_are_reported_in_order(world: World, right: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stages: list[str] = []
    enter = run_system._enter
    monkeypatch.setattr(run_system, "_enter", lambda claim, stage: (stages.append(stage), enter(claim, stage)))
    submission = submit(world, right)
    work()
    assert_one_result(submission)
    assert stages == [Stage.READING, Stage.LOADING, Stage.RUNNING, Stage.COLLECTING]

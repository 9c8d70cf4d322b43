"""After any failure, every accepted submission ends in one terminal state with one set of scores, charged once.

The workers are real Celery processes on the test's database and broker; they are killed by SIGKILL.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
import time
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest
from django.conf import settings
from django.db import OperationalError, connection
from django.utils import timezone

from evaluator.errors import SandboxTimeoutError
from leaderboard.evaluation import sandbox_client
from leaderboard.models import Prediction, QuotaCharge, Reason, Release, Run, Score, Standing, State, Submission
from leaderboard.scoring.actions import releases, runs
from leaderboard.work_queue.lease import Lease, LeaseLostError
from leaderboard.work_queue.work import not_enqueued
from tests.support.postgresql import on_postgresql
from tests.support.rows.tiny_world import World, build
from tests.support.workers.killed_workers import PATIENCE, let_leases_end
from tests.support.workers.running_stack import Stack, children, empty_queue

pytest_plugins = ["tests.support.workers.running_stack", "tests.support.workers.killed_workers"]
pytestmark = [pytest.mark.django_db(transaction=True)]


@pytest.fixture
def world(transactional_db: None, sandbox: str) -> World:
    empty_queue()
    return build()


def assert_one_result(submission: Submission, *, state: str = State.DONE) -> Run:
    """Checks the invariant: one terminal run, one set of scores, one release and standing, one charge, no orphan."""
    (prediction,) = Prediction.objects.filter(submission=submission)
    (run,) = Run.objects.filter(prediction=prediction)
    assert run.state == state
    is_done = state == State.DONE
    (charge,) = QuotaCharge.objects.filter(submission=submission)
    assert (charge.refunded_at is None) == (state != State.FAILED)
    assert Release.objects.filter(run=run).count() == is_done
    assert Standing.objects.filter(system=submission.system).count() == is_done
    measures = [(score.measure, score.slice_key) for score in Score.objects.filter(run=run)]
    assert bool(measures) == is_done and len(measures) == len(set(measures))
    storage = run.outcomes.storage
    stored_files = [
        name for name in (storage.listdir("")[1] if storage.exists("") else []) if name.startswith(run.pk.hex)
    ]
    assert stored_files == ([run.outcomes.name] if is_done else [])
    return run


@pytest.mark.parametrize("point", ["claimed", "running", "scored"])
def test_a_worker_killed_before_it_writes_is_replaced(world: World, faulty, stack_later, point: str) -> None:
    submission = world.submit()
    worker = faulty(point)
    run = Run.objects.get()
    assert (run.state, run.attempt) == (State.RUNNING, 1)
    worker.send_signal(signal.SIGKILL)
    worker.wait()
    assert runs.WORK.sweep() == 0, "a lease that has not ended is not taken away"
    let_leases_end()
    assert runs.WORK.sweep() == 1
    stack_later().wait_for(submission)
    assert assert_one_result(submission).attempt == 2


@pytest.mark.slow
@on_postgresql
def test_others_publish_while_a_publisher_is_frozen(world: World, faulty, stack_later, monkeypatch) -> None:
    """PostgreSQL ends its transaction, which has locked the phase, long before its lease ends."""
    monkeypatch.setenv("HOLDOUT_LEASE_SECONDS", "600")
    first = world.submit()
    worker = faulty("frozen-uncommitted")
    second = world.submit()
    began = time.monotonic()
    stack = stack_later()
    stack.wait_for(second)
    print(f"another was published after {time.monotonic() - began:.1f} s, the start of its worker included")
    assert_one_result(second)
    assert Run.objects.get(prediction__submission=first).state == State.RUNNING
    worker.send_signal(signal.SIGCONT)
    # The thawed attempt does not count, and a sweep enqueues the run after a pause.
    paused = stack.wait_for_run(Run.objects.get(prediction__submission=first), states=(State.QUEUED,))
    worker.kill()  # it would freeze again
    Run.objects.filter(pk=paused.pk).update(enqueued_at=not_enqueued(paused.queued_at))
    assert runs.WORK.sweep() == 1
    stack.wait_for(first)
    assert assert_one_result(first).attempt == 1


def test_a_worker_whose_main_process_is_killed_scores_no_more(world: World, tmp_path: Path, stack_later) -> None:
    """Nobody would stop the process of its pool, which is in the middle of a run."""
    submission = world.submit()
    reached = tmp_path / "running"
    command = [
        *(sys.executable, "-m", "celery", "-A", "tests.support.workers.faulty_scorer", "worker", "-Q", "scoring")
    ]
    with Stack().stopping() as stack:
        worker = stack.start_worker(command=[*command, "-c", "1"], HOLD_AT="running", HOLD_FILE=str(reached))
        stack.follow(reached.exists, "the run")
        (pool,) = children(worker.process.pid)
        watched = os.pidfd_open(pool)
        worker.process.kill()
        worker.process.wait()
        assert select.select([watched], [], [], PATIENCE)[0], "it goes on"
        os.close(watched)
    let_leases_end()
    assert runs.WORK.sweep() == 1
    stack_later().wait_for(submission)
    assert assert_one_result(submission).attempt == 2


def test_attempts_are_limited_and_the_failure_is_shown_and_refunded(world: World) -> None:
    submission = world.submit()
    for attempt in range(1, settings.MAX_ATTEMPTS + 1):
        claim = runs.WORK.claim(Run.objects.get().pk)
        assert claim is not None and claim.attempt == attempt
        let_leases_end()
        assert runs.WORK.sweep() == 1
    run = assert_one_result(submission, state=State.FAILED)
    assert (run.reason, run.attempt) == (Reason.LOST, settings.MAX_ATTEMPTS)
    assert runs.WORK.claim(run.pk) is None


@pytest.fixture
def lost_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lose the connection during the next COMMIT: it takes effect, but its response does not arrive."""
    if connection.vendor != "postgresql":
        pytest.skip("SQLite is in this process")
    database = connection.connection
    commit = database.commit

    def without_response() -> None:
        commit()
        database.close()
        raise psycopg.OperationalError("consuming input failed: server closed the connection unexpectedly")

    monkeypatch.setattr(database, "commit", without_response)


def test_a_connection_lost_while_a_score_is_committed_costs_no_file(world: World, request) -> None:
    submission = world.submit()
    request.getfixturevalue("lost_commit")
    runs.WORK.run(Run.objects.get().pk)
    releases.sweep()
    assert_one_result(submission)


def test_a_connection_lost_while_an_upload_is_committed_costs_no_file(world: World, request) -> None:
    request.getfixturevalue("lost_commit")
    with pytest.raises(OperationalError):
        world.submit()
    runs.WORK.run(Run.objects.get().pk)
    assert_one_result(Submission.objects.get())


def test_a_wiped_queue_is_enqueued_again(world: World, stack_later) -> None:
    submissions = [world.submit() for _ in range(4)]
    empty_queue()
    assert runs.WORK.sweep() == 0, "a run that was rung for just now is not rung for again"
    Run.objects.update(enqueued_at=timezone.now() - timedelta(seconds=settings.SWEEP_SECONDS + 1))
    assert runs.WORK.sweep() == 4
    stack = stack_later()
    for submission in submissions:
        stack.wait_for(submission)
        assert_one_result(submission)


def test_two_workers_on_one_run(world: World) -> None:
    """Threads with separate connections claim one run at the same time."""
    submission = world.submit()
    run = Run.objects.get()
    barrier = threading.Barrier(6)
    claims: list[Lease[Run] | None] = []

    def worker() -> None:
        try:
            barrier.wait()
            claims.append(runs.WORK.claim(run.pk))
        finally:
            connection.close()

    threads = [threading.Thread(target=worker) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (won,) = [claim for claim in claims if claim is not None]
    runs._score(won)
    assert assert_one_result(submission).attempt == 1


def test_a_worker_without_its_lease_cannot_store_a_result(world: World) -> None:
    """A worker that has lost its lease returns a result when another worker has the run."""
    submission = world.submit()
    run_id = Run.objects.get().pk
    late_lease = runs.WORK.claim(run_id)
    assert late_lease is not None
    let_leases_end()
    runs.WORK.sweep()
    second = runs.WORK.claim(run_id)
    assert second is not None and second.attempt == 2
    assert not late_lease.renew()
    with pytest.raises(LeaseLostError):
        runs._score(late_lease)
    assert Score.objects.count() == 0
    runs._score(second)
    with pytest.raises(LeaseLostError):
        runs.reject(late_lease, reason=Reason.TIME, problems=[])
    assert_one_result(submission)


def test_a_sandbox_that_disconnects_is_a_server_error_and_refunded(world: World, settings, hung_up: str) -> None:
    """It is waited for, since it may be restarted, but not for more than a day."""
    submission = world.submit()
    settings.SANDBOX_SOCKET = hung_up
    for _ in range(settings.MAX_ATTEMPTS + 1):
        runs.WORK.run(Run.objects.get().pk)
        assert (Run.objects.get().state, Run.objects.get().attempt) == (State.QUEUED, 0)
    Run.objects.update(queued_at=timezone.now() - timedelta(days=1))
    for _ in range(settings.MAX_ATTEMPTS):
        runs.WORK.run(Run.objects.get().pk)
    run = assert_one_result(submission, state=State.FAILED)
    assert run.reason == Reason.SANDBOX


def test_an_unavailable_sandbox_costs_no_attempt(world: World, settings) -> None:
    submission = world.submit()
    socket, settings.SANDBOX_SOCKET = settings.SANDBOX_SOCKET, str(settings.DATA / "nobody.sock")
    for _ in range(settings.MAX_ATTEMPTS + 1):
        runs.WORK.run(Run.objects.get().pk)
    waiting = Run.objects.get()
    assert (waiting.state, waiting.attempt) == (State.QUEUED, 0)
    settings.SANDBOX_SOCKET = socket
    runs.WORK.run(waiting.pk)
    assert_one_result(submission)


def _make_sandbox_busy(patched: pytest.MonkeyPatch) -> None:
    """Give no job its processor time; `tests/evaluator/sandbox/process/test_limits.py` has a machine that does so."""

    def run(sandbox: object, execution: object) -> None:
        raise SandboxTimeoutError("the job ran out of time: the machine is too busy")

    patched.setattr(sandbox_client.ProcessSandbox, "run", run)


def test_a_machine_that_is_too_busy_never_uses_up_the_last_attempt(world: World, settings, monkeypatch) -> None:
    """The scoring reaches its limit of wall time with its processor time unused, again and again."""
    submission = world.submit()
    with monkeypatch.context() as patched:
        _make_sandbox_busy(patched)
        for _ in range(settings.MAX_ATTEMPTS + 2):
            runs.WORK.run(Run.objects.get().pk)
    run = Run.objects.get()
    assert (run.state, run.reason, run.attempt) == (State.QUEUED, Reason.SANDBOX, 0)
    assert run.lease_until is None and QuotaCharge.objects.get().refunded_at is None
    runs.WORK.run(run.pk)
    assert_one_result(submission)


def test_a_machine_that_is_too_busy_for_a_day_fails_the_run_and_refunds(world: World, settings, monkeypatch) -> None:
    submission = world.submit()
    _make_sandbox_busy(monkeypatch)
    Run.objects.update(queued_at=timezone.now() - timedelta(days=1))
    for _ in range(settings.MAX_ATTEMPTS):
        runs.WORK.run(Run.objects.get().pk)
    assert assert_one_result(submission, state=State.FAILED).reason == Reason.SANDBOX


def test_an_altered_file_is_never_scored(world: World) -> None:
    submission = world.submit()
    prediction = Prediction.objects.get()
    path = Path(prediction.file.path)
    path.chmod(0o600)
    path.write_bytes(path.read_bytes().replace(b"REFUTES", b"SUPPORTS", 1))
    for _ in range(settings.MAX_ATTEMPTS):
        runs.WORK.run(Run.objects.get().pk)
    assert assert_one_result(submission, state=State.FAILED).reason == Reason.STORAGE

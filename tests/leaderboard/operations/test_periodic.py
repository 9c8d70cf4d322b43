"""The process `beat`: its steps do not delay one another, and no backlog of work delays it."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from threading import Event

import pytest
from celery.signals import beat_init
from django.core.cache import cache
from django.utils import timezone

from leaderboard import jobs
from leaderboard.core.store_errors import StoreUnavailableError
from leaderboard.models import Phase, Reason, Run, Split, State
from leaderboard.operations import periodic, processes, stored_files
from leaderboard.work_queue import enqueue
from tests.support.rows.tiny_world import World, build
from tests.support.workers.running_stack import PATIENCE, Stack, empty_queue

pytest_plugins = ["tests.support.workers.running_stack", "tests.support.workers.killed_workers"]
A_MINUTE = timedelta(minutes=1)


@pytest.fixture(autouse=True)
def _no_last_sweep() -> None:
    cache.delete(periodic.COMPLETED)


def until(condition: Callable[[], bool]) -> Callable[[float], bool]:
    """Return a `wait` that ends the process when the condition holds; a step that is not over misses a sweep."""
    return lambda seconds: Event().wait(0.01) or condition()


def test_a_step_that_hangs_delays_no_other_and_never_runs_twice_at_once(caplog: pytest.LogCaptureFixture) -> None:
    released, calls = Event(), Counter[str]()

    def hang() -> None:
        calls["hangs"] += 1
        assert released.wait(PATIENCE)

    def quick() -> None:
        calls["quick"] += 1

    def enough() -> bool:
        if calls["quick"] >= 3:
            released.set()
        return released.is_set()

    periodic.run({"hangs": hang, "quick": quick}, seconds=7, wait=until(enough))
    assert calls["hangs"] == 1
    assert "sweep_slow" in caplog.text and "'hangs'" in caplog.text


def test_a_step_that_fails_is_logged_and_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    """A new process, whose step has failed since it started, does not make the sweep look young."""
    calls = Counter[str]()

    def fails() -> None:
        calls["fails"] += 1
        raise PermissionError("/somewhere/secret")

    def works() -> None:
        calls["works"] += 1

    steps = {"fails": fails, "works": works}
    periodic.run(steps, seconds=7, wait=until(lambda: calls["fails"] > 2 and calls["works"] > 2))
    assert "sweep_failed" in caplog.text and "PermissionError" in caplog.text and "secret" not in caplog.text
    assert periodic.last_completed() is None


def test_a_step_that_finds_nothing_rests() -> None:
    calls = Counter[str]()

    def finds(name: str, found: int | bool | None) -> Callable[[], object]:
        return lambda: calls.update([name]) or found

    steps = {"rows": finds("rows", 2), "nothing": finds("nothing", 0), "none": finds("none", None)}
    rounds = iter([False] * (4 * periodic.REST - 1) + [True])
    periodic.run(steps, seconds=7, wait=lambda _: next(rounds))
    assert calls == {"rows": 4 * periodic.REST, "nothing": 4, "none": 4}


def test_the_age_of_the_sweep_is_that_of_the_step_that_waits_longest() -> None:
    steps: dict[str, periodic.Step] = {"quick": lambda: None, "slow": lambda: None}
    periodic.run(steps, seconds=7, wait=until(lambda: periodic.last_completed() is not None))
    periodic._publish(steps, {"quick": 60.0, "slow": 30.0})
    assert periodic.last_completed() == 30.0


def test_celery_beat_says_what_to_start_instead() -> None:
    """It would run without a schedule, and the site without a sweep."""
    with pytest.raises(SystemExit, match=r"manage\.py serve beat"):
        beat_init.send(sender=None)
    assert not jobs.app.conf.beat_schedule


@pytest.mark.django_db
def test_a_process_without_the_files_says_so(caplog: pytest.LogCaptureFixture) -> None:
    """A beat of an earlier compose.yaml has a database and a broker, and no files."""
    stored_files.report_missing()
    build()
    stored_files.report_missing()
    assert "files_missing" not in caplog.text
    split = Split.objects.get()
    split.inputs.storage.delete(split.inputs.name)
    stored_files.report_missing()
    assert "files_missing" in caplog.text and "compose.yaml" in caplog.text


@pytest.mark.django_db
def test_a_process_starts_while_the_store_is_away(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """`beat` would end, be started again and end again: nothing would sweep."""
    storage = build().split.inputs.storage

    def refuse(name: str) -> bool:
        raise StoreUnavailableError

    monkeypatch.setattr(storage, "exists", refuse)
    stored_files.report_missing()
    assert "files_missing" not in caplog.text


@pytest.mark.django_db(transaction=True)
def test_a_backlog_does_not_delay_the_sweep(sandbox: str, faulty: Callable[..., object]) -> None:
    """The only worker is stuck in a run, and a backlog waits; the host of another run has died, and a phase is due."""
    empty_queue()
    world: World = build()
    dead = world.insert_run(enqueued_at=timezone.now() - A_MINUTE)
    Run.objects.filter(pk=dead.pk).update(state=State.RUNNING, attempt=1, lease_until=timezone.now() - A_MINUTE)
    world.submit()
    faulty("claimed")
    for _ in range(20):
        enqueue._send("leaderboard.jobs.score", str(world.insert_run(enqueued_at=timezone.now() - A_MINUTE).pk))
    sealed = Phase.objects.get()
    sealed.pk, sealed.slug, sealed.disclosure = None, "sealed", Phase.Disclosure.SEALED
    sealed.closes_at = sealed.sealed_until = timezone.now() - 60 * A_MINUTE
    sealed.save()
    with Stack().stopping() as stack:
        beat = stack.start_worker(command=processes.beat(), HOLDOUT_SWEEP_SECONDS="1")
        stack.wait_for_run(dead, states=(State.QUEUED,))
        stack.follow(lambda: Phase.objects.exclude(unsealed_at=None).exists(), "the sealed phase")
        stack.follow(lambda: enqueue.n_waiting("scoring") == 21, "the message of the dead host's run")
        stack.follow(lambda: periodic.last_completed() is not None, "a whole sweep")
        assert (dead.reason, dead.attempt) == (Reason.LOST, 1)
        beat.process.send_signal(signal.SIGTERM)
        assert beat.process.wait(PATIENCE) == 0, stack.said()
        assert "sweep_failed" not in Path(beat.log).read_text(), stack.said()
    assert enqueue.n_waiting("scoring") == 21, "none of the backlog was enqueued twice"

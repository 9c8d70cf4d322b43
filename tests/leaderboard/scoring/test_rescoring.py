"""Corrected gold: every prediction is rescored, the old board stays unchanged, and the new one appears as a whole."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from leaderboard.accounts.actions import teams
from leaderboard.boards.queries.prepared_board import progress_of
from leaderboard.models import Leaderboard, Prediction, QuotaCharge, Reason, Run, State, System
from leaderboard.scoring.actions import rescoring, runs
from tests.support.rows.corrected_gold import (
    AFTER,
    BEFORE,
    HALF,
    correct,
    rows_of,
    score_all,
    shown,
    states,
    two_systems,
)
from tests.support.rows.tiny_world import LABELS, World, build, gold_lines

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(transactional_db: None, sandbox: str) -> World:
    return two_systems()


def test_the_board_switches_when_the_last_prediction_is_rescored(world: World) -> None:
    assert shown(world) == BEFORE
    correct(world)
    first, second = Run.objects.filter(state=State.QUEUED).order_by("queued_at")
    runs.WORK.run(first.pk)
    assert shown(world) == BEFORE
    progress = progress_of(world.phase)
    assert progress is not None and (progress.done, progress.total, progress.failed) == (1, 2, 0)
    runs.WORK.run(second.pk)
    assert shown(world) == AFTER
    assert progress_of(world.phase) is None


def test_the_old_board_is_frozen_as_it_was_and_nobody_is_charged(world: World) -> None:
    correct(world)
    score_all()
    old = world.phase.leaderboards.get(gold_version=world.gold)
    assert old.state == Leaderboard.State.FROZEN
    assert rows_of(old) == BEFORE
    assert QuotaCharge.objects.count() == 2
    assert Run.objects.filter(state=State.DONE).count() == 4


def test_a_submission_during_the_rescoring_is_on_the_new_board(world: World) -> None:
    correct(world)
    third = teams.system(team=world.system.team, name="Late", by=world.researcher)
    world.submit(HALF, system=third)
    score_all()
    assert shown(world) == [("Contrary", 1, 1.0), ("Late", 2, 0.5), ("Bernoulli", 3, 0.0)]


def test_a_first_run_that_ends_after_the_correction_does_not_bring_the_old_gold_back(sandbox: str) -> None:
    world = build()
    world.submit(LABELS)
    lease = runs.WORK.claim(Run.objects.get().pk)
    assert lease is not None
    correct(world)
    runs._score(lease)
    score_all()
    assert shown(world) == [("Bernoulli", 1, 0.0)]
    assert world.phase.leaderboards.get(gold_version=world.gold).state == Leaderboard.State.FROZEN


def test_a_queued_run_on_replaced_gold_is_superseded(world: World) -> None:
    third = teams.system(team=world.system.team, name="Waiting", by=world.researcher)
    world.submit(HALF, system=third)
    correct(world)
    assert Run.objects.get(state=State.CANCELLED).reason == Reason.SUPERSEDED
    score_all()
    assert ("Waiting", 2, 0.5) in shown(world)


def test_a_second_correction_before_the_first_is_scored(world: World) -> None:
    correct(world)
    correct(world, gold_lines().replace(b"\n", b"\r\n"))
    score_all()
    assert shown(world) == BEFORE
    assert states(world) == [(1, 1, "frozen"), (2, 1, "cancelled"), (3, 1, "current")]


def test_a_failed_rescoring_blocks_the_switch_refunds_nothing_and_is_resumable(
    world: World, settings, hung_up: str, capsys: pytest.CaptureFixture[str]
) -> None:
    socket, settings.MAX_ATTEMPTS = settings.SANDBOX_SOCKET, 1
    correct(world)
    settings.SANDBOX_SOCKET = hung_up
    Run.objects.filter(state=State.QUEUED).update(queued_at=timezone.now() - timedelta(days=1))
    score_all()
    settings.SANDBOX_SOCKET = socket
    progress = progress_of(world.phase)
    assert progress is not None and (progress.done, progress.failed) == (0, 2)
    assert shown(world) == BEFORE
    assert not QuotaCharge.objects.exclude(refunded_at=None).exists()
    call_command("rescore", world.benchmark.slug, world.phase.slug)
    assert "2 runs queued" in capsys.readouterr().out
    score_all()
    assert shown(world) == AFTER


def test_a_failed_rescoring_of_a_rejected_submission_refunds_nothing(sandbox: str) -> None:
    world = build()
    world.submit(LABELS)
    lease = runs.WORK.claim(Run.objects.get().pk)
    assert lease is not None
    runs.reject(lease, reason=Reason.TIME, problems=[])
    correct(world)
    lease = runs.WORK.claim(Run.objects.get(state=State.QUEUED).pk)
    assert lease is not None
    assert runs.WORK.retry_or_fail(lease, reason=Reason.SANDBOX, final=True)
    assert QuotaCharge.objects.get().refunded_at is None


def test_resuming_queues_nothing_twice(world: World) -> None:
    correct(world)
    assert rescoring.begin(phase=world.phase) == 0
    assert Run.objects.filter(state=State.QUEUED).count() == 2
    score_all()
    assert rescoring.begin(phase=world.phase) == 0


def test_a_rejected_prediction_does_not_block_the_switch(world: World) -> None:
    correct(world)
    first, second = Run.objects.filter(state=State.QUEUED).order_by("queued_at")
    runs.WORK.run(first.pk)
    claim = runs.WORK.claim(second.pk)
    assert claim is not None
    runs.reject(claim, reason=Reason.TIME, problems=[])
    assert shown(world) == [("Bernoulli", 1, 0.0)]


def test_simultaneous_submissions_and_correction(world: World) -> None:
    """In any order, no prediction is left without a run on the corrected gold."""
    systems = [
        System.objects.create(team=world.system.team, name=f"Racer {i}", created_at=timezone.now()) for i in range(3)
    ]
    barrier = threading.Barrier(4)

    def together(work: Callable[[], object]) -> threading.Thread:
        def run() -> None:
            barrier.wait()
            try:
                work()
            finally:
                connection.close()

        thread = threading.Thread(target=run)
        thread.start()
        return thread

    threads = [
        together(lambda system=system: world.in_another_request().submit(HALF, system=system)) for system in systems
    ]
    threads.append(together(lambda: correct(world)))
    for thread in threads:
        thread.join()
    score_all()
    assert progress_of(world.phase) is None
    assert len(shown(world)) == 5


def test_pages_announce_the_rescoring_and_keep_the_old_board(world: World, client: Client) -> None:
    url = world.phase.get_absolute_url()
    old = reverse("frozen_board", args=[world.benchmark.slug, world.phase.slug, 1, 1])
    new = reverse("frozen_board", args=[world.benchmark.slug, world.phase.slug, 2, 1])
    correct(world)
    score_one = Run.objects.filter(state=State.QUEUED).order_by("queued_at").first()
    assert score_one is not None
    runs.WORK.run(score_one.pk)
    assert "1 of 2 are done" in client.get(url).content.decode()
    assert client.get(new).status_code == 404, "a board in preparation is shown to nobody"
    score_all()
    page = client.get(url).content.decode()
    assert old in page and "are done" not in page
    frozen = client.get(old).content.decode()
    assert "Frozen." in frozen and url in frozen
    assert frozen.index("Bernoulli") < frozen.index("Contrary")
    assert page.index("Contrary") < page.index("Bernoulli")
    assert client.get(f"{old}?sort=system&order=desc").status_code == 200


def test_rescoring_on_equal_gold_gives_the_same_bytes(world: World) -> None:
    """The second version has the lines of the first with other line endings: another file with the same contents."""
    correct(world, gold_lines().replace(b"\n", b"\r\n"))
    score_all()
    for prediction in Prediction.objects.all():
        first, second = prediction.runs.filter(state=State.DONE).order_by("gold_version__number")
        assert first.gold_version.sha256 != second.gold_version.sha256
        assert first.outcomes_sha256 == second.outcomes_sha256
        stored = [
            list(run.scores.order_by("measure", "slice_key").values("measure", "slice", "value", "low", "high", "n"))
            for run in (first, second)
        ]
        assert stored[0] == stored[1] and stored[0]
        assert first.release.values == second.release.values

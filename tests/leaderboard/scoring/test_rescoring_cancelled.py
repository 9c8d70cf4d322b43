"""A cancelled rescoring: the shown board stays, its gold is current again, and the rescoring can be resumed later."""

from __future__ import annotations

import pytest
from django.test import Client

from leaderboard.accounts.actions import teams
from leaderboard.boards.queries import board_state
from leaderboard.boards.queries.prepared_board import progress_of
from leaderboard.core.refusal import Code, Refused
from leaderboard.models import (
    AuditEntry,
    GoldVersion,
    Leaderboard,
    QuotaCharge,
    Reason,
    Release,
    Run,
    State,
    Submission,
)
from leaderboard.scoring.actions import rescoring, runs
from leaderboard.submissions.queries.progress import of, with_related
from leaderboard.work_queue.lease import LeaseLostError
from tests.support.rows.corrected_gold import (
    AFTER,
    BEFORE,
    CORRECTED,
    HALF,
    correct,
    score_all,
    shown,
    states,
    two_systems,
)
from tests.support.rows.tiny_world import LABELS, World, build, gold_lines

OTHER_BYTES = gold_lines().replace(b"\n", b"\r\n")
"""A third version, with the labels of the first."""

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(transactional_db: None, sandbox: str) -> World:
    return two_systems()


def cancel(world: World) -> Leaderboard:
    return rescoring.cancel(phase=world.phase, by=world.curator)


def gold(world: World, number: int) -> GoldVersion:
    return world.split.gold_versions.get(number=number)


def late(world: World, labels: dict[str, str] = HALF) -> Submission:
    system = teams.system(team=world.system.team, name="Late", by=world.researcher)
    return world.submit(labels, system=system)


def test_the_shown_board_stays_and_no_run_is_queued(world: World) -> None:
    correct(world)
    cancel(world)
    assert not Run.objects.filter(state=State.QUEUED).exists()
    score_all()
    assert shown(world) == BEFORE
    assert progress_of(world.phase) is None
    assert states(world) == [(1, 1, "current"), (2, 1, "cancelled")]
    entry = AuditEntry.objects.get(action="rescoring.cancelled")
    assert (entry.actor, entry.detail["gold"]) == (world.curator, 2)


def test_later_submissions_are_scored_on_the_shown_gold(world: World) -> None:
    correct(world)
    cancel(world)
    late(world)
    score_all()
    assert shown(world) == [("Bernoulli", 1, 1.0), ("Late", 2, 0.5), ("Contrary", 3, 0.0)]
    assert states(world) == [(1, 1, "current"), (2, 1, "cancelled")]
    assert rescoring.begin(phase=world.phase) == 0, "beginning by itself takes nothing up"
    assert states(world)[1] == (2, 1, "cancelled")


def test_submissions_during_the_rescoring_are_scored_on_the_shown_gold(world: World) -> None:
    correct(world)
    scored, waiting = late(world, CORRECTED), world.submit(HALF)
    runs.WORK.run(Run.objects.get(prediction__submission=scored).pk)
    cancel(world)
    score_all()
    assert shown(world) == [("Bernoulli", 1, 1.0), ("Contrary", 2, 0.0), ("Late", 2, 0.0)]
    for submission in (scored, waiting):
        run = of(with_related(Submission.objects.all()).get(pk=submission.pk)).run
        assert run is not None and run.state == State.DONE and run.gold_version == gold(world, 1)
    assert QuotaCharge.objects.filter(refunded_at=None).count() == 4


def test_runs_superseded_by_the_correction_are_scored_on_the_old_gold(world: World) -> None:
    submission = late(world)
    correct(world)
    cancel(world)
    score_all()
    assert ("Late", 2, 0.5) in shown(world)
    (finished,) = Run.objects.filter(prediction__submission=submission, state=State.DONE)
    assert finished.gold_version == gold(world, 1)


def test_a_running_run_ends_without_results(world: World) -> None:
    correct(world)
    waiting = Run.objects.filter(state=State.QUEUED).order_by("queued_at").first()
    assert waiting is not None
    lease = runs.WORK.claim(waiting.pk)
    assert lease is not None
    before = Release.objects.count()
    cancel(world)
    with pytest.raises(LeaseLostError):
        runs._score(lease)
    waiting.refresh_from_db()
    assert (waiting.state, waiting.reason, waiting.outcomes.name) == (State.CANCELLED, Reason.SUPERSEDED, "")
    assert Release.objects.count() == before
    assert not lease.renew()
    stored_files = waiting.outcomes.storage.listdir("")[1]
    assert not [name for name in stored_files if name.startswith(waiting.pk.hex)]


def test_prepared_scores_are_not_visible(world: World) -> None:
    correct(world)
    first = Run.objects.filter(state=State.QUEUED).order_by("queued_at").first()
    assert first is not None
    runs.WORK.run(first.pk)
    cancel(world)
    client = Client()
    client.force_login(world.researcher)
    assert client.get("/benchmarks/tiny/test/gold-2/task-1/").status_code == 404
    assert "gold-2" not in client.get("/benchmarks/tiny/test/").content.decode()
    shown_result = client.get(f"/api/v1/submissions/{first.prediction.submission_id}/").json()
    assert (shown_result["state"], shown_result["receipt"]["gold_version"]) == ("done", world.gold.number)
    scores = client.get(f"/api/v1/submissions/{first.prediction.submission_id}/scores/").json()["scores"]
    assert next(row["value"] for row in scores if row["measure"] == "accuracy" and not row["slice"]) == 1.0


def test_cancelling_twice_is_refused(world: World) -> None:
    correct(world)
    cancel(world)
    with pytest.raises(Refused) as refused:
        cancel(world)
    assert refused.value.code is Code.NOT_PREPARING
    assert AuditEntry.objects.filter(action="rescoring.cancelled").count() == 1


def test_only_managers_may_cancel_or_resume(world: World) -> None:
    correct(world)
    with pytest.raises(Refused) as refused:
        rescoring.cancel(phase=world.phase, by=world.researcher)
    assert refused.value.code is Code.NOT_AN_ORGANISER
    assert states(world)[1] == (2, 1, "preparing")
    world.benchmark.organisers.add(world.researcher)
    rescoring.cancel(phase=world.phase, by=world.researcher)
    world.benchmark.organisers.clear()
    with pytest.raises(Refused):
        rescoring.resume(phase=world.phase, gold=gold(world, 2), by=world.researcher)
    assert states(world)[1] == (2, 1, "cancelled")


def test_a_cancelled_rescoring_resumes_where_it_stopped(world: World) -> None:
    correct(world)
    first = Run.objects.filter(state=State.QUEUED).order_by("queued_at").first()
    assert first is not None
    runs.WORK.run(first.pk)
    cancel(world)
    late(world)
    score_all()
    assert rescoring.resumable(world.phase) == [gold(world, 2)]
    assert rescoring.resume(phase=world.phase, gold=gold(world, 2), by=world.curator) == 2
    assert rescoring.resumable(world.phase) == []
    score_all()
    assert shown(world) == [("Contrary", 1, 1.0), ("Late", 2, 0.5), ("Bernoulli", 3, 0.0)]
    assert Run.objects.filter(prediction=first.prediction, state=State.DONE).count() == 2, "one on each gold"


def test_a_correction_after_a_cancelled_one_counts(world: World) -> None:
    correct(world)
    cancel(world)
    correct(world, OTHER_BYTES)
    assert states(world) == [(1, 1, "current"), (2, 1, "cancelled"), (3, 1, "preparing")]
    score_all()
    assert shown(world) == BEFORE
    assert states(world) == [(1, 1, "frozen"), (2, 1, "cancelled"), (3, 1, "current")]
    assert rescoring.resumable(world.phase) == []


def test_cancelling_two_corrections_leaves_the_shown_gold(world: World) -> None:
    correct(world)
    lease = runs.WORK.claim(Run.objects.filter(state=State.QUEUED)[0].pk)
    correct(world, OTHER_BYTES)
    assert states(world) == [(1, 1, "current"), (2, 1, "cancelled"), (3, 1, "preparing")]
    assert lease is not None
    with pytest.raises(LeaseLostError):
        runs._score(lease)
    cancel(world)
    assert board_state.gold_of(world.phase) == gold(world, 1)
    assert [version.number for version in rescoring.resumable(world.phase)] == [3, 2]
    rescoring.resume(phase=world.phase, gold=gold(world, 2), by=world.curator)
    assert board_state.gold_of(world.phase) == gold(world, 2)
    score_all()
    assert shown(world) == AFTER
    with pytest.raises(Refused, match="cannot be resumed: the phase already uses gold version 2"):
        rescoring.resume(phase=world.phase, gold=gold(world, 1), by=world.curator)


def test_a_prediction_rejected_on_the_new_gold_keeps_its_result_until_the_switch(world: World) -> None:
    correct(world)
    first, second = Run.objects.filter(state=State.QUEUED).order_by("queued_at")
    claim = runs.WORK.claim(first.pk)
    assert claim is not None
    runs.reject(claim, reason=Reason.TIME, problems=[])
    submission = first.prediction.submission_id
    shown_result = of(with_related(Submission.objects.all()).get(pk=submission))
    assert shown_result.state == State.DONE and shown_result.release is not None
    runs.WORK.run(second.pk)
    shown_result = of(with_related(Submission.objects.all()).get(pk=submission))
    assert shown_result.state == State.REJECTED and shown_result.release is None


def test_a_submission_shows_its_result_while_it_is_rescored(world: World) -> None:
    submission = Submission.objects.earliest("received_at")
    correct(world)
    shown_result = of(with_related(Submission.objects.all()).get(pk=submission.pk))
    assert (
        shown_result.state == State.DONE
        and shown_result.release is not None
        and shown_result.release.run == shown_result.run
    )
    score_all()
    shown_result = of(with_related(Submission.objects.all()).get(pk=submission.pk))
    assert shown_result.run is not None and shown_result.run.gold_version == gold(world, 2)


def test_each_phase_of_a_split_is_cancelled_separately(sandbox: str) -> None:
    world = build()
    other = world.benchmark.phases.create(slug="final", title="Final", split=world.split)
    world.submit(LABELS)
    world.submit(LABELS, phase=other)
    score_all()
    correct(world)
    rescoring.cancel(phase=other, by=world.curator)
    score_all()
    assert shown(world) == [("Bernoulli", 1, 0.0)]
    assert other.leaderboards.get(state="current").gold_version == world.gold

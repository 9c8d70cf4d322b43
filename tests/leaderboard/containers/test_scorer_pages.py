"""Organisers' scorers on the pages: uploaded, set, queued, failed and reported. Without an engine."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import DatabaseError, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from leaderboard.boards.queries import Ranges, board_of
from leaderboard.containers.actions import image_uploads, run_scorer, scorers
from leaderboard.core.refusal import Code, Refused
from leaderboard.models import (
    AuditEntry,
    Image,
    ImageUpload,
    Leaderboard,
    Phase,
    QuotaCharge,
    Reason,
    ReleaseSlice,
    Run,
    Scorer,
    State,
    Submission,
    User,
)
from leaderboard.operations import sweep
from leaderboard.scoring.actions import rescoring, runs
from leaderboard.submissions.queries.receipts import command
from leaderboard.work_queue.lease import Lease
from tests.support import tus_calls
from tests.support.custom_scorers import ACCURACY, DIGEST, row, scores_by, worker_is_there
from tests.support.rows import board_rows
from tests.support.rows.container_rows import engine_is_there
from tests.support.rows.tiny_world import World, build, uploaded

pytestmark = pytest.mark.django_db
DETAIL = "scores.json: scores[0], strict_accuracy, is outside its bounds, 0 to 1."


@pytest.fixture
def world(settings: Any) -> World:
    settings.SCORERS = True
    return build()


@pytest.fixture
def organiser(world: World) -> User:
    organiser = User.objects.create_user("grace", "grace@holdout.example", "correct horse")
    world.benchmark.organisers.add(organiser)
    return organiser


def page_of(user: User | None, name: str, *where: Any, status: int = 200) -> str:
    client = Client()
    if user is not None:
        client.force_login(user)
    answer = client.get(reverse(name, args=where))
    assert answer.status_code == status
    return answer.content.decode()


def form(**changes: Any) -> dict[str, Any]:
    return {"measures": json.dumps([ACCURACY]), "primary": "strict_accuracy", "reason": "ours", **changes}


def post(user: User, name: str, *where: Any, **data: Any) -> Any:
    client = Client()
    client.force_login(user)
    return client.post(reverse(name, args=where), data)


def failed_run(world: World, detail: str = DETAIL) -> Run:
    run = world.insert_run(scorer=world.phase.scorer, task_version=world.phase.scorer.number)
    Run.objects.filter(pk=run.pk).update(state=State.RUNNING, attempt=1, lease_until=timezone.now())
    lease = Lease(Run.objects.select_related("prediction__submission").get(pk=run.pk), 1)
    runs.WORK.retry_or_fail(lease, reason=Reason.SCORER, error_id="e77", detail=detail, final=True)
    return run


def scored_run(world: World, value: float = 0.5, name: str = "Bernoulli", *, outcomes: bool = False) -> Run:
    """A published run scored by the phase's scorer."""
    scores = [board_rows.score("strict_accuracy", value)]
    if not outcomes:
        scores = [{**score, "low": None, "high": None} for score in scores]
    scorer = world.phase.scorer
    fields = {"number": scorer.number, "image": DIGEST, "outcomes": ["strict_accuracy"] if outcomes else []}
    fields |= {"execution_seconds": [1.0, 1.41], "runtime": "runc", "units": "u", "limits": {}}
    inserted = world.insert_run
    world.insert_run = lambda **changes: inserted(  # type: ignore[method-assign]
        **{**changes, "scorer": scorer, "task_version": scorer.number, "provenance": {"scorer": fields}}
    )
    try:
        return board_rows.stand(world, name, scores, primary="strict_accuracy").run
    finally:
        world.insert_run = inserted  # type: ignore[method-assign]


def test_a_plain_form_uploads_a_scorer(world: World, organiser: User) -> None:
    answer = post(organiser, "manage_scorers", "tiny", **form(file=uploaded(b"an archive", "scorer.tar")))
    assert answer.status_code == 302
    scorer = Scorer.objects.get()
    assert (scorer.number, scorer.primary, scorer.created_by) == (1, "strict_accuracy", organiser)
    assert AuditEntry.objects.filter(action="scorer.added").count() == 1
    page = page_of(organiser, "manage_scorers", "tiny")
    assert "strict_accuracy" in page and "Add the next scorer" in page


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"measures": "[}"}, "Enter a valid JSON"),
        ({"measures": "[]"}, "This field is required"),
        ({"measures": "[1]"}, "the measures do not fit their schema"),
        ({"primary": "other"}, "the primary measure is"),
        ({"reason": ""}, "This field is required"),
        ({"file": None}, "Choose the archive of your image"),
    ],
)
def test_invalid_input_is_reported(world: World, organiser: User, changes: dict[str, Any], expected: str) -> None:
    data = {**form(file=uploaded(b"an archive", "scorer.tar")), **changes}
    answer = post(
        organiser, "manage_scorers", "tiny", **{name: value for name, value in data.items() if value is not None}
    )
    assert answer.status_code == 422
    assert expected in answer.content.decode().replace("&quot;", '"')
    assert not Scorer.objects.exists() and not Image.objects.exists()


def test_pieces_are_assembled_into_a_scorer(world: World, organiser: User) -> None:
    client = Client()
    client.force_login(organiser)
    response = tus_calls.create(client, reverse("api_scorer_uploads", args=["tiny"]), 9).json()
    assert (response["benchmark"], response["phase"], response["submission"]) == ("tiny", None, None)
    for offset, chunk in ((0, b"four"), (4, b"fives")):
        assert tus_calls.append(client, response, offset, chunk).status_code == 204
    assert client.post(
        reverse("api_image_submit", args=[response["id"]]), json.dumps({"system": "x"}), content_type="application/json"
    ).status_code in (403, 422), "it is not a system's image"
    assert client.post(reverse("manage_scorers", args=["tiny"]), form(upload=response["id"])).status_code == 302
    scorer = Scorer.objects.get()
    assert scorer.image.archive.read() == b"fourfives"
    assert not ImageUpload.objects.exists() and not Submission.objects.exists()


def test_only_managers_upload_and_set_a_scorer(world: World) -> None:
    scorer = row(world)
    upload = {"phase": world.phase, "by": world.researcher}
    with pytest.raises(Refused) as refused:
        scorers.attach(phase=world.phase, scorer=scorer, by=world.researcher)
    assert refused.value.code is Code.NOT_AN_ORGANISER
    with pytest.raises(Refused):
        image_uploads.begin_scorer(benchmark=world.benchmark, by=world.researcher, name="x", size=9)
    upload_of_other = ImageUpload.objects.create(**upload, name="x", bytes=1, received=1)
    with pytest.raises(Refused, match="begun for a phase; expected one that was begun for a scorer"):
        declared = scorers.Declared(measures=[ACCURACY], primary="x", reason="x")
        image_uploads.finish_scorer(upload=upload_of_other, declared=declared, by=world.curator)


def test_a_scorer_cannot_be_edited(world: World) -> None:
    scorer = row(world)
    with pytest.raises(DatabaseError), transaction.atomic():
        Scorer.objects.filter(pk=scorer.pk).update(primary="other")


def test_a_phase_with_submissions_accepts_only_a_later_scorer(world: World) -> None:
    first, second = row(world), row(world, number=2)
    assert scorers.attach(phase=world.phase, scorer=second, by=world.curator) == 0
    assert scorers.attach(phase=world.phase, scorer=None, by=world.curator) == 0, "there are no submissions"
    assert scorers.attach(phase=world.phase, scorer=second, by=world.curator) == 0
    world.insert_run(scorer=second, task_version=2)
    for wrong in (first, None):
        with pytest.raises(Refused) as refused:
            scorers.attach(phase=world.phase, scorer=wrong, by=world.curator)
        assert refused.value.code is Code.SCORER_DOES_NOT_FIT
    assert scorers.attach(phase=world.phase, scorer=row(world, number=3), by=world.curator) == 1
    queued = Run.objects.get(state=State.QUEUED, task_version=3)
    assert queued.scorer.number == 3
    assert Run.objects.get(task_version=2).reason == Reason.SUPERSEDED


def test_a_phase_scored_by_its_task_accepts_no_scorer(world: World) -> None:
    world.insert_run()
    answer = post(world.curator, "manage_scorer_attach", "tiny", "test", scorer=row(world).pk)
    assert answer.status_code == 409
    assert "can no longer change between its task and a scorer image" in answer.content.decode()


def test_a_subset_of_the_gold_accepts_no_scorer(world: World) -> None:
    Phase.objects.filter(pk=world.phase.pk).update(subset=Phase.Subset.PUBLIC)
    with pytest.raises(Refused, match="only the public or the private groups"):
        scorers.attach(phase=world.phase, scorer=row(world), by=world.curator)


@pytest.mark.parametrize("bound", ["lower", "upper"])
def test_a_ladder_accepts_no_scorer_whose_measure_has_no_step(world: World, bound: str) -> None:
    """Otherwise every submission would be charged, and none would ever show an improvement."""
    Phase.objects.filter(pk=world.phase.pk).update(disclosure=Phase.Disclosure.LADDER, scope=Phase.Scope.TASK)
    with pytest.raises(Refused, match="strict_accuracy lacks a lower or upper bound"):
        scorers.attach(phase=world.phase, scorer=row(world, measures=[{**ACCURACY, bound: None}]), by=world.curator)
    scorers.attach(phase=world.phase, scorer=row(world, number=2), by=world.curator)


def test_another_benchmarks_scorer_is_refused(world: World) -> None:
    other = Scorer.objects.get(pk=row(world).pk)
    elsewhere = type(world.benchmark).objects.create(
        slug="other", title="Other", summary="x", task=world.benchmark.task, dataset=world.benchmark.dataset
    )
    strange = Phase.objects.create(benchmark=elsewhere, slug="test", title="T", split=world.split)
    with pytest.raises(Refused, match="belongs to another benchmark"):
        scorers.attach(phase=strange, scorer=other, by=world.curator)


def test_a_change_of_scorer_can_be_cancelled(world: World) -> None:
    scores_by(world, row(world))
    run = scored_run(world)
    later = row(world, number=2)
    assert scorers.attach(phase=world.phase, scorer=later, by=world.curator) == 1
    page = page_of(world.curator, "manage_rescoring", "tiny", "test")
    assert "from scorer 1 to scorer 2" in page and "Cancel the rescoring by scorer 2" in page
    rescoring.cancel(phase=world.phase, by=world.curator)
    world.phase.refresh_from_db()
    assert world.phase.scorer.number == 1
    states = dict(world.phase.leaderboards.values_list("task_version", "state"))
    assert states == {1: Leaderboard.State.CURRENT, 2: Leaderboard.State.CANCELLED}
    assert Run.objects.get(task_version=2).state == State.CANCELLED
    assert scorers.attach(phase=world.phase, scorer=later, by=world.curator) == 1, "and started again"
    run.refresh_from_db()
    assert run.state == State.DONE


def test_participants_read_that_a_scorer_failed_and_organisers_read_why(world: World, organiser: User) -> None:
    scores_by(world, row(world))
    run = failed_run(world)
    submission = run.prediction.submission
    assert QuotaCharge.objects.get(submission=submission).refunded_at is not None
    participants_page = page_of(world.researcher, "submission", submission.pk)
    assert "scorer failed; its organisers are notified" in participants_page.replace("&#x27;", "'")
    assert "e77" in participants_page and "refunded" in participants_page
    api = page_of(world.researcher, "api_submission", submission.pk)
    assert json.loads(api)["reason"] == "scorer"
    for text in (participants_page, api):
        assert "bounds" not in text
    organisers_page = page_of(organiser, "manage_scorers", "tiny")
    assert DETAIL in organisers_page and "e77" in organisers_page
    page_of(world.researcher, "manage_scorers", "tiny", status=404)


def test_without_a_worker_runs_wait_and_the_page_says_so(world: World, organiser: User, settings: Any) -> None:
    engine_is_there()
    scores_by(world, row(world))
    run = world.insert_run(scorer=world.phase.scorer)
    for why in ("manage.py serve scorers", "HOLDOUT_SCORERS"):
        assert why in page_of(organiser, "manage_benchmark", "tiny")
        assert why in page_of(organiser, "manage_scorers", "tiny")
        settings.SCORERS = False
    settings.SCORERS = True
    participants_page = page_of(world.researcher, "submission", run.prediction.submission_id)
    assert "Waiting for a worker that runs the organisers" in participants_page
    worker_is_there()
    assert "serve scorers" not in page_of(organiser, "manage_benchmark", "tiny")
    assert "Waiting for a worker" not in page_of(world.researcher, "submission", run.prediction.submission_id)


def test_the_sweep_enqueues_scorer_runs_while_a_worker_listens(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    enqueued: list[tuple[str, str]] = []
    monkeypatch.setattr("leaderboard.work_queue.enqueue._send", lambda task, _, queue: enqueued.append((task, queue)))
    monkeypatch.setattr("django.db.transaction.on_commit", lambda callback, **_: callback())
    scores_by(world, row(world))
    long_ago = timezone.now() - timezone.timedelta(hours=1)
    world.insert_run(scorer=world.phase.scorer, enqueued_at=long_ago)
    run_scorer.WORK.sweep()
    assert enqueued == []
    worker_is_there()
    run_scorer.WORK.sweep()
    assert enqueued == [("leaderboard.jobs.run_scorer", "scorers")]


def test_a_scoring_worker_does_not_claim_a_scorers_run(world: World, sandbox: str) -> None:
    scores_by(world, row(world))
    run = world.insert_run(scorer=world.phase.scorer)
    runs.WORK.run(run.pk)
    run.refresh_from_db()
    assert (run.state, run.attempt) == (State.QUEUED, 0)
    assert runs.WORK.claim(run.pk) is None


def test_a_board_without_outcomes_says_so(world: World) -> None:
    scores_by(world, row(world))
    scored_run(world)
    scored_run(world, 0.75, "Napier")
    board = board_of(world.phase)
    assert (board.lacks_outcomes, board.ranges) == (True, Ranges.NONE)
    page = page_of(None, "leaderboard", "tiny", "test")
    assert "writes no outcomes per unit" in page
    assert "intervals by resampling" not in page
    assert reverse("scorer_measures", args=["tiny", 1]) + "#strict_accuracy" in page
    api = json.loads(page_of(None, "api_leaderboard", "tiny", "test"))
    assert (api["measures"], api["primary"]) == (["strict_accuracy"], "strict_accuracy")
    assert "strict_accuracy" in page_of(None, "api_leaderboard_csv", "tiny", "test")
    page_of(None, "benchmark", "tiny")


def test_a_board_with_outcomes_requests_ranges(world: World) -> None:
    scores_by(world, row(world))
    scored_run(world, outcomes=True)
    scored_run(world, 0.75, "Napier", outcomes=True)
    board = board_of(world.phase)
    assert (board.lacks_outcomes, board.ranges) == (False, Ranges.COMPUTING)
    # An answer that is not shown in detail has no interval, and takes those of the others from nobody.
    brief = ReleaseSlice.objects.filter(slice_key="").latest("pk")
    brief.scores["strict_accuracy"][1:3] = [None, None]
    ReleaseSlice.objects.filter(pk=brief.pk).update(scores=brief.scores)
    assert not board_of(world.phase).lacks_outcomes


def test_a_scorers_measures_are_public_once_it_scores(world: World) -> None:
    scorer = row(world, does="Counts what is strictly right.")
    page_of(None, "scorer_measures", "tiny", 1, status=404)
    assert "Counts what is strictly right" in page_of(world.curator, "scorer_measures", "tiny", 1)
    scores_by(world, scorer)
    page = page_of(None, "scorer_measures", "tiny", 1)
    assert "Between 0 and 1; higher is better" in page and 'id="strict_accuracy"' in page


def test_the_receipt_names_image_and_executions(world: World) -> None:
    scores_by(world, row(world))
    run = scored_run(world)
    page = page_of(world.researcher, "submission", run.prediction.submission_id)
    assert DIGEST in page and "scorer 1</a>" in page
    assert command(run.provenance).endswith(f"--volume OUTPUT:/output {DIGEST}")


def test_a_scorers_image_is_retained(world: World) -> None:
    scorer = row(world)
    Image.objects.update(created_at=timezone.now() - timezone.timedelta(days=30))
    sweep.sweep()
    assert scorer.image.archive.storage.exists(scorer.image.archive.name)
    assert Image.objects.filter(pk=scorer.image_id).exists()

"""An organiser's own scorer scores a phase, from a submission to the board. With a real engine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings as site

from leaderboard.boards.queries import board_of
from leaderboard.containers.actions import run_scorer, scorers, workers
from leaderboard.models import QuotaCharge, Reason, Release, Run, Score, State, Submission
from tests.support import container_images, custom_scorers
from tests.support.rows.tiny_world import LABELS, World, build

pytestmark = [
    pytest.mark.engine,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(bool(container_images.missing()), reason=container_images.missing()),
]
HALF = {**LABELS, "a1": "REFUTES", "a2": "SUPPORTS"}


@pytest.fixture(scope="module")
def image() -> Iterator[str]:
    with custom_scorers.built() as image:
        yield image


@pytest.fixture
def world(transactional_db: None, sandbox: str, settings: Any) -> World:
    settings.SCORERS = True
    settings.SCORER_SECONDS, settings.SCORER_MEMORY_MB, settings.SCORER_OUTPUT_MB = 20, 256, 20
    world = build()
    report = workers.report(queue=workers.SCORERS)
    assert report.ready, report.message
    return world


def scored_run(world: World, image: str, behaviour: str, labels: dict[str, str] = LABELS, **fields: Any) -> Run:
    """The run of a submission, scored by a scorer with the given behaviour."""
    if world.phase.scorer is None:
        custom_scorers.scores_by(world, custom_scorers.row(world, does=behaviour, digest=image))
    return work(world.submit(labels, **fields))


def work(submission: Submission) -> Run:
    run = Run.objects.get(prediction__submission=submission)
    run_scorer.WORK.run(run.pk)
    run.refresh_from_db()
    return run


def test_a_submission_is_scored_by_the_image(world: World, image: str) -> None:
    run = scored_run(world, image, "right", HALF)
    assert (run.state, run.reason) == (State.DONE, ""), run.detail
    assert (run.task_version, run.scorer.number) == (1, 1)
    (total,) = Score.objects.filter(run=run, slice_key="")
    assert (total.measure, total.value, total.n) == ("strict_accuracy", 0.5, 4)
    # Four units, each its own group: the interval is that of a mean of 1, 0, 1, 0.
    assert 0 <= total.low < 0.5 < total.high <= 1
    (sliced,) = Score.objects.filter(run=run, slice={"origin": "original"})
    assert (sliced.value, sliced.n) == (0.0, 1)
    release = Release.objects.get(run=run)
    assert (release.primary, release.warnings) == ("strict_accuracy", [])
    receipt = run.provenance["scorer"]
    assert (receipt["number"], receipt["image"], receipt["outcomes"]) == (1, image, ["strict_accuracy"])
    assert len(receipt["execution_seconds"]) == 2
    board = board_of(world.phase)
    assert [measure.name for measure in board.measures] == ["strict_accuracy"]
    assert board.primary == "strict_accuracy"
    assert container_images.left(site.INSTANCE) == [], "no container and no volume with gold is left"


FAULTS = {
    "another mean": "the mean of strict_accuracy differs from the value of scores[0]",
    "by the clock": "not deterministic: its two executions on the same files wrote different scores.json",
    "nan": "scores.json: not valid JSON, expected a finite number",
    "infinite": "scores.json: number beyond float64",
    "out of range": "scores[0], strict_accuracy, is outside its bounds, 0 to 1",
    "unknown measure": "scores[1] names an unknown measure, expected one of: strict_accuracy",
    "missing measure": "no row for strict_accuracy",
    "unknown slice": "scores[1].slice names an unknown dimension, expected one of: label, origin",
    "unknown field": "does not fit the published schema: Object contains unknown field",
    "another version": "task_version is not the scorer's version, expected 1",
    "nothing": "it wrote no /output/scores.json",
    "exit": "a non-zero exit status",
    "memory": "more than 256000000 bytes of memory",
    "a gigabyte": "a non-zero exit status",
    "a sparse file": "scores.json is too large, expected at most",
}


@pytest.mark.parametrize("behaviour", FAULTS)
def test_a_failing_scorer_ranks_no_system(world: World, image: str, behaviour: str) -> None:
    run = scored_run(world, image, behaviour)
    assert (run.state, run.reason, run.attempt) == (State.FAILED, Reason.SCORER, 1)
    assert FAULTS[behaviour] in run.detail
    assert run.error_id
    assert not Score.objects.exists() and not Release.objects.exists()
    assert QuotaCharge.objects.get().refunded_at is not None
    assert container_images.left(site.INSTANCE) == []
    # Neither gold's texts and labels nor the scorer's output is stored with the run.
    stored = json.dumps([run.detail, run.problems, run.warnings, run.provenance])
    assert not any(word in stored for word in ("SUPPORTS", "REFUTES", "evidence 0", "GOLD"))


def test_an_endless_scorer_is_stopped(world: World, image: str, settings: Any) -> None:
    settings.SCORER_SECONDS = 2
    run = scored_run(world, image, "for ever")
    assert (run.state, run.reason) == (State.FAILED, Reason.SCORER)
    assert "stopped at its limit of 2 seconds" in run.detail


def test_a_scorers_access_is_limited(world: World, image: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only this run's gold and prediction, read-only: no network, no engine, no secret."""
    monkeypatch.setenv("HOLDOUT_TEST_SECRET", "of the worker")
    run = scored_run(world, image, "looks around")
    assert run.state == State.DONE, run.detail


def test_gold_defines_the_units(world: World, image: str) -> None:
    assert scored_run(world, image, "other units").state == State.DONE
    second = scored_run(world, image, "other units", HALF)
    assert second.reason == Reason.SCORER
    assert "differ from those of the first run on the same gold" in second.detail


def test_a_later_scorer_rescores_everything(world: World, image: str) -> None:
    first = scored_run(world, image, "values alone", HALF)
    later = custom_scorers.row(world, does="right", digest=image, number=2)
    assert scorers.attach(phase=world.phase, scorer=later, by=world.curator) == 1
    second = Run.objects.exclude(pk=first.pk).get()
    run_scorer.WORK.run(second.pk)
    second.refresh_from_db()
    assert (second.state, second.task_version, second.scorer) == (State.DONE, 2, later), second.detail
    world.phase.refresh_from_db()
    states = dict(world.phase.leaderboards.values_list("task_version", "state"))
    assert states == {1: "frozen", 2: "current"}
    assert board_of(world.phase).scoring.version == 2
    frozen = board_of(world.phase, version=(1, 1))
    assert (frozen.scoring.version, frozen.measures[0].doc) == (1, "values alone")

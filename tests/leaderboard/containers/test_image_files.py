"""How long an image's bytes are stored on the site and in the engine; without an engine."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any

import pytest
from django.core.files.base import ContentFile

from evaluator.sandbox.containers.image_errors import (
    ConfigError,
    EngineRefusalError,
    ImageArchiveError,
    ImageError,
    LayerCountError,
    TooLargeError,
)
from evaluator.sandbox.containers.system_contract import LoadedImage
from leaderboard.containers.actions import engine, image_files, images, run_system, workers
from leaderboard.core.refusal import Refused
from leaderboard.evaluation import container_limits
from leaderboard.evaluation.container_limits import Resources
from leaderboard.models import Image, Prediction, QuotaCharge, Reason, State, Submission
from leaderboard.work_queue.lease import LeaseLostError
from tests.support.rows import tiny_world
from tests.support.rows.container_rows import DIGEST, engine_is_there, takes_images
from tests.support.rows.tiny_world import World

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(sandbox: str, monkeypatch: pytest.MonkeyPatch) -> World:
    """Every archive turns out to be no image."""

    def load(*_: Any, **__: Any) -> None:
        raise ImageArchiveError("this is no image")

    new_world = tiny_world.build(quota_per_day=50)
    takes_images(new_world)
    engine_is_there()
    monkeypatch.setattr(workers, "ready", lambda: True)
    monkeypatch.setattr(engine, "load", load)
    return new_world


def submit(world: World, content: bytes) -> Submission:
    image = image_files.get_or_store(archive=ContentFile(content), sha256=hashlib.sha256(content).hexdigest())
    return images.submit(phase=world.phase, entry=world.entry(), image=image)


def is_stored(image: Image | None) -> bool:
    assert image is not None
    return image.archive.storage.exists(Image.objects.get(pk=image.pk).archive.name)


def work(submission: Submission) -> Prediction:
    run_system.WORK.run(submission.predictions.get().pk)
    return submission.predictions.get()


def test_a_refused_archive_is_deleted_at_once_and_refunded(world: World) -> None:
    submission = submit(world, b"no image")
    assert is_stored(submission.image)
    prediction = work(submission)
    assert (prediction.state, prediction.reason) == (State.REJECTED, Reason.BAD_IMAGE)
    assert not is_stored(submission.image)
    assert QuotaCharge.objects.get(submission=submission).refunded_at is not None


@pytest.mark.parametrize("kind", [ConfigError, LayerCountError, EngineRefusalError])
def test_an_image_that_no_honest_build_makes_is_charged(
    monkeypatch: pytest.MonkeyPatch, world: World, kind: type[ImageError]
) -> None:
    """Whether its archive shows the error, or the engine refuses it."""

    def load(*_: Any, **__: Any) -> None:
        raise kind("the image's env has 60000 entries, expected at most 1000")

    monkeypatch.setattr(engine, "load", load)
    submission = submit(world, b"an image")
    prediction = work(submission)
    assert (prediction.state, prediction.reason, prediction.attempt) == (State.REJECTED, Reason.BAD_IMAGE, 1)
    assert prediction.problems[0]["text"] == "the image's env has 60000 entries, expected at most 1000"
    assert QuotaCharge.objects.get(submission=submission).refunded_at is None
    assert not is_stored(submission.image)


def test_it_is_stored_while_another_submission_waits_for_it(world: World) -> None:
    first, second = submit(world, b"no image"), submit(world, b"no image")
    assert first.image == second.image
    work(first)
    assert is_stored(first.image)
    work(second)
    assert not is_stored(first.image)


def test_a_refused_archive_is_stored_again_when_it_is_uploaded_again(world: World) -> None:
    first = submit(world, b"no image")
    work(first)
    assert first.image is not None
    with pytest.raises(Refused, match="upload it again"):
        images.submit(phase=world.phase, entry=world.entry(), image=first.image)
    assert QuotaCharge.objects.filter(refunded_at=None).count() == 0
    second = submit(world, b"no image")
    assert second.image == first.image and is_stored(second.image)
    assert Image.objects.count() == 1


def test_a_late_refusal_deletes_nothing(world: World) -> None:
    submission = submit(world, b"no image")
    late = run_system.WORK.claim(submission.predictions.get().pk)
    assert late is not None
    assert images.cancel(submission=submission, by=world.researcher)
    with pytest.raises(LeaseLostError):
        run_system.reject(late, reason=Reason.BAD_IMAGE, problems=[], refund=True)
    assert is_stored(submission.image)


@pytest.mark.parametrize(
    ("limit", "reason", "runs"), [(999, Reason.BAD_IMAGE, []), (1000, Reason.SYSTEM_EXIT, [DIGEST])]
)
def test_a_phases_limit_applies_to_an_image_that_another_phase_accepted(
    monkeypatch: pytest.MonkeyPatch, world: World, limit: int, reason: str, runs: list[str]
) -> None:
    """It is read again under the smaller limit: in this test every image that is read is refused."""
    ran: list[str] = []

    def run(*, image: str, **_: Any) -> engine.ExecutionResult:
        ran.append(image)
        return engine.ExecutionResult(Reason.SYSTEM_EXIT, "it ended", "", "", {}, {})

    monkeypatch.setattr(engine, "run", run)
    takes_images(world, limits={"image_bytes": limit})
    submission = submit(world, b"small")
    Image.objects.update(digest=DIGEST, unpacked_bytes=1000)
    prediction = work(submission)
    assert (prediction.state, prediction.reason, ran) == (State.REJECTED, reason, runs)


def test_a_phases_limit_applies_to_an_image_from_a_registry(monkeypatch: pytest.MonkeyPatch, sandbox: str) -> None:
    class Engine:
        def pull(self, reference: str) -> LoadedImage:
            return LoadedImage(id=DIGEST, size=1000)

    monkeypatch.setattr(engine, "sandbox", Engine)
    image = Image(reference=f"registry/name@{DIGEST}")
    defaults = container_limits.defaults()
    assert engine.load(image, replace(defaults, image_bytes=1000), when_read=lambda: None).id == DIGEST
    with pytest.raises(TooLargeError, match="1000 bytes, expected at most 999"):
        engine.load(image, replace(defaults, image_bytes=999), when_read=lambda: None)


def test_the_engine_makes_a_full_report_once_per_sweep(monkeypatch: pytest.MonkeyPatch, world: World) -> None:
    """A report runs a container; between two reports it is enough that the engine answers."""
    monkeypatch.undo()
    requests: list[str] = []
    monkeypatch.setattr(engine, "health_check", lambda: requests.append("report") or {})
    monkeypatch.setattr(engine, "reap", lambda *, keep: requests.append("reap") or [])
    monkeypatch.setattr(engine, "images", frozenset)
    monkeypatch.setattr(engine, "disk_free_bytes", lambda: None)
    monkeypatch.setattr(engine, "offer", Resources)
    monkeypatch.setattr(engine, "check", lambda: requests.append("check"))
    assert [workers.ready() for _ in range(3)] == [True, True, True]
    assert requests == ["report", "reap", "check", "check"]

    def away() -> None:
        raise engine.SandboxError("the engine does not answer")

    monkeypatch.setattr(engine, "check", away)
    monkeypatch.setattr(engine, "health_check", away)
    assert not workers.ready()
    assert not workers.WorkerReport.objects.exclude(host="engine-1").get().ready

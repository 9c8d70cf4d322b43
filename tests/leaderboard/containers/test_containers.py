"""Path of a container: an archive in pieces, an execution on the inputs, predictions, a score. With a real engine."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from django.core.files import File

from leaderboard.boards.disclosure import costs
from leaderboard.containers.actions import image_files, image_uploads, images, run_system, workers
from leaderboard.core.refusal import Code, Refused
from leaderboard.models import Image, ImageUpload, Prediction, QuotaCharge, Reason, Run, State, Submission
from leaderboard.scoring.actions import runs
from leaderboard.work_queue.lease import LeaseLostError
from tests.support import container_images
from tests.support.rows.tiny_world import LABELS, World, build

pytestmark = [
    pytest.mark.engine,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(bool(container_images.missing()), reason=container_images.missing()),
]


@pytest.fixture
def world(transactional_db: None, sandbox: str) -> World:
    world = build()
    world.phase.takes_images = True
    world.phase.save()
    assert workers.report().ready
    return world


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("images")


@pytest.fixture(scope="module")
def correct_image(folder: Path) -> Path:
    """An image that answers every claim correctly."""
    return container_images.archive_of(container_images.answering(LABELS), folder)


def upload(world: World, archive: Path, piece_bytes: int = 5_000_000) -> ImageUpload:
    upload = image_uploads.begin(phase=world.phase, by=world.researcher, name="image.tar", size=archive.stat().st_size)
    content = archive.read_bytes()
    for offset in range(0, len(content), piece_bytes):
        image_uploads.add(upload=upload, offset=offset, chunk=content[offset : offset + piece_bytes])
    return upload


def submit(world: World, archive: Path) -> Submission:
    return image_uploads.finish(upload=upload(world, archive), entry=world.entry())


def work() -> None:
    """Does the work of both queues' workers."""
    for prediction in Prediction.objects.filter(state=State.QUEUED):
        run_system.WORK.run(prediction.pk)
    for run in Run.objects.filter(state=State.QUEUED):
        runs.WORK.run(run.pk)


def test_an_image_becomes_a_score(world: World, correct_image: Path) -> None:
    submission = submit(world, correct_image)
    assert not ImageUpload.objects.exists()
    work()
    prediction = submission.predictions.get()
    assert prediction.state == State.DONE, (prediction.reason, prediction.problems, prediction.log)
    assert prediction.n_lines == len(LABELS)
    assert prediction.cost["wall_seconds"] > 0
    assert prediction.execution["image"] == Image.objects.get().digest
    assert "answered 4" in prediction.log
    release = submission.releases.get()
    assert [score["value"] for score in release.values if score["measure"] == "accuracy" and not score["slice"]] == [
        1.0
    ]
    assert release.cost == costs.of(prediction).as_dict()
    # So short an execution may end before its processor time and memory are measured.
    assert release.cost["wall_seconds"] >= 1.0 and release.cost["image_mb"] >= 1.0


def test_the_same_archive_is_stored_once(world: World, correct_image: Path) -> None:
    first = submit(world, correct_image)
    storage = first.image.archive.storage
    stored = storage.listdir("archives")
    assert submit(world, correct_image).image == first.image
    assert storage.listdir("archives") == stored


def test_a_missing_answer_is_rejected_and_charged(world: World, folder: Path) -> None:
    submission = submit(world, container_images.archive_of(container_images.answering({"a1": "SUPPORTS"}), folder))
    work()
    prediction = submission.predictions.get()
    assert (prediction.state, prediction.reason) == (State.REJECTED, Reason.BAD_PREDICTIONS)
    assert "3 ids are missing" in prediction.problems[0]["text"]
    assert QuotaCharge.objects.get(submission=submission).refunded_at is None


def test_an_invalid_image_is_refused_and_refunded(world: World, tmp_path: Path) -> None:
    (tmp_path / "no.tar").write_bytes(b"this is no archive" * 1000)
    submission = submit(world, tmp_path / "no.tar")
    work()
    prediction = submission.predictions.get()
    assert (prediction.state, prediction.reason) == (State.REJECTED, Reason.BAD_IMAGE)
    assert QuotaCharge.objects.get(submission=submission).refunded_at is not None


def test_an_interrupted_upload_is_resumed(world: World, correct_image: Path) -> None:
    content = correct_image.read_bytes()
    upload = image_uploads.begin(phase=world.phase, by=world.researcher, name="i.tar", size=len(content))
    image_uploads.add(upload=upload, offset=0, chunk=content[:1000])
    with pytest.raises(Refused) as refused:
        image_uploads.add(upload=upload, offset=0, chunk=content[:1000])
    assert refused.value.code is Code.WRONG_OFFSET
    with pytest.raises(Refused, match="send the rest first"):
        image_uploads.finish(upload=upload, entry=world.entry())
    # A new process, which knows only the database, resumes.
    resumed = ImageUpload.objects.get(pk=upload.pk)
    for offset in range(resumed.received, len(content), image_uploads.CHUNK_BYTES):
        image_uploads.add(upload=resumed, offset=offset, chunk=content[offset : offset + image_uploads.CHUNK_BYTES])
    submission = image_uploads.finish(upload=resumed, entry=world.entry())
    work()
    assert submission.predictions.get().state == State.DONE


def test_after_a_worker_dies_another_makes_the_prediction(world: World, correct_image: Path, settings) -> None:
    with correct_image.open("rb") as file:
        image = image_files.get_or_store(
            archive=File(file), sha256=hashlib.sha256(correct_image.read_bytes()).hexdigest()
        )
    submission = images.submit(phase=world.phase, entry=world.entry(), image=image)
    waiting = submission.predictions.get()
    dead = run_system.WORK.claim(waiting.pk)
    assert dead is not None
    Prediction.objects.filter(pk=waiting.pk).update(lease_until=waiting.queued_at)
    assert run_system.WORK.sweep() == 1
    work()
    prediction = submission.predictions.get()
    assert (prediction.state, prediction.attempt) == (State.DONE, 2)
    with pytest.raises(LeaseLostError):
        run_system.reject(dead, reason=Reason.SYSTEM_EXIT, problems=[])
    assert Run.objects.count() == 1

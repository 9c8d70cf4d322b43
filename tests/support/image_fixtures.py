"""Fixtures for tests that run containers through the site: a world that accepts images, and images as archives.

Put `pytest_plugins = ["tests.support.image_fixtures"]` into a test module.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.core.files import File
from django.utils import timezone

from leaderboard.containers.actions import image_files, images, run_system, workers
from leaderboard.models import Image, Prediction, QuotaCharge, Run, State, Submission
from leaderboard.scoring.actions import runs
from tests.support import container_images
from tests.support.rows.tiny_world import LABELS, World, build
from tests.support.workers.running_stack import empty_queue

WAITS_AT = 599
"""Seconds of wall time: only with this limit the patient image waits for ever."""
PATIENT = f"""
import os, signal
if os.environ["HOLDOUT_WALL_SECONDS"] == "{WAITS_AT}":
    print("waiting", flush=True)
    signal.pause()
"""
needs_engine = pytest.mark.skipif(bool(container_images.missing()), reason=container_images.missing())


@pytest.fixture
def world(transactional_db: None, sandbox: str) -> Iterator[World]:
    """Build a world whose phase accepts images; check after the test that the engine has no container or image left."""
    empty_queue()
    world = build(quota_per_day=50)
    world.phase.takes_images = True
    world.phase.save()
    assert workers.report().ready
    yield world
    Prediction.objects.filter(state__in=(State.QUEUED, State.RUNNING)).update(
        state=State.FAILED, lease_until=None, finished_at=timezone.now()
    )
    settings.IMAGE_CACHE_BYTES, before = 0, settings.IMAGE_CACHE_BYTES
    workers.report()
    settings.IMAGE_CACHE_BYTES = before
    assert container_images.left(settings.INSTANCE) == []
    known = Image.objects.exclude(digest="").values_list("digest", flat=True)
    assert [image for image in known if container_images.is_there(image)] == [], (
        "the engine still has images that no work needs"
    )


@pytest.fixture(scope="session")
def archives(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return a callable: program -> archive of an image that runs it; each is built once."""
    folder, built = tmp_path_factory.mktemp("archives"), dict[str, Path]()

    def archive(program: str) -> Path:
        if program not in built:
            built[program] = container_images.archive_of(program, folder)
        return built[program]

    return archive


@pytest.fixture(scope="session")
def right(archives: Callable[[str], Path]) -> Path:
    """An image that predicts every label correctly."""
    return archives(container_images.answering(LABELS))


@pytest.fixture(scope="session")
def patient(archives: Callable[[str], Path]) -> Path:
    """The same, but it waits for ever if the limit of wall time is WAITS_AT."""
    return archives(PATIENT + container_images.answering(LABELS))


def submit(world: World, archive: Path) -> Submission:
    with archive.open("rb") as file:
        image = image_files.get_or_store(archive=File(file), sha256=hashlib.file_digest(file, "sha256").hexdigest())
    return images.submit(phase=world.phase, entry=world.entry(), image=image)


def work() -> None:
    """Process each waiting row once, as the workers of both queues would."""
    for prediction in Prediction.objects.filter(state=State.QUEUED):
        run_system.WORK.run(prediction.pk)
    for run in Run.objects.filter(state=State.QUEUED):
        runs.WORK.run(run.pk)


def accuracy(submission: Submission) -> float:
    (release,) = submission.releases.all()
    (value,) = (score["value"] for score in release.values if score["measure"] == "accuracy" and not score["slice"])
    return value


def assert_one_result(submission: Submission) -> Prediction:
    """Check the invariant: one finished prediction, one run, one charge, one file."""
    (prediction,) = Prediction.objects.filter(submission=submission)
    assert prediction.state == State.DONE, (prediction.state, prediction.reason, prediction.problems)
    (run,) = Run.objects.filter(prediction=prediction)
    assert run.state == State.DONE
    assert accuracy(submission) == 1.0
    (charge,) = QuotaCharge.objects.filter(submission=submission)
    assert charge.refunded_at is None
    files = [name for name in prediction.file.storage.listdir("")[1] if name.startswith(prediction.pk.hex)]
    assert files == [prediction.file.name]
    return prediction

"""Images that no honest build makes: each submission is rejected in time, charged, raises no alarm and leaves nothing.

The images and how they end are listed in `tests/support/hostile_images.py`; `tests/evaluator/sandbox/containers` has
those that the check of the archive refuses, without an engine.
"""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
import structlog
from django.conf import settings

from evaluator.sandbox.containers import image_errors
from leaderboard.models import QuotaCharge, Reason, State
from tests.support import container_images
from tests.support.hostile_images import REFUSED_BY_ENGINE, REFUSED_WHEN_READ, RUN_BY_ENGINE
from tests.support.image_fixtures import needs_engine, submit, work
from tests.support.rows.tiny_world import World

pytest_plugins = ["tests.support.image_fixtures"]
pytestmark = [pytest.mark.engine, pytest.mark.hostile, pytest.mark.django_db(transaction=True), needs_engine]

WALL_SECONDS = 20
BAD_IMAGE: set[str] = {Reason.BAD_IMAGE}
IMAGES = {
    "126 layers": (REFUSED_WHEN_READ["126 layers"][0], BAD_IMAGE),
    **{name: (image, BAD_IMAGE) for name, image in REFUSED_BY_ENGINE.items()},
    **RUN_BY_ENGINE,
}
BRIEF = {
    "60,000 variables",
    "126 layers",
    "WORKDIR is a file",
    "/etc/group is a link to /dev/zero",
    "/etc/passwd is a FIFO",
    "a hard link to nothing",
    "/tmp is a file",
    "1,000 variables",
}
CASES = [pytest.param(name, marks=() if name in BRIEF else pytest.mark.slow) for name in IMAGES]


@pytest.mark.parametrize("name", CASES)
def test_a_hostile_image_is_rejected_and_charged(
    world: World, tmp_path: Path, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    image, expected = IMAGES[name]
    world.phase.limits = {"wall_seconds": WALL_SECONDS, "memory_bytes": 128_000_000}
    world.phase.save()
    archive, before = tmp_path / "image.tar", container_images.volumes()
    archive.write_bytes(image.legacy())
    submission = submit(world, archive)
    with structlog.testing.capture_logs() as events:
        work()
    prediction = submission.predictions.get()
    assert (prediction.state, prediction.attempt) == (State.REJECTED, 1), (prediction.reason, events, caplog.text)
    assert prediction.reason in expected, (prediction.reason, prediction.problems, prediction.log)
    assert (prediction.finished_at - prediction.started_at).total_seconds() < WALL_SECONDS + 10
    (problem,) = prediction.problems
    assert problem["text"] and str(settings.DATA) not in problem["text"]
    assert QuotaCharge.objects.get(submission=submission).refunded_at is None
    assert [event for event in events if event["log_level"] in ("error", "critical")] == []
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []
    assert container_images.left(settings.INSTANCE) == []
    assert container_images.volumes() - before == set()


def test_only_errors_of_honest_images_are_refunded() -> None:
    kinds = [kind for kind in vars(image_errors).values() if isinstance(kind, type)]
    charged = {kind.code for kind in kinds if issubclass(kind, image_errors.ImageError) and not kind.is_refunded}
    assert charged == {"config", "layers", "refused", "load_time"}

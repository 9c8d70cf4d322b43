"""Rows of container submissions for tests of pages, as workers write them, without an engine."""

from __future__ import annotations

import uuid
from typing import Any

from django.core.files.base import ContentFile
from django.utils import timezone

from leaderboard.evaluation import container_limits
from leaderboard.models import Image, Prediction, QuotaCharge, State, Submission, WorkerReport
from tests.support.rows.tiny_world import World, prediction_lines

DIGEST = "sha256:" + "5e" * 32


def engine_is_there(**changes: Any) -> WorkerReport:
    """Insert a recent report of a worker that is ready."""
    fields = {"ready": True, "detail": {"runtime": "runc", "no network": True}, "seen_at": timezone.now()}
    return WorkerReport.objects.create(**{"queue": "systems", "host": "engine-1", **fields, **changes})


def takes_images(world: World, **changes: Any) -> None:
    """Make the world's phase accept images too."""
    for name, value in {"takes_images": True, **changes}.items():
        setattr(world.phase, name, value)
    world.phase.save()


def hide_inputs(world: World) -> None:
    world.split.inputs_public = False
    world.split.save()
    world.phase.split = world.split


def insert(world: World, *, state: str = State.QUEUED, with_file: bool = False, **changes: Any) -> Prediction:
    """Insert a submission of an image, with its prediction in a state."""
    at = timezone.now()
    image = Image(archive_sha256=uuid.uuid4().hex * 2, archive_bytes=12_000_000, digest=DIGEST)
    image.archive.save("image.tar", ContentFile(b"an archive"), save=True)
    submission = Submission.objects.create(
        phase=world.phase,
        system=world.system,
        kind=Submission.Kind.IMAGE,
        image=image,
        submitted_by=world.researcher,
        received_at=at,
    )
    QuotaCharge.objects.create(submission=submission, phase=world.phase, team=world.system.team, charged_at=at)
    prediction = Prediction(
        submission=submission,
        name="predictions.jsonl",
        inputs_sha256=world.split.inputs_sha256,
        state=state,
        queued_at=at,
        started_at=None if state == State.QUEUED else at,
        lease_until=at if state == State.RUNNING else None,
        finished_at=None if state in (State.QUEUED, State.RUNNING) else at,
    )
    for name, value in changes.items():
        setattr(prediction, name, value)
    if with_file:
        prediction.sha256, prediction.bytes, prediction.n_lines = "ab" * 32, len(prediction_lines()), 4
        prediction.file.save("predictions.jsonl", ContentFile(prediction_lines()), save=False)
    prediction.save()
    return prediction


def ran(**changes: Any) -> dict[str, Any]:
    """Return the fields that an execution sets in a prediction, with times between the coarse steps."""
    execution = {
        "image": DIGEST,
        "limits": container_limits.defaults().as_dict(),
        "runtime": "runc",
        "exit_code": 113,
        "timings": {"create": 0.123},
        "log_is_cut": False,
    }
    cost = {"wall_seconds": 37.25, "cpu_seconds": 36.5, "peak_memory_bytes": 301_000_000, "image_bytes": 77_000_000}
    return {"cost": cost, "execution": execution, "log": "", **changes}

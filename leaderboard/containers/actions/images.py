"""Submitting a container image: kept once, charged and queued in one transaction for a worker with an engine."""

from __future__ import annotations

from datetime import datetime

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.utils import timezone

from leaderboard.containers.actions import engine, image_files, run_system
from leaderboard.core.refusal import Code, Refused
from leaderboard.core.uploads import sha256_of
from leaderboard.evaluation import container_limits
from leaderboard.models import AuditEntry, Image, Phase, State, Submission, System, User
from leaderboard.submissions.actions import submit as submissions
from leaderboard.work_queue import worker_status


def check_takes_images(phase: Phase) -> None:
    """Raises Refused that says why the phase takes no image at this moment."""
    if not phase.takes_images:
        raise Refused(Code.NOT_TAKEN, "This phase takes predictions files, no container images.")
    here = worker_status.of(worker_status.queue_of(phase))
    if not here.ready:
        raise Refused(Code.ENGINE_AWAY, f"Containers cannot be submitted at this moment. {here.why_not}")


def check_size(phase: Phase, size: int) -> None:
    """Raises Refused for an archive that cannot be an image within the phase's limit."""
    most = container_limits.of(phase).image_bytes
    if not 1 <= size <= most:
        raise Refused(Code.TOO_LARGE, f"The archive has {size:,} bytes; expected 1 to {most:,}, as this phase allows.")


def submit(*, phase: Phase, system: System, image: Image, by: User, track: str = "", note: str = "") -> Submission:
    """Queue one execution of an image on the phase's inputs, or raise Refused.

    An image that turns out to be no image is rejected later, by the worker that reads it, and is refunded.
    """
    received_at = timezone.now()
    submissions.check_may_submit(phase=phase, system=system, by=by, at=received_at, track=track)
    check_takes_images(phase)
    return _accept(phase=phase, system=system, image=image, by=by, track=track, note=note, at=received_at)


@transaction.atomic
def _accept(*, phase: Phase, system: System, image: Image, by: User, track: str, note: str, at: datetime) -> Submission:
    phase.split = submissions.locked_split(phase)
    submissions.check_in_use(phase)
    submission = submissions.charged(phase=phase, system=system, by=by, track=track, note=note, at=at, image=image)
    image_files.check_stored(image)
    submission.phase = phase
    run_system.queue(submission=submission)
    AuditEntry.record("submission.accepted", submission, by=by, image=str(image))
    return submission


def submit_archive(
    *, phase: Phase, system: System, file: UploadedFile, by: User, track: str = "", note: str = ""
) -> Submission:
    """The same for an archive that came whole, in one request."""
    submissions.check_may_submit(phase=phase, system=system, by=by, at=timezone.now(), track=track)
    check_takes_images(phase)
    check_size(phase, file.size or 0)
    image = image_files.kept(archive=file, sha256=sha256_of(file))
    return submit(phase=phase, system=system, image=image, by=by, track=track, note=note)


def named(reference: str) -> Image:
    """The image that a registry keeps under `registry/name@sha256:...`; whether we may fetch it the worker decides."""
    made, _ = Image.objects.get_or_create(reference=reference)
    return made


def submit_reference(
    *, phase: Phase, system: System, reference: str, by: User, track: str = "", note: str = ""
) -> Submission:
    """The same for an image that a registry keeps. Raises Refused for one that no allowed registry can answer."""
    if not settings.REGISTRIES:
        raise Refused(Code.INVALID_IMAGE, "No registry is allowed here; send the archive that docker save writes.")
    try:
        checked = engine.checked_reference(reference)
    except engine.ImageError as error:
        raise Refused(Code.INVALID_IMAGE, f"{error}.") from error
    check_takes_images(phase)
    submissions.check_may_submit(phase=phase, system=system, by=by, at=timezone.now(), track=track)
    return submit(phase=phase, system=system, image=named(checked), by=by, track=track, note=note)


def cancel(*, submission: Submission, by: User) -> bool:
    """Withdraw an image that waits or runs; whether there was anything to stop. The charge stays."""
    at = timezone.now()
    live = submission.predictions.filter(state__in=(State.QUEUED, State.RUNNING))
    stopped = live.update(state=State.CANCELLED, reason="withdrawn", stage="", lease_until=None, finished_at=at)
    if stopped:
        AuditEntry.record("submission.withdrawn", submission, by=by)
    return bool(stopped)

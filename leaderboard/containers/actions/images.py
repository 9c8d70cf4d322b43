"""Submission of container images, which workers with a container engine execute later.

One transaction charges the quota and queues the execution.
"""

from __future__ import annotations

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction

from leaderboard.containers.actions import engine, image_files, run_system
from leaderboard.core.refusal import Code, Refused
from leaderboard.core.uploads import sha256_of
from leaderboard.evaluation import container_limits
from leaderboard.models import AuditEntry, Image, Phase, Reason, Submission, User
from leaderboard.scoring.actions import sealed_phases
from leaderboard.submissions.actions import idempotency
from leaderboard.submissions.actions import submit as submissions
from leaderboard.submissions.actions.submit import Entry
from leaderboard.work_queue import worker_status
from leaderboard.work_queue.lease import cancel_rows


def check_takes_images(phase: Phase) -> None:
    """Raise Refused: NOT_ACCEPTED if the phase accepts no images, ENGINE_UNAVAILABLE if no worker can run one now."""
    if not phase.takes_images:
        raise Refused(Code.NOT_ACCEPTED, "This phase accepts predictions files, not container images.")
    status = worker_status.of_phase(phase)
    if not status.ready:
        raise Refused(Code.ENGINE_UNAVAILABLE, f"Containers cannot be submitted at the moment. {status.why_not}")


def submit(*, phase: Phase, entry: Entry, image: Image, key: idempotency.Key | None = None) -> Submission:
    """Submit an image to a phase: charge the quota and queue one execution on the phase's inputs.

    The worker that reads an invalid image rejects it later, and refunds the quota charge if the image may have the
    error by mistake (`ImageError.is_refunded`). key: the request's idempotency key. Raises Refused as
    `check_takes_images` and `check_may_submit` do, and UPLOAD_GONE if the image's archive was deleted;
    idempotency.RepeatedError as for a predictions file.
    """
    by = entry.by
    idempotency.check_unused(key, by)
    _, received_at = submissions.check_may_submit(phase=phase, entry=entry)
    check_takes_images(phase)
    with submissions.accepting(phase=phase, by=by, key=key):
        submission = submissions.create_and_charge(phase=phase, entry=entry, at=received_at, image=image, key=key)
        image_files.check_stored(image)
        submission.phase = phase
        run_system.queue(submission=submission)
        AuditEntry.record("submission.accepted", submission, by=by, image=str(image))
    return submission


def submit_archive(*, phase: Phase, entry: Entry, file: UploadedFile, idempotency_key: str = "") -> Submission:
    """Submit the image in an archive that was sent in one request. Raises as `submit` and
    `ContainerLimits.check_archive` do.

    idempotency_key: chosen by the client; empty: none.
    """
    key = entry.key_of(idempotency_key, phase=phase.pk, archive=sha256_of(file))
    idempotency.check_unused(key, entry.by)
    submissions.check_may_submit(phase=phase, entry=entry)
    check_takes_images(phase)
    container_limits.of(phase).check_archive(file.size or 0)
    image = image_files.get_or_store(archive=file, sha256=sha256_of(file))
    return submit(phase=phase, entry=entry, image=image, key=key)


def get_or_create(reference: str) -> Image:
    """Return the Image of a reference `registry/name@sha256:...`, created if it is new. A worker pulls it later."""
    image, _ = Image.objects.get_or_create(reference=reference)
    return image


def submit_reference(*, phase: Phase, entry: Entry, reference: str, idempotency_key: str = "") -> Submission:
    """Submit an image in a registry, `registry/name@sha256:...`.

    idempotency_key: chosen by the client; empty: none. Raises as `submit` does, and Refused INVALID_REFERENCE for a
    malformed reference or a registry that is not allowed.
    """
    key = entry.key_of(idempotency_key, phase=phase.pk, reference=reference)
    idempotency.check_unused(key, entry.by)
    if not settings.REGISTRIES:
        raise Refused(
            Code.INVALID_REFERENCE, "This server allows no registry; upload the archive written by docker save instead."
        )
    try:
        checked = engine.checked_reference(reference)
    except engine.ImageError as error:
        raise Refused(Code.INVALID_REFERENCE, f"The reference cannot be used: {error}.") from error
    check_takes_images(phase)
    submissions.check_may_submit(phase=phase, entry=entry)
    return submit(phase=phase, entry=entry, image=get_or_create(checked), key=key)


@transaction.atomic
def cancel(*, submission: Submission, by: User) -> bool:
    """Cancel the queued or running container of a submission, or the queued or running validation of its large file.

    Return False if there is nothing to cancel. The submission still counts against the quota, and is no final any more.
    """
    cancelled = cancel_rows(submission.predictions.all(), Reason.WITHDRAWN, stage="")
    if cancelled:
        sealed_phases.remove_lost(submission.pk)
        AuditEntry.record("submission.withdrawn", submission, by=by)
    return cancelled > 0

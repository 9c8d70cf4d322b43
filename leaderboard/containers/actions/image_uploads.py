"""Chunked uploads (`core/chunked_upload.py`) of image archives that become submissions or custom scorers."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db import transaction

from leaderboard.boards.actions import tracks
from leaderboard.containers.actions import image_files, images, scorers
from leaderboard.containers.actions.scorers import Declared
from leaderboard.core import chunked_upload, db_clock
from leaderboard.core.chunked_upload import AT_ONCE, CHUNK_BYTES, CHUNKS_FOLDER, discard
from leaderboard.core.refusal import Code, Refused
from leaderboard.core.rights import check_manages
from leaderboard.evaluation import container_limits
from leaderboard.models import Benchmark, Image, ImageUpload, Phase, Scorer, Submission, User
from leaderboard.models.image import images_storage
from leaderboard.submissions.actions import idempotency, registrations, submit
from leaderboard.submissions.actions.submit import Entry

__all__ = [
    "AT_ONCE",
    "CHUNKS_FOLDER",
    "CHUNK_BYTES",
    "add",
    "begin",
    "begin_scorer",
    "discard",
    "finish",
    "finish_scorer",
    "forget_old",
    "images_storage",
]


def begin(
    *, phase: Phase, by: User, name: str, size: int, sha256: str = "", track: str = "", metadata: str = ""
) -> ImageUpload:
    """Begin the chunked upload of an image archive of `size` bytes, to be submitted to a phase by the user `by`.

    name: file name of the archive. sha256: its digest, checked after the last chunk; empty: not checked. track:
    validated here, before gigabytes are sent, but not stored; pass it to `finish` again. metadata: see
    `chunked_upload.begin`. Raises Refused if the phase accepts no images or is closed to the user, if the track or the
    size is not allowed, and as `chunked_upload.begin` does.
    """
    images.check_takes_images(phase)
    registrations.check_person(benchmark=phase.benchmark, by=by)
    submit.check_open_to(phase, by, db_clock.read())
    tracks.check_known(phase=phase, track=track)
    container_limits.of(phase).check_archive(size)
    return _begun(by=by, name=name, size=size, sha256=sha256, metadata=metadata, phase=phase)


def begin_scorer(
    *, benchmark: Benchmark, by: User, name: str, size: int, sha256: str = "", metadata: str = ""
) -> ImageUpload:
    """Begin the chunked upload of an image archive of `size` bytes that becomes a custom scorer of the benchmark.

    name: file name of the archive. sha256: its digest, checked after the last chunk; empty: not checked. metadata: see
    `chunked_upload.begin`. Raises Refused: NOT_AN_ORGANISER unless the user `by` manages the benchmark, TOO_LARGE for
    the size, and as `chunked_upload.begin` does.
    """
    check_manages(benchmark, by)
    container_limits.of_scorer().check_archive(size)
    return _begun(by=by, name=name, size=size, sha256=sha256, metadata=metadata, benchmark=benchmark)


def _begun(*, by: User, name: str, size: int, sha256: str, **whose: Any) -> ImageUpload:
    return chunked_upload.begin(ImageUpload, by=by, name=name, size=size, sha256=sha256, **whose)


def add(*, upload: ImageUpload, offset: int, chunk: bytes) -> ImageUpload:
    """Store the next chunk of an archive, and return the upload. Raises Refused as `chunked_upload.add` does.

    offset: position of the chunk's first byte in the archive; it must be the number of bytes received so far.
    """
    return chunked_upload.add(upload, offset=offset, chunk=chunk)


def key_of(text: str, *, upload: UUID, entry: Entry) -> idempotency.Key | None:
    """Return the idempotency key with which `finish` submits an upload. The upload need not exist any more."""
    return entry.key_of(text, upload=str(upload))


def finish(*, upload: ImageUpload, entry: Entry, idempotency_key: str = "") -> Submission:
    """Join the chunks of an upload and submit the image.

    idempotency_key: chosen by the client; empty: none. Callers check it before they look for the upload (`key_of`),
    which the first request deletes. Raises Refused if the upload is incomplete or was begun for a scorer, if the
    archive has another SHA-256 than announced, and as `images.submit` does. Only a wrong SHA-256 discards the upload;
    else the call can be repeated.
    """
    chunked_upload.check_whole(upload)
    phase = upload.phase
    if phase is None:
        raise Refused(
            Code.INVALID_VALUE, "This upload was begun for a scorer; expected one that was begun for a phase."
        )
    submit.check_may_submit(phase=phase, entry=entry)
    images.check_takes_images(phase)
    key = key_of(idempotency_key, upload=upload.pk, entry=entry)
    try:
        image = _image_of(upload)
        # The lock makes concurrent requests charge the quota only once.
        with transaction.atomic():
            chunked_upload.hold(upload)
            submission = images.submit(phase=phase, entry=entry, image=image, key=key)
            _delete(upload)
        return submission
    except Refused as refused:
        if refused.code is Code.UPLOAD_GONE:
            idempotency.check_unused(key, entry.by)  # the same request, sent twice, has finished the upload
        raise


def finish_scorer(*, upload: ImageUpload, declared: Declared, by: User) -> Scorer:
    """Join the chunks of an upload and add the image as the next custom scorer of the upload's benchmark.

    Raises Refused if the upload is incomplete or was begun for a phase, if the archive has another SHA-256 than
    announced, and as `scorers.add` does.
    """
    chunked_upload.check_whole(upload)
    benchmark = upload.benchmark
    if benchmark is None:
        raise Refused(
            Code.INVALID_VALUE, "This upload was begun for a phase; expected one that was begun for a scorer."
        )
    check_manages(benchmark, by)
    declared.check()
    image = _image_of(upload)
    # The lock makes concurrent requests add only one scorer.
    with transaction.atomic():
        chunked_upload.hold(upload)
        scorer = scorers.add(benchmark=benchmark, image=image, declared=declared, by=by)
        _delete(upload)
    return scorer


def _image_of(upload: ImageUpload) -> Image:
    """Join an upload's chunks and return their Image. Raises Refused as `chunked_upload.whole` does."""
    with chunked_upload.whole(upload, name="image.tar", what="archive") as (archive, sha256):
        return image_files.get_or_store(archive=archive, sha256=sha256)


def _delete(upload: ImageUpload) -> None:
    """Delete the upload's row, and its chunks after the commit; the clean-up deletes chunks that then remain."""
    ImageUpload.objects.filter(pk=upload.pk).delete()
    transaction.on_commit(lambda: chunked_upload.delete_chunks(images_storage(), upload.pk), robust=True)


def forget_old() -> int:
    """Discard image uploads that got no chunk for long, and chunks without an upload; return the number of uploads."""
    return chunked_upload.delete_idle(ImageUpload)

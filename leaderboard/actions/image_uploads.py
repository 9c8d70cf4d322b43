"""Image archives arrive in pieces: each begins where the last one ended, so what broke off goes on from there."""

from __future__ import annotations

import contextlib
import hashlib
from typing import Any
from uuid import UUID

from django.core.files.base import ContentFile, File
from django.core.files.storage import Storage
from django.core.files.uploadedfile import TemporaryUploadedFile
from django.db import transaction
from django.utils import timezone

from leaderboard.actions import image_files, images, rescoring, scorers, submissions, tracks
from leaderboard.actions.refusal import Code, Refused
from leaderboard.models import AuditEntry, Benchmark, Image, ImageUpload, Phase, Scorer, Submission, System, User
from leaderboard.models.image import KEPT, images_storage

PIECE_BYTES = 16_000_000
"""The most that one request may bring."""
PIECES = "pieces"
AT_ONCE = 3
"""Unfinished uploads of one person; each may hold as much as an image."""


def begin(*, phase: Phase, by: User, name: str, size: int, sha256: str = "", track: str = "") -> ImageUpload:
    """Make room for an archive of `size` bytes; raises Refused.

    `track`: as `finish` will have it. It is looked at before gigabytes are sent, and nothing else comes of it here.
    """
    images.check_takes_images(phase)
    submissions.check_open_to(phase, by, timezone.now())
    tracks.check_known(phase=phase, track=track)
    images.check_size(phase, size)
    return _begun(by=by, name=name, size=size, sha256=sha256, phase=phase)


def begin_scorer(*, benchmark: Benchmark, by: User, name: str, size: int, sha256: str = "") -> ImageUpload:
    """The same for an archive that becomes a scorer of the benchmark."""
    rescoring.check_manages(benchmark, by)
    scorers.check_size(size)
    return _begun(by=by, name=name, size=size, sha256=sha256, benchmark=benchmark)


def _begun(*, by: User, name: str, size: int, sha256: str, **whose: Any) -> ImageUpload:
    if sha256 and (len(sha256) != 64 or not set(sha256) <= set("0123456789abcdef")):
        raise Refused(Code.INVALID_IMAGE, "The sha256 is malformed; expected 64 lower-case hexadecimal digits.")
    with transaction.atomic():
        User.objects.select_for_update().get(pk=by.pk)
        if ImageUpload.objects.filter(by=by).count() >= AT_ONCE:
            raise Refused(
                Code.QUOTA_EXCEEDED, f"You have {AT_ONCE} uploads under way; finish one of them or give one up first."
            )
        return ImageUpload.objects.create(by=by, name=name[-255:], bytes=size, sha256=sha256, **whose)


def add(*, upload: ImageUpload, offset: int, piece: bytes) -> ImageUpload:
    """Keep the next piece. Raises Refused where it does not begin at `received`: the sender asks, and goes on there."""
    if offset != upload.received:
        raise _elsewhere(upload)
    if not piece or offset + len(piece) > upload.bytes:
        raise Refused(
            Code.INVALID_IMAGE,
            f"The piece has {len(piece)} bytes at {offset}; expected 1 to {upload.bytes - offset}, as was announced.",
        )
    if len(piece) > PIECE_BYTES:
        raise Refused(Code.TOO_LARGE, f"The piece has {len(piece):,} bytes; expected at most {PIECE_BYTES:,}.")
    storage = images_storage()
    stored = storage.save(f"{PIECES}/{upload.pk.hex}/{offset:014d}", ContentFile(piece))
    pieces = [*upload.pieces, stored]
    kept = ImageUpload.objects.filter(pk=upload.pk, received=offset).update(
        received=offset + len(piece), pieces=pieces, touched_at=timezone.now()
    )
    if not kept:
        storage.delete(stored)
        there = ImageUpload.objects.filter(pk=upload.pk).first()
        if there is None:
            _delete_pieces(upload.pk)  # the folder came back with this piece
            raise _gone()
        raise _elsewhere(there)
    upload.received, upload.pieces = offset + len(piece), pieces
    return upload


def finish(*, upload: ImageUpload, system: System, by: User, track: str = "", note: str = "") -> Submission:
    """Put the pieces together and submit the image. A refused one stays, to be asked for again."""
    _check_whole(upload)
    phase = upload.phase
    if phase is None:
        raise Refused(Code.INVALID_IMAGE, "This upload is for a scorer, not for a phase.")
    submissions.check_may_submit(phase=phase, system=system, by=by, at=timezone.now(), track=track)
    images.check_takes_images(phase)
    image = _image_of(upload)
    submission = _submitted_once(upload, phase=phase, system=system, image=image, by=by, track=track, note=note)
    _delete_pieces(upload.pk)
    return submission


def finish_scorer(*, upload: ImageUpload, by: User, **described: Any) -> Scorer:
    """Put the pieces together and make them the benchmark's next scorer. `described` as for `scorers.add`."""
    _check_whole(upload)
    benchmark = upload.benchmark
    if benchmark is None:
        raise Refused(Code.INVALID_IMAGE, "This upload is for a phase, not for a scorer.")
    rescoring.check_manages(benchmark, by)
    scorers.check_declared(described["measures"], described["primary"])
    image = _image_of(upload)
    made = _scorer_once(upload, benchmark=benchmark, image=image, by=by, **described)
    _delete_pieces(upload.pk)
    return made


@transaction.atomic
def _scorer_once(upload: ImageUpload, **described: Any) -> Scorer:
    """Of two requests that finish an upload one makes a scorer."""
    _hold(upload)
    made = scorers.add(**described)
    ImageUpload.objects.filter(pk=upload.pk).delete()
    return made


def _check_whole(upload: ImageUpload) -> None:
    if not upload.is_whole:
        raise Refused(
            Code.INVALID_IMAGE, f"{upload.received:,} of {upload.bytes:,} bytes are here; send the rest first."
        )


def _image_of(upload: ImageUpload) -> Image:
    """The pieces as an image, stored once. Raises Refused where they are not what was announced."""
    # Named, so that a store of folders can move it into its place instead of copying it.
    with TemporaryUploadedFile("image.tar", "application/x-tar", upload.bytes, None) as whole:
        try:
            sha256 = _joined(images_storage(), upload.pieces, whole)
        except FileNotFoundError:
            # Whoever submitted it or gave it up in the meantime has taken the pieces away.
            if ImageUpload.objects.filter(pk=upload.pk).exists():
                raise
            raise _gone() from None
        if upload.sha256 not in ("", sha256):
            discard(upload)
            raise Refused(
                Code.INVALID_IMAGE,
                f"The archive came with the sha256 {sha256}, and {upload.sha256} was announced; send it again.",
            )
        return image_files.kept(archive=whole, sha256=sha256)


@transaction.atomic
def _submitted_once(upload: ImageUpload, **described: Any) -> Submission:
    """The upload ends with its submission: of two requests that finish it, one is charged."""
    _hold(upload)
    submission = images.submit(**described)
    ImageUpload.objects.filter(pk=upload.pk).delete()
    return submission


def _hold(upload: ImageUpload) -> None:
    if not ImageUpload.objects.select_for_update().filter(pk=upload.pk).exists():
        raise _gone()


def _joined(storage: Storage, pieces: list[str], whole: File[bytes]) -> str:
    """Writes the pieces one after the other; the sha256 of it all."""
    digest = hashlib.sha256()
    for name in pieces:
        with storage.open(name, "rb") as piece:
            for chunk in piece.chunks(1 << 20):
                digest.update(chunk)
                whole.write(chunk)
    whole.seek(0)
    return digest.hexdigest()


def discard(upload: ImageUpload) -> None:
    """Forget an upload and what came of it."""
    key = upload.pk
    upload.delete()
    _delete_pieces(key)


def _delete_pieces(key: UUID) -> None:
    """Also those that a request which died between the store and the database left."""
    storage, folder = images_storage(), f"{PIECES}/{key.hex}"
    with contextlib.suppress(FileNotFoundError):
        for name in storage.listdir(folder)[1]:
            storage.delete(f"{folder}/{name}")
        storage.delete(folder)


def forget_old() -> int:
    """Discard what nobody has gone on with for days, and pieces without an upload; how many uploads that were."""
    old = list(ImageUpload.objects.filter(touched_at__lt=timezone.now() - KEPT))
    for upload in old:
        AuditEntry.record("image_upload.forgotten", upload, received=upload.received, bytes=upload.bytes)
        discard(upload)
    _delete_strays()
    return len(old)


def _delete_strays() -> None:
    """A row goes before its pieces do; and it goes alone when its person or phase is deleted."""
    with contextlib.suppress(FileNotFoundError):
        folders = images_storage().listdir(PIECES)[0]
        for key in (UUID(name) for name in folders):
            if not ImageUpload.objects.filter(pk=key).exists():
                _delete_pieces(key)


def _gone() -> Refused:
    return Refused(Code.WRONG_OFFSET, "This upload has been submitted or given up already.")


def _elsewhere(upload: ImageUpload) -> Refused:
    return Refused(Code.WRONG_OFFSET, f"{upload.received} bytes are here; send the piece that begins there.")

"""Image archives arrive in pieces: each begins where the last one ended, so what broke off goes on from there."""

from __future__ import annotations

import hashlib
import tempfile
from typing import IO

from django.conf import settings
from django.core.files.base import ContentFile, File
from django.core.files.storage import Storage
from django.db import transaction
from django.utils import timezone

from leaderboard.actions import images, submissions
from leaderboard.actions.refusal import Code, Refused
from leaderboard.models import AuditEntry, ImageUpload, Phase, Submission, System, User
from leaderboard.models.image import KEPT, images_storage

PIECE_BYTES = 16_000_000
"""The most that one request may bring."""
AT_ONCE = 3
"""Unfinished uploads of one person; each may hold as much as an image."""


def begin(*, phase: Phase, by: User, name: str, size: int, sha256: str = "") -> ImageUpload:
    """Make room for an archive of `size` bytes; raises Refused."""
    images.check_takes_images(phase)
    submissions.check_open(phase, timezone.now())
    images.check_size(phase, size)
    if sha256 and (len(sha256) != 64 or not set(sha256) <= set("0123456789abcdef")):
        raise Refused(Code.INVALID_IMAGE, "The sha256 is malformed; expected 64 lower-case hexadecimal digits.")
    with transaction.atomic():
        User.objects.select_for_update().get(pk=by.pk)
        if ImageUpload.objects.filter(by=by).count() >= AT_ONCE:
            raise Refused(
                Code.QUOTA_EXCEEDED, f"You have {AT_ONCE} uploads under way; finish one of them or give one up first."
            )
        return ImageUpload.objects.create(phase=phase, by=by, name=name[-255:], bytes=size, sha256=sha256)


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
    stored = storage.save(f"pieces/{upload.pk.hex}/{offset:014d}", ContentFile(piece))
    pieces = [*upload.pieces, stored]
    kept = ImageUpload.objects.filter(pk=upload.pk, received=offset).update(
        received=offset + len(piece), pieces=pieces, touched_at=timezone.now()
    )
    if not kept:
        storage.delete(stored)
        raise _elsewhere(ImageUpload.objects.get(pk=upload.pk))
    upload.received, upload.pieces = offset + len(piece), pieces
    return upload


def finish(*, upload: ImageUpload, system: System, by: User, note: str = "") -> Submission:
    """Put the pieces together and submit the image. A refused one stays, to be asked for again."""
    if not upload.is_whole:
        raise Refused(
            Code.INVALID_IMAGE, f"{upload.received:,} of {upload.bytes:,} bytes are here; send the rest first."
        )
    submissions.check_may_submit(phase=upload.phase, system=system, by=by, at=timezone.now())
    images.check_takes_images(upload.phase)
    with tempfile.TemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR) as whole:
        sha256 = _joined(images_storage(), upload.pieces, whole)
        if upload.sha256 not in ("", sha256):
            discard(upload)
            raise Refused(
                Code.INVALID_IMAGE,
                f"The archive came with the sha256 {sha256}, and {upload.sha256} was announced; send it again.",
            )
        image = images.kept(archive=File(whole, name="image.tar"), sha256=sha256)
    submission = images.submit(phase=upload.phase, system=system, image=image, by=by, note=note)
    discard(upload)
    return submission


def _joined(storage: Storage, pieces: list[str], whole: IO[bytes]) -> str:
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
    pieces = list(upload.pieces)
    upload.delete()
    for name in pieces:
        images_storage().delete(name)


def forget_old() -> int:
    """Discard what nobody has gone on with for days; how many uploads that were."""
    old = list(ImageUpload.objects.filter(touched_at__lt=timezone.now() - KEPT))
    for upload in old:
        AuditEntry.record("image_upload.forgotten", upload, received=upload.received, bytes=upload.bytes)
        discard(upload)
    return len(old)


def _elsewhere(upload: ImageUpload) -> Refused:
    return Refused(Code.WRONG_OFFSET, f"{upload.received} bytes are here; send the piece that begins there.")

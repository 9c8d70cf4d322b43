"""Files that arrive in pieces: each begins where the last one ended, so what broke off goes on from there.

The same for images and for raw files; what becomes of a file that is whole is for `image_uploads` and `raw_files`.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar
from uuid import UUID

from django.core.files.base import ContentFile, File
from django.core.files.storage import Storage
from django.core.files.uploadedfile import TemporaryUploadedFile
from django.db import transaction
from django.utils import timezone

from leaderboard.core.refusal import Code, Refused
from leaderboard.models import AuditEntry, ImageUpload, RawUpload, User
from leaderboard.models.piece_upload import KEPT, PieceUpload

Upload = TypeVar("Upload", ImageUpload, RawUpload)
Kind = type[ImageUpload] | type[RawUpload]

PIECE_BYTES = 16_000_000
"""The most that one request may bring."""
PIECES = "pieces"
AT_ONCE = 3
"""Unfinished uploads of one person and kind; each may hold as much as a file."""


def begin(kind: type[Upload], *, by: User, name: str, size: int, sha256: str, refuse: Code, **whose: Any) -> Upload:
    """Make room for a file of `size` bytes. `refuse`: the code for a sha256 that is none. Raises Refused."""
    if sha256 and (len(sha256) != 64 or not set(sha256) <= set("0123456789abcdef")):
        raise Refused(refuse, "The sha256 is malformed; expected 64 lower-case hexadecimal digits.")
    with transaction.atomic():
        User.objects.select_for_update().get(pk=by.pk)
        if kind._default_manager.filter(by=by).count() >= AT_ONCE:
            raise Refused(
                Code.QUOTA_EXCEEDED, f"You have {AT_ONCE} uploads under way; finish one of them or give one up first."
            )
        return kind._default_manager.create(by=by, name=name[-255:], bytes=size, sha256=sha256, **whose)


def add(upload: Upload, *, offset: int, piece: bytes, refuse: Code) -> Upload:
    """Keep the next piece. Raises Refused where it does not begin at `received`: the sender asks, and goes on there.

    refuse: the code for a piece that cannot be one.
    """
    rows = type(upload)._default_manager
    if offset != upload.received:
        raise _elsewhere(upload)
    if not piece or offset + len(piece) > upload.bytes:
        raise Refused(
            refuse,
            f"The piece has {len(piece)} bytes at {offset}; expected 1 to {upload.bytes - offset}, as was announced.",
        )
    if len(piece) > PIECE_BYTES:
        raise Refused(Code.TOO_LARGE, f"The piece has {len(piece):,} bytes; expected at most {PIECE_BYTES:,}.")
    storage = upload.storage()
    stored = storage.save(f"{PIECES}/{upload.pk.hex}/{offset:014d}", ContentFile(piece))
    pieces = [*upload.pieces, stored]
    kept = rows.filter(pk=upload.pk, received=offset).update(
        received=offset + len(piece), pieces=pieces, touched_at=timezone.now()
    )
    if not kept:
        storage.delete(stored)
        there = rows.filter(pk=upload.pk).first()
        if there is None:
            delete_pieces(storage, upload.pk)  # the folder came back with this piece
            raise gone()
        raise _elsewhere(there)
    upload.received, upload.pieces = offset + len(piece), pieces
    return upload


def check_whole(upload: ImageUpload | RawUpload, *, refuse: Code) -> None:
    if not upload.is_whole:
        raise Refused(refuse, f"{upload.received:,} of {upload.bytes:,} bytes are here; send the rest first.")


@contextmanager
def whole(upload: ImageUpload | RawUpload, *, name: str, what: str, refuse: Code) -> Iterator[tuple[File[bytes], str]]:
    """The pieces as one file, at its beginning, and its sha256; the file goes at the end unless somebody keeps it.

    Raises Refused where they are not what was announced; the upload is forgotten then. `what`: the file, in words.
    """
    # Named, so that a store of folders can move it into its place instead of copying it.
    with TemporaryUploadedFile(name, "application/octet-stream", upload.bytes, None) as file:
        try:
            sha256 = _joined(upload.storage(), upload.pieces, file)
        except FileNotFoundError:
            # Whoever finished it or gave it up in the meantime has taken the pieces away.
            if type(upload)._default_manager.filter(pk=upload.pk).exists():
                raise
            raise gone() from None
        if upload.sha256 not in ("", sha256):
            discard(upload)
            raise Refused(
                refuse,
                f"The {what} came with the sha256 {sha256}, and {upload.sha256} was announced; send it again.",
            )
        yield file, sha256


def hold(upload: ImageUpload | RawUpload) -> None:
    """Until the transaction ends: of two requests that finish an upload the second is told that it is gone."""
    if not type(upload)._default_manager.select_for_update().filter(pk=upload.pk).exists():
        raise gone()


def discard(upload: PieceUpload) -> None:
    """Forget an upload and what came of it."""
    key = upload.pk
    upload.delete()
    delete_pieces(upload.storage(), key)


def delete_pieces(storage: Storage, key: UUID) -> None:
    """Also those that a request which died between the store and the database left."""
    folder = f"{PIECES}/{key.hex}"
    with contextlib.suppress(FileNotFoundError):
        for name in storage.listdir(folder)[1]:
            storage.delete(f"{folder}/{name}")
        storage.delete(folder)


def forget_old(kind: Kind) -> int:
    """Discard what nobody has gone on with for days, and pieces without an upload; how many uploads that were."""
    old = list(kind._default_manager.filter(touched_at__lt=timezone.now() - KEPT))
    for upload in old:
        named = "image_upload" if kind is ImageUpload else "raw_upload"
        AuditEntry.record(f"{named}.forgotten", upload, received=upload.received, bytes=upload.bytes)
        discard(upload)
    _delete_strays(kind)
    return len(old)


def _delete_strays(kind: Kind) -> None:
    """A row goes before its pieces do; and it goes alone when its person, phase or dataset is deleted."""
    with contextlib.suppress(FileNotFoundError):
        for name in kind.storage().listdir(PIECES)[0]:
            key = _key(name)
            if key is not None and not kind._default_manager.filter(pk=key).exists():
                delete_pieces(kind.storage(), key)


def _key(folder: str) -> UUID | None:
    """Whose pieces a folder has; None: it is called as none of ours is, and is left alone."""
    try:
        return UUID(folder)
    except ValueError:
        return None


def _joined(storage: Storage, pieces: list[str], into: File[bytes]) -> str:
    """Writes the pieces one after the other; the sha256 of it all."""
    digest = hashlib.sha256()
    for name in pieces:
        with storage.open(name, "rb") as piece:
            for chunk in piece.chunks(1 << 20):
                digest.update(chunk)
                into.write(chunk)
    into.seek(0)
    return digest.hexdigest()


def gone() -> Refused:
    return Refused(Code.WRONG_OFFSET, "This upload has been submitted or given up already.")


def _elsewhere(upload: ImageUpload | RawUpload) -> Refused:
    return Refused(Code.WRONG_OFFSET, f"{upload.received} bytes are here; send the piece that begins there.")

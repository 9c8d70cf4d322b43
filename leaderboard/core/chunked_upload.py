"""Chunked uploads of container images and raw files: an upload that was cut off resumes after its last stored chunk.

`core/api/tus.py` has the protocol by which clients send chunks. `containers/actions/image_uploads.py` and
`curation/actions/raw_files.py` process the files once they are complete.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, TypeVar
from uuid import UUID

from django.core.files.base import ContentFile, File
from django.core.files.storage import Storage
from django.core.files.uploadedfile import TemporaryUploadedFile
from django.db import transaction
from django.db.models import F, Sum
from django.utils import timezone

from leaderboard.core import db_clock, disk
from leaderboard.core.refusal import Code, Refused
from leaderboard.models import AuditEntry, ImageUpload, RawUpload, User
from leaderboard.models.chunked_upload import RETENTION, ChunkedUpload, UploadPiece

Upload = TypeVar("Upload", ImageUpload, RawUpload)
Kind = type[ImageUpload] | type[RawUpload]

CHUNK_BYTES = 16_000_000
"""Maximum bytes of one chunk."""
CHUNKS_FOLDER = "pieces"
AT_ONCE = 3
"""Maximum number of a user's unfinished image uploads, and of the user's unfinished raw-file uploads.

Each may take the disk space of a whole file.
"""
AT_ONCE_ON_SITE = 200
"""Maximum number of unfinished uploads of a kind that got a chunk within an hour, from everybody."""
FEW_PIECES = 100
"""Number of pieces that any upload may have, however small they are."""
SMALLEST_PIECE = 1_000_000
"""Bytes of a further piece, on average: each is a file, and costs a request."""


def begin(
    kind: type[Upload], *, by: User, name: str, size: int, sha256: str, metadata: str = "", **whose: Any
) -> Upload:
    """Create an upload of the user `by`, for a file with the name `name` and `size` bytes.

    sha256: the file's digest if the client has announced it, else empty. metadata: text that is returned to the client
    on request (tus: Upload-Metadata). whose: values of further fields of the upload, such as its dataset or phase.
    Raises Refused: INVALID_DIGEST for a malformed sha256; LIMIT_REACHED if the user already has AT_ONCE unfinished
    uploads of this kind, or the site AT_ONCE_ON_SITE; DISK_FULL if the disk has no space for it.
    """
    if sha256 and (len(sha256) != 64 or not set(sha256) <= set("0123456789abcdef")):
        raise Refused(Code.INVALID_DIGEST, f"The sha256 is {sha256[:80]!r}; expected 64 lower-case hexadecimal digits.")
    _check_site(kind, size)
    with transaction.atomic():
        User.objects.select_for_update(no_key=True).get(pk=by.pk)
        if kind._default_manager.filter(by=by).count() >= AT_ONCE:
            raise Refused(
                Code.LIMIT_REACHED, f"You have {AT_ONCE} unfinished uploads, the maximum; finish or cancel one first."
            )
        return kind._default_manager.create(
            by=by, name=name[-255:], bytes=size, sha256=sha256, metadata=metadata, **whose
        )


def most_pieces(size: int) -> int:
    """Return the maximum number of pieces of an upload of `size` bytes."""
    return FEW_PIECES + size // SMALLEST_PIECE


def _check_site(kind: Kind, size: int) -> None:
    """Raise Refused if the site has no room for another upload of `size` bytes.

    The disk needs room for what the uploads that are under way still lack, and once more for the file that is joined.
    """
    recent = timezone.now() - timedelta(hours=1)
    under_way = [other._default_manager.filter(touched_at__gt=recent) for other in (ImageUpload, RawUpload)]
    if kind._default_manager.filter(touched_at__gt=recent).count() >= AT_ONCE_ON_SITE:
        raise Refused(
            Code.LIMIT_REACHED,
            f"{AT_ONCE_ON_SITE} uploads are under way on this site, the maximum; try again later.",
            retry_at=timezone.now() + timedelta(minutes=10),
        )
    missing = sum(rows.aggregate(n=Sum(F("bytes") - F("received")))["n"] or 0 for rows in under_way)
    if disk.is_full(after=missing + 2 * size):
        raise disk.full_refusal()


def add(upload: Upload, *, offset: int, chunk: bytes) -> Upload:
    """Store the next chunk of an upload, add its length to `upload.received`, and return the upload.

    Raises Refused: DISK_FULL; LIMIT_REACHED if the upload has as many chunks as it may; WRONG_OFFSET if `offset` is
    not `upload.received` (the message names the right offset), TOO_LARGE for a chunk over CHUNK_BYTES or one that ends
    beyond the announced size, EMPTY_FILE for a chunk without bytes, and UPLOAD_GONE if another request has finished or
    cancelled the upload.
    """
    rows = type(upload)._default_manager
    if offset != upload.received:
        raise _elsewhere(upload, offset)
    if not chunk or offset + len(chunk) > upload.bytes:
        raise Refused(
            Code.TOO_LARGE if chunk else Code.EMPTY_FILE,
            f"The chunk at offset {offset} has {len(chunk)} bytes; expected 1 to {upload.bytes - offset}, "
            "the number of bytes that are still missing.",
        )
    if len(chunk) > CHUNK_BYTES:
        raise Refused(Code.TOO_LARGE, f"The chunk has {len(chunk):,} bytes; expected at most {CHUNK_BYTES:,}.")
    if UploadPiece.objects.filter(upload=upload.pk).count() >= most_pieces(upload.bytes):
        raise Refused(
            Code.LIMIT_REACHED,
            f"The upload came in {most_pieces(upload.bytes):,} chunks, the maximum for its size. Cancel it, and begin "
            f"again with chunks of {SMALLEST_PIECE:,} to {CHUNK_BYTES:,} bytes.",
        )
    if disk.is_full():
        raise disk.full_refusal()
    storage = upload.storage()
    stored = storage.save(f"{CHUNKS_FOLDER}/{upload.pk.hex}/{offset:014d}", ContentFile(chunk))
    now = timezone.now()
    with transaction.atomic():
        updated = rows.filter(pk=upload.pk, received=offset).update(received=offset + len(chunk), touched_at=now)
        if updated:
            UploadPiece.objects.create(upload=upload.pk, offset=offset, name=stored)
    if not updated:
        storage.delete(stored)
        current = rows.filter(pk=upload.pk).first()
        if current is None:
            delete_chunks(storage, upload.pk)  # saving this chunk created the deleted folder again
            raise gone_error()
        raise _elsewhere(current, offset)
    upload.received, upload.touched_at = offset + len(chunk), now
    return upload


def check_not_expired(upload: ChunkedUpload) -> None:
    """Raise Refused UPLOAD_GONE if the upload got no chunk for RETENTION: `delete_idle` will soon delete it."""
    if upload.expires_at < timezone.now():
        raise Refused(
            Code.UPLOAD_GONE, f"This upload got no chunk for {RETENTION.days} days and has expired; begin a new one."
        )


def check_whole(upload: ImageUpload | RawUpload) -> None:
    """Raise Refused UPLOAD_INCOMPLETE if bytes are missing."""
    if not upload.is_whole:
        raise Refused(
            Code.UPLOAD_INCOMPLETE,
            f"{upload.received:,} of {upload.bytes:,} bytes have been received; send the rest first.",
        )


@contextmanager
def whole(upload: ImageUpload | RawUpload, *, name: str, what: str) -> Iterator[tuple[File[bytes], str]]:
    """Yield (temporary file with all chunks of an upload joined, positioned at its start; its SHA-256 digest in hex).

    name: of the temporary file. what: noun for the file in error messages. The temporary file is deleted at the end of
    the `with` block unless it was moved. Raises Refused: DIGEST_MISMATCH if the digest is not the announced one
    (the upload is then discarded), and UPLOAD_GONE if another request has finished or cancelled the upload.
    """
    # A named file, so that file system storage can move it instead of copying it.
    with TemporaryUploadedFile(name, "application/octet-stream", upload.bytes, None) as file:
        try:
            if not (pieces := upload.pieces):
                raise FileNotFoundError
            sha256 = _join(upload.storage(), pieces, file)
        except FileNotFoundError:
            # Another request may have finished or cancelled the upload and deleted the chunks.
            if type(upload)._default_manager.filter(pk=upload.pk).exists():
                raise
            raise gone_error() from None
        if upload.sha256 not in ("", sha256):
            discard(upload)
            raise Refused(
                Code.DIGEST_MISMATCH,
                f"The {what} has the sha256 {sha256}, not the declared {upload.sha256}; send it again.",
            )
        yield file, sha256


def hold(upload: ImageUpload | RawUpload) -> None:
    """Lock the upload's row until the transaction ends, so that only one request can finish the upload.

    Raises Refused UPLOAD_GONE if another request has finished or cancelled it.
    """
    if not type(upload)._default_manager.select_for_update().filter(pk=upload.pk).exists():
        raise gone_error()


def discard(upload: ChunkedUpload) -> None:
    """Delete an upload and its chunks."""
    key = upload.pk
    upload.delete()
    delete_chunks(upload.storage(), key)


def delete_chunks(storage: Storage, key: UUID) -> None:
    """Delete the folder that has the chunks of the upload with the id `key`, and no other files.

    This includes a chunk whose request died before it recorded the chunk.
    """
    UploadPiece.objects.filter(upload=key).delete()
    folder = f"{CHUNKS_FOLDER}/{key.hex}"
    with contextlib.suppress(FileNotFoundError):
        for name in storage.listdir(folder)[1]:
            storage.delete(f"{folder}/{name}")
        storage.delete(folder)


def delete_idle(kind: Kind) -> int:
    """Discard uploads of a kind that got no chunk for longer than RETENTION; return the number of these uploads.

    Chunks whose upload is no longer in the database are deleted too, and not counted.
    """
    old = list(kind._default_manager.filter(touched_at__lt=db_clock.earliest() - RETENTION))
    for upload in old:
        prefix = "image_upload" if kind is ImageUpload else "raw_upload"
        AuditEntry.record(f"{prefix}.forgotten", upload, received=upload.received, bytes=upload.bytes)
        discard(upload)
    _delete_strays(kind)
    return len(old)


def _delete_strays(kind: Kind) -> None:
    """Delete the stored chunks of uploads that are no longer in the database.

    Chunks remain if a process died after it had deleted the upload's row, or if the deletion of the user, phase or
    dataset deleted the row.
    """
    with contextlib.suppress(FileNotFoundError):
        for name in kind.storage().listdir(CHUNKS_FOLDER)[0]:
            key = _key(name)
            if key is not None and not kind._default_manager.filter(pk=key).exists():
                delete_chunks(kind.storage(), key)


def _key(folder: str) -> UUID | None:
    """Return the upload id that is the name of a chunk folder; None for any other name.

    The clean-up leaves folders with other names alone.
    """
    try:
        return UUID(folder)
    except ValueError:
        return None


def _join(storage: Storage, pieces: list[str], into: File[bytes]) -> str:
    """Join the stored files `pieces` in one file, rewind it, and return its SHA-256 digest in hexadecimal."""
    digest = hashlib.sha256()
    for name in pieces:
        with storage.open(name, "rb") as stored:
            for chunk in stored.chunks(1 << 20):
                digest.update(chunk)
                into.write(chunk)
    into.seek(0)
    return digest.hexdigest()


def gone_error() -> Refused:
    return Refused(Code.UPLOAD_GONE, "This upload was already submitted or cancelled; begin a new one.")


def _elsewhere(upload: ImageUpload | RawUpload, offset: int) -> Refused:
    return Refused(
        Code.WRONG_OFFSET,
        f"The chunk begins at offset {offset}, and {upload.received} bytes have been received; "
        f"send the chunk that begins at offset {upload.received}.",
    )

"""Raw files, from which splits are generated: upload them whole or in chunks, and remove them.

They are as secret as gold.
"""

from __future__ import annotations

from django.conf import settings
from django.core.files.base import File
from django.db import IntegrityError, transaction
from django.db.models import ProtectedError
from django.utils import timezone

from leaderboard.core import chunked_upload
from leaderboard.core.refusal import Code, Refused
from leaderboard.core.rights import check_manages_dataset
from leaderboard.core.storage import delete_after_commit, deleted_on_failure
from leaderboard.core.uploads import sha256_of
from leaderboard.models import AuditEntry, Dataset, RawFile, RawUpload, User

MOST = 100
"""Maximum number of raw files of one dataset."""


def begin(*, dataset: Dataset, by: User, name: str, size: int, sha256: str = "", metadata: str = "") -> RawUpload:
    """Begin a chunked upload of a raw file of `size` bytes.

    sha256: the file's digest if the client has announced it, else empty. metadata: text that is returned to the client
    on request (tus: Upload-Metadata). Raises Refused: NOT_AN_ORGANISER; INVALID_VALUE for an empty file or a malformed
    sha256; TOO_LARGE; LIMIT_REACHED for too many raw files or unfinished uploads.
    """
    check_manages_dataset(dataset, by)
    _check_size(size)
    _check_count(dataset)
    return chunked_upload.begin(
        RawUpload,
        by=by,
        name=_base_name(name),
        size=size,
        sha256=sha256,
        metadata=metadata,
        dataset=dataset,
    )


def add_chunk(*, upload: RawUpload, offset: int, chunk: bytes) -> RawUpload:
    """Store the next chunk of an upload, and return the upload. Raises Refused as `chunked_upload.add` does.

    offset: position of the chunk's first byte in the file; it must be `upload.received`.
    """
    return chunked_upload.add(upload, offset=offset, chunk=chunk)


def finish(*, upload: RawUpload, by: User) -> RawFile:
    """Join the chunks of an upload and store the file.

    Raises Refused: NOT_AN_ORGANISER; NOT_READY if bytes are missing; INVALID_VALUE if the file does not have the
    announced sha256; ALREADY_EXISTS if the dataset has the same file already; LIMIT_REACHED for too many raw files;
    UPLOAD_GONE if another request has finished or cancelled the upload.
    """
    check_manages_dataset(upload.dataset, by)
    chunked_upload.check_whole(upload)
    with chunked_upload.whole(upload, name="raw", what="file") as (file, sha256):
        raw = _store(dataset=upload.dataset, file=file, name=upload.name, sha256=sha256, by=by, upload=upload)
    chunked_upload.delete_chunks(upload.storage(), upload.pk)
    return raw


def add(*, dataset: Dataset, file: File[bytes], by: User) -> RawFile:
    """Store a raw file that was uploaded in one request.

    Raises Refused: NOT_AN_ORGANISER; INVALID_VALUE for an empty file; TOO_LARGE; ALREADY_EXISTS if the dataset has the
    same file already; LIMIT_REACHED for too many raw files.
    """
    check_manages_dataset(dataset, by)
    _check_size(file.size)
    return _store(
        dataset=dataset, file=file, name=_base_name(file.name or ""), sha256=sha256_of(file), by=by, upload=None
    )


def remove(*, raw: RawFile, by: User) -> None:
    """Delete a raw file. Raises Refused: NOT_AN_ORGANISER; NOT_READY if a preview was made from the file."""
    check_manages_dataset(raw.dataset, by)
    try:
        with transaction.atomic():
            AuditEntry.record("raw_file.removed", raw.dataset, by=by, name=raw.name, sha256=raw.sha256)
            delete_after_commit(raw.file)
            raw.delete()
    except ProtectedError:
        raise Refused(
            Code.IN_USE,
            f"Previews were made from {raw.name}: delete them first.",
            heading="The raw file was not removed",
        ) from None


def _store(
    *, dataset: Dataset, file: File[bytes], name: str, sha256: str, by: User, upload: RawUpload | None
) -> RawFile:
    existing = dataset.raw_files.filter(sha256=sha256).first()
    if existing is not None:
        if upload is not None:
            chunked_upload.discard(upload)
        raise Refused(
            Code.ALREADY_EXISTS,
            f"This file is already uploaded, as {existing.name}.",
            heading="The file was not added",
        )
    raw = RawFile(
        dataset=dataset, name=name, sha256=sha256, bytes=file.size, uploaded_by=by, uploaded_at=timezone.now()
    )
    file.seek(0)
    raw.file.save(name, file, save=False)
    try:
        with deleted_on_failure(raw.file.storage, str(raw.file.name)), transaction.atomic():
            _check_count(dataset)
            if upload is not None:
                # Of two concurrent requests that finish an upload only one stores a file.
                chunked_upload.hold(upload)
                RawUpload.objects.filter(pk=upload.pk).delete()
            raw.save(force_insert=True)
            AuditEntry.record("raw_file.added", dataset, by=by, name=name, sha256=sha256, bytes=raw.bytes)
    except IntegrityError as error:
        raise Refused(Code.ALREADY_EXISTS, f"{name} is already uploaded, perhaps under another name.") from error
    return raw


def _check_size(size: int | None) -> None:
    if not size:
        raise Refused(Code.EMPTY_FILE, "The file is empty. Expected at least one byte.")
    if size > settings.MAX_RAW_BYTES:
        limit_mb = settings.MAX_RAW_BYTES // 1_000_000
        raise Refused(Code.TOO_LARGE, f"The file has {size:,} bytes; expected at most {limit_mb} MB.")


def _check_count(dataset: Dataset) -> None:
    if dataset.raw_files.count() >= MOST:
        raise Refused(Code.LIMIT_REACHED, f"The dataset has {MOST} raw files, the maximum; remove unused ones.")


def _base_name(name: str) -> str:
    """Return the last 255 printable characters of a path's base name; `raw` if there are none.

    Error messages can then quote the name.
    """
    return "".join(filter(str.isprintable, name.replace("\\", "/").rpartition("/")[2]))[-255:].strip() or "raw"

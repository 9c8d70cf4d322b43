"""Raw files, from which splits are generated: upload whole or in chunks, and remove. They are as secret as gold."""

from __future__ import annotations

from functools import partial

from django.conf import settings
from django.core.files.base import File
from django.db import IntegrityError, transaction
from django.db.models import ProtectedError
from django.utils import timezone

from leaderboard.core import chunked_upload
from leaderboard.core.refusal import Code, Refused
from leaderboard.core.uploads import sha256_of
from leaderboard.datasets.actions.datasets import check_manages
from leaderboard.models import AuditEntry, Dataset, RawFile, RawUpload, User

MOST = 100
"""Maximum number of raw files of one dataset."""


def begin(*, dataset: Dataset, by: User, name: str, size: int, sha256: str = "") -> RawUpload:
    """Begin a chunked upload of a raw file of `size` bytes. Raises Refused."""
    check_manages(dataset, by)
    _check_size(size)
    _check_count(dataset)
    return chunked_upload.begin(
        RawUpload, by=by, name=_base_name(name), size=size, sha256=sha256, refuse=Code.INVALID_NAME, dataset=dataset
    )


def add_piece(*, upload: RawUpload, offset: int, piece: bytes) -> RawUpload:
    """Store the next chunk. Raises Refused unless it begins at `received`, where the client can resume."""
    return chunked_upload.add(upload, offset=offset, piece=piece, refuse=Code.INVALID_NAME)


def finish(*, upload: RawUpload, by: User) -> RawFile:
    """Assemble the chunks and store the file. Raises Refused if size or digest differ from the announced ones."""
    check_manages(upload.dataset, by)
    chunked_upload.check_whole(upload, refuse=Code.NOT_READY)
    with chunked_upload.whole(upload, name="raw", what="file", refuse=Code.INVALID_NAME) as (file, sha256):
        raw = _store(dataset=upload.dataset, file=file, name=upload.name, sha256=sha256, by=by, upload=upload)
    chunked_upload.delete_pieces(upload.storage(), upload.pk)
    return raw


def add(*, dataset: Dataset, file: File[bytes], by: User) -> RawFile:
    """Store a file that was uploaded in one request. Raises Refused."""
    check_manages(dataset, by)
    _check_size(file.size)
    return _store(
        dataset=dataset, file=file, name=_base_name(file.name or ""), sha256=sha256_of(file), by=by, upload=None
    )


def remove(*, raw: RawFile, by: User) -> None:
    """Delete an unused raw file. Raises Refused NOT_READY for one that a preview reads."""
    check_manages(raw.dataset, by)
    try:
        with transaction.atomic():
            AuditEntry.record("raw_file.removed", raw.dataset, by=by, name=raw.name, sha256=raw.sha256)
            stored, storage = str(raw.file.name), raw.file.storage
            raw.delete()
            transaction.on_commit(partial(storage.delete, stored))
    except ProtectedError:
        raise Refused(
            Code.NOT_READY,
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
        raise Refused(Code.NAME_TAKEN, f"This file is already uploaded, as {existing.name}.")
    raw = RawFile(
        dataset=dataset, name=name, sha256=sha256, bytes=file.size, uploaded_by=by, uploaded_at=timezone.now()
    )
    file.seek(0)
    raw.file.save(name, file, save=False)
    try:
        with transaction.atomic():
            _check_count(dataset)
            if upload is not None:
                # Of two concurrent requests that finish an upload only one stores a file.
                chunked_upload.hold(upload)
                RawUpload.objects.filter(pk=upload.pk).delete()
            raw.save(force_insert=True)
            AuditEntry.record("raw_file.added", dataset, by=by, name=name, sha256=sha256, bytes=raw.bytes)
    except BaseException as error:
        raw.file.storage.delete(str(raw.file.name))
        if isinstance(error, IntegrityError):
            raise Refused(Code.NAME_TAKEN, "This file is already uploaded.") from error
        raise
    return raw


def _check_size(size: int | None) -> None:
    if not size:
        raise Refused(Code.INVALID_NAME, "The file is empty.")
    if size > settings.MAX_RAW_BYTES:
        limit_mb = settings.MAX_RAW_BYTES // 1_000_000
        raise Refused(Code.TOO_LARGE, f"The file has {size:,} bytes; expected at most {limit_mb} MB.")


def _check_count(dataset: Dataset) -> None:
    if dataset.raw_files.count() >= MOST:
        raise Refused(Code.QUOTA_EXCEEDED, f"The dataset has {MOST} raw files, the maximum; remove unused ones.")


def _base_name(name: str) -> str:
    """Return the base name of a path, without unprintable characters; error messages quote it."""
    return "".join(filter(str.isprintable, name.replace("\\", "/").rpartition("/")[2]))[-255:].strip() or "raw"

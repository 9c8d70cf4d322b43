"""Raw files, which splits are made from: uploaded whole or in pieces, kept as hidden as gold, removed while unused."""

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
"""Raw files of one dataset."""


def begin(*, dataset: Dataset, by: User, name: str, size: int, sha256: str = "") -> RawUpload:
    """Make room for a raw file of `size` bytes, which is going to arrive in pieces. Raises Refused."""
    check_manages(dataset, by)
    _check_size(size)
    _check_few(dataset)
    return chunked_upload.begin(
        RawUpload, by=by, name=_plain(name), size=size, sha256=sha256, refuse=Code.INVALID_NAME, dataset=dataset
    )


def add_piece(*, upload: RawUpload, offset: int, piece: bytes) -> RawUpload:
    """Keep the next piece. Raises Refused where it does not begin at `received`: the sender asks, and goes on there."""
    return chunked_upload.add(upload, offset=offset, piece=piece, refuse=Code.INVALID_NAME)


def finish(*, upload: RawUpload, by: User) -> RawFile:
    """Put the pieces together and keep the file. Raises Refused where they are not what was announced."""
    check_manages(upload.dataset, by)
    chunked_upload.check_whole(upload, refuse=Code.NOT_READY)
    with chunked_upload.whole(upload, name="raw", what="file", refuse=Code.INVALID_NAME) as (file, sha256):
        made = _kept(dataset=upload.dataset, file=file, name=upload.name, sha256=sha256, by=by, upload=upload)
    chunked_upload.delete_pieces(upload.storage(), upload.pk)
    return made


def add(*, dataset: Dataset, file: File[bytes], by: User) -> RawFile:
    """Keep a file that came in one request. Raises Refused."""
    check_manages(dataset, by)
    _check_size(file.size)
    return _kept(dataset=dataset, file=file, name=_plain(file.name or ""), sha256=sha256_of(file), by=by, upload=None)


def remove(*, raw: RawFile, by: User) -> None:
    """Forget a raw file that nothing was made from. Raises Refused NOT_READY for one that is used."""
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
            f"Something was made from {raw.name}: forget the previews that read it first.",
            heading="The raw file stays",
        ) from None


def _kept(
    *, dataset: Dataset, file: File[bytes], name: str, sha256: str, by: User, upload: RawUpload | None
) -> RawFile:
    there = dataset.raw_files.filter(sha256=sha256).first()
    if there is not None:
        if upload is not None:
            chunked_upload.discard(upload)
        raise Refused(Code.NAME_TAKEN, f"This very file is here already, as {there.name}.")
    raw = RawFile(
        dataset=dataset, name=name, sha256=sha256, bytes=file.size, uploaded_by=by, uploaded_at=timezone.now()
    )
    file.seek(0)
    raw.file.save(name, file, save=False)
    try:
        with transaction.atomic():
            _check_few(dataset)
            if upload is not None:
                # Of two requests that finish an upload one makes a file.
                chunked_upload.hold(upload)
                RawUpload.objects.filter(pk=upload.pk).delete()
            raw.save(force_insert=True)
            AuditEntry.record("raw_file.added", dataset, by=by, name=name, sha256=sha256, bytes=raw.bytes)
    except BaseException as error:
        raw.file.storage.delete(str(raw.file.name))
        if isinstance(error, IntegrityError):
            raise Refused(Code.NAME_TAKEN, "This very file is here already.") from error
        raise
    return raw


def _check_size(size: int | None) -> None:
    if not size:
        raise Refused(Code.INVALID_NAME, "The file is empty.")
    if size > settings.MAX_RAW_BYTES:
        most = settings.MAX_RAW_BYTES // 1_000_000
        raise Refused(Code.TOO_LARGE, f"The file has {size:,} bytes; at most {most} MB are taken.")


def _check_few(dataset: Dataset) -> None:
    if dataset.raw_files.count() >= MOST:
        raise Refused(Code.QUOTA_EXCEEDED, f"The dataset has {MOST} raw files; remove some that are not used.")


def _plain(name: str) -> str:
    """The last part of a path, without what does not print; errors name lines by it."""
    return "".join(filter(str.isprintable, name.replace("\\", "/").rpartition("/")[2]))[-255:].strip() or "raw"

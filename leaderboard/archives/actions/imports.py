"""Archives that curators upload on the management pages: stored, previewed, and imported with a secret key."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import structlog
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.utils import timezone

from leaderboard.archives.actions import encryption, reading
from leaderboard.core import db_clock
from leaderboard.core.refusal import Code, Refused
from leaderboard.core.storage import check_digest, delete_after_commit, deleted_on_failure, opened
from leaderboard.core.uploads import sha256_of
from leaderboard.models import ArchiveImport, AuditEntry, Benchmark, Dataset, User
from leaderboard.models.archive import RETENTION

log = structlog.get_logger(__name__)
MOST = 10
"""Maximum number of archives waiting to be imported."""


def receive(*, file: UploadedFile, by: User) -> ArchiveImport:
    """Store an uploaded archive until it is imported, with the content of its archive.json.

    Raises Refused: INVALID_NAME for a file that is not an archive, is damaged, or was written with another database
    migration; NOT_READY if MOST archives are already waiting to be imported; NOT_AN_ORGANISER for a user who is not a
    curator.
    """
    _check_curator(by)
    if ArchiveImport.objects.count() >= MOST:
        raise Refused(
            Code.NOT_READY,
            f"{MOST} archives are waiting to be imported; import or remove one first.",
            heading="Too many archives are waiting",
        )
    with _as_path(file.file) as path:
        head = _refusing(reading.read_head, path)
    file.seek(0)
    archive_import = ArchiveImport(
        name=(file.name or "archive.zip")[-255:],
        sha256=sha256_of(file),
        bytes=file.size or 0,
        head=msgspec.to_builtins(head),
        by=by,
        at=timezone.now(),
    )
    archive_import.file.save("archive.zip", file, save=False)
    with deleted_on_failure(archive_import.file.storage, str(archive_import.file.name)), transaction.atomic():
        archive_import.save(force_insert=True)
        detail = {"slug": head.slug, "sha256": archive_import.sha256, "bytes": archive_import.bytes}
        AuditEntry.record("archive.uploaded", archive_import, by=by, **detail)
    return archive_import


def find_conflicts(archive_import: ArchiveImport) -> list[str]:
    """Return the reasons, one line each, why an uploaded archive cannot be imported, as far as its readable part shows.

    Further reasons are found when the closed part is decrypted.
    """
    slug = str(archive_import.head["slug"])
    conflicts = []
    if Benchmark.objects.filter(slug=slug).exists():
        conflicts.append(f"the benchmark {slug} already exists on this server")
    if Dataset.objects.filter(slug=slug).exists():
        conflicts.append(f"the dataset {slug} already exists on this server")
    if archive_import.head["closed"] is None:
        conflicts.append("the archive was exported without a key: it has no gold and no submissions")
    return conflicts


def import_upload(*, archive_import: ArchiveImport, key: str, by: User) -> reading.Imported:
    """Import an uploaded archive completely or not at all; return the imported benchmark and the renamed accounts.

    key: secret key of one of the archive's recipients, or the archive's passphrase; it is never stored. Raises Refused:
    INVALID_NAME for a wrong key or a damaged archive, NAME_TAKEN for rows that conflict with this server's,
    NOT_AN_ORGANISER for a user who is not a curator.
    """
    _check_curator(by)
    try:
        with opened(archive_import.file) as stored:
            check_digest(stored, archive_import.sha256)
            with _as_path(stored) as path:
                keys = _refusing(reading.keys_of, path, key)
                result: reading.Imported = _refusing(
                    reading.import_contents, archive=path, keys=keys, by=by, say=lambda line: None
                )
    except encryption.InvalidKeyError as error:
        raise Refused(Code.INVALID_NAME, f"The key cannot be used: {error}. Nothing was changed.") from None
    remove(archive_import=archive_import, by=by)
    return result


def remove(*, archive_import: ArchiveImport, by: User | None) -> None:
    """Delete an uploaded archive; rows imported from it stay. by: the curator who deletes it; None: the server."""
    if by is not None:
        _check_curator(by)
        AuditEntry.record("archive.removed", archive_import, by=by, slug=archive_import.head["slug"])
    file = archive_import.file
    archive_import.delete()
    delete_after_commit(file)


def sweep() -> int:
    """Delete archives that were not imported within RETENTION after their upload; return their number."""
    old = list(ArchiveImport.objects.filter(at__lt=db_clock.earliest() - RETENTION))
    for archive_import in old:
        remove(archive_import=archive_import, by=None)
    return len(old)


def _refusing(read: Any, *args: Any, **named: Any) -> Any:
    """Return the result of `read`, a function that reads an archive; turn its errors into Refused.

    The errors include those of the database. args, named: arguments of `read`.
    """
    try:
        return read(*args, **named)
    except reading.ArchiveError as problem:
        code = Code.NAME_TAKEN if isinstance(problem, reading.ArchiveConflictError) else Code.INVALID_NAME
        more = f"; and {len(problem.lines) - 20} more" if len(problem.lines) > 20 else ""
        lines = "; ".join(problem.lines[:20]) + more
        raise Refused(code, f"Nothing was changed. {lines[:1].upper()}{lines[1:]}.") from None
    except reading.DAMAGED as error:
        log.warning("archive_invalid", error=type(error).__name__)
        raise Refused(
            Code.INVALID_NAME, "Nothing was changed. The archive is damaged, or was not written by an export."
        ) from None


@contextmanager
def _as_path(file: Any) -> Iterator[Path]:
    """Yield a path ending in .zip through which an open file can be opened again, without copying the file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "archive.zip"
        path.symlink_to(f"/proc/self/fd/{file.fileno()}")
        yield path


def _check_curator(by: User) -> None:
    if not by.is_curator:
        raise Refused(Code.NOT_AN_ORGANISER, "Only curators may import archives.")

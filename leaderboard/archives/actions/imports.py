"""Archives that curators upload on the management pages, and their import with a secret key by a worker."""

from __future__ import annotations

import msgspec
import structlog
from django.core.files.storage import storages
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.utils import timezone

from leaderboard.archives.actions import encryption, reading
from leaderboard.archives.actions.errors import ArchiveError
from leaderboard.archives.actions.exports import PROGRESS_SECONDS
from leaderboard.core import db_clock
from leaderboard.core.refusal import Code, Refused
from leaderboard.core.rights import check_is_curator
from leaderboard.core.storage import check_digest, delete_after_commit, deleted_on_failure, opened
from leaderboard.core.uploads import sha256_of
from leaderboard.models import TERMINAL, ArchiveImport, AuditEntry, Benchmark, Dataset, State, User
from leaderboard.models.archive import RETENTION
from leaderboard.work_queue.lease import Heartbeat, Lease
from leaderboard.work_queue.work import Urgency, Work

log = structlog.get_logger(__name__)
MOST = 10
"""Maximum number of archives waiting to be imported."""
MOST_SHOWN = 20
"""Maximum number of problems of an archive that are stored."""
WAITING = ArchiveImport.objects.select_related("by", "imported_by")


def receive(*, file: UploadedFile, by: User) -> ArchiveImport:
    """Store an uploaded archive until it is imported, and queue the check of its readable part.

    Of the archive, only its list of files and archive.json are read. Raises Refused: INVALID_ARCHIVE for a file that is
    not an archive, or was written with another database migration; LIMIT_REACHED if MOST archives are already waiting
    to be imported; NOT_AN_ORGANISER for a user who is not a curator.
    """
    check_is_curator(by, to="import archives")
    if ArchiveImport.objects.filter(result__isnull=True).count() >= MOST:
        raise Refused(
            Code.LIMIT_REACHED,
            f"{MOST} archives are waiting to be imported, the maximum; import or remove one first.",
            heading="Too many archives are waiting",
        )
    try:
        head = reading.read_head(file.file)  # type: ignore[arg-type]  # an uploaded file is open
    except ArchiveError as problem:
        log.warning("archive_invalid", error=type(problem).__name__)
        text = "; ".join(problem.lines)
        raise Refused(Code.INVALID_ARCHIVE, f"{text[:1].upper()}{text[1:]}.") from None
    file.seek(0)
    archive_import = ArchiveImport(
        name=(file.name or "archive.zip")[-255:],
        sha256=sha256_of(file),
        bytes=file.size or 0,
        head=msgspec.to_builtins(head),
        by=by,
        at=timezone.now(),
        queued_at=timezone.now(),
        enqueued_at=db_clock.now(),
    )
    archive_import.file.save("archive.zip", file, save=False)
    with deleted_on_failure(archive_import.file.storage, str(archive_import.file.name)), transaction.atomic():
        archive_import.save(force_insert=True)
        detail = {"slug": head.slug, "sha256": archive_import.sha256, "bytes": archive_import.bytes}
        AuditEntry.record("archive.uploaded", archive_import, by=by, **detail)
        WORK.enqueue(archive_import)
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


def begin(*, archive_import: ArchiveImport, key: str, by: User) -> None:
    """Queue the import of an uploaded archive.

    key: secret key of one of the archive's recipients, or the archive's passphrase. It is stored encrypted until a
    worker has used it. Raises Refused: NOT_READY while the archive is being checked or imported, and after its import;
    NOT_AN_ORGANISER for a user who is not a curator.
    """
    check_is_curator(by, to="import archives")
    rows = ArchiveImport.objects.filter(pk=archive_import.pk, state__in=TERMINAL, is_checked=True, result__isnull=True)
    columns = {"problems": [], "progress": [], "reason": "", "attempt": 0, "started_at": None, "finished_at": None}
    times = {"queued_at": timezone.now(), "enqueued_at": db_clock.now()}
    with transaction.atomic():
        if not rows.update(state=State.QUEUED, sealed_key=encryption.sealed(key), imported_by=by, **columns, **times):
            raise Refused(Code.NOT_READY, "The archive is being checked or imported, or was imported already.")
        AuditEntry.record("archive.import_asked", archive_import, by=by, slug=archive_import.head["slug"])
        WORK.enqueue(archive_import)


def remove(*, archive_import: ArchiveImport, by: User | None) -> None:
    """Delete an uploaded archive; rows imported from it stay. by: the curator who deletes it; None: the server."""
    if by is not None:
        check_is_curator(by, to="import archives")
        AuditEntry.record("archive.removed", archive_import, by=by, slug=archive_import.head["slug"])
    file = archive_import.file
    archive_import.delete()
    if file:
        delete_after_commit(file)


def _read(lease: Lease[ArchiveImport]) -> None:
    """Check an uploaded archive, or import it if a curator has entered its key."""
    row, progress = lease.row, list[str]()
    sealed_key = row.sealed_key
    try:
        with (
            opened(row.file) as stored,
            # The heartbeat runs in a thread with a connection of its own.
            Heartbeat(seconds=PROGRESS_SECONDS, beat=lambda: bool(lease.rows().update(progress=list(progress)))),
        ):
            check_digest(stored, row.sha256)
            if sealed_key is None:
                reading.check_readable(stored)
                lease.finish(state=State.DONE, is_checked=True)
                return
            _check_gold_storage()
            keys = reading.keys_of(stored, encryption.unsealed(bytes(sealed_key)))
            reading.import_contents(
                archive=stored,
                keys=keys,
                by=row.imported_by,
                say=progress.append,
                finish=lambda imported: _finish(lease, imported),
            )
    except ArchiveError as problem:
        _reject(lease, type(problem).__name__, problem.lines)
    except encryption.InvalidKeyError as error:
        _reject(lease, type(error).__name__, (f"the key cannot be used: {error}",))


def _finish(lease: Lease[ArchiveImport], imported: reading.Imported) -> None:
    """Record in the transaction of an import that it is done."""
    benchmark, file = imported.benchmark, lease.row.file
    result = {"slug": benchmark.slug, "title": benchmark.title, "renamed": imported.renamed}
    lease.finish(state=State.DONE, result=result, sealed_key=None, file="")
    delete_after_commit(file)


def _reject(lease: Lease[ArchiveImport], kind: str, lines: tuple[str, ...]) -> None:
    # The lines may quote what the archive keeps private, so only the kind of error is logged.
    log.warning("archive_invalid", error=kind)
    more = [f"and {len(lines) - MOST_SHOWN:,} more"] if len(lines) > MOST_SHOWN else []
    lease.finish(state=State.REJECTED, problems=[*lines[:MOST_SHOWN], *more], sealed_key=None)


def _check_gold_storage() -> None:
    """Raise ArchiveError if this worker may not write gold. The archive itself may be sound."""
    try:
        storages["gold"].check()  # type: ignore[attr-defined]  # all storages of the site have it
    except PermissionError as error:
        raise ArchiveError(
            "the worker of this server may not write to the store of gold; ask the operator to let it write there"
        ) from error


def _forget_key(lease: Lease[ArchiveImport], final: bool) -> None:
    if final:
        ArchiveImport.objects.filter(pk=lease.row.pk).update(sealed_key=None)


def _remove_old() -> None:
    """Delete archives, imported or not, RETENTION after their upload."""
    for archive_import in ArchiveImport.objects.filter(at__lt=db_clock.earliest() - RETENTION):
        remove(archive_import=archive_import, by=None)


WORK = Work(
    name="import_archive",
    rows=WAITING,
    do=_read,
    urgency=Urgency.CURATION,
    before_sweep=_remove_old,
    on_failure=_forget_key,
)

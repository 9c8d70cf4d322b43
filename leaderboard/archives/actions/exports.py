"""Archives of benchmarks that curators request on the management pages.

A worker writes them. They are stored for a day, and visible to the requester only.
"""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path

from django.conf import settings
from django.core.files import File
from django.db import IntegrityError, transaction
from django.utils import timezone

from leaderboard.archives.actions import encryption, writing
from leaderboard.core import db_clock
from leaderboard.core.refusal import Code, Refused
from leaderboard.core.rights import check_is_curator
from leaderboard.models import ACTIVE, ArchiveExport, AuditEntry, Benchmark, State, User
from leaderboard.models.archive import RETENTION
from leaderboard.work_queue.lease import Heartbeat, Lease, LeaseLostError
from leaderboard.work_queue.work import Urgency, Work

WAITING = ArchiveExport.objects.select_related("benchmark__dataset", "requested_by")
PROGRESS_SECONDS = 1.0
"""Seconds between two updates of `ArchiveExport.progress`."""
SHORTEST_PASSPHRASE = 12
"""Minimum number of characters of a passphrase: people who have the file can try as many as they like."""


def begin(*, benchmark: Benchmark, recipients: str, by: User, passphrase: str = "") -> ArchiveExport:
    """Queue the export of a benchmark; if the requester has an unfinished export of it, return that one instead.

    recipients: public keys, one per line, to which the closed part of the archive is encrypted. passphrase: another way
    to decrypt the closed part; it is stored, encrypted, until a worker has used it; empty: none. Without keys and
    passphrase, the archive has no closed part. Raises Refused: INVALID_VALUE for an invalid key or a passphrase of less
    than SHORTEST_PASSPHRASE characters, NOT_AN_ORGANISER for a user who is not a curator, NOT_POSSIBLE as
    `writing.check_may_be_written` does.
    """
    # The archive contains gold, all teams' submissions, and their addresses.
    check_is_curator(by, to="export a benchmark")
    writing.check_may_be_written(benchmark)
    lines = [line.strip() for line in recipients.splitlines() if line.strip()]
    try:
        if lines:
            encryption.recipients(lines)
    except encryption.InvalidKeyError as error:
        raise Refused(Code.INVALID_VALUE, f"The key cannot be used: {error}.") from error
    if passphrase and len(passphrase) < SHORTEST_PASSPHRASE:
        found = f"The passphrase has {len(passphrase)} characters"
        raise Refused(Code.INVALID_VALUE, f"{found}; expected at least {SHORTEST_PASSPHRASE}.", field_name="passphrase")
    under_way = ArchiveExport.objects.filter(benchmark=benchmark, requested_by=by, state__in=ACTIVE)
    at = timezone.now()
    try:
        with transaction.atomic():
            if (existing := under_way.first()) is not None:
                return existing
            export = ArchiveExport.objects.create(
                benchmark=benchmark,
                recipients="\n".join(lines),
                sealed_passphrase=encryption.sealed(passphrase) if passphrase else None,
                requested_by=by,
                queued_at=at,
                enqueued_at=db_clock.now(),
            )
            details = {"closed": bool(lines or passphrase), "recipients": lines, "passphrase": bool(passphrase)}
            AuditEntry.record("export.asked", benchmark, by=by, **details)
            WORK.enqueue(export)
            return export
    except IntegrityError:  # two simultaneous requests
        return under_way.get()


def remove(*, export: ArchiveExport, by: User) -> None:
    """Delete an export, finished or not. Raises Refused NOT_AN_OWNER unless `by` requested it."""
    if export.requested_by_id != by.pk:
        raise Refused(Code.NOT_AN_OWNER, "Only the person who requested an export may remove it.")
    AuditEntry.record("export.removed", export.benchmark, by=by)
    _forget(export)


def record_download(*, export: ArchiveExport, by: User) -> None:
    """Record in the audit trail that the requester downloads the export's file."""
    AuditEntry.record("export.downloaded", export.benchmark, by=by, sha256=export.sha256)


def _write(lease: Lease[ArchiveExport]) -> None:
    row = lease.row
    lines: list[str] = []
    if row.sealed_passphrase:
        _protect(lease)
    keys = encryption.recipients(row.recipients.splitlines()) if row.recipients else []
    with tempfile.TemporaryDirectory(dir=settings.FILE_UPLOAD_TEMP_DIR) as folder:
        path = Path(folder) / "archive.zip"
        # The heartbeat runs in a thread with a connection of its own: the writer's is in a snapshot transaction.
        with Heartbeat(seconds=PROGRESS_SECONDS, beat=lambda: bool(lease.rows().update(progress=list(lines)))):
            writing.write(
                benchmark=row.benchmark,
                to=path,
                keys=keys,
                by=row.requested_by,
                say=lines.append,
                protected_key=bytes(row.protected_key),
            )
        with path.open("rb") as archive:
            digest = hashlib.file_digest(archive, "sha256").hexdigest()
            archive.seek(0)
            stored = row.file.storage.save(row.file.field.generate_filename(row, "archive.zip"), File(archive))
        size = path.stat().st_size
    try:
        lease.finish(state=State.DONE, progress=lines, file=stored, bytes=size, sha256=digest)
    except LeaseLostError:
        row.file.storage.delete(stored)
        raise


def _protect(lease: Lease[ArchiveExport]) -> None:
    """Generate the key that the export's passphrase opens, and forget the passphrase.

    A worker does this because it takes seconds: age's scrypt is slow by design.
    """
    row = lease.row
    row.protected_key, public = encryption.generate_protected_key(encryption.unsealed(bytes(row.sealed_passphrase)))  # type: ignore[arg-type]
    row.recipients = "\n".join([public, *row.recipients.splitlines()])
    lease.write(protected_key=row.protected_key, recipients=row.recipients, sealed_passphrase=None)


def _remove_old() -> None:
    for export in ArchiveExport.objects.filter(finished_at__lt=db_clock.earliest() - RETENTION):
        _forget(export)


def _forget(export: ArchiveExport) -> None:
    file = export.file
    export.delete()
    if file:
        file.storage.delete(str(file.name))


def _forget_passphrase(lease: Lease[ArchiveExport], final: bool) -> None:
    if final:
        ArchiveExport.objects.filter(pk=lease.row.pk).update(sealed_passphrase=None)


WORK = Work(
    name="export_archive",
    rows=WAITING,
    do=_write,
    urgency=Urgency.CURATION,
    before_sweep=_remove_old,
    on_failure=_forget_passphrase,
)

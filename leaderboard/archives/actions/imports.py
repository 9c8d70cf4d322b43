"""Archives that a curator brings at the desk: uploaded, looked at, and then taken in with the key that opens them."""

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
from leaderboard.core.refusal import Code, Refused
from leaderboard.core.storage import check_digest, opened
from leaderboard.core.uploads import sha256_of
from leaderboard.models import ArchiveArrival, AuditEntry, Benchmark, Dataset, User
from leaderboard.models.archive import KEPT

log = structlog.get_logger(__name__)
MOST = 10
"""Archives that wait here at one time."""


def receive(*, file: UploadedFile, by: User) -> ArchiveArrival:
    """Keep an uploaded archive until it is taken in, with what its open part says. For curators.

    Raises Refused: INVALID_NAME for what is no archive of this layout, NOT_READY, NOT_AN_ORGANISER.
    """
    _check_curator(by)
    if ArchiveArrival.objects.count() >= MOST:
        raise Refused(
            Code.NOT_READY,
            f"{MOST} archives wait here already; take one in or remove one first.",
            heading="No more archives can wait",
        )
    with _as_path(file.file) as path:
        head = _told(reading.look_at, path)
    file.seek(0)
    arrival = ArchiveArrival(
        name=(file.name or "archive.zip")[-255:],
        sha256=sha256_of(file),
        bytes=file.size or 0,
        head=msgspec.to_builtins(head),
        by=by,
        at=timezone.now(),
    )
    arrival.file.save("archive.zip", file, save=False)
    try:
        with transaction.atomic():
            arrival.save(force_insert=True)
            told = {"slug": head.slug, "sha256": arrival.sha256, "bytes": arrival.bytes}
            AuditEntry.record("archive.uploaded", arrival, by=by, **told)
    except BaseException:
        arrival.file.storage.delete(str(arrival.file.name))
        raise
    return arrival


def in_the_way(arrival: ArchiveArrival) -> list[str]:
    """What its open part says already that could not be taken in; what else is in the way, its closed part tells."""
    slug = str(arrival.head["slug"])
    found = []
    if Benchmark.objects.filter(slug=slug).exists():
        found.append(f"the benchmark {slug}: there is one of this name here")
    if Dataset.objects.filter(slug=slug).exists():
        found.append(f"the dataset {slug}: there is one of this name here")
    if arrival.head["closed"] is None:
        found.append("it was written without a key: it has no gold and no submissions")
    return found


def take(*, arrival: ArchiveArrival, key: str, by: User) -> reading.Taken:
    """Take an archive in, all of it or nothing; who was renamed, too. key: the secret half of one that it was written
    to; it is not kept.

    Raises Refused: INVALID_NAME for a key that does not open it or what is no sound archive, NAME_TAKEN with each thing
    that is in the way, NOT_AN_ORGANISER.
    """
    _check_curator(by)
    try:
        keys = encryption.identities(key.splitlines())
        with opened(arrival.file) as stored:
            check_digest(stored, arrival.sha256)
            with _as_path(stored) as path:
                made: reading.Taken = _told(reading.take_in, archive=path, keys=keys, by=by, say=lambda line: None)
    except encryption.KeyFault as fault:
        raise Refused(Code.INVALID_NAME, f"The key cannot be used: {fault}. Nothing was changed.") from None
    remove(arrival=arrival, by=by)
    return made


def remove(*, arrival: ArchiveArrival, by: User | None) -> None:
    """Forget an archive; what was taken in of it stays."""
    if by is not None:
        _check_curator(by)
        AuditEntry.record("archive.removed", arrival, by=by, slug=arrival.head["slug"])
    file = arrival.file
    arrival.delete()
    file.storage.delete(str(file.name))


def sweep() -> int:
    """Remove what nobody took in; how many."""
    old = list(ArchiveArrival.objects.filter(at__lt=timezone.now() - KEPT))
    for arrival in old:
        remove(arrival=arrival, by=None)
    return len(old)


def _told(read: Any, *args: Any, **named: Any) -> Any:
    """What a reading of an archive says; its faults as Refused, those of the database too."""
    try:
        return read(*args, **named)
    except reading.ArchiveFault as fault:
        code = Code.NAME_TAKEN if isinstance(fault, reading.ThereAlready) else Code.INVALID_NAME
        lines = "; ".join(fault.lines[:20])
        raise Refused(code, f"Nothing was changed. {lines[:1].upper()}{lines[1:]}.") from None
    except reading.DAMAGED as error:
        log.warning("archive_unsound", error=type(error).__name__)
        raise Refused(
            Code.INVALID_NAME, "Nothing was changed. The archive is damaged, or was not written by an export."
        ) from None


@contextmanager
def _as_path(file: Any) -> Iterator[Path]:
    """An open file under a name that ends as archives do, without a copy."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "archive.zip"
        path.symlink_to(f"/proc/self/fd/{file.fileno()}")
        yield path


def _check_curator(by: User) -> None:
    if not by.is_curator:
        raise Refused(Code.NOT_AN_ORGANISER, "Only curators may take archives in.")

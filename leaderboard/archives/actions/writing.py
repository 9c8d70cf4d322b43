"""Export of a benchmark to one ZIP file.

The closed part of the file is encrypted while it is written; its plaintext is never stored.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

import msgspec
from django.db import connection, transaction
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import Model
from django.db.models.fields.files import FieldFile
from django.utils import timezone
from pyrage import x25519

from leaderboard.archives.actions import encryption, manifest_of, rows, tables
from leaderboard.benchmarks.actions import draft
from leaderboard.boards import queries
from leaderboard.boards.queries.citation import canonical
from leaderboard.boards.queries.reported_results import left_out
from leaderboard.core import db_locks
from leaderboard.core.refusal import Code, Refused
from leaderboard.models import AuditEntry, Benchmark, Leaderboard, Split, User

FORMAT = 1
HEAD, MANIFEST, CLOSED, PROTECTED_KEY = "archive.json", "benchmark.json", "closed.zip.age", "key.age"

Say = Callable[[str], None]


def write(
    *,
    benchmark: Benchmark,
    to: Path,
    keys: Sequence[x25519.Recipient],
    by: User | None,
    say: Say,
    protected_key: bytes = b"",
) -> Path:
    """Write the benchmark to the new file `to` and return its path.

    keys: public keys to which the closed part is encrypted. Without keys the closed part is left out: hidden gold and
    hidden inputs are exported encrypted or not at all. by: the user who exports it; None: a command on the server. say:
    is called with a line of text after each step.
    protected_key: the secret key of one of `keys`, encrypted with a passphrase, to be stored in the archive; empty:
    none.
    Raises Refused as `check_may_be_written` does, and FileExistsError if the file exists. An incomplete file is
    removed.
    """
    check_may_be_written(benchmark)
    AuditEntry.record("benchmark.exported", benchmark, by=by, closed=bool(keys))
    descriptor = os.open(to, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file, ZipFile(file, "w", ZIP_DEFLATED) as archive, _snapshot():
            _write(archive, benchmark, keys, protected_key, say)
    except BaseException:
        to.unlink(missing_ok=True)
        raise
    return to


def check_may_be_written(benchmark: Benchmark) -> None:
    """Raise Refused NOT_POSSIBLE for a draft with submissions, which do not count and belong in no archive."""
    if draft.has_been_used(benchmark):
        raise Refused(
            Code.NOT_POSSIBLE,
            f"{benchmark} is a draft with submissions, which do not count; reset it first.",
            heading="The draft was not exported",
        )


def migration() -> str:
    """Return the name of the latest applied database migration.

    Only a server with the same latest migration can import the archive.
    """
    applied = MigrationRecorder(connection).applied_migrations()
    return max(name for app, name in applied if app == "leaderboard")


def _write(
    archive: ZipFile, benchmark: Benchmark, keys: Sequence[x25519.Recipient], protected_key: bytes, say: Say
) -> None:
    for result in left_out(benchmark):
        say(f"left out: the reported row {result.row}: {result.reason}")
    readable: dict[str, str] = {}
    at = timezone.now()
    for name, chunks in _readable(benchmark, at):
        readable[name] = _member(archive, name, chunks)
        say(f"{name}: {archive.getinfo(name).file_size:,} bytes")
    counted: dict[str, int] = {}
    if keys:
        with (
            archive.open(_not_deflated(CLOSED), "w", force_zip64=True) as sealed,
            encryption.encrypted_writer(sealed, keys) as stream,
            ZipFile(stream, "w", ZIP_DEFLATED) as closed,
        ):
            counted = _closed(closed, benchmark, say)
        say(f"{CLOSED}: {archive.getinfo(CLOSED).file_size:,} bytes, for {len(keys)} keys")
    if protected_key:
        archive.writestr(_not_deflated(PROTECTED_KEY), protected_key)
    head = {
        "format": "holdout-benchmark",
        "version": FORMAT,
        "layout": migration(),
        "slug": benchmark.slug,
        "title": benchmark.title,
        "written_at": at,
        "readable": readable,
        "closed": CLOSED if keys else None,
        "protected_key": PROTECTED_KEY if protected_key else None,
        "rows": counted,
    }
    archive.writestr(HEAD, msgspec.json.format(msgspec.json.encode(head), indent=2))


def _not_deflated(name: str) -> ZipInfo:
    """Return the ZIP entry of a file that is stored uncompressed: encrypted content does not compress."""
    info = ZipInfo(name, date_time=timezone.now().timetuple()[:6])
    info.compress_type = ZIP_STORED
    return info


def _readable(benchmark: Benchmark, at: datetime) -> Iterator[tuple[str, Iterable[bytes]]]:
    """Yield (name, chunks) of the public files: manifest, inputs, public gold, downloads, boards.

    at: as for `boards_of`.
    """
    yield MANIFEST, [manifest_file(benchmark)]
    for split in benchmark.dataset.splits.order_by("pk"):
        yield from _of_split(split)
    for download in benchmark.dataset.downloads.order_by("pk"):
        yield f"downloads/{download.name}{download.suffix}", _stored(download.file)
    for name, board in boards_of(benchmark, at):
        yield name, [board]


def manifest_file(benchmark: Benchmark) -> bytes:
    """Return the content of the file MANIFEST."""
    manifest = msgspec.json.encode(manifest_of.manifest_of(benchmark))
    return msgspec.json.format(manifest, indent=2) + b"\n"


def _of_split(split: Split) -> Iterator[tuple[str, Iterable[bytes]]]:
    gold = split.current_gold
    if split.inputs and split.inputs_public:
        yield manifest_of.file_of("inputs", split, str(split.inputs.name)), _stored(split.inputs)
    if gold and split.gold_public:
        yield manifest_of.file_of("gold", split, str(gold.file.name)), _stored(gold.file)


def boards_of(benchmark: Benchmark, at: datetime) -> Iterator[tuple[str, bytes]]:
    """Yield (path in the archive, content) of every public board of a benchmark, current or frozen, by phase.

    at: the time whose anonymous systems have no names. The content is the board's canonical JSON. Citations of the
    board contain its digest.
    """
    for phase in benchmark.phases.select_related("benchmark", "split__dataset"):
        shown = phase.leaderboards.filter(state__in=Leaderboard.PUBLIC).select_related("gold_version")
        for board in shown.order_by("pk"):
            version = (board.gold_version.number, board.task_version)
            name = f"boards/{phase.slug}-gold-{version[0]}-task-{version[1]}.json"
            yield name, canonical(queries.board_of(phase, version=version, named_at=at))


def _closed(closed: ZipFile, benchmark: Benchmark, say: Say) -> dict[str, int]:
    """Write the tables, users first and audit entries last, and the stored files that their rows name, to `closed`.

    Return the number of rows by name of model.
    """
    counts: dict[str, int] = {}
    _table(closed, User, tables.people_of(benchmark), counts)
    for model, rows_of in tables.TABLES.items():
        _table(closed, model, rows_of(benchmark).iterator(chunk_size=500), counts)
        for field in rows.file_fields(model):
            for row in rows_of(benchmark).iterator(chunk_size=500):
                stored = getattr(row, field.attname)
                if stored:
                    _member(closed, file_name(model, field.attname, stored.name), _stored(stored))
        say(f"{model._meta.verbose_name_plural}: {counts[str(model._meta.model_name)]:,}")
    _table(closed, AuditEntry, tables.audit_entries_of(benchmark), counts)
    if (n := sum(counts.values())) > rows.MOST_ROWS:
        say(f"the archive has {n:,} rows, and no server imports more than {rows.MOST_ROWS:,}")
    return counts


def file_name(model: type[Model], field: str, stored: str) -> str:
    """Return the path that a stored file gets in the closed part of an archive.

    field: name of the model's file field. stored: the file's name in the storage.
    """
    return f"files/{model._meta.model_name}/{field}/{stored}"


def _table(closed: ZipFile, model: type[Model], table_rows: Iterable[Model], counts: dict[str, int]) -> None:
    name = str(model._meta.model_name)
    counts[name] = 0
    with closed.open(f"tables/{name}.jsonl", "w", force_zip64=True) as member:
        for line in rows.serialize_rows(table_rows):
            member.write(line)
            counts[name] += 1


def _stored(file: FieldFile) -> Iterator[bytes]:
    with file.open("rb") as stream:
        yield from iter(lambda: stream.read(1 << 20), b"")


def _member(archive: ZipFile, name: str, chunks: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    with archive.open(name, "w", force_zip64=True) as member:
        for chunk in chunks:
            member.write(chunk)
            digest.update(chunk)
    return digest.hexdigest()


@contextmanager
def _snapshot() -> Iterator[None]:
    """Run all queries of the block in one database snapshot, without blocking writers."""
    if connection.in_atomic_block:
        yield
    elif connection.vendor == "postgresql":
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            db_locks.allow_idle_transaction()
            yield
    else:
        with connection.cursor() as cursor:
            cursor.execute("BEGIN DEFERRED")  # the site's own transactions take the write lock at once
            try:
                yield
            finally:
                cursor.execute("ROLLBACK")


__all__ = ["CLOSED", "HEAD", "MANIFEST", "boards_of", "file_name", "migration", "write"]

"""Import of a benchmark's archive: all of its content unchanged, or nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile, ZipFile

import msgspec
from django.core.exceptions import SuspiciousOperation
from django.core.files import File
from django.core.management.color import no_style
from django.db import DatabaseError, connection, transaction
from django.db.models import Max, Model, UUIDField
from django.db.models.fields.files import FieldFile
from pyrage import x25519

from leaderboard.archives.actions import (
    conflicts,
    encryption,
    integrity,
    people,
    rows,
    tables,
    writing,
)
from leaderboard.core import db_locks
from leaderboard.core.storage import AlteredError
from leaderboard.models import AuditEntry, Benchmark, Phase, ReportedResult, User, reported_numbers

Say = Callable[[str], None]
_LONGEST_HEAD = 4 << 20
"""Maximum size of archive.json in bytes, far above that of any benchmark's archive."""
_LONGEST_KEY = 10_000
"""Maximum size in bytes of a secret key that is encrypted with a passphrase."""

DAMAGED = (BadZipFile, KeyError, ValueError, TypeError, EOFError, SuspiciousOperation, DatabaseError, AlteredError)
"""Errors of a file that is damaged or was not written by an export. Their details would not help a curator."""


class ArchiveError(Exception):
    """Error: an archive cannot be imported. `lines` are the reasons, each one line of text for the curator."""

    def __init__(self, *lines: str) -> None:
        super().__init__("\n".join(lines))
        self.lines = lines


class ArchiveConflictError(ArchiveError):
    """Error: rows of the archive conflict with other rows on this server, such as a team with the same name."""


class Head(msgspec.Struct):
    """The content of archive.json, the file that describes an archive.

    layout: name of the latest database migration of the server that wrote the archive.
    slug, title: those of the benchmark.
    written_at: when the export began; the boards have the names that were public then.
    readable: SHA-256 of each file of the readable part, by path in the archive.
    closed: path of the encrypted part in the archive; None: exported without a key.
    rows: number of rows in the closed part by name of model.
    protected_key: path in the archive of a secret key that decrypts the closed part, itself encrypted with a
    passphrase; None: there is none.
    """

    format: str
    version: int
    layout: str
    slug: str
    title: str
    written_at: datetime
    readable: dict[str, str]
    closed: str | None
    rows: dict[str, int]
    protected_key: str | None = None


class Imported(NamedTuple):
    """The result of an archive's import.

    renamed: (user name in the archive, user name on this server) of each account whose name was taken.
    """

    benchmark: Benchmark
    renamed: list[tuple[str, str]]


def import_contents(*, archive: Path, keys: Sequence[x25519.Identity], by: User | None, say: Say) -> Imported:
    """Import the benchmark with everything in the archive: rows, files and the order of releases.

    keys: secret keys, of which one must decrypt the closed part. by: the user who imports it; None: a command on the
    server. say: is called with a line of text after each step. Primary keys are preserved if they are free on this
    server, otherwise replaced. Users are matched by name and mail address; others are created without a password or
    rights, with another name if theirs is taken. The imported boards are compared with the archived ones before the
    commit. Raises ArchiveError, or InvalidKeyError if no key decrypts the closed part; nothing is changed then.
    """
    with _opened(archive) as outer:
        head = _head(outer)
        if head.closed is None:
            raise ArchiveError(
                "this archive was exported without a key, so it has no gold and no submissions; expected an archive "
                "with an encrypted part: export it again with a key. To host the benchmark without its submissions, "
                f"unpack the archive, add the gold files that its {writing.MANIFEST} names, and run manage.py "
                "import_benchmark own FOLDER"
            )
        with (
            outer.open(head.closed) as sealed,
            encryption.decrypted_reader(sealed, keys) as clear,
            ZipFile(clear) as closed,
            _retained_files() as stored_files,
            transaction.atomic(),
        ):
            db_locks.allow_idle_transaction()
            numbers, renamed = _rows(closed, stored_files, say)
            benchmark = Benchmark.objects.get(slug=head.slug)
            _compare(head, benchmark)
            _count_on(numbers)
            AuditEntry.record("benchmark.imported", benchmark, by=by, archive=head.slug, renamed=dict(renamed))
    say(f"{benchmark.slug}: imported unchanged, {sum(head.rows.values()):,} rows")
    return Imported(benchmark, renamed)


def keys_of(archive: Path, secret: str) -> list[x25519.Identity]:
    """Return the secret keys that `secret` gives: secret keys, one per line, or the archive's passphrase.

    The passphrase decrypts a secret key that is stored in the archive. Raises ArchiveError for a file that is not an
    archive of this server's version; InvalidKeyError for an invalid key or a wrong passphrase.
    """
    if "AGE-SECRET-KEY" in secret.upper():
        return encryption.identities(secret.splitlines())
    with _opened(archive) as outer:
        head = _head(outer)
        if head.protected_key is None:
            return encryption.identities(secret.splitlines())
        with outer.open(head.protected_key) as member:
            return encryption.unprotected(member.read(_LONGEST_KEY), secret.strip())


def read_head(archive: Path) -> Head:
    """Return the content of archive.json and verify the archive's readable part, without importing anything.

    Raises ArchiveError for a file that is not an archive, was altered, or was written with another database migration.
    """
    with _opened(archive) as outer:
        return _head(outer)


@contextmanager
def _opened(path: Path) -> Iterator[ZipFile]:
    try:
        with ZipFile(path) as archive:
            yield archive
    except BadZipFile as error:
        raise ArchiveError(f"this file is not a ZIP file, or is damaged: {error}") from error


def _head(outer: ZipFile) -> Head:
    try:
        with outer.open(writing.HEAD) as member:
            head = msgspec.json.decode(member.read(_LONGEST_HEAD), type=Head)
    except KeyError as error:
        raise ArchiveError(f"this is not an archive of a benchmark: it has no file {writing.HEAD}") from error
    except msgspec.MsgspecError as error:
        raise ArchiveError(
            f"this is not an archive of a benchmark: its file {writing.HEAD} is invalid: {error}"
        ) from error
    if (head.format, head.version) != ("holdout-benchmark", writing.FORMAT):
        raise ArchiveError(
            f"the archive's format is {head.format}, version {head.version}, expected holdout-benchmark, "
            f"version {writing.FORMAT}: upgrade the older one of the two servers, and export the archive again if it "
            "was written by that server"
        )
    if head.layout != writing.migration():
        raise ArchiveError(
            f"the archive was written with the database migration {head.layout}, expected this server's, "
            f"{writing.migration()}: upgrade the older of the two servers; if that server wrote the archive, export it "
            "again"
        )
    problems = integrity.find_problems(
        outer, head.readable, allowed={writing.HEAD, *filter(None, (head.closed, head.protected_key))}
    )
    if problems:
        raise ArchiveError(*problems)
    return head


def _rows(
    closed: ZipFile, stored_files: list[FieldFile], say: Say
) -> tuple[dict[type[Model], dict[Any, Any]], list[tuple[str, str]]]:
    """Import all tables of the decrypted part `closed`, and the stored files that their rows name.

    Return {model: {primary key in the archive: primary key on this server}}, and the renamed accounts as in
    `Imported.renamed`. The stored files are added to the list `stored_files`.
    """
    renamed: list[tuple[str, str]] = []
    numbers: dict[type[Model], dict[Any, Any]] = {}
    existing: conflicts.ExistingKeys = {}
    decided_in: set[str] = set()
    models: tuple[type[Model], ...] = (User, *tables.TABLES, AuditEntry)
    for model in models:
        numbers[model] = {}
        existing[model] = set()
        n = 0
        room = 0 if _is_random(model) else _room(model, [line["pk"] for line in _lines(closed, model)])
        for lines in _chunks(_lines(closed, model)):
            _check(model, lines)
            in_the_way = conflicts.conflicts(model, lines, numbers)
            if in_the_way:
                raise ArchiveConflictError(*in_the_way)
            same = conflicts.existing_rows(model, lines, numbers)
            numbers[model] |= same
            existing[model] |= same.keys()
            if model in tables.WHERE_DECIDED:
                decided_in |= {str(line["pk"]) for line in lines}
            new = conflicts.rows_to_insert(model, lines, existing, decided_in)
            if room or model is User:  # all users are mapped, so that none becomes another one: see `rows.renumber`
                numbers[model] |= {line["pk"]: line["pk"] + room for line in new}
            new = [rows.renumber(model, line, numbers) for line in new]
            if model is AuditEntry:
                new = conflicts.new_acts([_of_subject(line, numbers) for line in new])
            if model is User:
                strangers = people.prepare_users(new)
                renamed += strangers
                for name, free in strangers:
                    say(f"the account {name} was renamed to {free}: its name is taken on this server")
            _files(closed, model, new, stored_files)
            n += rows.insert_rows(model, new)
        if n:
            say(f"{model._meta.verbose_name_plural}: {n:,}")
    return numbers, renamed


def _check(model: type[Model], lines: list[rows.Line]) -> None:
    """Raise ArchiveError for a row of a model other than `model`, a user with rights or a password, or invalid numbers.

    An archive may come from anybody, so its content is not trusted.
    """
    label = model._meta.label_lower
    for line in lines:
        if line["model"] != label:
            raise ArchiveError(
                f"the table {model._meta.model_name} has a row of the model {line['model']!r}, expected {label!r}"
            )
        if model is User and (unknown := sorted(line["fields"].keys() - {*rows.OF_A_PERSON})):
            raise ArchiveError(
                f"a user's row has the fields {', '.join(unknown)}, expected only {', '.join(rows.OF_A_PERSON)}"
            )
        if model is ReportedResult:
            try:
                reported_numbers.check(line["fields"]["values"], task=None)
            except ValueError as error:
                raise ArchiveError(f"a row of the table {model._meta.model_name} is invalid: {error}") from error


def _chunks(lines: Iterator[rows.Line], size: int = 2_000) -> Iterator[list[rows.Line]]:
    while chunk := list(islice(lines, size)):
        yield chunk


def _lines(closed: ZipFile, model: type[Model]) -> Iterator[rows.Line]:
    with closed.open(f"tables/{model._meta.model_name}.jsonl") as member:
        yield from rows.read(member)


def _is_random(model: type[Model]) -> bool:
    """Return True if the model's keys are random UUIDs, which practically never collide."""
    return isinstance(model._meta.pk, UUIDField)


def _room(model: type[Model], keys: list[Any]) -> int:
    """Return the number to add to the archived keys of a table: 0 if all are free here, else this server's largest key.

    All rows get the same offset, because scores are listed in the order of their keys.
    """
    taken = (
        model._base_manager.filter(pk__in=keys[start : start + 500]).exists() for start in range(0, len(keys), 500)
    )
    return model._base_manager.aggregate(last=Max("pk"))["last"] if any(taken) else 0


def _of_subject(line: rows.Line, numbers: rows.Renumbered) -> rows.Line:
    """Return an audit entry in which the keys of its subject and of the phase in its detail are this server's keys."""
    name, _, key = line["fields"]["subject"].partition(":")
    model = next((candidate for candidate in numbers if candidate._meta.model_name == name), None)
    if model is not None and key.isdigit():
        key = numbers[model].get(int(key), key)
    line["fields"]["subject"] = f"{name}:{key}"
    detail = line["fields"]["detail"]
    if str(detail.get("phase", "")).isdigit():  # boards as of a date are computed from decisions by phase
        phase = numbers[Phase].get(int(detail["phase"]), detail["phase"])
        detail["phase"] = type(detail["phase"])(phase)
    return line


def _files(closed: ZipFile, model: type[Model], lines: list[rows.Line], stored_files: list[FieldFile]) -> None:
    """Store the files that archived rows name, each under the same name if it is free; add them to `stored_files`.

    closed: the decrypted part of the archive. The rows `lines` get the names under which the files are stored here.
    """
    for field in rows.file_fields(model):
        for line in lines:
            name = line["fields"][field.name]
            if not name:
                continue
            file = FieldFile(model(), field, name)
            with closed.open(writing.file_name(model, field.attname, name)) as member:
                file.name = field.storage.save(name, File(member))
            stored_files.append(file)
            line["fields"][field.name] = file.name


@contextmanager
def _retained_files() -> Iterator[list[FieldFile]]:
    """Yield an empty list, to which the block adds the files that it stores. If the block raises, they are deleted.

    They stay if the connection to the database was lost during COMMIT: rows that name them may then exist.
    """
    stored_files: list[FieldFile] = []
    try:
        yield stored_files
    except BaseException as error:
        for file in stored_files if not db_locks.is_commit_unknown(error) else ():
            file.storage.delete(str(file.name))
        raise


def _compare(head: Head, benchmark: Benchmark) -> None:
    """Raise ArchiveError unless the imported boards equal the archived ones byte for byte."""
    imported = {
        name: hashlib.sha256(board).hexdigest() for name, board in writing.boards_of(benchmark, head.written_at)
    }
    archived = {name: digest for name, digest in head.readable.items() if name.startswith("boards/")}
    different = sorted(name for name in imported.keys() | archived.keys() if imported.get(name) != archived.get(name))
    if different:
        raise ArchiveError(*(f"the imported board {name} would differ from the archived board" for name in different))


def _count_on(numbers: rows.Renumbered) -> None:
    """Reset the tables' primary-key sequences to continue after the inserted keys."""
    statements = connection.ops.sequence_reset_sql(no_style(), list(numbers))
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)

"""Preparation of an import: all rows of an archive are checked and its files stored, before any row is written.

Every key in a row must lead to a row of the same archive. On this server each row gets a new key (`inserting`), except
that random keys (UUIDs) stay, since addresses contain them; such a key must be free here.
"""

from __future__ import annotations

import hashlib
import pickle
import tempfile
from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator, MutableSequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from pathlib import PurePath
from typing import IO, Any, NamedTuple
from uuid import UUID, uuid4
from zipfile import ZipFile

from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.core.files import File
from django.db import connection
from django.db.models import Model, UUIDField
from django.db.models.fields.files import FieldFile

from leaderboard.archives.actions import people, row_checks, rows, tables, writing, zip_files
from leaderboard.archives.actions.conflicts import Comparison
from leaderboard.archives.actions.errors import ArchiveConflictError, ArchiveError, reading
from leaderboard.archives.actions.row_checks import Place, Values
from leaderboard.core import db_locks
from leaderboard.core.storage import save_unique
from leaderboard.models import (
    AuditEntry,
    Benchmark,
    Dataset,
    Image,
    Membership,
    Phase,
    Ranking,
    State,
    Submission,
    System,
    Team,
    User,
)
from leaderboard.models.state import LeasedWork

MOST_PROBLEMS = 50
"""Number of conflicts after which no more are looked for."""
MODELS: tuple[type[Model], ...] = (User, *tables.TABLES, AuditEntry)
ENTRY_COLUMNS = {column.name: n for n, column in enumerate(AuditEntry._meta.concrete_fields)}
"""Field of an audit entry -> its index among the columns of the table."""
_BY_NAME = {str(model._meta.model_name): model for model in tables.TABLES}
_CHUNK = 1_000
Say = Callable[[str], None]


class Key(NamedTuple):
    """A key in a text: the row of the archive that it names, by model and index in its table, from 0."""

    model: type[Model]
    row: int


@dataclass
class Table:
    """What is known of an archived table after it was read.

    keys: the archived keys as numbers (`row_checks.key_number`), ascending. existing: index of a row -> its primary key
    on this server, for rows that this server has. left_out: indexes of other rows that are not inserted.
    """

    model: type[Model]
    keys: MutableSequence[int]
    existing: dict[int, Any] = field(default_factory=dict)
    left_out: set[int] = field(default_factory=set)

    @property
    def has_random_keys(self) -> bool:
        return isinstance(self.model._meta.pk, UUIDField)

    def index(self, key: Any) -> int | None:
        """Return the index of the row with an archived key; None if the table has no such row."""
        number = row_checks.key_number(self.model, key)
        if number is None:
            return None
        index = bisect_left(self.keys, number)
        return index if index < len(self.keys) and self.keys[index] == number else None


@dataclass
class Prepared:
    """An archive whose rows were all checked.

    spool: pickled batches [(index of a row, its values)] of one table after the other, each table's ended by None: the
    values of the model's columns for the database, with the index of a row in place of each key. links: (many-to-many
    field, index of the row, indexes of the related rows). files: the stored files. renamed: as in `reading.Imported`.
    """

    spool: IO[bytes]
    files: list[FieldFile]
    tables: dict[type[Model], Table] = field(default_factory=dict)
    links: list[tuple[Any, int, list[int]]] = field(default_factory=list)
    renamed: list[tuple[str, str]] = field(default_factory=list)
    n_rows: int = 0


@contextmanager
def prepared(closed: ZipFile, *, slug: str, say: Say) -> Iterator[Prepared]:
    """Check all rows of an archive's decrypted part, store its files, and yield what is to be inserted.

    slug: of the benchmark that the archive must contain, and no other. If the block raises an exception, the stored
    files are deleted. Raises ArchiveError; ArchiveConflictError for rows that conflict with other rows on this server.
    """
    with tempfile.TemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR) as spool:
        result = Prepared(spool, [])
        with _retained(result.files):
            preparation = _Preparation(closed, result, say)
            for model in MODELS:
                preparation.read(model)
            preparation.check_whole(slug)
            spool.seek(0)
            yield result


@contextmanager
def _retained(files: list[FieldFile]) -> Iterator[None]:
    """Delete the stored `files` if the block raises an exception.

    They stay if the connection to the database was lost during COMMIT: rows that name them may then exist.
    """
    try:
        yield
    except BaseException as error:
        for file in files if not db_locks.is_commit_unknown(error) else ():
            file.storage.delete(str(file.name))
        raise


class _Preparation:
    def __init__(self, closed: ZipFile, result: Prepared, say: Say) -> None:
        self._closed = closed
        self._result = result
        self._tables = result.tables
        self._say = say
        self._compare = Comparison(self._existing)
        self._conflicts: list[str] = []
        self._slugs: dict[type[Model], list[str]] = defaultdict(list)
        self._unused = set(closed.namelist())
        self._most_rows = rows.most_rows()

    def read(self, model: type[Model]) -> None:
        """Read a table, whose rows refer to rows of tables that were read before, and write it to the spool."""
        name = str(model._meta.model_name)
        path = f"tables/{name}.jsonl"
        keys: MutableSequence[int] = [] if isinstance(model._meta.pk, UUIDField) else array("q")
        table = self._tables[model] = Table(model, keys)
        usernames = people.Names(self._usernames(path)) if model is User else None
        parsed = self._parsed(model, name, table)
        while chunk := list(islice(parsed, _CHUNK)):
            self._check_free(table, chunk)
            batch = []
            for index, values in chunk:
                place = Place(name, index + 1)
                if self._is_inserted(table, index, values, place):
                    if usernames is not None:
                        values["username"] = usernames.free(values["username"])
                        values["password"] = make_password(None)
                    batch.append((index, self._columns(table, index, values, place)))
            if model is AuditEntry:
                batch = self._new_entries(batch)
            pickle.dump(batch, self._result.spool, protocol=pickle.HIGHEST_PROTOCOL)
        pickle.dump(None, self._result.spool)
        self._unused.discard(path)
        if self._conflicts:
            raise ArchiveConflictError(*self._conflicts)
        if usernames is not None:
            self._result.renamed = usernames.renamed
            for former, free in usernames.renamed:
                self._say(f"the account {former} was renamed to {free}: its name is taken on this server")
        if table.keys:
            self._say(f"{model._meta.verbose_name_plural}: {len(table.keys):,} checked")

    def check_whole(self, slug: str) -> None:
        """Raise ArchiveError unless the archive has one benchmark, with its dataset, and no file without a row."""
        if self._slugs[Benchmark] != [slug] or len(self._slugs[Dataset]) != 1:
            raise ArchiveError(f"the archive must have one benchmark, {slug}, and one dataset")
        if self._unused:
            raise ArchiveError(f"{min(self._unused)} is in the encrypted part, but no row names it")

    def _parsed(self, model: type[Model], name: str, table: Table) -> Iterator[tuple[int, Values]]:
        most = rows.most_rows(model)
        for index, line in enumerate(zip_files.lines(self._closed, f"tables/{name}.jsonl")):
            place = Place(name, index + 1)
            if index >= most:
                raise ArchiveError(f"{place}: the table has more than {most:,} rows")
            self._result.n_rows += 1
            if self._result.n_rows > self._most_rows:
                raise ArchiveError(f"{place}: the archive has more than {self._most_rows:,} rows")
            key, values = row_checks.parse(model, line, place)
            if table.keys and key <= table.keys[-1]:
                raise ArchiveError(f"{place}: the key is not above that of the row before; expected each key once")
            table.keys.append(key)
            for relation in _relations(model):
                values[relation.name] = self._led(relation, values[relation.name], place)
            if model in (Benchmark, Dataset):
                self._slugs[model].append(values["slug"])
            yield index, values

    def _usernames(self, path: str) -> list[str]:
        names = []
        for n, line in enumerate(zip_files.lines(self._closed, path), 1):
            if n > self._most_rows:
                raise ArchiveError(f"{Place('user', n)}: the archive has more than {self._most_rows:,} rows")
            names.append(row_checks.parse(User, line, Place("user", n))[1]["username"])
        return names

    def _led(self, relation: Any, key: Any, place: Place) -> Any:
        """Return the index of the row, or a list of indexes, to which a relation's key in the archive leads."""
        if key is None:
            return None
        if relation.many_to_many:
            return [self._led_to(relation, one, place) for one in key]
        return self._led_to(relation, key, place)

    def _led_to(self, relation: Any, key: Any, place: Place) -> int:
        table = self._tables.get(relation.related_model)
        index = None if table is None else table.index(key)
        if index is None:
            other = relation.related_model._meta.model_name
            raise ArchiveError(
                f"{place}: {relation.name} is {row_checks.shown(key)}, but the archive's table {other} has no such row"
            )
        return index

    def _existing(self, model: type[Model], index: Any) -> Any:
        return self._tables[model].existing.get(index)

    def _check_free(self, table: Table, chunk: list[tuple[int, Values]]) -> None:
        """Note a conflict for each random key that a row on this server has, unless that is the same row."""
        if not table.has_random_keys or table.model is Image:
            return
        keys = {UUID(int=table.keys[index]): index for index, _ in chunk}
        for start in range(0, len(keys), 500):
            some = list(keys)[start : start + 500]
            for taken in table.model._base_manager.filter(pk__in=some).values_list("pk", flat=True):
                self._note(f"the {table.model._meta.verbose_name} {taken} already exists on this server")

    def _note(self, conflict: str) -> None:
        self._conflicts.append(conflict)
        if len(self._conflicts) >= MOST_PROBLEMS:
            raise ArchiveConflictError(*self._conflicts)

    def _is_inserted(self, table: Table, index: int, values: Values, place: Place) -> bool:
        """Return whether a row is inserted; False for one that this server has, or that must not be added.

        A member of a team that exists here is not added: they may have left it since the archive was written.
        """
        same = self._compare.same(table.model, values)
        if same is not None:
            table.existing[index] = same
            if table.model is Image:
                self._store(table.model, values, place, keep=False)
            return False
        if table.model is Image and Image.objects.filter(pk=UUID(int=table.keys[index])).exists():
            self._note(f"the image {UUID(int=table.keys[index])} already exists on this server")
        if table.model is Membership and self._existing(Team, values["team"]) is not None:
            table.left_out.add(index)
            return False
        conflict = self._compare.conflict(table.model, values)
        if conflict:
            self._note(conflict)
        return True

    def _columns(self, table: Table, index: int, values: Values, place: Place) -> list[Any]:
        """Return the values of a row's columns for the database, with an index in place of each key."""
        model = table.model
        if issubclass(model, LeasedWork | Ranking):
            _give_up_lease(values)
        if model is Image:
            # The worker runs the image that has this id on its engine, whoever sent it, so it must find it out itself.
            values["digest"], values["unpacked_bytes"] = "", 0
        if model is AuditEntry:
            self._lead_entry(values, place)
        self._store(model, values, place, keep=True)
        columns: list[Any] = []
        for column in model._meta.concrete_fields:
            if column.primary_key:
                columns.append(index)
            elif column.is_relation or (model is AuditEntry and column.name in ("subject", "detail")):
                columns.append(values[column.name])
            else:
                value = values[column.name] if column.name in values else column.get_default()
                # The wrappers in which databases get binary values cannot be pickled.
                is_view = isinstance(value, memoryview)
                columns.append(bytes(value) if is_view else column.get_db_prep_save(value, connection))
        for relation in row_checks.m2m_fields(model):
            if values[relation.name]:
                self._result.links.append((relation, index, values[relation.name]))
        return columns

    def _lead_entry(self, values: Values, place: Place) -> None:
        """Lead the keys in an audit entry's texts to rows of the archive: those of the subject, phase and submission.

        `subject` becomes a Key, and `detail` (detail, {name in the detail: Key}).
        """
        name, _, key = values["subject"].partition(":")
        subject = self._named(_BY_NAME.get(name), key)
        if subject is None:
            raise ArchiveError(f"{place}: subject is {values['subject']!r}, but the archive has no such row")
        detail, keys = values["detail"], {}
        for field_name, model in (("phase", Phase), ("submission", Submission)):
            if detail.get(field_name) is None:
                continue
            keys[field_name] = self._named(model, detail[field_name])
            if keys[field_name] is None:
                found = row_checks.shown(detail[field_name])
                raise ArchiveError(
                    f"{place}: {field_name} in detail is {found}, but the archive's table {field_name} has no such row"
                )
        values["subject"], values["detail"] = subject, (detail, keys)

    def _named(self, model: type[Model] | None, key: Any) -> Key | None:
        """Return the row of the archive that a key in a text names; None if there is none."""
        if model is None:
            return None
        table = self._tables[model]
        if not table.has_random_keys and type(key) is str and key.isdecimal() and len(key) < 20:
            key = int(key)
        index = table.index(key)
        return None if index is None else Key(model, index)

    def _new_entries(self, batch: list[tuple[int, list[Any]]]) -> list[tuple[int, list[Any]]]:
        """Return the audit entries that are inserted.

        Left out are entries about a row that this server has, or that is not inserted. Entries about a system are
        inserted if they name a phase or submission of the archive, which shows that they concern this benchmark,
        unless an earlier import has brought them.
        """
        new, of_systems = [], {}
        for index, columns in batch:
            subject, (_, keys) = columns[ENTRY_COLUMNS["subject"]], columns[ENTRY_COLUMNS["detail"]]
            table = self._tables[subject.model]
            here = table.existing.get(subject.row)
            if subject.row in table.left_out or (here is not None and table.model is not System):
                continue
            if table.model is System and not keys:
                continue
            if here is not None:
                of_systems[index] = f"system:{here}"
            new.append((index, columns))
        if not of_systems:
            return new
        entries = AuditEntry.objects.filter(subject__in=set(of_systems.values()))
        columns_of = entries.values_list("subject", "action", "at")
        known = {(subject, action, _prepared_at(at)) for subject, action, at in columns_of}
        return [
            (index, columns)
            for index, columns in new
            if (of_systems.get(index), columns[ENTRY_COLUMNS["action"]], columns[ENTRY_COLUMNS["at"]]) not in known
        ]

    def _store(self, model: type[Model], values: Values, place: Place, *, keep: bool) -> None:
        """Store the files that a row names under new names, which `values` gets; check their digests and sizes.

        keep: False: only check them.
        """
        for file_field in rows.file_fields(model):
            name = values[file_field.name]
            if not name:
                continue
            path = writing.file_name(model, file_field.attname, name)
            self._unused.discard(path)
            with zip_files.member(self._closed, path) as member:
                source = _Digesting(member, path)
                if keep:
                    new_name = _new_name(model, file_field, values, PurePath(name).suffix)
                    stored = FieldFile(model(), file_field, new_name)
                    stored.name = save_unique(file_field.storage, new_name, File(source))  # type: ignore[arg-type]
                    self._result.files.append(stored)
                    values[file_field.name] = stored.name
                source.finish()
            digest, size = rows.digest_field(file_field), rows.size_field(file_field)
            if source.digest.hexdigest() != values[digest]:
                raise ArchiveError(f"{place}: {digest} is not that of the file {path}")
            if size in values and source.n_bytes != values[size]:
                raise ArchiveError(f"{place}: {size} is {values[size]:,}, but the file {path} has {source.n_bytes:,}")


class _Digesting:
    """A file in an archive that is read once, from start to end, with the SHA-256 digest of what was read."""

    def __init__(self, member: IO[bytes], path: str) -> None:
        self._member = member
        self._path = path
        self.digest = hashlib.sha256()
        self.n_bytes = 0

    def read(self, n: int = -1) -> bytes:
        with reading(self._path):
            data = self._member.read(n)
        self.digest.update(data)
        self.n_bytes += len(data)
        return data

    def finish(self) -> None:
        """Read the rest."""
        while self.read(1 << 20):
            pass

    closed = False

    def close(self) -> None:
        """Do nothing: whoever opened the file closes it."""

    def seekable(self) -> bool:
        return False

    def __iter__(self) -> Iterator[bytes]:
        return iter(lambda: self.read(1 << 20), b"")


def _relations(model: type[Model]) -> list[Any]:
    """Return the fields of a model whose archived values are keys of other rows."""
    if model is User:
        return []
    return [column for column in model._meta.concrete_fields if column.is_relation] + row_checks.m2m_fields(model)


def _give_up_lease(values: Values) -> None:
    """Queue a row again that a worker of the other server was working on."""
    values["lease_until"] = None
    if values.get("state") == State.RUNNING:
        values["state"], values["attempt"] = State.QUEUED, 0


def _new_name(model: type[Model], file_field: Any, values: Values, suffix: str) -> str:
    """Return a random name for a file in its storage. suffix: of the archived name; it says how the file is read."""
    if not file_field.upload_to:
        return f"{uuid4().hex}.{model._meta.model_name}"
    others = {other: values[other] for other in ("suffix", "media_type") if other in values}
    return str(file_field.generate_filename(model(**others), f"file{'.gz' if suffix == '.gz' else '.jsonl'}"))


def _prepared_at(at: datetime) -> Any:
    return AuditEntry._meta.get_field("at").get_db_prep_save(at, connection)

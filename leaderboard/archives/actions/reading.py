"""Import of a benchmark's archive: all of its content unchanged, or nothing."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import IO, Annotated, Any, NamedTuple
from zipfile import BadZipFile, ZipFile

import msgspec
from django.core.exceptions import ValidationError
from django.db import transaction
from pyrage import x25519

from leaderboard.archives.actions import encryption, inserting, preparing, writing, zip_files
from leaderboard.archives.actions.errors import ArchiveError, reading
from leaderboard.archives.actions.row_checks import shown
from leaderboard.core import time_zones
from leaderboard.core.names.names import check_signs
from leaderboard.core.refusal import Refused
from leaderboard.models import AuditEntry, Benchmark, User

Say = Callable[[str], None]
_LONGEST_HEAD = 4 << 20
"""Maximum size of archive.json in bytes, far above that of any benchmark's archive."""
_LONGEST_PATH = 1_000
_CHUNK = 1 << 20
_LONGEST_KEY = 10_000
"""Maximum size in bytes of a secret key that is encrypted with a passphrase."""


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
    version: Annotated[int, msgspec.Meta(ge=0, le=10**6)]
    layout: str
    slug: str
    title: str
    written_at: datetime
    readable: dict[str, str]
    closed: str | None
    rows: dict[str, Annotated[int, msgspec.Meta(ge=0, le=10**12)]]
    protected_key: str | None = None


class Imported(NamedTuple):
    """The result of an archive's import.

    renamed: (user name in the archive, user name on this server) of each account whose name was taken.
    """

    benchmark: Benchmark
    renamed: list[tuple[str, str]]


def import_contents(
    *,
    archive: IO[bytes],
    keys: Sequence[x25519.Identity],
    by: User | None,
    say: Say,
    finish: Callable[[Imported], object] = lambda imported: None,
) -> Imported:
    """Import the benchmark with everything in the archive: rows, files and the order of releases.

    archive: the open file. keys: secret keys, of which one must decrypt the closed part. by: the user who imports it;
    None: a command on the server. say: is called with a line of text after each step. finish: is called in the
    transaction that inserts the rows. Every row gets a new primary key, except that random keys (UUIDs) stay. Users are
    matched by name and mail address; others are created without a password or rights, with another name if theirs is
    taken. The imported manifest and boards are compared with the archived ones before the commit. Raises ArchiveError,
    or InvalidKeyError if no key decrypts the closed part; nothing is changed then.
    """
    with zip_files.opened(archive, what="the archive", most=zip_files.MOST_PUBLIC) as outer:
        head = _head(outer)
        if head.closed is None:
            raise ArchiveError(
                "this archive was exported without a key, so it has no gold and no submissions; expected an archive "
                "with an encrypted part: export it again with a key. To host the benchmark without its submissions, "
                f"unpack the archive, add the gold files that its {writing.MANIFEST} names, and run manage.py "
                "import_benchmark own FOLDER"
            )
        _check_readable(outer, head)
        with (
            zip_files.member(outer, head.closed) as sealed,
            encryption.decrypted_reader(sealed, keys) as clear,
            zip_files.opened(clear, what="the encrypted part", most=zip_files.MOST_CLOSED) as closed,
            preparing.prepared(closed, slug=head.slug, say=say) as prepared,
            transaction.atomic(),
        ):
            inserting.insert(prepared)
            benchmark = Benchmark.objects.get(slug=head.slug)
            imported = Imported(benchmark, prepared.renamed)
            with _showing():
                _compare(head, benchmark)
            AuditEntry.record("benchmark.imported", benchmark, by=by, archive=head.slug, renamed=dict(imported.renamed))
            finish(imported)
    say(f"{benchmark.slug}: imported unchanged, {prepared.n_rows:,} rows")
    return imported


def keys_of(archive: IO[bytes], secret: str) -> list[x25519.Identity]:
    """Return the secret keys that `secret` gives: secret keys, one per line, or the archive's passphrase.

    The passphrase decrypts a secret key that is stored in the archive. Raises ArchiveError for a file that is not an
    archive of this server's version; InvalidKeyError for an invalid key or a wrong passphrase.
    """
    if "AGE-SECRET-KEY" in secret.upper():
        return encryption.identities(secret.splitlines())
    with zip_files.opened(archive, what="the archive", most=zip_files.MOST_PUBLIC) as outer:
        head = _head(outer)
        if head.protected_key is None:
            return encryption.identities(secret.splitlines())
        with zip_files.member(outer, head.protected_key) as member, reading(head.protected_key):
            protected = member.read(_LONGEST_KEY)
    return encryption.unprotected(protected, secret.strip())


def read_head(archive: IO[bytes]) -> Head:
    """Return the content of archive.json, without reading any other file of the archive.

    Raises ArchiveError for a file that is not an archive, or was written with another database migration.
    """
    with zip_files.opened(archive, what="the archive", most=zip_files.MOST_PUBLIC) as outer:
        return _head(outer)


def check_readable(archive: IO[bytes]) -> None:
    """Verify the archive's readable part. Raises ArchiveError if a file is missing, or differs from its digest."""
    with zip_files.opened(archive, what="the archive", most=zip_files.MOST_PUBLIC) as outer:
        _check_readable(outer, _head(outer))


def _head(outer: ZipFile) -> Head:
    if writing.HEAD not in outer.namelist():
        raise ArchiveError(f"this is not an archive of a benchmark: it has no file {writing.HEAD}")
    with zip_files.member(outer, writing.HEAD) as member, reading(writing.HEAD):
        content = member.read(_LONGEST_HEAD)
    try:
        head = msgspec.json.decode(content, type=Head)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise ArchiveError(
            f"this is not an archive of a benchmark: its file {writing.HEAD} is invalid: {error}"
        ) from error
    if (head.format, head.version) != ("holdout-benchmark", writing.FORMAT):
        raise ArchiveError(
            f"the archive's format is {head.format[:60]}, version {head.version}, expected holdout-benchmark, "
            f"version {writing.FORMAT}: upgrade the older one of the two servers, and export the archive again if it "
            "was written by that server"
        )
    if head.layout != writing.migration():
        raise ArchiveError(
            f"the archive was written with the database migration {head.layout[:60]}, expected this server's, "
            f"{writing.migration()}: upgrade the older of the two servers; if that server wrote the archive, export it "
            "again"
        )
    _check_shown(head)
    return head


def _check_shown(head: Head) -> None:
    """Raise ArchiveError if archive.json has what a page cannot show, or no benchmark has."""
    try:
        for name in ("slug", "title"):
            shown_field: Any = Benchmark._meta.get_field(name)
            check_signs(shown_field.clean(getattr(head, name), None), of=name)
        if head.written_at.tzinfo is None:
            raise ValueError("written_at has no time zone")
        time_zones.check(head.written_at)
        for path in (*head.readable, *head.rows, head.closed or "", head.protected_key or ""):
            if len(path) > _LONGEST_PATH or not path.isprintable():
                raise ValueError(f"{shown(path)} is no name of a file or table")
    except (Refused, ValidationError, ValueError) as error:
        text = " ".join(error.messages) if isinstance(error, ValidationError) else str(error)
        raise ArchiveError(
            f"this is not an archive of a benchmark: its file {writing.HEAD} is invalid: {text}"
        ) from error


def _check_readable(outer: ZipFile, head: Head) -> None:
    problems = _public_problems(
        outer, head.readable, allowed={writing.HEAD, *filter(None, (head.closed, head.protected_key))}
    )
    if problems:
        raise ArchiveError(*problems)


def _public_problems(outer: ZipFile, readable: Mapping[str, str], *, allowed: set[str]) -> list[str]:
    """Return one sentence for each file of the archive that is missing, altered or not expected; [] if there is none.

    outer: the open archive. readable: expected SHA-256 by name of file. allowed: names of files that are expected
    without a digest. Every file in `readable` is read completely.
    """
    names = set(outer.namelist())
    problems = [
        f"{name} is not in the archive, but the export wrote it" for name in sorted((readable.keys() | allowed) - names)
    ]
    problems += [
        f"{name} is in the archive, but the export did not write it"
        for name in sorted(names - readable.keys() - allowed)
    ]
    problems += [
        f"{name} was altered after the export"
        for name in sorted(readable.keys() & names)
        if _is_altered(outer, name, readable[name])
    ]
    return problems


def _is_altered(outer: ZipFile, name: str, expected: str) -> bool:
    digest = hashlib.sha256()
    try:
        with outer.open(name) as member:
            while chunk := member.read(_CHUNK):
                digest.update(chunk)
    except (BadZipFile, EOFError, NotImplementedError, zlib.error):
        return True
    return digest.hexdigest() != expected


def _compare(head: Head, benchmark: Benchmark) -> None:
    """Raise ArchiveError unless the imported manifest and boards equal the archived ones byte for byte."""
    imported = {name: hashlib.sha256(content).hexdigest() for name, content in _comparable(head, benchmark)}
    archived = {name: head.readable[name] for name in head.readable if name.startswith("boards/")}
    archived[writing.MANIFEST] = head.readable.get(writing.MANIFEST, "")
    different = sorted(name for name in imported.keys() | archived.keys() if imported.get(name) != archived.get(name))
    if different:
        raise ArchiveError(*(f"the imported {_kind_of(name)} would differ from the archived one" for name in different))


@contextmanager
def _showing() -> Iterator[None]:
    """Turn errors at values in JSON of a form that no page expects into ArchiveError. Errors of the database pass."""
    try:
        yield
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise ArchiveError(f"the imported boards cannot be shown ({type(error).__name__})") from error


def _comparable(head: Head, benchmark: Benchmark) -> Iterator[tuple[str, bytes]]:
    yield writing.MANIFEST, writing.manifest_file(benchmark)
    yield from writing.boards_of(benchmark, head.written_at)


def _kind_of(name: str) -> str:
    return name if name == writing.MANIFEST else f"board {name}"

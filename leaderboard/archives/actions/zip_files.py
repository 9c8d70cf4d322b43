"""ZIP files that may come from anybody. Each limit is checked before its cost is paid."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from leaderboard.archives.actions.errors import ArchiveError, reading

MOST_PUBLIC = 20_000
"""Maximum number of files in an archive, apart from its encrypted part."""
MOST_CLOSED = 250_000
"""Maximum number of files in the encrypted part, which has a few for each submission."""
LONGEST_DIRECTORY = 32 << 20
"""Maximum size in bytes of a ZIP file's directory, which is read into memory."""
RATIO = 100
"""A ZIP file may unpack to this many times its own size, plus FLOOR bytes."""
FLOOR = 64 << 20
LONGEST_LINE = 8 << 20
"""Maximum number of bytes of one row. The largest rows are reports of audits."""
_LOCAL_HEADER = 30
"""Size in bytes of a file's header in a ZIP file, without its name."""
_ENTRY = b"PK\x01\x02"
_CHUNK = 1 << 18


@contextmanager
def opened(file: IO[bytes], *, what: str, most: int) -> Iterator[ZipFile]:
    """Open a ZIP file, all of whose entries are ordinary files within the limits of this module.

    what: noun for the file in messages. most: maximum number of files in it. Raises ArchiveError for a file that is no
    ZIP file, is over a limit, or has an entry that no export writes: encrypted, a link, a folder, with a path outside
    the archive, twice, or overlapping another one.
    """
    size = file.seek(0, 2)
    file.seek(0)
    guarded = _Guarded(file, what, most)
    try:
        archive = ZipFile(guarded)
    except ArchiveError:
        raise
    except BadZipFile as error:
        raise ArchiveError(f"{what} is not a ZIP file, or is damaged: {error}") from error
    except Exception as error:
        raise ArchiveError(f"{what} is not a ZIP file, or is damaged: its directory is invalid") from error
    guarded.is_opening = False
    with archive:
        _check(archive, size, what)
        yield archive


def lines(archive: ZipFile, name: str) -> Iterator[bytes]:
    """Yield the lines of a file in a ZIP file. Raises ArchiveError for a line over LONGEST_LINE, and a damaged file."""
    number, rest = 1, b""
    with member(archive, name) as file:
        while True:
            with reading(name):
                chunk = file.read(_CHUNK)
            if not chunk:
                break
            *whole, rest = (rest + chunk).split(b"\n") if b"\n" in chunk else [rest + chunk]
            number += len(whole)
            if len(rest) > LONGEST_LINE or any(len(line) > LONGEST_LINE for line in whole):
                where = f"{name}, line {number}" if len(rest) > LONGEST_LINE else name
                raise ArchiveError(f"{where} is longer than {LONGEST_LINE:,} bytes")
            yield from whole
    if rest:
        yield rest


@contextmanager
def member(archive: ZipFile, name: str) -> Iterator[IO[bytes]]:
    """Open a file in a ZIP file. Raises ArchiveError if there is no such file, or if it is damaged."""
    with reading(name):
        try:
            file = archive.open(name)
        except KeyError as error:
            raise ArchiveError(f"{name} is not in the archive, but every export writes it") from error
    with file:
        yield file


class _Guarded:
    """A file that does not give a ZIP file's directory to a reader if it is over the limits: the reader loads all.

    is_opening: the directory is being read, and not the content of a file.
    """

    def __init__(self, file: IO[bytes], what: str, most: int) -> None:
        self._file = file
        self._what = what
        self._most = most
        self.is_opening = True

    def read(self, n: int = -1) -> bytes:
        if not self.is_opening:
            return self._file.read(n)
        if n > LONGEST_DIRECTORY:
            raise ArchiveError(f"{self._what} has a directory of {n:,} bytes; expected at most {LONGEST_DIRECTORY:,}")
        data = self._file.read(n)
        if (found := data.count(_ENTRY)) > self._most:
            raise ArchiveError(f"{self._what} has {found:,} files; expected at most {self._most:,}")
        return data

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


def _check(archive: ZipFile, size: int, what: str) -> None:
    """Raise ArchiveError for the first entry that no export writes. size: bytes of the whole ZIP file."""
    entries = archive.infolist()
    if len(archive.namelist()) != len(archive.NameToInfo):
        seen: set[str] = set()
        twice = next(entry.filename for entry in entries if entry.filename in seen or seen.add(entry.filename))  # type: ignore[func-returns-value]
        raise ArchiveError(f"{what} has two files {twice}; expected each once")
    for entry in entries:
        problem = _problem(entry)
        if problem:
            raise ArchiveError(f"{entry.filename!r} in {what} {problem}; expected an ordinary file")
    end, before = 0, ""
    for entry in sorted(entries, key=lambda entry: entry.header_offset):
        if entry.header_offset < end:
            raise ArchiveError(f"{before!r} and {entry.filename!r} in {what} overlap; expected separate files")
        end = entry.header_offset + _LOCAL_HEADER + len(entry.filename.encode()) + entry.compress_size
        before = entry.filename
    if end > size:
        raise ArchiveError(f"{before!r} in {what} is cut off")
    unpacked = sum(entry.file_size for entry in entries)
    if unpacked > RATIO * size + FLOOR:
        raise ArchiveError(f"{what} would unpack to {unpacked:,} bytes, which is over {RATIO} times its size")


def _problem(entry: ZipInfo) -> str:
    """Return what is wrong with an entry, as a predicate; empty if nothing is."""
    name, kind = entry.filename, stat.S_IFMT(entry.external_attr >> 16)
    if entry.flag_bits & 1:
        return "is encrypted"
    if entry.is_dir() or kind not in (0, stat.S_IFREG):
        return "is a folder, a link or a device"
    if name.startswith("/") or "\\" in name or ".." in name.split("/") or not name.isprintable():
        return "has an unsafe path"
    if entry.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
        return f"is compressed by the method {entry.compress_type}"
    return ""

"""Storage backends without URLs: files are streamed by views that check permissions.

That of a site with S3 is in `s3_storage.py`, whose libraries no other site loads.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, Any
from uuid import uuid4

from django.core.files import File
from django.core.files.move import file_move_safe
from django.core.files.storage import FileSystemStorage, Storage, storages
from django.db import transaction
from django.db.models.fields.files import FieldFile

from leaderboard.core import db_locks, file_cache
from leaderboard.core.store_errors import StoreUnavailableError, recorded

PARTIAL = ".partial"
"""Suffix of local files that are not complete yet."""


class NoUrl:
    """Mixin for storages whose files have no URL."""

    is_remote = False
    """Whether files are copied to this host before they are read (`opened`)."""

    def url(self, name: str | None, *_: Any, **__: Any) -> str:
        raise ValueError("files of this storage have no URL; open them with the storage's open() instead")


class PrivateFileStorage(NoUrl, FileSystemStorage):
    """Local file storage whose files have no URL. The settings make files readable only for the server's system user.

    A file gets its name only once it is complete; if the disk is full, the incomplete file is deleted.
    """

    def check(self) -> None:
        """Raise OSError if the storage's folder (or the nearest parent, if it does not exist yet) is not writable."""
        folder = Path(self.location)
        while not folder.exists():
            folder = folder.parent
        with recorded("check"):
            if not os.access(folder, os.W_OK | os.X_OK):
                raise PermissionError(f"the folder {folder} is not writable")

    def _open(self, name: str, mode: str = "rb") -> Any:
        with recorded("open"):
            return super()._open(name, mode)  # type: ignore[misc]  # the stubs lack it

    def _save(self, name: str, content: Any) -> str:
        with recorded("save"):
            return self._save_whole(name, content)

    def _save_whole(self, name: str, content: Any) -> str:
        partial = f"{name}.{uuid4().hex}{PARTIAL}"  # no other file can have this name, so it may be deleted
        try:
            super()._save(partial, content)  # type: ignore[misc]  # the stubs lack it
        except BaseException:
            self.delete(partial)
            raise
        while True:
            try:
                file_move_safe(self.path(partial), self.path(name))
            except FileExistsError:
                name = self.get_available_name(name)
            else:
                return name.replace("\\", "/")

    def delete(self, name: str) -> None:
        with recorded("delete"):
            super().delete(name)

    def open_range(self, name: str, start: int, stop: int) -> IO[bytes]:
        """Open a file for reading at the byte offset `start`. The caller must not read beyond the offset `stop`.

        `s3_storage.PrivateS3Storage.open_range` transfers only these bytes. stop: exclusive end, greater than `start`.
        """
        with recorded("open"):
            file: IO[bytes] = super()._open(name, "rb")  # type: ignore[misc]  # the stubs lack it
        file.seek(start)
        return file


def check_stores() -> None:
    """Raise StoreUnavailableError if the S3 store does not respond, or OSError if a local folder is not writable."""
    for alias in ("predictions", "gold"):
        storages[alias].check()  # type: ignore[attr-defined]  # the class of all stored files is one of the two above


def store_responds() -> bool:
    """Return whether the file store responds; always True if the files are in local folders."""
    storage = storages["predictions"]
    if not getattr(storage, "is_remote", False):
        return True
    try:
        storage.check()  # type: ignore[attr-defined]  # remote storages have it
    except StoreUnavailableError:
        return False
    return True


def is_store_gone() -> bool:
    """Return whether the local folders in which files were stored have none, as if they were not mounted.

    Call where a stored file was not found. False if the files are in S3, which says itself that it is away.
    """
    local = [storage for alias in ("predictions", "gold") if isinstance(storage := storages[alias], FileSystemStorage)]
    return any(next(Path(storage.location).glob("*"), None) is None for storage in local)


def save_unique(storage: Storage, name: str, content: File[bytes]) -> str:
    """Store a file under a name that no other file can have, and return the name.

    Such a name contains a random UUID, or the number of an attempt that only one worker makes. Unlike `Storage.save`,
    this makes no request to find out whether the name is taken.
    """
    return str(storage._save(name, content))  # type: ignore[attr-defined]  # the stubs lack it


def delete_after_commit(stored: FieldFile) -> None:
    """Delete a stored file once the current transaction has committed; without a transaction, at once.

    An error of the store is only logged, because it would make a committed request look failed; `manage.py cleanup`
    lists the file that remains.
    """
    storage, name = stored.storage, str(stored.name)
    transaction.on_commit(lambda: storage.delete(name), robust=True)


@contextmanager
def deleted_on_failure(storage: Storage, name: str) -> Iterator[None]:
    """Delete the stored file `name` if the `with` block, which commits the file's database record, raises an exception.

    If the connection to the database was lost during COMMIT, the record may exist, and the file stays: a file without a
    record is harmless, and `manage.py cleanup` lists it. name: if it is empty, nothing is deleted.
    """
    try:
        yield
    except BaseException as error:
        if name and not db_locks.is_commit_unknown(error):
            storage.delete(name)
        raise


class AlteredError(Exception):
    """Error: a stored file no longer has the SHA-256 digest that was recorded in the database when it was stored."""


def check_digest(file: IO[bytes], expected: str) -> None:
    """Verify that an open file has the SHA-256 digest `expected` (hexadecimal), and rewind it to its start.

    Raises AlteredError if the digest differs.
    """
    file.seek(0)
    with recorded("read"):
        digest = hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]
    if digest != expected:
        raise AlteredError(f"a stored file has the SHA-256 digest {digest}; expected the recorded one, {expected}")
    file.seek(0)


def first_bytes(stored: FieldFile, n: int) -> bytes:
    """Return the first `n` bytes of a stored file without reading the rest; all bytes if the file is smaller."""
    storage: Any = stored.storage
    with closing(storage.open_range(str(stored.name), 0, n)) as file, recorded("read"):
        return bytes(file.read(n))


@contextmanager
def opened(stored: FieldFile, *, sha256: str = "") -> Iterator[IO[bytes]]:
    """Open a stored file for reading, as a local file with a file descriptor, which the sandbox needs.

    A file of a remote storage (S3) has no file descriptor, so it is first copied to a local file. sha256: digest of the
    file's content, for a file that many jobs read: the copy is then kept in the `file_cache`, and used by later calls;
    empty: the copy is deleted. The content is not verified; see `check_digest`.
    """
    storage: Any = stored.storage
    if not getattr(storage, "is_remote", False):
        with stored.open("rb") as source:
            yield source.file
        return
    name = str(stored.name)
    with file_cache.opened(sha256, lambda spool: storage.download(name, spool)) as spool:
        yield spool

"""Storage backends without URLs: files are streamed by views that check permissions."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any, BinaryIO
from uuid import uuid4

from django.core.files.move import file_move_safe
from django.core.files.storage import FileSystemStorage
from django.db.models.fields.files import FieldFile
from storages.backends.s3 import S3Storage


class NoUrl:
    """Mixin for storages whose files have no URL."""

    def url(self, name: str | None, *_: Any, **__: Any) -> str:
        raise ValueError("files of this storage have no URL; open them with the storage's open() instead")


class PrivateFileStorage(NoUrl, FileSystemStorage):
    """Local file storage whose files have no URL. Settings let only the server's operating-system user read them.

    A file has its name only once it is complete: if the disk is full, no part of it is left.
    """

    def _save(self, name: str, content: Any) -> str:
        partial = f"{name}.{uuid4().hex}.partial"  # no other file can have this name, so it may be deleted
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


class PrivateS3Storage(NoUrl, S3Storage):
    """Private S3 bucket without URLs."""


class AlteredError(Exception):
    """Error: a stored file no longer has the SHA-256 digest that was recorded in the database when it was stored."""


def check_digest(file: IO[bytes], expected: str) -> None:
    """Verify that an open file has the SHA-256 digest `expected` (hexadecimal), and rewind it to its start.

    Raises AlteredError if the digest differs.
    """
    file.seek(0)
    digest = hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]
    if digest != expected:
        raise AlteredError(f"a stored file has the SHA-256 digest {digest}; expected the recorded one, {expected}")
    file.seek(0)


@contextmanager
def opened(stored: FieldFile) -> Iterator[IO[bytes]]:
    """Open a stored file for reading, as a local file with a file descriptor, which the sandbox needs.

    A file of a remote storage (S3) has no file descriptor, so it is first copied to an unnamed local file.
    """
    with stored.open("rb") as source:
        raw: BinaryIO = source.file
        try:
            raw.fileno()
        except (OSError, AttributeError):
            with tempfile.TemporaryFile() as spool:
                shutil.copyfileobj(raw, spool)
                spool.flush()
                spool.seek(0)
                yield spool
            return
        yield raw

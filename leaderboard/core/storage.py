"""Storage backends without URLs: files are streamed by views that check permissions."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any, BinaryIO

from django.core.files.storage import FileSystemStorage
from django.db.models.fields.files import FieldFile
from storages.backends.s3 import S3Storage


class NoUrl:
    """Mixin for storages whose files have no URL."""

    def url(self, name: str | None, *_: Any, **__: Any) -> str:
        raise ValueError("this store has no URLs")


class PrivateFileStorage(NoUrl, FileSystemStorage):
    """Local file storage without URLs; only the owner can read its files."""


class PrivateS3Storage(NoUrl, S3Storage):
    """Private S3 bucket without URLs."""


class AlteredError(Exception):
    """A stored file no longer has the sha256 recorded in its row."""


def check_digest(file: IO[bytes], expected: str) -> None:
    """Verify a stored file's sha256 and rewind it. Raises AlteredError."""
    file.seek(0)
    if hashlib.file_digest(file, "sha256").hexdigest() != expected:  # type: ignore[arg-type]
        raise AlteredError("a stored file no longer matches its sha256")
    file.seek(0)


@contextmanager
def opened(stored: FieldFile) -> Iterator[IO[bytes]]:
    """Open a stored file read-only, with a file descriptor, which the sandbox needs.

    Files of remote storages have none and are copied to an unnamed local file first.
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

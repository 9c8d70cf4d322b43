"""Where files lie. No store of ours has a URL: what is public is streamed by a view that checks who asks."""

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
    """A store whose files cannot be addressed from outside."""

    def url(self, name: str | None, *_: Any, **__: Any) -> str:
        raise ValueError("this store has no URLs")


class PrivateFileStorage(NoUrl, FileSystemStorage):
    """Local folders, readable by their owner alone."""


class PrivateS3Storage(NoUrl, S3Storage):
    """A private bucket."""


class AlteredError(Exception):
    """A stored file no longer has the sha256 that its row names."""


def check_digest(file: IO[bytes], expected: str) -> None:
    """Read a stored file through; it stands at its beginning after. Raises AlteredError."""
    file.seek(0)
    if hashlib.file_digest(file, "sha256").hexdigest() != expected:  # type: ignore[arg-type]
        raise AlteredError("a stored file no longer has its sha256")
    file.seek(0)


@contextmanager
def opened(stored: FieldFile) -> Iterator[IO[bytes]]:
    """A stored file as an open read-only file with a descriptor.

    The sandbox takes descriptors, and a remote store has none: its files are spooled to an unnamed local file first.
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

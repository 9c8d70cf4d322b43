"""Uploads: limits on request bodies, and a handler that streams files to disk with their sha256."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import StopUpload, TemporaryFileUploadHandler
from django.core.handlers.wsgi import LimitedStream

from leaderboard.core import disk

FORM_BYTES = 1_000_000
"""Bytes that a multipart body may contain in addition to the file."""


def max_body_bytes(*, cookie: str, authorization: str) -> int:
    """Return the maximum size in bytes of a request's body.

    cookie, authorization: values of the request's headers, empty if missing. A request that has a session cookie or the
    header Authorization, whose validity is not checked here, may send a file; other requests may only send a form.
    """
    if authorization or f"{settings.SESSION_COOKIE_NAME}=" in cookie:
        return int(settings.MAX_UPLOAD_BYTES) + FORM_BYTES
    return int(settings.DATA_UPLOAD_MAX_MEMORY_SIZE)


class HashingUploadHandler(TemporaryFileUploadHandler):
    """Upload handler of Django that stores each file in a temporary file.

    The file's attribute `sha256` is its SHA-256 digest in hexadecimal.
    A file over settings.MAX_UPLOAD_BYTES stops the upload and sets request.META["holdout.upload_too_large"]. A disk
    that is full or cannot be written stops it and sets "holdout.refused" to the Refused of `disk.refusal_of`. The rest
    of the body is then discarded.
    """

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        self.digest = hashlib.sha256()
        self.received = 0
        with self._stop_if_disk_fails():
            super().new_file(*args, **kwargs)

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        self.received += len(raw_data)
        if self.received > settings.MAX_UPLOAD_BYTES:
            self._stop("holdout.upload_too_large", True)
        self.digest.update(raw_data)
        with self._stop_if_disk_fails():
            super().receive_data_chunk(raw_data, start)

    def file_complete(self, file_size: int) -> UploadedFile | None:
        with self._stop_if_disk_fails():
            file = super().file_complete(file_size)
        if file is not None:
            vars(file)["sha256"] = self.digest.hexdigest()
        return file

    @contextmanager
    def _stop_if_disk_fails(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            refused = disk.refusal_of(error)
            if refused is None:
                raise
            self._stop("holdout.refused", refused)

    def _stop(self, why: str, value: object) -> NoReturn:
        if self.request is not None:
            self.request.META[why] = value
        self.close()
        raise StopUpload(connection_reset=False)

    def close(self) -> None:
        """Close the temporary file, which deletes it."""
        with suppress(OSError):  # closing writes what is still buffered
            if (file := getattr(self, "file", None)) is not None:
                file.close()


def received_whole(request: Any) -> bool:
    """Return whether as many bytes of the request's body were received as its Content-Length announced.

    This must be checked because Django's multipart parser accepts a body that ends within a file.
    """
    stream = getattr(request, "_stream", None)
    return not isinstance(stream, LimitedStream) or vars(stream)["_pos"] >= stream.limit


def sha256_of(file: Any) -> str:
    """Return the SHA-256 digest of an uploaded file, in hexadecimal.

    If HashingUploadHandler received the file, the digest is known; any other file is read to its end and rewound.
    """
    known = getattr(file, "sha256", None)
    if isinstance(known, str):
        return known
    digest = hashlib.sha256()
    file.seek(0)
    for chunk in iter(lambda: file.read(1 << 20), b""):
        digest.update(chunk)
    file.seek(0)
    return digest.hexdigest()

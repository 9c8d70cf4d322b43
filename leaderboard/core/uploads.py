"""Upload handler: files are streamed to disk with their sha256 and rejected at the first byte over the size limit."""

from __future__ import annotations

import hashlib
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import StopUpload, TemporaryFileUploadHandler
from django.core.handlers.wsgi import LimitedStream


class HashingUploadHandler(TemporaryFileUploadHandler):
    """Upload handler that stores each file as a temporary file with its digest in the attribute `sha256`.

    A file over settings.MAX_UPLOAD_BYTES stops the request and sets request.META["holdout.upload_too_large"].
    """

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        super().new_file(*args, **kwargs)
        self.digest = hashlib.sha256()
        self.received = 0

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        self.received += len(raw_data)
        if self.received > settings.MAX_UPLOAD_BYTES:
            if self.request is not None:
                self.request.META["holdout.upload_too_large"] = True
            self.file.close()
            raise StopUpload(connection_reset=False)
        self.digest.update(raw_data)
        super().receive_data_chunk(raw_data, start)

    def file_complete(self, file_size: int) -> UploadedFile | None:
        file = super().file_complete(file_size)
        if file is not None:
            vars(file)["sha256"] = self.digest.hexdigest()
        return file


def received_whole(request: Any) -> bool:
    """Return whether as many bytes were received as Content-Length announced.

    Django's multipart parser accepts a body that is truncated inside a file.
    """
    stream = getattr(request, "_stream", None)
    return not isinstance(stream, LimitedStream) or vars(stream)["_pos"] >= stream.limit


def sha256_of(file: Any) -> str:
    """Return the SHA-256 digest of an uploaded file, in hexadecimal.

    HashingUploadHandler has computed it already; other files are read here, and rewound.
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

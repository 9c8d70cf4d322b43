"""Parts of files: responses 206 and 416 to requests with the header Range (RFC 9110, section 14)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from typing import Any

from django.db.models.fields.files import FieldFile
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase

CHUNK_SIZE = 1 << 16
_RANGE = re.compile(r"bytes=([0-9]{0,18})-([0-9]{0,18})\Z")


class UnsatisfiableError(Exception):
    """Error: the range in a Range header contains no byte of the file."""


def range_of(header: str, size: int) -> tuple[int, int] | None:
    """Return the byte offsets (start, stop) that a Range header asks for; stop is exclusive, at most `size`.

    size: of the file in bytes. None if the header is empty or invalid, or asks for several ranges, which a server may
    ignore: then the whole file is sent. Raises UnsatisfiableError if the range contains no byte of the file.
    """
    match = _RANGE.match(header.strip())
    if match is None or match.groups() == ("", ""):
        return None
    first, last = match.groups()
    if not first:
        start, stop = max(size - int(last), 0), size
    else:
        start, stop = int(first), min(int(last) + 1, size) if last else size
        if last and int(last) < start:
            return None
    if start >= size or start == stop:
        raise UnsatisfiableError
    return start, stop


def part_of_file(request: HttpRequest, stored: FieldFile, *, etag: str) -> HttpResponseBase | None:
    """Return the response with the part of a stored file that the request asks for; None: send the whole file.

    The response is a 206, or a 416 for a range outside the file. etag: the file's strong ETag. A range is ignored if
    the header If-Range has another ETag, or a date.
    """
    header = request.headers.get("Range", "")
    if request.method != "GET" or not header or request.headers.get("If-Range", etag) != etag:
        return None
    size = stored.size
    try:
        part = range_of(header, size)
    except UnsatisfiableError:
        return HttpResponse(status=416, headers={"Content-Range": f"bytes */{size}"})
    if part is None:
        return None
    start, stop = part
    storage: Any = stored.storage
    file = storage.open_range(str(stored.name), start, stop)
    headers = {"Content-Range": f"bytes {start}-{stop - 1}/{size}", "Content-Length": str(stop - start)}
    return StreamingHttpResponse(_chunks(file, stop - start), status=206, headers=headers)


def _chunks(file: Any, n: int) -> Iterator[bytes]:
    with closing(file):
        while n > 0 and (chunk := file.read(min(n, CHUNK_SIZE))):
            n -= len(chunk)
            yield chunk

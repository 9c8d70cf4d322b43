"""Request parsers: bodies are size-limited, streamed to disk with their sha256, and checked for truncation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.core.files.uploadhandler import StopUpload
from django.http import QueryDict
from django.utils.datastructures import MultiValueDict
from rest_framework import parsers
from rest_framework.exceptions import ParseError, UnsupportedMediaType
from rest_framework.request import Request

from leaderboard.core.api.errors import Interrupted, LengthRequired, TooLarge
from leaderboard.core.uploads import FORM_BYTES, HashingUploadHandler, received_whole

CHUNK = 1 << 16


class JSONParser(parsers.JSONParser):
    """JSON parser that answers 400 to input nested beyond Python's recursion limit."""

    def parse(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().parse(*args, **kwargs)
        except RecursionError as error:
            raise ParseError("JSON parse error - nested too deeply") from error


class RawParser(parsers.BaseParser):
    """Parser of a request whose body is a file, and whose query string has the fields that a form would send.

    For example: `curl --data-binary @FILE '...?system=Mine'`.
    """

    media_type = "application/x-ndjson"
    name = "predictions.jsonl"

    def parse(
        self, stream: Any, media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> parsers.DataAndFiles[Any, Any]:
        request: Request = (parser_context or {})["request"]
        query: QueryDict = request.query_params
        name = "".join(filter(str.isprintable, query.get("name", ""))) or self.name
        upload = HashingUploadHandler(request._request)
        try:
            upload.new_file("file", name, media_type, None)
            size = 0
            while chunk := stream.read(CHUNK):
                upload.receive_data_chunk(chunk, size)
                size += len(chunk)
            file = upload.file_complete(size)
        except StopUpload:
            check_stopped(request)
            raise
        except BaseException:
            upload.close()
            raise
        return parsers.DataAndFiles(query, MultiValueDict({"file": [file]}))


class BytesParser(RawParser):
    media_type = "application/octet-stream"


class JsonLinesParser(RawParser):
    media_type = "application/jsonl"


class GzipParser(RawParser):
    media_type = "application/gzip"
    name = "predictions.jsonl.gz"


UPLOADS = (parsers.MultiPartParser, RawParser, BytesParser, JsonLinesParser, GzipParser)


def check_before_reading(request: Request, *, expected: str = "a predictions file") -> None:
    """Check the request's headers before its body is read. expected: noun for the body in error messages.

    Raises UnsupportedMediaType for a content encoding, LengthRequired for a chunked body, ParseError for an empty body
    or a malformed Content-Length, and TooLarge for a Content-Length over the size limit.
    """
    encoding = request.META.get("HTTP_CONTENT_ENCODING", "identity").strip().lower()
    if encoding not in ("", "identity"):
        raise UnsupportedMediaType(
            encoding,
            f'The body is sent with the content encoding "{encoding}"; omit Content-Encoding. A .gz file can be sent '
            "as it is.",
        )
    if "chunked" in request.META.get("HTTP_TRANSFER_ENCODING", "").lower():
        raise LengthRequired
    try:
        announced = int(request.META.get("CONTENT_LENGTH") or 0)
    except ValueError as error:
        raise ParseError(
            f"Content-Length is {request.META.get('CONTENT_LENGTH')!r}; expected the number of bytes of the body."
        ) from error
    if announced == 0:
        raise ParseError(f"The body is empty; expected {expected}.")
    if announced > settings.MAX_UPLOAD_BYTES + FORM_BYTES:
        raise TooLarge


def check_after_reading(request: Request) -> None:
    """Raise Interrupted if the body was shorter than its Content-Length, and the errors of `check_stopped`."""
    check_stopped(request)
    if not received_whole(request._request):
        raise Interrupted


def check_stopped(request: Request) -> None:
    """Raise TooLarge if the upload was stopped at the size limit, Refused if the disk is full or cannot be written."""
    if "holdout.upload_too_large" in request.META:
        raise TooLarge
    if "holdout.refused" in request.META:
        raise request.META["holdout.refused"]

"""Resumable uploads by the tus protocol, version 1.0.

https://tus.io/protocols/resumable-upload is the specification. `core/chunked_upload.py` stores the chunks. Each kind of
upload (images, raw files) has views that extend CreationView and UploadView.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Mapping
from typing import Any, NamedTuple
from uuid import UUID

from django.http import HttpRequest
from django.utils.http import http_date
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework import exceptions, parsers
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.core import chunked_upload
from leaderboard.core.api.base import View
from leaderboard.core.api.errors import LengthRequired
from leaderboard.core.api.parsers import check_before_reading
from leaderboard.core.chunked_upload import CHUNK_BYTES
from leaderboard.core.refusal import Code, Refused
from leaderboard.models import ImageUpload, RawUpload

VERSION = "1.0.0"
EXTENSIONS = "creation,creation-with-upload,expiration,checksum,termination"
ALGORITHMS = ("sha256", "sha1")
"""Checksums of a chunk. The protocol demands sha1."""
MEDIA_TYPE = "application/offset+octet-stream"
METADATA_BYTES = 4096
"""Maximum length of an Upload-Metadata header."""
FIELDS = {"filename": "name", "sha256": "sha256", "track": "track", "team": "team"}
"""Keys of Upload-Metadata that the site reads, and the fields of the request serializers that they become."""

Upload = ImageUpload | RawUpload
Body = {MEDIA_TYPE: OpenApiTypes.BINARY}


def _header(name: str, description: str, *, required: bool = True, kind: Any = str) -> OpenApiParameter:
    return OpenApiParameter(name, kind, OpenApiParameter.HEADER, required=required, description=description)


_VERSION_HEADER = OpenApiParameter(
    "Tus-Resumable", str, OpenApiParameter.HEADER, required=True, enum=[VERSION], description="the protocol's version"
)
_CHECKSUM_HEADER = _header(
    "Upload-Checksum",
    f"a digest of the body, checked before it is stored: {' or '.join(ALGORITHMS)}, a space, the digest in Base64",
    required=False,
)
CREATION_HEADERS = [
    _VERSION_HEADER,
    _header("Upload-Length", "size of the file in bytes", kind=int),
    _header(
        "Upload-Metadata",
        "comma-separated pairs of a key, a space and a value in Base64. Keys: `filename`; `sha256`, checked after the "
        "upload; for the image of a submission also `track` and `team`. Others are returned and not used",
        required=False,
    ),
    _CHECKSUM_HEADER,
]
APPEND_HEADERS = [
    _VERSION_HEADER,
    _header("Upload-Offset", "where the body begins in the file: the number of bytes received so far", kind=int),
    _CHECKSUM_HEADER,
]


class UnsupportedVersion(exceptions.APIException):
    status_code = 412
    default_code = "unsupported_version"
    default_detail = f"The header Tus-Resumable is missing or names another version; expected {VERSION}."


class OffsetParser(parsers.BaseParser):
    """Parser of a request whose body is a chunk of a file. Returns {"chunk": the body as bytes}.

    Reads at most CHUNK_BYTES + 1 bytes: enough to recognise a chunk that is too large.
    """

    media_type = MEDIA_TYPE

    def parse(
        self, stream: Any, media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> dict[str, bytes]:
        return {"chunk": stream.read(CHUNK_BYTES + 1)}


class Announced(NamedTuple):
    """A file that a client is about to send.

    fields: data for the serializer that validates the request: `bytes`, the file's size; and the values of FIELDS for
    which the header Upload-Metadata has a value, such as `name`. metadata: that header as the client sent it.
    """

    fields: dict[str, Any]
    metadata: str


class TusView(View):
    """Base class of the views of the tus protocol: checks the request's protocol version, and answers OPTIONS."""

    permission_classes = (IsAuthenticated,)
    parser_classes = (OffsetParser,)
    http_method_names = (*View.http_method_names, "patch", "options")

    @staticmethod
    def max_bytes() -> int:
        """Return the site's size limit of an uploaded file, in bytes; limits of users or benchmarks may be smaller."""
        raise NotImplementedError

    def initialize_request(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Request:
        """Apply X-HTTP-Method-Override, for clients that cannot send PATCH or DELETE."""
        override = request.headers.get("X-HTTP-Method-Override", "").upper()
        if request.method == "POST" and override in ("PATCH", "DELETE"):
            request.method = override
        return super().initialize_request(request, *args, **kwargs)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Raise UnsupportedVersion if the header Tus-Resumable names a version of tus other than VERSION.

        POST and PATCH need the header; HEAD and DELETE may omit it. GET and OPTIONS are not checked.
        """
        super().initial(request, *args, **kwargs)
        version = request.headers.get("Tus-Resumable", "")
        is_needed = request.method in ("POST", "PATCH")
        if request.method not in ("GET", "OPTIONS") and (version or is_needed) and version != VERSION:
            raise UnsupportedVersion

    def finalize_response(self, request: Any, response: Any, *args: Any, **kwargs: Any) -> Any:
        response = super().finalize_response(request, response, *args, **kwargs)
        response["Tus-Resumable"] = VERSION
        if response.status_code == UnsupportedVersion.status_code:
            response["Tus-Version"] = VERSION
        return response

    def options(self, request: Any, *args: Any, **kwargs: Any) -> Response:
        """Return headers with the versions, extensions and limits of tus that the server supports.

        These are the same for all benchmarks, so that a response does not reveal whether a benchmark exists.
        """
        headers = {
            "Tus-Version": VERSION,
            "Tus-Extension": EXTENSIONS,
            "Tus-Max-Size": str(self.max_bytes()),
            "Tus-Checksum-Algorithm": ",".join(ALGORITHMS),
        }
        return Response(status=204, headers=headers)


class CreationView(TusView):
    """Base class of views that begin an upload: POST with Upload-Length; the body may be the first chunk."""

    def announced(self, request: Request) -> Announced:
        """Return the file that the request's headers announce. Raises ParseError for malformed headers."""
        metadata = request.headers.get("Upload-Metadata", "")
        values = _metadata(metadata)
        fields: dict[str, Any] = {field: values[key] for key, field in FIELDS.items() if values.get(key)}
        if "name" in fields:
            fields["name"] = fields["name"].replace("\\", "/").rpartition("/")[2] or "file"
        return Announced({"bytes": _number(request, "Upload-Length"), **fields}, metadata)

    def created(self, request: Request, upload: Upload, shown: dict[str, Any]) -> Response:
        """Store the request's body, unless it is empty, as the first chunk of a new upload; return the response.

        If the chunk is refused, the upload is deleted. shown: the upload as the response's JSON object, with its `url`.
        """
        headers = {"Location": shown["url"]}
        try:
            if chunk := _chunk(request):
                _append(request, upload, 0, chunk)
                headers["Upload-Offset"] = str(upload.received)
        except Exception:
            chunked_upload.discard(upload)
            raise
        return Response(
            {**shown, "received": upload.received}, status=201, headers={**headers, "Upload-Expires": _expires(upload)}
        )


class UploadView(TusView):
    """Base class of views of one upload: HEAD returns its offset, PATCH appends a chunk, DELETE cancels the upload."""

    def upload_or_404(self, request: Request, pk: UUID) -> Upload:
        """Return the user's upload with the primary key `pk`. Raises Http404 if there is none of this user."""
        raise NotImplementedError

    def head(self, request: Request, pk: UUID) -> Response:
        """Return the byte offset at which the next chunk must begin, in the header Upload-Offset."""
        upload = self._live(request, pk)
        headers = {
            "Upload-Offset": str(upload.received),
            "Upload-Length": str(upload.bytes),
            "Upload-Expires": _expires(upload),
            "Cache-Control": "no-store",
        }
        if upload.metadata:
            headers["Upload-Metadata"] = upload.metadata
        return Response(headers=headers)

    def patch(self, request: Request, pk: UUID) -> Response:
        """Append a chunk, which is the body. The header `Upload-Offset` must be the number of bytes received so far."""
        upload = self._live(request, pk)
        if request.content_type != MEDIA_TYPE:
            raise exceptions.UnsupportedMediaType(request.content_type or "")
        _append(request, upload, _number(request, "Upload-Offset"), _chunk(request))
        return Response(status=204, headers={"Upload-Offset": str(upload.received), "Upload-Expires": _expires(upload)})

    def delete(self, request: Request, pk: UUID) -> Response:
        """Cancel an upload and delete its chunks."""
        chunked_upload.discard(self.upload_or_404(request, pk))
        return Response(status=204)

    def _live(self, request: Request, pk: UUID) -> Upload:
        upload = self.upload_or_404(request, pk)
        chunked_upload.check_not_expired(upload)
        return upload


def _append(request: Request, upload: Any, offset: int, chunk: bytes) -> None:
    """Store a chunk of an upload; if the chunk is empty, only check its offset.

    Raises the errors of `_check_digest` and `chunked_upload.add`.
    """
    if chunk:
        _check_digest(request, chunk)
    if chunk or offset != upload.received:
        chunked_upload.add(upload, offset=offset, chunk=chunk)


def _chunk(request: Request) -> bytes:
    """Return the request's body, which may be empty.

    Raises LengthRequired for a chunked transfer encoding, and the errors of `check_before_reading`.
    """
    if "chunked" in request.META.get("HTTP_TRANSFER_ENCODING", "").lower():
        raise LengthRequired
    if request.META.get("CONTENT_LENGTH") in (None, "", "0"):
        return b""
    check_before_reading(request, expected="the next chunk of the file")
    data: Any = request.data
    chunk: bytes = data["chunk"]
    return chunk


def _check_digest(request: Request, chunk: bytes) -> None:
    """Raise Refused CHECKSUM_MISMATCH if the chunk's digest differs from that in the header Upload-Checksum.

    Does nothing without the header. Raises ParseError if it is malformed or names an unknown algorithm.
    """
    text = request.headers.get("Upload-Checksum")
    if text is None:
        return
    algorithm, _, encoded = text.partition(" ")
    if algorithm not in ALGORITHMS:
        raise exceptions.ParseError(
            f"The header Upload-Checksum names the algorithm {algorithm[:40]!r}; expected {' or '.join(ALGORITHMS)}."
        )
    expected = _decoded(encoded, "Upload-Checksum")
    if hashlib.new(algorithm, chunk, usedforsecurity=False).digest() != expected:
        raise Refused(
            Code.CHECKSUM_MISMATCH,
            f"The chunk's {algorithm} is not that of the header Upload-Checksum. Nothing was stored; send it again.",
        )


def _number(request: Request, name: str) -> int:
    """Return the number in the header `name`. Raises ParseError unless its value is 1 to 18 decimal digits."""
    text = request.headers.get(name, "")
    if not (text.isascii() and text.isdecimal() and len(text) <= 18):
        found = repr(text[:40]) if text else "missing"
        raise exceptions.ParseError(f"The header {name} is {found}; expected a number of bytes.")
    return int(text)


def _metadata(text: str) -> dict[str, str]:
    """Decode the value of an Upload-Metadata header: key -> text. Raises ParseError if it is malformed or too long."""
    if len(text) > METADATA_BYTES:
        raise exceptions.ParseError(
            f"The header Upload-Metadata has {len(text):,} bytes; expected at most {METADATA_BYTES:,}."
        )
    values: dict[str, str] = {}
    for pair in text.split(",") if text else ():
        key, _, encoded = pair.strip().partition(" ")
        if not key or not key.isascii() or key in values:
            raise exceptions.ParseError(
                f"The header Upload-Metadata has the key {key[:40]!r}; expected ASCII characters, each key once."
            )
        try:
            values[key] = _decoded(encoded, "Upload-Metadata").decode()
        except UnicodeDecodeError as error:
            raise exceptions.ParseError(f"The header Upload-Metadata has a {key[:40]!r} that is not UTF-8.") from error
    return values


def _decoded(text: str, name: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise exceptions.ParseError(f"The header {name} has a value that is not Base64.") from error


def _expires(upload: Upload) -> str:
    return http_date(upload.expires_at.timestamp())

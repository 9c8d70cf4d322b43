"""API views for the chunked upload of raw files to a benchmark's dataset. Raw files can never be downloaded."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.boards.queries import lookup
from leaderboard.core import chunked_upload
from leaderboard.core.api import addresses
from leaderboard.core.api.base import View
from leaderboard.core.api.chunks import ChunkParser, Offset, chunk_of
from leaderboard.core.api.parsers import JSONParser
from leaderboard.core.api.renamed import RenamedFields
from leaderboard.core.api.serializers import errors
from leaderboard.curation.actions import raw_files
from leaderboard.models import RawUpload, User

Data = serializers.Serializer[Any]


class RawFileAnnounced(Data):
    """Announcement of an upload: name, size and digest of the file that the client will send."""

    name = serializers.CharField(max_length=255, required=False, default="raw", help_text="file name in errors")
    bytes = serializers.IntegerField(min_value=1, help_text="size of the file")
    sha256 = serializers.CharField(
        max_length=64,
        required=False,
        allow_blank=True,
        default="",
        help_text="SHA-256 of the file, 64 lower-case hexadecimal digits; checked after the upload; empty: not checked",
    )


class RawUploadSerializer(RenamedFields):
    """An upload of a raw file, and its progress."""

    id = serializers.UUIDField()
    name = serializers.CharField()
    bytes = serializers.IntegerField()
    received = serializers.IntegerField(help_text="number of bytes that are stored: the offset of the next chunk")
    chunk_bytes = serializers.IntegerField(help_text="largest size of a chunk")
    began_at = serializers.DateTimeField()
    url = serializers.URLField()
    chunks = serializers.URLField(
        help_text="URL to POST chunks to; when all bytes are received, add the file on the page for new splits"
    )


class RawFilesView(View):
    permission_classes = (IsAuthenticated,)
    parser_classes = (JSONParser,)

    @extend_schema(
        operation_id="raw_upload",
        request=RawFileAnnounced,
        responses={201: RawUploadSerializer, **errors(413, 422, 429)},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Begin the upload of a raw file, from which splits can be generated. For managers of the benchmark."""
        benchmark = lookup.managed_or_404(request.user, slug)
        serializer = RawFileAnnounced(data=request.data)
        serializer.is_valid(raise_exception=True)
        params = serializer.validated_data
        upload = raw_files.begin(
            dataset=benchmark.dataset,
            by=_user(request),
            name=params["name"],
            size=params["bytes"],
            sha256=params["sha256"],
        )
        answer = _serialized(upload, request)
        return Response(answer, status=201, headers={"Location": answer["url"]})


class RawUploadView(View):
    permission_classes = (IsAuthenticated,)

    @extend_schema(operation_id="raw_upload_state", responses={200: RawUploadSerializer, **errors()})
    def get(self, request: Request, pk: UUID) -> Response:
        """Return how much of a raw file has been received."""
        return Response(_serialized(_upload_or_404(request, pk), request))

    @extend_schema(operation_id="raw_upload_discard", responses={204: None, **errors()})
    def delete(self, request: Request, pk: UUID) -> Response:
        """Discard an unfinished upload of a raw file."""
        chunked_upload.discard(_upload_or_404(request, pk))
        return Response(status=204)


class RawChunksView(View):
    permission_classes = (IsAuthenticated,)
    parser_classes = (ChunkParser,)

    @extend_schema(
        operation_id="raw_upload_chunk",
        parameters=[Offset],
        request={"application/octet-stream": OpenApiTypes.BINARY},
        responses={200: RawUploadSerializer, **errors(409, 411, 413, 415, 422, 507)},
    )
    def post(self, request: Request, pk: UUID) -> Response:
        """Send the next chunk of a raw file. 409 `wrong_offset` names the offset at which the chunk has to begin."""
        upload = _upload_or_404(request, pk)
        offset, chunk = chunk_of(request, expected="the next chunk of the file")
        raw_files.add_chunk(upload=upload, offset=offset, chunk=chunk)
        return Response(_serialized(upload, request))


def _upload_or_404(request: Request, pk: UUID) -> RawUpload:
    """Return one of the user's own uploads; another user's upload is a 404."""
    return get_object_or_404(RawUpload.objects.select_related("dataset").filter(by=_user(request)), pk=pk)


def _serialized(upload: RawUpload, request: Request) -> dict[str, Any]:
    names = ("id", "name", "bytes", "received", "began_at")
    answer = RawUploadSerializer(
        {
            **{name: getattr(upload, name) for name in names},
            "chunk_bytes": chunked_upload.CHUNK_BYTES,
            "url": addresses.of(request, "api_raw_upload", upload.pk),
            "chunks": addresses.of(request, "api_raw_chunks", upload.pk),
        }
    )
    return dict(answer.data)


def _user(request: Request) -> User:
    """Return the user of the request, who is logged in: the views' permission ensures it."""
    return request.user  # type: ignore[return-value]

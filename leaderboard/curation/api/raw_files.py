"""API views for the chunked upload of raw files to a benchmark's dataset. Raw files can never be downloaded."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.conf import settings
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.boards.queries import lookup
from leaderboard.core import chunked_upload
from leaderboard.core.api import addresses, tus
from leaderboard.core.api.serializers import errors
from leaderboard.curation.actions import raw_files
from leaderboard.models import Benchmark, RawUpload, User

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


class RawUploadSerializer(Data):
    """An upload of a raw file, and its progress."""

    id = serializers.UUIDField()
    name = serializers.CharField()
    bytes = serializers.IntegerField()
    received = serializers.IntegerField(help_text="number of bytes that are stored: the offset of the next chunk")
    chunk_bytes = serializers.IntegerField(help_text="largest body of a PATCH")
    began_at = serializers.DateTimeField()
    url = serializers.URLField(
        help_text="URL to PATCH chunks to, by the tus protocol; when all bytes are received, add the file on the page "
        "for new splits"
    )


def _max_bytes() -> int:
    return int(settings.MAX_RAW_BYTES)


class RawUploadsView(tus.CreationView):
    max_bytes = staticmethod(_max_bytes)

    @extend_schema(
        operation_id="raw_upload_create",
        parameters=tus.CREATION_HEADERS,
        request=tus.Body,
        responses={201: RawUploadSerializer, **errors(409, 411, 412, 413, 415, 422, 460, 507)},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Begin the upload of a raw file, from which splits can be generated, by the tus protocol. For managers of the
        benchmark. The body may be the first chunk; the others follow as PATCH requests to the address in the header
        Location.
        """
        benchmark = lookup.managed_or_404(request.user, slug)
        announced = self.announced(request)
        upload = _begun(request, benchmark, announced.fields, metadata=announced.metadata)
        return self.created(request, upload, _serialized(upload, request))


@extend_schema_view(
    patch=extend_schema(
        operation_id="raw_upload_append",
        parameters=tus.APPEND_HEADERS,
        request=tus.Body,
        responses={204: None, **errors(409, 410, 411, 412, 413, 415, 460, 507)},
    ),
    delete=extend_schema(operation_id="raw_upload_discard", responses={204: None, **errors(412)}),
)
class RawUploadView(tus.UploadView):
    max_bytes = staticmethod(_max_bytes)

    def upload_or_404(self, request: Request, pk: UUID) -> RawUpload:
        return _upload_or_404(request, pk)

    @extend_schema(operation_id="raw_upload_state", responses={200: RawUploadSerializer, **errors()})
    def get(self, request: Request, pk: UUID) -> Response:
        """Return how much of a raw file has been received. HEAD returns it in the header `Upload-Offset`."""
        return Response(_serialized(_upload_or_404(request, pk), request))


def _begun(request: Request, benchmark: Benchmark, data: Any, metadata: str) -> RawUpload:
    serializer = RawFileAnnounced(data=data)
    serializer.is_valid(raise_exception=True)
    params = serializer.validated_data
    return raw_files.begin(
        dataset=benchmark.dataset,
        by=_user(request),
        name=params["name"],
        size=params["bytes"],
        sha256=params["sha256"],
        metadata=metadata,
    )


def _upload_or_404(request: Request, pk: UUID) -> RawUpload:
    """Return one of the user's own uploads. Raises Http404 for any other."""
    return get_object_or_404(RawUpload.objects.select_related("dataset").filter(by=_user(request)), pk=pk)


def _serialized(upload: RawUpload, request: Request) -> dict[str, Any]:
    names = ("id", "name", "bytes", "received", "began_at")
    answer = RawUploadSerializer(
        {
            **{name: getattr(upload, name) for name in names},
            "chunk_bytes": chunked_upload.CHUNK_BYTES,
            "url": addresses.of(request, "api_raw_upload", upload.pk),
        }
    )
    return dict(answer.data)


def _user(request: Request) -> User:
    """Return the request's user, who is logged in because the views require IsAuthenticated."""
    return request.user  # type: ignore[return-value]

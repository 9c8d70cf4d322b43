"""API of container images: chunked uploads of archives, and references to images in a registry."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import serializers
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.accounts.actions import teams
from leaderboard.boards.queries import lookup
from leaderboard.containers.actions import image_uploads, images
from leaderboard.core.api import addresses, tus
from leaderboard.core.api.base import View
from leaderboard.core.api.parsers import JSONParser
from leaderboard.core.api.serializers import errors
from leaderboard.evaluation import container_limits
from leaderboard.models import Benchmark, ImageUpload, Phase, User
from leaderboard.submissions.actions import idempotency
from leaderboard.submissions.actions.submit import Entry
from leaderboard.submissions.api import serializers as shapes
from leaderboard.submissions.api.submissions import facts_of, submitted, team_named
from leaderboard.submissions.queries import progress

Data = serializers.Serializer[Any]


class Archive(Data):
    """Request serializer: name, size and optional digest of the archive to be uploaded."""

    name = serializers.CharField(max_length=255, required=False, default="image.tar")
    bytes = serializers.IntegerField(min_value=1, help_text="size of the archive")
    sha256 = serializers.CharField(
        max_length=64, required=False, allow_blank=True, default="", help_text="checked after the upload, if given"
    )


class PhaseArchive(Archive):
    """Request serializer: the archive to be uploaded for a phase, and the submission's track and team."""

    track = serializers.CharField(
        max_length=80,
        required=False,
        allow_blank=True,
        default="",
        help_text="the track that the submission declares, if the phase has tracks",
    )
    team = serializers.CharField(
        max_length=100, required=False, allow_blank=True, default="", help_text="the team that will submit it"
    )


class Description(Data):
    """Request serializer: the submission's system, team, track and note."""

    system = serializers.CharField(
        max_length=200, help_text="the system's name; a new system is created if it does not exist"
    )
    team = serializers.CharField(
        max_length=100, required=False, allow_blank=True, default="", help_text="default: your first team"
    )
    track = serializers.CharField(
        max_length=80,
        required=False,
        allow_blank=True,
        default="",
        help_text="one of the phase's tracks, if it has any",
    )
    note = serializers.CharField(
        max_length=300, required=False, allow_blank=True, default="", help_text="never published"
    )
    fact = serializers.ListField(
        child=serializers.CharField(max_length=300),
        required=False,
        default=list,
        help_text="facts about the system that the benchmark asks for, each as NAME=VALUE",
    )


class Reference(Description):
    reference = serializers.CharField(max_length=400, help_text="registry/name@sha256:...")


class ImageUploadSerializer(Data):
    """Response serializer: an unfinished upload of an image archive, and its progress."""

    id = serializers.UUIDField()
    name = serializers.CharField()
    bytes = serializers.IntegerField()
    received = serializers.IntegerField(help_text="number of bytes that are stored: the offset of the next chunk")
    chunk_bytes = serializers.IntegerField(help_text="largest body of a PATCH")
    benchmark = serializers.CharField()
    phase = serializers.CharField(allow_null=True, help_text="null: the image becomes a scorer of the benchmark")
    began_at = serializers.DateTimeField()
    url = serializers.URLField(help_text="URL to PATCH chunks to, by the tus protocol")
    submission = serializers.URLField(
        allow_null=True, help_text="URL to POST to after the last chunk; null: a scorer is added on its page"
    )


def _max_bytes() -> int:
    return container_limits.of_scorer().image_bytes


class ImageUploadsView(tus.CreationView):
    max_bytes = staticmethod(_max_bytes)

    @extend_schema(
        operation_id="image_upload_create",
        parameters=tus.CREATION_HEADERS,
        request=tus.Body,
        responses={201: ImageUploadSerializer, **errors(409, 411, 412, 413, 415, 422, 460, 503, 507)},
    )
    def post(self, request: Request, slug: str, phase: str) -> Response:
        """Begin to upload an archive written by `docker save`, by the tus protocol. The body may be the first chunk;
        the others follow as PATCH requests to the address in the header Location.
        """
        row = lookup.phase_or_404(request.user, slug, phase)
        announced = self.announced(request)
        upload = _begun(request, row, announced.fields, metadata=announced.metadata)
        return self.created(request, upload, _shape(upload, request))


class ScorerUploadsView(tus.CreationView):
    max_bytes = staticmethod(_max_bytes)

    @extend_schema(
        operation_id="scorer_upload_create",
        parameters=tus.CREATION_HEADERS,
        request=tus.Body,
        responses={201: ImageUploadSerializer, **errors(409, 411, 412, 413, 415, 422, 460, 507)},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Begin to upload the archive of a benchmark's custom scorer, by the tus protocol. After the last chunk, a
        manager of the benchmark adds the scorer with its measures on the benchmark's page of scorers.
        """
        benchmark = lookup.managed_or_404(request.user, slug)
        announced = self.announced(request)
        upload = _begun_scorer(request, benchmark, announced.fields, metadata=announced.metadata)
        return self.created(request, upload, _shape(upload, request))


class ReferencesView(View):
    permission_classes = (IsAuthenticated,)
    parser_classes = (JSONParser,)

    @extend_schema(
        operation_id="image_reference",
        parameters=[shapes.IDEMPOTENCY_KEY],
        request=Reference,
        responses={201: shapes.SubmissionSerializer, **errors(409, 422, 503)},
    )
    def post(self, request: Request, slug: str, phase: str) -> Response:
        """Submit an image in an allowed registry; `reference` names the image by its digest."""
        row = lookup.phase_or_404(request.user, slug, phase)
        params = _valid(Reference, request.data)
        key = idempotency.checked(request.headers.get("Idempotency-Key", ""))

        def submit_it() -> progress.Progress:
            entry, reference = _entry(params, row, _user(request)), params["reference"]
            return progress.of_accepted(
                images.submit_reference(phase=row, entry=entry, reference=reference, idempotency_key=key)
            )

        return submitted(request, submit_it)


@extend_schema_view(
    patch=extend_schema(
        operation_id="image_upload_append",
        parameters=tus.APPEND_HEADERS,
        request=tus.Body,
        responses={204: None, **errors(409, 410, 411, 412, 413, 415, 460, 507)},
    ),
    delete=extend_schema(operation_id="image_upload_discard", responses={204: None, **errors(412)}),
)
class UploadView(tus.UploadView):
    max_bytes = staticmethod(_max_bytes)

    def upload_or_404(self, request: Request, pk: UUID) -> ImageUpload:
        return _upload_or_404(request, pk)

    @extend_schema(operation_id="image_upload_state", responses={200: ImageUploadSerializer, **errors()})
    def get(self, request: Request, pk: UUID) -> Response:
        """Show an upload with the number of bytes that were received. HEAD returns it in the header `Upload-Offset`."""
        return Response(_shape(_upload_or_404(request, pk), request))


class UploadSubmissionView(View):
    permission_classes = (IsAuthenticated,)
    parser_classes = (JSONParser,)

    @extend_schema(
        operation_id="image_submit",
        parameters=[shapes.IDEMPOTENCY_KEY],
        request=Description,
        responses={201: shapes.SubmissionSerializer, **errors(409, 410, 422, 503, 507)},
    )
    def post(self, request: Request, pk: UUID) -> Response:
        """Submit the image of a complete upload. A worker checks the image later; most invalid images cost no quota."""
        by = _user(request)
        key = idempotency.checked(request.headers.get("Idempotency-Key", ""))
        # The first request with this key has deleted its upload.
        earlier = idempotency.submission_with(key, by)
        upload = None if earlier else _upload_or_404(request, pk)
        params = _valid(Description, request.data)

        def submit_it() -> progress.Progress:
            phase = earlier.phase if earlier else upload.phase if upload else None
            entry = _entry(params, phase, by)
            if upload is None:
                idempotency.check_unused(image_uploads.key_of(key, upload=pk, entry=entry), by)
                raise AssertionError("the key is used, so the check raises")
            return progress.of_accepted(image_uploads.finish(upload=upload, entry=entry, idempotency_key=key))

        return submitted(request, submit_it)


def _upload_or_404(request: Request, pk: UUID) -> ImageUpload:
    """Return the user's image upload with the primary key `pk`. Raises Http404 if there is none of this user."""
    uploads = ImageUpload.objects.select_related("phase__benchmark", "phase__split__dataset", "benchmark").filter(
        by=_user(request)
    )
    return get_object_or_404(uploads, pk=pk)


def _shape(upload: ImageUpload, request: Request) -> dict[str, Any]:
    names = ("id", "name", "bytes", "received", "began_at")
    benchmark = upload.phase.benchmark if upload.phase else upload.benchmark
    answer = ImageUploadSerializer(
        {
            **{name: getattr(upload, name) for name in names},
            "chunk_bytes": image_uploads.CHUNK_BYTES,
            "benchmark": benchmark.slug if benchmark else "",
            "phase": upload.phase.slug if upload.phase else None,
            "url": addresses.of(request, "api_image_upload", upload.pk),
            "submission": addresses.of(request, "api_image_submit", upload.pk) if upload.phase else None,
        }
    )
    return dict(answer.data)


def _begun(request: Request, phase: Phase, data: Any, metadata: str) -> ImageUpload:
    params = _valid(PhaseArchive, data)
    if params["team"]:
        team_named(_user(request), params["team"])
    return image_uploads.begin(
        phase=phase, by=_user(request), track=params["track"], metadata=metadata, **_file(params)
    )


def _begun_scorer(request: Request, benchmark: Benchmark, data: Any, metadata: str) -> ImageUpload:
    params = _valid(Archive, data)
    return image_uploads.begin_scorer(benchmark=benchmark, by=_user(request), metadata=metadata, **_file(params))


def _file(params: dict[str, Any]) -> dict[str, Any]:
    return {"name": params["name"], "size": params["bytes"], "sha256": params["sha256"]}


def _valid(shape: type[Data], data: Any) -> dict[str, Any]:
    serializer = shape(data=data)
    serializer.is_valid(raise_exception=True)
    return dict(serializer.validated_data)


def _entry(params: dict[str, Any], phase: Phase | None, by: User) -> Entry:
    """Return what a request describes; `phase` is None for the upload of a scorer."""
    stated = facts_of(phase, params["fact"]) if phase else {}
    system = teams.find_system(team=team_named(by, params["team"]), name=params["system"])
    return Entry(system=system, by=by, track=params["track"], note=params["note"], stated=stated)


def _user(request: Request) -> User:
    """Return the request's user, who is logged in: the views' permission classes ensure this."""
    return request.user  # type: ignore[return-value]

"""Container images: archives that arrive in pieces, and references to what a registry keeps."""

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

from leaderboard.accounts.actions import teams
from leaderboard.boards.queries import lookup
from leaderboard.containers.actions import image_uploads, images
from leaderboard.core.api import addresses
from leaderboard.core.api.base import View
from leaderboard.core.api.chunks import Offset, PieceParser, piece_of
from leaderboard.core.api.parsers import JSONParser
from leaderboard.core.api.serializers import errors
from leaderboard.models import ImageUpload, Submission, System, User
from leaderboard.submissions.api import serializers as shapes
from leaderboard.submissions.api.submissions import team_named
from leaderboard.submissions.queries import progress

Data = serializers.Serializer[Any]


class Archive(Data):
    """What is going to be sent."""

    name = serializers.CharField(max_length=255, required=False, default="image.tar")
    bytes = serializers.IntegerField(min_value=1, help_text="the archive's size")
    sha256 = serializers.CharField(
        max_length=64, required=False, allow_blank=True, default="", help_text="if you know it"
    )


class PhaseArchive(Archive):
    """The same, for a phase."""

    track = serializers.CharField(
        max_length=80,
        required=False,
        allow_blank=True,
        default="",
        help_text="where the phase has tracks: the one that the submission will declare",
    )
    team = serializers.CharField(
        max_length=100, required=False, allow_blank=True, default="", help_text="the one that it will be for"
    )


class Description(Data):
    """Whose image it is."""

    system = serializers.CharField(max_length=200, help_text="the method's name; made if needed")
    team = serializers.CharField(
        max_length=100, required=False, allow_blank=True, default="", help_text="default: your first"
    )
    track = serializers.CharField(
        max_length=80, required=False, allow_blank=True, default="", help_text="one of the phase's, where it has tracks"
    )
    note = serializers.CharField(
        max_length=300, required=False, allow_blank=True, default="", help_text="never published"
    )


class Reference(Description):
    reference = serializers.CharField(max_length=400, help_text="registry/name@sha256:...")


class UploadShape(Data):
    id = serializers.UUIDField()
    name = serializers.CharField()
    bytes = serializers.IntegerField()
    received = serializers.IntegerField(help_text="how much is stored safely: the next piece begins there")
    piece_bytes = serializers.IntegerField(help_text="the most that one piece may have")
    benchmark = serializers.CharField()
    phase = serializers.CharField(allow_null=True, help_text="null: it becomes a scorer of the benchmark")
    began_at = serializers.DateTimeField()
    url = serializers.URLField()
    pieces = serializers.URLField(help_text="where to POST pieces")
    submission = serializers.URLField(
        allow_null=True, help_text="where to POST when all is there; null: a scorer is described on its page"
    )


class ImagesView(View):
    permission_classes = (IsAuthenticated,)
    parser_classes = (JSONParser,)

    @extend_schema(
        operation_id="image_upload", request=PhaseArchive, responses={201: UploadShape, **errors(409, 413, 422, 503)}
    )
    def post(self, request: Request, slug: str, phase: str) -> Response:
        """Begin to send an archive that `docker save` wrote. Its pieces follow, over as many requests as it takes."""
        found = lookup.phase_or_404(request.user, slug, phase)
        asked = _valid(PhaseArchive, request)
        if asked["team"]:
            team_named(_user(request), asked["team"])
        sent = {"name": asked["name"], "size": asked["bytes"], "sha256": asked["sha256"]}
        upload = image_uploads.begin(phase=found, by=_user(request), track=asked["track"], **sent)
        answer = _shape(upload, request)
        return Response(answer, status=201, headers={"Location": answer["url"]})


class ScorerImagesView(View):
    permission_classes = (IsAuthenticated,)
    parser_classes = (JSONParser,)

    @extend_schema(operation_id="scorer_upload", request=Archive, responses={201: UploadShape, **errors(413, 422, 429)})
    def post(self, request: Request, slug: str) -> Response:
        """Begin to send the archive of a benchmark's own scorer. Those who manage the benchmark describe it on its page
        when its pieces are there."""
        benchmark = lookup.managed_or_404(request.user, slug)
        asked = _valid(Archive, request)
        upload = image_uploads.begin_scorer(
            benchmark=benchmark, by=_user(request), name=asked["name"], size=asked["bytes"], sha256=asked["sha256"]
        )
        answer = _shape(upload, request)
        return Response(answer, status=201, headers={"Location": answer["url"]})


class ReferencesView(View):
    permission_classes = (IsAuthenticated,)
    parser_classes = (JSONParser,)

    @extend_schema(
        operation_id="image_reference",
        request=Reference,
        responses={201: shapes.SubmissionShape, **errors(409, 422, 503)},
    )
    def post(self, request: Request, slug: str, phase: str) -> Response:
        """Submit an image that an allowed registry keeps, named by its digest."""
        found = lookup.phase_or_404(request.user, slug, phase)
        asked = _valid(Reference, request)
        system = _system(asked, _user(request))
        submission = images.submit_reference(
            phase=found, system=system, reference=asked["reference"], by=_user(request), **_declared(asked)
        )
        return _created(submission, request)


class UploadView(View):
    permission_classes = (IsAuthenticated,)

    @extend_schema(operation_id="image_upload_state", responses={200: UploadShape, **errors()})
    def get(self, request: Request, pk: UUID) -> Response:
        """How much of an archive is here."""
        return Response(_shape(_upload_or_404(request, pk), request))

    @extend_schema(operation_id="image_upload_discard", responses={204: None, **errors()})
    def delete(self, request: Request, pk: UUID) -> Response:
        """Give an upload up."""
        image_uploads.discard(_upload_or_404(request, pk))
        return Response(status=204)


class PiecesView(View):
    permission_classes = (IsAuthenticated,)
    parser_classes = (PieceParser,)

    @extend_schema(
        operation_id="image_upload_piece",
        parameters=[Offset],
        request={"application/octet-stream": OpenApiTypes.BINARY},
        responses={200: UploadShape, **errors(409, 411, 413, 415, 422)},
    )
    def post(self, request: Request, pk: UUID) -> Response:
        """Send the next piece. 409 `wrong_offset` says where it has to begin."""
        upload = _upload_or_404(request, pk)
        offset, piece = piece_of(request, expected="the next piece of the archive")
        image_uploads.add(upload=upload, offset=offset, piece=piece)
        return Response(_shape(upload, request))


class UploadSubmissionView(View):
    permission_classes = (IsAuthenticated,)
    parser_classes = (JSONParser,)

    @extend_schema(
        operation_id="image_submit",
        request=Description,
        responses={201: shapes.SubmissionShape, **errors(409, 422, 503)},
    )
    def post(self, request: Request, pk: UUID) -> Response:
        """Submit the image whose archive is whole. It is read by a worker; one that is no image costs nothing."""
        upload = _upload_or_404(request, pk)
        asked = _valid(Description, request)
        system = _system(asked, _user(request))
        submission = image_uploads.finish(upload=upload, system=system, by=_user(request), **_declared(asked))
        return _created(submission, request)


def _upload_or_404(request: Request, pk: UUID) -> ImageUpload:
    """One's own; anybody else's is as one that is not there."""
    mine = ImageUpload.objects.select_related("phase__benchmark", "phase__split__dataset", "benchmark").filter(
        by=_user(request)
    )
    return get_object_or_404(mine, pk=pk)


def _shape(upload: ImageUpload, request: Request) -> dict[str, Any]:
    names = ("id", "name", "bytes", "received", "began_at")
    benchmark = upload.phase.benchmark if upload.phase else upload.benchmark
    answer = UploadShape(
        {
            **{name: getattr(upload, name) for name in names},
            "piece_bytes": image_uploads.PIECE_BYTES,
            "benchmark": benchmark.slug if benchmark else "",
            "phase": upload.phase.slug if upload.phase else None,
            "url": addresses.of(request, "api_image_upload", upload.pk),
            "pieces": addresses.of(request, "api_image_pieces", upload.pk),
            "submission": addresses.of(request, "api_image_submit", upload.pk) if upload.phase else None,
        }
    )
    return dict(answer.data)


def _valid(shape: type[Data], request: Request) -> dict[str, Any]:
    asked = shape(data=request.data)
    asked.is_valid(raise_exception=True)
    return dict(asked.validated_data)


def _system(asked: dict[str, Any], by: User) -> System:
    return teams.named(team=team_named(by, asked["team"]), name=asked["system"])


def _declared(asked: dict[str, Any]) -> dict[str, str]:
    return {"track": asked["track"], "note": asked["note"]}


def _user(request: Request) -> User:
    """Who asks; the permission has seen to it that somebody is logged in."""
    return request.user  # type: ignore[return-value]


def _created(submission: Submission, request: Request) -> Response:
    answer = shapes.whole(progress.progress_or_404(request.user, submission.pk), request)
    return Response(shapes.SubmissionShape(answer).data, status=201, headers={"Location": answer["url"]})

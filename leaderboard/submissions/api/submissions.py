"""API views of submissions: submit predictions, follow their progress, and read scores and predictions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any
from uuid import UUID

from django.http import FileResponse, HttpResponseBase
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.accounts.actions import teams
from leaderboard.boards.api import query_parameters
from leaderboard.boards.queries import lookup, slice_of
from leaderboard.boards.queries.facts import Value, parse_stated
from leaderboard.boards.queries.ladder_bounds import as_fields, scores_of_release
from leaderboard.core import saved
from leaderboard.core.api import addresses, parsers
from leaderboard.core.api.base import View
from leaderboard.core.api.pagination import Pages, pages_of
from leaderboard.core.api.serializers import ScoreSerializer, errors
from leaderboard.core.refusal import Code, Refused
from leaderboard.models import Phase, Submission, Team, User
from leaderboard.submissions.actions import hide, idempotency, submit
from leaderboard.submissions.api import serializers as shapes
from leaderboard.submissions.queries import own_submissions, progress
from leaderboard.submissions.web.manage_downloads import exact_scores_file

RAW = ("application/x-ndjson", "application/jsonl", "application/gzip", "application/octet-stream")


class ScoresSerializer(serializers.Serializer[Any]):
    submission = serializers.UUIDField()
    primary = serializers.CharField()
    released_at = serializers.DateTimeField()
    policy = serializers.CharField(help_text="how the phase reveals scores")
    warnings = serializers.ListField(child=serializers.CharField())
    scores = ScoreSerializer(many=True)


class SubmitView(View):
    permission_classes = (IsAuthenticated,)
    parser_classes = parsers.UPLOADS

    @extend_schema(
        operation_id="submit",
        parameters=[shapes.UploadQuery, shapes.IDEMPOTENCY_KEY],
        request={"multipart/form-data": shapes.Upload, **dict.fromkeys(RAW, OpenApiTypes.BINARY)},
        responses={201: shapes.SubmissionSerializer, **errors(409, 411, 413, 415, 422, 503, 507)},
    )
    def post(self, request: Request, slug: str, phase: str) -> Response:
        """Submit predictions: as a multipart form, or as a raw file with its description in query parameters.

        The file is validated during the request, or afterwards if it is large. An invalid file costs no quota; if it
        was validated during the request, the response has status 422 with the file's problems by line.
        """
        row = lookup.phase_or_404(request.user, slug, phase)
        parsers.check_before_reading(request)
        key = idempotency.checked(request.headers.get("Idempotency-Key", ""))
        try:
            params = _read(request)
            return submitted(request, lambda: progress.of_accepted(*_submit(row, params, request.user, key)))
        finally:
            for file in request.FILES.values():
                file.close()


def submitted(request: Request, submit_it: Callable[[], progress.Progress]) -> Response:
    """Submit, and return the response; a request that repeats another's idempotency key gets the same submission.

    submit_it: makes the submission, and returns its progress as `progress.of_accepted` does, without the queries that
    would tell more. It may raise idempotency.RepeatedError.
    """
    try:
        current = submit_it()
        saved.keep(request, _created(shapes.whole(current, request, with_queue=False)))
        if current.prediction is None:
            current = progress.progress_or_404(request.user, current.submission.pk)
    except idempotency.RepeatedError as repeated:
        current = progress.progress_or_404(request.user, repeated.submission.pk)
    return _created(shapes.whole(current, request))


def _created(answer: dict[str, Any]) -> Response:
    return Response(shapes.SubmissionSerializer(answer).data, status=201, headers={"Location": answer["url"]})


def _read(request: Request) -> dict[str, Any]:
    upload = shapes.Upload(data=request.data)
    parsers.check_after_reading(request)
    upload.is_valid(raise_exception=True)
    return dict(upload.validated_data)


def _submit(phase: Phase, params: dict[str, Any], by: Any, key: str) -> submit.Accepted:
    stated = facts_of(phase, params["fact"])
    system = teams.find_system(team=team_named(by, params["team"]), name=params["system"])
    entry = submit.Entry(system=system, by=by, track=params["track"], note=params["note"], stated=stated)
    return submit.submit(phase=phase, entry=entry, file=params["file"], idempotency_key=key)


def facts_of(phase: Phase, pairs: Iterable[str]) -> dict[str, Value | None]:
    """Parse facts about a system; return the values by the names of the facts. Raises Refused INVALID_VALUE.

    pairs: NAME=VALUE for each fact, of those for which the phase's benchmark asks.
    """
    try:
        return parse_stated(phase.benchmark, pairs)
    except ValueError as error:
        raise Refused(Code.INVALID_FACT, f"A fact about the system is not valid: {error}.") from error


def team_named(user: User, name: str) -> Team:
    """Return the user's team of this name, ignoring case; for an empty name, the user's first team, created if needed.

    Raises Refused NOT_A_MEMBER if the user has no team of this name.
    """
    if not name:
        return teams.of(user)
    team = user.teams.filter(name__iexact=name).first()
    if team is None:
        raise Refused(Code.NOT_A_MEMBER, f"You are not a member of a team called {name}.")
    return team


class SubmissionsView(View):
    permission_classes = (IsAuthenticated,)

    @extend_schema(
        operation_id="submission_list",
        parameters=[query_parameters.SubmissionQuery],
        responses={200: pages_of(shapes.SubmissionLine), **errors()},
    )
    def get(self, request: Request) -> Response:
        """List the submissions of your teams, the latest first."""
        params = query_parameters.read(query_parameters.SubmissionQuery, request)
        filters = {name: params[name] for name in ("benchmark", "phase", "system", "team", "state", "search")}
        rows = own_submissions.filtered(request.user, **filters)
        pages = Pages()
        page = pages.paginate_queryset(progress.with_related(rows), request, view=self) or []
        ranks = own_submissions.ranks_of(row.pk for row in page)
        lines = [shapes.line(progress.of(row), request, ranks) for row in page]
        return pages.get_paginated_response(shapes.SubmissionLine(lines, many=True).data)


class SubmissionView(View):
    permission_classes = (IsAuthenticated,)

    @extend_schema(operation_id="submission", responses={200: shapes.SubmissionSerializer, **errors()})
    def get(self, request: Request, pk: UUID) -> Response:
        """Show a submission and its progress."""
        answer = shapes.whole(progress.progress_or_404(request.user, pk), request)
        return Response(shapes.SubmissionSerializer(answer).data)


class HiddenView(View):
    permission_classes = (IsAuthenticated,)

    @extend_schema(
        operation_id="submission_hide", request=None, responses={200: shapes.SubmissionSerializer, **errors(409)}
    )
    def post(self, request: Request, pk: UUID) -> Response:
        """Take a submission of your team off all boards of its phase. It still counts, and can be put back.

        409 `not_possible` if the organisers do not allow it, or the phase is sealed.
        """
        return self._act(request, pk, hide.take_off)

    @extend_schema(operation_id="submission_unhide", responses={200: shapes.SubmissionSerializer, **errors()})
    def delete(self, request: Request, pk: UUID) -> Response:
        """Put a submission back that your team has taken off the boards. Does nothing if it has not."""
        return self._act(request, pk, hide.put_back)

    def _act(self, request: Request, pk: UUID, act: Callable[..., object]) -> Response:
        rows = Submission.objects.of_teams_of(request.user).select_related("system__team", "phase__benchmark")
        act(submission=get_object_or_404(rows, pk=pk), by=request.user)
        names = {"url": "api_submission", "page": "submission"}
        urls = {key: addresses.of(request, name, pk) for key, name in names.items()}
        saved.keep(request, Response({"id": str(pk), **urls}))
        answer = shapes.whole(progress.progress_or_404(request.user, pk), request)
        return Response(shapes.SubmissionSerializer(answer).data)


class ScoresView(View):
    permission_classes = (IsAuthenticated,)

    @extend_schema(operation_id="submission_scores", responses={200: ScoresSerializer, **errors(409)})
    def get(self, request: Request, pk: UUID) -> Response:
        """Show the revealed scores of a submission; status 409 `not_ready` while none are revealed."""
        current = progress.progress_or_404(request.user, pk)
        release = current.release
        if release is None:
            raise Refused(Code.NOT_READY, _without_scores(current))
        bounds = {key: score.bounds for key, score in scores_of_release(release).items()}
        scores = []
        for score in release.values:
            slice_ = slice_of(score["slice"])
            scores.append({**score, "slice": dict(slice_), **as_fields(bounds[score["measure"], slice_])})
        names = ("primary", "released_at", "policy", "warnings")
        answer = {**{name: getattr(release, name) for name in names}, "submission": pk, "scores": scores}
        return Response(ScoresSerializer(answer).data)


class ExactScoresView(View):
    permission_classes = (IsAuthenticated,)

    @extend_schema(operation_id="exact_scores", responses={(200, "text/csv"): OpenApiTypes.STR, **errors()})
    def get(self, request: Request, slug: str, phase: str) -> HttpResponseBase:
        """Download a phase's exact scores, which only those who manage the benchmark see.

        One line for each submission, gold version, measure and slice, as they were computed: not rounded, and with
        slices of any size.
        """
        return exact_scores_file(request, slug, phase)


def _without_scores(current: progress.Progress) -> str:
    """Return a sentence that says why a submission has no scores to show."""
    match current.revealed:
        case progress.Revealed.SEALED:
            opened = current.submission.phase.sealed_until
            day = f", {opened:%Y-%m-%d %H:%M} UTC" if opened else ""
            return f"The submission is valid. The phase is sealed: finals are scored when it is unsealed{day}."
        case progress.Revealed.NOT_FINAL:
            return "The phase was unsealed, and this submission is not one of its team's finals: it is not scored."
    return f"The submission has no scores; its state is {current.state.value}."


class PredictionsView(View):
    permission_classes = (IsAuthenticated,)

    @extend_schema(
        operation_id="submission_predictions",
        responses={(200, "application/octet-stream"): OpenApiTypes.BINARY, **errors()},
    )
    def get(self, request: Request, pk: UUID) -> FileResponse:
        """Download the predictions file, unchanged; status 404 if there is none or it may not be shown."""
        prediction, file = progress.open_predictions_or_404(request.user, pk)
        return FileResponse(file, as_attachment=True, filename=prediction.name, content_type="application/octet-stream")

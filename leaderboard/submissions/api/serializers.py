"""Serializers of submissions in the API: uploads, submissions and their published scorings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.utils.http import urlencode
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request

from leaderboard.boards.disclosure import costs
from leaderboard.core.api import addresses
from leaderboard.core.api.serializers import ProblemSerializer
from leaderboard.models import Run, State, Submission
from leaderboard.submissions.queries import own_submissions
from leaderboard.submissions.queries import progress as reading
from leaderboard.submissions.queries.progress import Progress, Revealed


class Upload(serializers.Serializer[Any]):
    """Fields of a submission by multipart form. Other fields of the form are ignored."""

    file = serializers.FileField(allow_empty_file=True, help_text="JSON Lines, or JSON Lines compressed with gzip")
    system = serializers.CharField(
        max_length=200, help_text="the system's name; if your team has no system of this name, one is created"
    )
    team = serializers.CharField(
        max_length=100,
        required=False,
        allow_blank=True,
        default="",
        help_text="name of one of your teams; default: your first team",
    )
    track = serializers.CharField(
        max_length=80,
        required=False,
        allow_blank=True,
        default="",
        help_text="name of one of the phase's tracks; omit it if the phase has none",
    )
    note = serializers.CharField(
        max_length=300,
        required=False,
        allow_blank=True,
        default="",
        help_text="shown in your list of submissions; never published",
    )
    fact = serializers.ListField(
        child=serializers.CharField(max_length=300),
        required=False,
        default=list,
        help_text="a fact about the system that the benchmark asks for, as NAME=VALUE; repeat it for several",
    )


IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key",
    str,
    OpenApiParameter.HEADER,
    required=False,
    description="chosen by you for this submission, such as a random UUID. The same request with the same key, sent "
    "again after a lost response, gets the same submission and is charged once",
)


class UploadQuery(serializers.Serializer[Any]):
    """Query parameters that describe the predictions if the request's body is the file itself (a raw body)."""

    system = serializers.CharField(max_length=200, required=False, help_text="with a raw body: the system's name")
    team = serializers.CharField(
        max_length=100, required=False, help_text="with a raw body: name of one of your teams; default: your first"
    )
    track = serializers.CharField(
        max_length=80, required=False, help_text="with a raw body: name of one of the phase's tracks"
    )
    note = serializers.CharField(
        max_length=300, required=False, help_text="with a raw body: for your list of submissions; never published"
    )
    fact = serializers.ListField(
        child=serializers.CharField(max_length=300),
        required=False,
        help_text="with a raw body: a fact about the system, as NAME=VALUE; repeat it for several",
    )
    name = serializers.CharField(max_length=255, required=False, help_text="with a raw body: the file's name")


class SentFileSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    bytes = serializers.IntegerField()
    sha256 = serializers.CharField()
    n_lines = serializers.IntegerField()
    url = serializers.URLField()


class SubmissionLine(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    url = serializers.URLField()
    page = serializers.URLField()
    benchmark = serializers.CharField()
    phase = serializers.CharField()
    system = serializers.CharField()
    team = serializers.CharField()
    track = serializers.CharField(help_text="name of the track that the submission declares; empty: none")
    note = serializers.CharField()
    submitted_by = serializers.CharField()
    received_at = serializers.DateTimeField()
    state = serializers.ChoiceField(State.choices)
    is_over = serializers.BooleanField(help_text="whether the state is final")
    reason = serializers.CharField(help_text="a code that explains the state; empty: there is nothing to explain")
    refunded = serializers.BooleanField(help_text="whether the quota charge was refunded because the server failed")
    kind = serializers.ChoiceField(Submission.Kind.choices)
    primary = serializers.CharField(help_text="name of the measure that ranks; empty: no score is revealed")
    value = serializers.FloatField(allow_null=True, help_text="revealed overall value of the primary measure")
    rank = serializers.IntegerField(
        allow_null=True,
        help_text="rank of its system on the current board; null: it does not represent the system there",
    )
    file = SentFileSerializer(
        allow_null=True,
        help_text="the predictions file; null: its container has not finished, or the phase's inputs are hidden",
    )


class ScoringSerializer(serializers.Serializer[Any]):
    """A published scoring of the submission, on the current board or on a frozen one of earlier gold or scorer."""

    gold_version = serializers.IntegerField()
    task_version = serializers.IntegerField()
    is_current = serializers.BooleanField(help_text="whether that board is the current one")
    released_at = serializers.DateTimeField()
    primary = serializers.CharField()
    value = serializers.FloatField(allow_null=True, help_text="revealed overall value of the primary measure")
    leaderboard = serializers.URLField()
    receipt = serializers.DictField(help_text="provenance of these numbers")


class ResultSerializer(serializers.Serializer[Any]):
    """Result of a scored submission on the current board of its phase: rank, and differences from other scores."""

    primary = serializers.CharField(help_text="name of the measure by which systems are ranked")
    rank = serializers.IntegerField(allow_null=True, help_text="rank of the system; null: it is not ranked")
    is_tied = serializers.BooleanField(help_text="whether another system has the same rank")
    n_ranked = serializers.IntegerField(help_text="number of ranked systems")
    rank_low = serializers.IntegerField(
        allow_null=True, help_text="best rank that the uncertainty leaves open; null: not computed, or not shown"
    )
    rank_high = serializers.IntegerField(allow_null=True, help_text="worst rank that the uncertainty leaves open")
    is_shown = serializers.BooleanField(
        help_text="whether the board shows this submission; if not, `rank` is that of the system's other submission"
    )
    gain = serializers.FloatField(
        allow_null=True,
        help_text="how much better it is than the best earlier submission of the team; null: there is none, or the "
        "phase rounds the scores that it shows",
    )
    lead = serializers.FloatField(
        allow_null=True, help_text="how much better it is than the best other ranked system; null: as for `gain`"
    )


class SubmissionSerializer(SubmissionLine):
    """A submission with its progress, its problems and warnings, and its published scorings."""

    revealed = serializers.ChoiceField(
        [revealed.value for revealed in Revealed],
        help_text="what is revealed of the submission's scores: `scores`: its scores; `no_improvement`: on a ladder, "
        "it does not beat the best revealed score by a step; `sealed`: it is valid, and a final is scored when the "
        "phase is unsealed; `not_final`: the phase was unsealed, and it is none of its team's finals; `nothing`: there "
        "are no scores",
    )
    is_final = serializers.BooleanField(help_text="whether it is one of its team's finals in a sealed phase")
    hidden_by = serializers.ChoiceField(
        ["team", "organisers", ""], help_text="who hides it from the boards; `organisers` if both do; empty: nobody"
    )
    reason_text = serializers.CharField(help_text="`reason` in words")
    queue_position = serializers.IntegerField(
        allow_null=True, help_text="number of runs, or containers, ahead of it in the queue; null: it is not queued"
    )
    wait_minutes = serializers.IntegerField(
        allow_null=True,
        help_text="estimated wait of a queued container, rounded up to coarse steps; null: not queued, or unknown",
    )
    started_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)
    warnings = serializers.ListField(child=serializers.CharField())
    problems = ProblemSerializer(many=True)
    receipt = serializers.DictField(
        help_text="provenance of the numbers: versions, digests, seed, sandbox; `gold_sha256` and `seed` only if the "
        "gold is public, or for those who manage the benchmark"
    )
    scores = serializers.URLField()
    result = ResultSerializer(allow_null=True, help_text="null: it is not on the current board")
    scorings = ScoringSerializer(many=True, help_text="all published scorings, the newest gold first")
    stage = serializers.CharField(
        help_text="validating (a large uploaded file); reading, loading, running, collecting (a container); else empty"
    )
    log = serializers.CharField(help_text="the end of what the container printed; empty if the phase does not show it")
    cost = serializers.DictField(
        help_text="of a container: wall_seconds, cpu_seconds, memory_mb and image_mb, with GPUs also gpu_seconds and "
        "gpu_memory_mb, rounded up to coarse steps"
    )


def line(progress: Progress, request: Request, ranks: Mapping[UUID, int]) -> dict[str, Any]:
    """Return the values of SubmissionLine for a submission.

    ranks: submission id -> its system's current rank, for submissions that represent a ranked system.
    """
    submission, prediction = progress.submission, progress.prediction
    names = ("name", "bytes", "sha256", "n_lines")
    address = addresses.of(request, "api_predictions", submission.pk)
    file = (
        prediction
        and prediction.file
        and progress.file_is_shown
        and {**{name: getattr(prediction, name) for name in names}, "url": address}
    )
    return {
        "id": submission.pk,
        "url": addresses.of(request, "api_submission", submission.pk),
        "page": addresses.of(request, "submission", submission.pk),
        "benchmark": submission.phase.benchmark.slug,
        "phase": submission.phase.slug,
        "system": submission.system.name,
        "team": submission.system.team.name,
        "track": submission.track,
        "note": submission.note,
        "submitted_by": submission.submitted_by.username,
        "received_at": submission.received_at,
        "state": progress.state,
        "is_over": progress.is_over,
        "reason": progress.reason,
        "refunded": progress.is_refunded,
        "kind": submission.kind,
        "primary": progress.release.primary if progress.release and progress.value is not None else "",
        "value": progress.value,
        "rank": ranks.get(submission.pk),
        "file": file or None,
    }


def whole(progress: Progress, request: Request, *, with_queue: bool = True) -> dict[str, Any]:
    """Return the values of SubmissionSerializer for a submission.

    with_queue: False to leave its position in the queue and its wait unknown; then a submission that was just accepted
    (`progress.of_accepted`) is serialized without a query.
    """
    run = progress.run
    return {
        **line(progress, request, own_submissions.ranks_of([progress.submission.pk] if progress.release else [])),
        "revealed": progress.revealed.value,
        "is_final": progress.is_final,
        "hidden_by": "" if progress.hidden is None else "team" if progress.hidden.by_team else "organisers",
        "reason_text": progress.reason.label if progress.reason else "",
        "queue_position": progress.queue_position if with_queue else None,
        "wait_minutes": progress.wait.minutes if with_queue and progress.wait else None,
        "started_at": run and run.started_at,
        "finished_at": progress.finished_at,
        "warnings": progress.warnings,
        "problems": progress.problems,
        "receipt": progress.receipt,
        "scores": addresses.of(request, "api_scores", progress.submission.pk),
        "result": _result(progress),
        "scorings": [_scoring(row, row.run, request) for row in reading.published(progress) if row.run],
        "stage": progress.stage,
        "log": progress.log,
        "cost": costs.of(progress.prediction).as_dict() if progress.prediction and progress.is_container else {},
    }


def _result(progress: Progress) -> dict[str, Any] | None:
    result = progress.result
    if result is None:
        return None
    standing = result.entry.standing
    low, high = result.entry.rank_range or (None, None)
    return {
        "primary": standing.release.primary,
        "rank": standing.rank,
        "rank_low": low,
        "rank_high": high,
        **{name: getattr(result, name) for name in ("is_tied", "n_ranked", "is_shown", "gain", "lead")},
    }


def _scoring(progress: Progress, run: Run, request: Request) -> dict[str, Any]:
    phase, release = progress.submission.phase, progress.release
    board = addresses.of(request, "api_leaderboard", phase.benchmark.slug, phase.slug)
    version = {"gold_version": run.gold_version.number, "task_version": run.task_version}
    return {
        **version,
        "is_current": progress.board_is_current,
        "released_at": release and release.released_at,
        "primary": release and release.primary,
        "value": progress.value,
        "leaderboard": f"{board}?{urlencode(version)}",
        "receipt": progress.receipt,
    }

"""Similarity of predictions: sketches, candidates for near-duplicates, and comparison unit by unit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from typing import IO, Any, TypeVar

import numpy as np
from django.utils import timezone

from evaluator.jobs.similarity import NearDuplicatesReport, SimilarityRow, SketchReport
from evaluator.similarity import predictions
from leaderboard.core.storage import check_digest, opened
from leaderboard.evaluation import sandbox_client
from leaderboard.evaluation.report_checks import ReportError
from leaderboard.models import GoldVersion, NearDuplicate, Prediction, Reason, SimilarityCheck, System
from leaderboard.work_queue.lease import Lease
from leaderboard.work_queue.work import NotRetryableError

T = TypeVar("T")
MAX_CANDIDATES = sandbox_client.MAX_FILES - 2
"""Maximum number of teams whose predictions one file is compared with: a job reads the gold and this file, too."""


def store_similarity_sketch(lease: Lease[SimilarityCheck], gold: GoldVersion) -> bool:
    """Compute and store the similarity sketch of the check's prediction (`SimilarityCheck.signature`).

    Return True if predictions of the task are scores that order the units, False if they are answers for each unit.
    """
    row = lease.row
    with _open(row.prediction) as file:
        answer = sandbox_client.similarity_sketch(
            task=row.phase.split.dataset.task,
            gold=gold,
            predictions=file,
            name=row.prediction.name,
            options={**row.phase.split.options, **row.phase.options},
        )
    report = _read_report(answer, SketchReport)
    if len(report.signature) > predictions.SIZE or not all(0 <= number < 1 << 63 for number in report.signature):
        raise ReportError(
            f"the similarity sketch has {len(report.signature)} numbers, expected at most {predictions.SIZE}, each "
            "from 0 to 2**63 - 1"
        )
    row.signature = np.array(report.signature, dtype=np.uint64).tobytes()
    lease.write(signature=row.signature)
    return report.ordered


def most_similar(row: SimilarityCheck, *, ordered: bool) -> list[Prediction]:
    """Return the candidates for near-duplicates: for each other team, its most similar prediction by sketch.

    Predictions whose sketches agree too little are left out. At most MAX_CANDIDATES are returned, those that agree
    best, in the order in which they were queued. ordered: as returned by `store_similarity_sketch`.
    """
    others = (
        SimilarityCheck.objects.filter(phase=row.phase, prediction__submission__system__kind=System.Kind.PARTICIPANT)
        .exclude(prediction__submission__system__team=row.prediction.submission.system.team_id)
        .exclude(signature=b"")
        .order_by("pk")
        .values_list("prediction", "prediction__submission__system__team", "signature")
    )
    rows = list(others)
    own = _numbers(row.signature)
    scores = predictions.sketch_agreement(own, [_numbers(signature) for _, _, signature in rows], ordered=ordered)
    best: dict[int, tuple[float, Any]] = {}
    for score, (prediction, team, _) in zip(scores.tolist(), rows, strict=True):
        if score >= predictions.agreement_threshold(ordered=ordered) and score > best.get(team, (0.0, None))[0]:
            best[team] = (score, prediction)
    chosen = [prediction for _, prediction in sorted(best.values(), key=lambda pair: -pair[0])[:MAX_CANDIDATES]]
    return list(Prediction.objects.filter(pk__in=chosen).select_related("submission").order_by("queued_at", "pk"))


def _numbers(signature: bytes) -> Any:
    return np.frombuffer(bytes(signature), dtype=np.uint64)


def near_duplicates_of(row: SimilarityCheck, gold: GoldVersion, alike: list[Prediction]) -> list[NearDuplicate]:
    with ExitStack() as stack:
        files = [(one.name, stack.enter_context(_open(one))) for one in (row.prediction, *alike)]
        answer = sandbox_client.near_duplicates(
            task=row.phase.split.dataset.task,
            gold=gold,
            predictions=files,
            options={**row.phase.split.options, **row.phase.options},
        )
    reported = _read_report(answer, NearDuplicatesReport).rows
    if len(reported) != len(alike):
        raise ReportError(f"the similarity report has {len(reported)} rows, expected {len(alike)}, one for each file")
    at = timezone.now()
    return [
        _near_duplicate(row, other, one, at)
        for other, one in zip(alike, reported, strict=True)
        if one is not None and one.is_near_duplicate
    ]


def _near_duplicate(row: SimilarityCheck, other: Prediction, similarity: SimilarityRow, at: datetime) -> NearDuplicate:
    for share in (similarity.equal, similarity.shared_errors):
        if share is None or not 0 <= share <= 1:
            raise ReportError(f"a similarity in the report is {share}, expected a number from 0 to 1")
    first, second = sorted(
        (row.prediction, other), key=lambda prediction: (prediction.submission.received_at, prediction.pk)
    )
    shares = {name: getattr(similarity, name) for name in ("equal", "shared_errors", "n_units", "n_errors")}
    return NearDuplicate(phase=row.phase, a=first, b=second, detected_at=at, **shares)


def _read_report(answer: sandbox_client.Answer, kind: type[T]) -> T:
    """Return a job's report. Raises NotRetryableError if the job gave none, ReportError if the report is malformed."""
    if not answer.ok:
        raise NotRetryableError(answer.reason or Reason.BAD_PREDICTIONS)
    return answer.read(kind)


@contextmanager
def _open(prediction: Prediction) -> Iterator[IO[bytes]]:
    with opened(prediction.file) as file:
        check_digest(file, prediction.sha256)
        yield file

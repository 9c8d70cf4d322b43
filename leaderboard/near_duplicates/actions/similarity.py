"""Similarity of predictions: sketches, candidates for near-duplicates, and comparison unit by unit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import datetime
from itertools import islice, starmap
from typing import IO, Any, NamedTuple, TypeVar

import numpy as np
from django.db.models import Min
from django.utils import timezone

from evaluator.jobs.similarity import NearDuplicatesReport, SimilarityRow, SketchReport
from evaluator.similarity import predictions
from leaderboard.core.storage import check_digest, opened
from leaderboard.evaluation import sandbox_client
from leaderboard.evaluation.report_checks import ReportError, check_sketch
from leaderboard.models import GoldVersion, NearDuplicate, Prediction, Reason, SimilarityCheck, System
from leaderboard.work_queue.lease import Lease
from leaderboard.work_queue.work import NotRetryableError

T = TypeVar("T")
SKETCHES_AT_ONCE = 1000
MAX_CANDIDATES = sandbox_client.MAX_FILES - 2
"""Maximum number of teams whose predictions one file is compared with: a job reads the gold and this file, too."""


def store_similarity_sketch(lease: Lease[SimilarityCheck], gold: GoldVersion) -> None:
    """Compute the similarity sketch of the check's prediction in the sandbox, and store it as the row's `signature`."""
    row = lease.row
    with _open(row.prediction) as file:
        answer = sandbox_client.similarity_sketch(
            {"gold": gold, "predictions": file},
            task=row.phase.split.dataset.task,
            gold_name=str(gold.file.name),
            predictions_name=row.prediction.name,
            options={**row.phase.split.options, **row.phase.options},
        )
    report = _read_report(answer, SketchReport)
    check_sketch(report)
    row.signature = np.array(report.signature, dtype=np.uint64).tobytes()
    lease.write(signature=row.signature)


class _Sketch(NamedTuple):
    """A stored similarity sketch: a short signature of a team's predictions. Similar predictions have similar sketches.

    team: its primary key. check: the primary key of the first SimilarityCheck of this team with this signature.
    """

    team: int
    signature: bytes
    check: int


def _sketches(phase_id: int) -> Iterator[list[_Sketch]]:
    """Yield the similarity sketches of the predictions of a phase's competing systems, SKETCHES_AT_ONCE at a time.

    Sketches that a team has several times, such as those of a file that it sent again, are yielded once.
    """
    competing = SimilarityCheck.objects.filter(
        phase=phase_id, prediction__submission__system__kind=System.Kind.PARTICIPANT
    )
    columns = ("prediction__submission__system__team", "signature")
    rows = competing.exclude(signature=b"").values_list(*columns).annotate(first=Min("pk")).order_by("first")
    sketches = starmap(_Sketch, rows.iterator(chunk_size=SKETCHES_AT_ONCE))
    return iter(lambda: list(islice(sketches, SKETCHES_AT_ONCE)), [])


def _similar(row: SimilarityCheck, sketches: Sequence[_Sketch], earlier: bool) -> Iterator[tuple[float, _Sketch]]:
    """Return (agreement with `row`'s sketch, sketch) of other teams' sketches whose agreement reaches the threshold.

    sketches: the sketches to search. earlier: True to search only those of checks that were created before `row`.
    """
    own, team = _numbers(row.signature), row.prediction.submission.system.team_id
    ordered = predictions.orders_units(own)
    others = [sketch for sketch in sketches if sketch.team != team and (sketch.check < row.pk or not earlier)]
    scores = predictions.sketch_agreement(own, [_numbers(sketch.signature) for sketch in others], ordered=ordered)
    least = predictions.agreement_threshold(ordered=ordered)
    return ((score, other) for score, other in zip(scores.tolist(), others, strict=True) if score >= least)


def without_similar(rows: Sequence[SimilarityCheck]) -> list[int]:
    """Return the primary keys of those checks whose sketches agree with no sketch of another team's earlier check.

    rows: checks of one phase, with sketches that the scorer computed.
    """
    left = list(rows)
    for sketches in _sketches(rows[0].phase_id):
        left = [row for row in left if next(_similar(row, sketches, True), None) is None]
    return [row.pk for row in left]


def most_similar(row: SimilarityCheck, *, earlier: bool) -> list[Prediction]:
    """Return the most similar prediction of each other team, as candidates for near-duplicates of the check's.

    Similarity is estimated from sketches. Predictions whose sketches agree too little are left out. At most
    MAX_CANDIDATES are returned, those that agree best, in the order in which they were queued. earlier: True to search
    only the sketches of earlier checks. That is enough if the scorer computed the sketch of `row`: the sketch was
    stored together with `row`, under a lock on the phase, so each later check finds it.
    """
    best: dict[int, tuple[float, int]] = {}
    for sketches in _sketches(row.phase_id):
        for score, other in _similar(row, sketches, earlier):
            if score > best.get(other.team, (0.0, None))[0]:
                best[other.team] = (score, other.check)
    chosen = [check for _, check in sorted(best.values(), key=lambda pair: -pair[0])[:MAX_CANDIDATES]]
    predictions_of = Prediction.objects.filter(similarity_check__in=chosen)
    return list(predictions_of.select_related("submission").order_by("queued_at", "pk"))


def _numbers(signature: bytes) -> Any:
    return np.frombuffer(bytes(signature), dtype=np.uint64)


def near_duplicates_of(row: SimilarityCheck, gold: GoldVersion, alike: list[Prediction]) -> list[NearDuplicate]:
    with ExitStack() as stack:
        compared = (row.prediction, *alike)
        files = {str(index): stack.enter_context(_open(one)) for index, one in enumerate(compared)}
        answer = sandbox_client.near_duplicates(
            {"gold": gold, **files},
            task=row.phase.split.dataset.task,
            gold_name=str(gold.file.name),
            names=[one.name for one in compared],
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
    """Return the report of a sandbox job, decoded as `kind`.

    Raises NotRetryableError if the job gave no report, ReportError if the report is malformed.
    """
    if not answer.ok:
        raise NotRetryableError(answer.reason or Reason.BAD_PREDICTIONS)
    return answer.read(kind)


@contextmanager
def _open(prediction: Prediction) -> Iterator[IO[bytes]]:
    with opened(prediction.file) as file:
        check_digest(file, prediction.sha256)
        yield file

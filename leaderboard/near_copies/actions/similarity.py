"""One prediction and its likes: its signature, who may be near it, and how near they are, unit by unit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from typing import IO, Any, TypeVar

import numpy as np
from django.utils import timezone

from evaluator.jobs.similarity import NearCopiesReport, SignatureReport, SimilarityRow
from evaluator.similarity import predictions
from leaderboard.core.storage import check_digest, opened
from leaderboard.evaluation import sandbox_client
from leaderboard.evaluation.report_checks import ReportError
from leaderboard.models import GoldVersion, Likeness, NearCopy, Prediction, Reason, System
from leaderboard.work_queue.lease import Lease
from leaderboard.work_queue.work import NoAnswerError

T = TypeVar("T")
MOST = 15
"""Teams whose predictions are laid beside one file: as many as one job takes."""


def sign(lease: Lease[Likeness], gold: GoldVersion) -> bool:
    """Store the signature; whether the task orders units."""
    row = lease.row
    with _read(row.prediction) as file:
        answer = sandbox_client.signature(
            task=row.phase.split.dataset.task,
            gold=gold,
            predictions=file,
            name=row.prediction.name,
            options={**row.phase.split.options, **row.phase.options},
        )
    signed = _read_report(answer, SignatureReport)
    if len(signed.signature) > predictions.SIZE or not all(0 <= number < 1 << 63 for number in signed.signature):
        raise ReportError("a signature is too long, or holds what is no number of its kind")
    row.signature = np.array(signed.signature, dtype=np.uint64).tobytes()
    lease.write(signature=row.signature)
    return signed.ordered


def likest(row: Likeness, *, ordered: bool) -> list[Prediction]:
    """Of each other team the prediction that may be a near-copy, the likest teams first."""
    others = (
        Likeness.objects.filter(phase=row.phase, prediction__submission__system__kind=System.Kind.PARTICIPANT)
        .exclude(prediction__submission__system__team=row.prediction.submission.system.team_id)
        .exclude(signature=b"")
        .order_by("pk")
        .values_list("prediction", "prediction__submission__system__team", "signature")
    )
    told = list(others)
    own = _numbers(row.signature)
    closeness = predictions.closeness(own, [_numbers(signature) for _, _, signature in told], ordered=ordered)
    best: dict[int, tuple[float, Any]] = {}
    for close, (prediction, team, _) in zip(closeness.tolist(), told, strict=True):
        if close >= predictions.worth_a_look(ordered=ordered) and close > best.get(team, (0.0, None))[0]:
            best[team] = (close, prediction)
    chosen = [prediction for _, prediction in sorted(best.values(), key=lambda pair: -pair[0])[:MOST]]
    return list(Prediction.objects.filter(pk__in=chosen).select_related("submission").order_by("queued_at", "pk"))


def _numbers(signature: bytes) -> Any:
    return np.frombuffer(bytes(signature), dtype=np.uint64)


def found(row: Likeness, gold: GoldVersion, alike: list[Prediction]) -> list[NearCopy]:
    with ExitStack() as stack:
        files = [(one.name, stack.enter_context(_read(one))) for one in (row.prediction, *alike)]
        answer = sandbox_client.near_copies(
            task=row.phase.split.dataset.task,
            gold=gold,
            predictions=files,
            options={**row.phase.split.options, **row.phase.options},
        )
    told = _read_report(answer, NearCopiesReport).rows
    if len(told) != len(alike):
        raise ReportError("the report has other files than those asked for")
    at = timezone.now()
    return [
        _pair(row, other, one, at)
        for other, one in zip(alike, told, strict=True)
        if one is not None and one.is_near_copy
    ]


def _pair(row: Likeness, other: Prediction, found: SimilarityRow, at: datetime) -> NearCopy:
    for share in (found.equal, found.shared_errors):
        if share is None or not 0 <= share <= 1:
            raise ReportError("a share is none, or is outside 0 to 1")
    first, second = sorted((row.prediction, other), key=lambda one: (one.submission.received_at, one.pk))
    shares = {name: getattr(found, name) for name in ("equal", "shared_errors", "n_units", "n_errors")}
    return NearCopy(phase=row.phase, a=first, b=second, found_at=at, **shares)


def _read_report(answer: sandbox_client.Answer, kind: type[T]) -> T:
    """Raises NoAnswerError where there is no report, ReportError for one that no sound job can have said."""
    if not answer.ok:
        raise NoAnswerError(answer.reason or Reason.BAD_PREDICTIONS)
    return answer.read(kind)


@contextmanager
def _read(prediction: Prediction) -> Iterator[IO[bytes]]:
    with opened(prediction.file) as file:
        check_digest(file, prediction.sha256)
        yield file

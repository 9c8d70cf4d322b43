"""Near-duplicate detection: find predictions that are nearly equal to another team's predictions in the same phase.

A prediction's check is created together with its scores. The scorer computes the prediction's similarity sketch
(`evaluator/similarity/predictions.py`). Similar predictions have similar sketches, so the sweep compares the sketch
with those of the phase's other teams (ADR 13) to select the pairs to compare exactly. A worker then compares these
candidates unit by unit: the most similar prediction of each other team, of a bounded number of teams. The worker also
computes the sketches of large files, and of predictions that a custom scorer has scored. Scoring has priority over this
work. The thresholds from which on predictions are reported are in `evaluator/similarity/thresholds.py`.

Only a benchmark's organisers ever see the results: they are a suspicion, not a finding of fault.
"""

from __future__ import annotations

from itertools import groupby

from django.db import transaction

from leaderboard.boards.queries import board_state
from leaderboard.core import db_clock
from leaderboard.models import NearDuplicate, Reason, SimilarityCheck, State
from leaderboard.near_duplicates.actions import similarity
from leaderboard.work_queue.lease import Lease
from leaderboard.work_queue.work import AT_ONCE, NotRetryableError, Urgency, Work

WAITING = SimilarityCheck.objects.select_related(
    "prediction__submission__system", "phase__split__dataset", "phase__benchmark"
)


def _check(lease: Lease[SimilarityCheck]) -> None:
    row = lease.row
    gold = board_state.gold_of(row.phase)
    if gold is None:
        raise NotRetryableError(Reason.BAD_GOLD)
    by_scorer = bool(row.signature) and lease.attempt == 1  # an earlier attempt may have computed it
    if not row.signature:
        similarity.store_similarity_sketch(lease, gold)
    # The sketch is committed before: of two concurrent checks, at least one sees the other's sketch.
    candidates = similarity.most_similar(row, earlier=by_scorer)
    near_duplicates = similarity.near_duplicates_of(row, gold, candidates) if candidates else []
    with transaction.atomic():
        lease.finish(state=State.DONE)
        NearDuplicate.objects.bulk_create(near_duplicates, ignore_conflicts=True)


def _finish_without_candidates() -> None:
    """End the checks of predictions whose sketch is similar to no other team's sketch: they need no worker.

    The other checks then wait for a worker. `started_at` of a check says that a sweep has searched for similar
    sketches.
    """
    rows = SimilarityCheck.objects.filter(state=State.QUEUED, started_at=None).exclude(signature=b"")
    rows = rows.select_related("prediction__submission__system").order_by("phase", "pk")[:AT_ONCE]
    for _, of_phase in groupby(rows, key=lambda row: row.phase_id):
        searched = list(of_phase)
        done = similarity.without_similar(searched)
        at = db_clock.now()
        queued = SimilarityCheck.objects.filter(state=State.QUEUED, started_at=None)
        queued.filter(pk__in=done).update(state=State.DONE, finished_at=at, started_at=at)
        queued.filter(pk__in=[row.pk for row in searched]).update(started_at=at)


WORK = Work(
    name="detect_near_duplicates",
    rows=WAITING,
    do=_check,
    urgency=Urgency.CHECK,
    before_sweep=_finish_without_candidates,
)

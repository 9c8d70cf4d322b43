"""Computation of a leaderboard's rank ranges, which is due whenever its competing systems or their values change.

Runs are compared pairwise from their stored outcomes, each pair once; Holm's correction over the compared pairs of
competing systems then decides which differences are significant. `evaluator.statistics.rank_ranges` says which pairs
are compared. The state of this work is stored in the board's `Ranking`. Several changes in a row cause one computation:
the worker that leases a board computes the missing pairs, and checks at the end whether the board has changed since.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import chain, starmap
from typing import Any, NamedTuple
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction
from django.db.models import F, Q
from django.utils import timezone

from leaderboard.boards.actions import boards
from leaderboard.boards.disclosure.policies import reveals_comparisons
from leaderboard.boards.queries import board_state
from leaderboard.comparisons.actions import pairs
from leaderboard.comparisons.queries.rank_ranges import CorrectedRanking, PairFamily, correct_and_rank, stored
from leaderboard.core import db_clock, row_locks
from leaderboard.evaluation import scorer_of_phase
from leaderboard.models import Comparison, Leaderboard, Ranking, Reason, Run, Standing, System
from leaderboard.work_queue.lease import Lease, LeaseLostError, lease_end
from leaderboard.work_queue.work import NotRetryableError, StateColumns, Urgency, Work

TURN_SECONDS = 60
"""After this time, a worker enqueues a board again behind other work, and the pairs that are left are compared then."""
PLANNED_AT_ONCE = 1000
"""Number of pairs that are arranged in batches together. With more, pairs of the best systems would come later."""


class RankingColumns(StateColumns):
    """The columns of `Ranking` that hold the state of the computation, which is queued while rank ranges are due.

    `attempt` counts how often a worker has claimed the row; `failures` counts failed attempts since the last change.
    """

    order = "enqueued_at"
    retries_at_once = False

    def queued(self) -> Q:
        due = ~Q(covered=F("changes")) & Q(lease_until=None, failures__lt=settings.MAX_ATTEMPTS)
        return due & ~Q(leaderboard__state=Leaderboard.State.CANCELLED)

    def expired(self, at: datetime) -> Q:
        return Q(lease_until__lt=at)

    def attempts_left(self, lease: Lease[Any]) -> bool:
        return bool(lease.row.failures + 1 < settings.MAX_ATTEMPTS)

    def give_back(self, lease: Lease[Any], at: datetime) -> dict[str, Any]:
        # However long the machine is busy: no submission waits for the ranges, and no quota was charged.
        return {"failures": F("failures")}

    def claim(self, at: datetime) -> dict[str, Any]:
        return {}

    def retry(self, reason: str, enqueued_at: Any) -> dict[str, Any]:
        return {"failures": F("failures") + 1, "reason": reason, "enqueued_at": enqueued_at}

    def fail(self, reason: str, at: Any) -> dict[str, Any]:
        return self.retry(reason, at)


def invalidate(board: Leaderboard) -> None:
    """Clear a board's rank ranges and enqueue their computation, after its competing systems or their values changed.

    Does nothing if the phase does not reveal comparisons, or if the runs have no outcomes to compare. Call with the
    phase's row locked.
    """
    if not reveals_comparisons(board.phase) or not _has_outcomes(board):
        return
    at = db_clock.now()
    ranking, created = Ranking.objects.get_or_create(leaderboard=board, defaults={"enqueued_at": at})
    enqueued = ranking.is_due and not ranking.failures and not created
    Ranking.objects.filter(pk=ranking.pk).update(
        changes=F("changes") + 1,
        failures=0,
        reason=Reason.NONE,
        n_pairs=0,
        n_compared=0,
        enqueued_at=ranking.enqueued_at if enqueued else at,
    )
    board.standings.exclude(rank_low=None).update(rank_low=None, rank_high=None)
    boards.revise(Leaderboard.objects.filter(pk=board.pk))
    if not enqueued:
        WORK.enqueue(ranking)


def rank_again(board: Leaderboard) -> None:
    """Rank a board whose standings have changed, and enqueue its rank ranges. Call with the phase's row locked."""
    # Ranges are cleared first: a database constraint refuses a new rank outside of the old range.
    invalidate(board)
    boards.rank(board)


@transaction.atomic
def recompute(*, board: Leaderboard, again: bool) -> int:
    """Enqueue the computation of a board's rank ranges; return the number of deleted comparisons.

    again: True: delete all stored comparisons of the board first, so that every pair is compared again. A worker that
    has leased the board loses its lease.
    """
    row_locks.lock_phase(board.phase_id)
    n_deleted = Comparison.objects.filter(leaderboard=board).delete()[0] if again else 0
    Ranking.objects.filter(leaderboard=board).update(attempt=F("attempt") + 1, lease_until=None)
    invalidate(board)
    return n_deleted


def _has_outcomes(board: Leaderboard) -> bool:
    """Return True if the board's runs have outcomes to compare: a custom scorer may return values without outcomes."""
    scored = scorer_of_phase.of_board(board)
    if scored.scorer is None:
        return True
    # Releases of hidden submissions count, too: a board without visible ones may have been compared before.
    release = board_state.releases_of(board).select_related("run").first()
    measures = release.run.provenance["scorer"]["outcomes"] if release else []
    return scored.scorer.primary in measures


def _compare(lease: Lease[Ranking]) -> None:
    """Compare the missing pairs, those of the best systems first; once all are stored, store the rank ranges.

    If TURN_SECONDS have passed or more urgent work waits, such as runs, the board is enqueued again for the rest of its
    pairs.
    """
    turn_end = time.monotonic() + TURN_SECONDS
    board = lease.row.leaderboard
    scored = scorer_of_phase.of_board(board)
    measure = scored.primary(board.gold_version)
    standings = _competing(board)
    family = PairFamily([standing.run for standing in standings])
    comparisons = stored(board, measure).values_list("a_id", "b_id", "p", "n_permutations")
    family.add(comparisons.iterator(chunk_size=PLANNED_AT_ONCE))
    missing = family.missing()
    if missing and board.task_version != scored.version:
        raise NotRetryableError(Reason.OUTDATED)
    size = pairs.job_size(scored.measure(measure), board.gold_version.n_units)
    for batch in _batches(missing, size):
        runs = Run.objects.in_bulk({run for pair in batch for run in pair})
        rows = pairs.compared(board=board, runs=runs, pairs=batch, measure=measure)
        family.add((row.a_id, row.b_id, row.p, row.n_permutations) for row in rows)
        _store(lease, rows, n_pairs=len(family), n_compared=int(family.is_stored.sum()))
        if not family.is_stored.all() and (time.monotonic() >= turn_end or WORK.is_overtaken()):
            _requeue(lease)
            return
    _finish(lease, standings, family)


def _batches(missing: list[pairs.Pair], size: pairs.JobSize) -> Iterator[list[pairs.Pair]]:
    """Yield the pairs in batches for the sandbox, in nearly the order of `missing`."""
    for start in range(0, len(missing), PLANNED_AT_ONCE):
        yield from pairs.batches((pairs.in_order(a, b) for a, b in missing[start : start + PLANNED_AT_ONCE]), size)


@transaction.atomic
def _requeue(lease: Lease[Ranking]) -> None:
    """Release the lease and enqueue the board again, behind waiting runs and other boards."""
    lease.write(lease_until=None, enqueued_at=db_clock.now())
    boards.revise(Leaderboard.objects.filter(pk=lease.row.leaderboard_id))  # its page shows the progress
    WORK.enqueue(lease.row)


class _Competing(NamedTuple):
    """A ranked standing. pk: its primary key. run: id of the run that represents the system."""

    pk: int
    value: float
    run: UUID


def _competing(board: Leaderboard) -> list[_Competing]:
    """Return the ranked standings of a board, best first, equal ranks in the order of their runs' ids."""
    ranked = board.standings.filter(system__kind=System.Kind.PARTICIPANT, value__isnull=False, rank__isnull=False)
    return list(
        starmap(_Competing, ranked.order_by("rank", "release__run_id").values_list("pk", "value", "release__run_id"))
    )


@transaction.atomic
def _store(lease: Lease[Ranking], rows: list[Comparison], **progress: int) -> None:
    """Store one batch of comparisons in its own transaction, so that a worker that dies loses only one batch."""
    lease.write(lease_until=lease_end(), **progress)
    Comparison.objects.bulk_create(rows)


def _finish(lease: Lease[Ranking], standings: Sequence[_Competing], family: PairFamily) -> None:
    """Compute and store the board's rank ranges; if its standings have changed since they were read, enqueue it again.

    The phase's row is locked only while they are stored, because publishing a release waits for this lock.
    """
    ranges = correct_and_rank([standing.value for standing in standings], family)
    board = lease.row.leaderboard
    with transaction.atomic():
        # Releases lock the phase as well, so no standing changes between this check and the end of the transaction.
        row_locks.lock_phase(board.phase_id)
        ranking = lease.rows().first()
        if ranking is None:
            raise LeaseLostError
        if ranking.changes != lease.row.changes:
            _requeue(lease)
            return
        if len(family):
            _write_ranges([standing.pk for standing in standings], ranges)
        lease.write(
            covered=lease.row.changes,
            lease_until=None,
            computed_at=timezone.now(),
            n_pairs=len(family),
            n_compared=len(family),
            n_unresolved=ranges.n_unresolved,
        )
        boards.revise(Leaderboard.objects.filter(pk=board.pk))


def _write_ranges(standings: Sequence[int], ranges: CorrectedRanking) -> None:
    """Store the rank ranges of standings, given by primary key. One statement for each 5,000 of them."""
    table = connection.ops.quote_name(Standing._meta.db_table)
    rows = list(zip(standings, ranges.low.tolist(), ranges.high.tolist(), strict=True))
    with connection.cursor() as cursor:
        for start in range(0, len(rows), 5000):
            chunk = rows[start : start + 5000]
            cursor.execute(
                f"UPDATE {table} SET rank_low = ranges.column2, rank_high = ranges.column3"  # noqa: S608  (no input)
                f" FROM (VALUES {', '.join(['(%s, %s, %s)'] * len(chunk))}) ranges WHERE {table}.id = ranges.column1",
                list(chain.from_iterable(chunk)),
            )


WORK = Work(
    name="compare",
    key="leaderboard_id",
    rows=Ranking.objects.select_related(
        "leaderboard__phase__split__dataset",
        "leaderboard__phase__benchmark",
        "leaderboard__phase__scorer",
        "leaderboard__gold_version",
    ),
    do=_compare,
    urgency=Urgency.BOARD,
    columns=RankingColumns(),
    on_failure=lambda lease, final: boards.revise(Leaderboard.objects.filter(pk=lease.row.leaderboard_id)),
)

"""Computation of a leaderboard's rank ranges, which is due whenever its competing systems or their values change.

Runs are compared pairwise from their stored outcomes, each pair once; Holm's correction over all pairs of competing
systems then decides which differences are significant. The state of this work is stored in the board's `Ranking`.
Several changes in a row cause one computation: the worker that leases a board computes the missing pairs, and checks
at the end whether the board has changed since.
"""

from __future__ import annotations

from datetime import datetime
from itertools import combinations
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from leaderboard.boards.actions import boards
from leaderboard.boards.disclosure.policies import reveals_comparisons
from leaderboard.boards.queries import board_state
from leaderboard.comparisons.actions import pairs
from leaderboard.comparisons.queries.rank_ranges import correct_and_rank
from leaderboard.evaluation import scorer_of_phase
from leaderboard.models import Comparison, Leaderboard, Phase, Ranking, Reason, Run, Standing, State, System
from leaderboard.work_queue.lease import Lease, LeaseLostError
from leaderboard.work_queue.work import NotRetryableError, StateColumns, Work


class RankingColumns(StateColumns):
    """The columns of `Ranking` that hold the state of this work. It is queued while the ranges are due.

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

    def retry(self, reason: str, enqueued_at: datetime) -> dict[str, Any]:
        return {"failures": F("failures") + 1, "reason": reason, "enqueued_at": enqueued_at}

    def fail(self, reason: str, at: datetime) -> dict[str, Any]:
        return self.retry(reason, at)


def invalidate(board: Leaderboard) -> None:
    """Clear a board's rank ranges and enqueue their computation, after its competing systems or their values changed.

    Does nothing if the phase does not reveal comparisons, or if the runs have no outcomes to compare. Call with the
    phase's row locked.
    """
    if not reveals_comparisons(board.phase) or not _has_outcomes(board):
        return
    at = timezone.now()
    ranking, created = Ranking.objects.get_or_create(leaderboard=board, defaults={"enqueued_at": at})
    enqueued = ranking.is_due and not ranking.failures and not created
    Ranking.objects.filter(pk=ranking.pk).update(
        changes=F("changes") + 1, failures=0, reason=Reason.NONE, enqueued_at=ranking.enqueued_at if enqueued else at
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
    Phase.objects.select_for_update(no_key=True).get(pk=board.phase_id)
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
    board = lease.row.leaderboard
    scored = scorer_of_phase.of_board(board)
    measure = scored.primary(board.gold_version)
    runs = {standing.release.run_id: standing.release.run for standing in competing(board)}
    needed = {pairs.in_order(a, b) for a, b in combinations(runs, 2)}
    batches = list(pairs.batches(needed - _stored_pairs(board, measure)))
    if batches and board.task_version != scored.version:
        raise NotRetryableError(Reason.OUTDATED)
    for number, batch in enumerate(batches, start=1):
        _store(lease, pairs.compared(board=board, runs=runs, pairs=batch, measure=measure))
        if number < len(batches) and Run.objects.filter(state=State.QUEUED, reason=Reason.NONE).exists():
            # Queued runs go first: a board of many systems would delay them by minutes.
            _requeue(lease)
            return
    _finish(lease)


@transaction.atomic
def _requeue(lease: Lease[Ranking]) -> None:
    """Release the lease and enqueue the board again, behind waiting runs."""
    lease.write(lease_until=None, enqueued_at=timezone.now())
    WORK.enqueue(lease.row)


def competing(board: Leaderboard) -> list[Standing]:
    """Return the ranked standings of a board, with their runs."""
    ranked = board.standings.filter(system__kind=System.Kind.PARTICIPANT, value__isnull=False, rank__isnull=False)
    return list(ranked.select_related("release__run").order_by("pk"))


def _stored_pairs(board: Leaderboard, measure: str) -> set[tuple[UUID, UUID]]:
    return set(Comparison.objects.filter(leaderboard=board, measure=measure).values_list("a", "b"))


@transaction.atomic
def _store(lease: Lease[Ranking], rows: list[Comparison]) -> None:
    """Store one batch in its own transaction, so that a worker that dies loses only one batch."""
    if not lease.renew():
        raise LeaseLostError
    Comparison.objects.bulk_create(rows)


@transaction.atomic
def _finish(lease: Lease[Ranking]) -> None:
    """Store the ranges; if the standings changed meanwhile, enqueue the board again instead."""
    # Releases lock the phase as well, so no standing changes between reading the rows and writing their ranges.
    board = lease.row.leaderboard
    Phase.objects.select_for_update(no_key=True).get(pk=board.phase_id)
    ranking = lease.rows().first()
    if ranking is None:
        raise LeaseLostError
    if ranking.changes != lease.row.changes:
        _requeue(lease)
        return
    standings = competing(board)
    measure = scorer_of_phase.of_board(board).primary(board.gold_version)
    result = correct_and_rank(
        values={row.release.run_id: row.value for row in standings if row.value is not None},
        comparisons=Comparison.objects.filter(leaderboard=board, measure=measure).values_list(
            "a", "b", "p", "n_permutations"
        ),
        higher_is_better=board_state.direction(board, measure) > 0,
    )
    for standing in standings if result.n_pairs else ():
        standing.rank_low, standing.rank_high = result.ranges[standing.release.run_id]
    Standing.objects.bulk_update(standings, ["rank_low", "rank_high"])
    lease.write(
        covered=lease.row.changes,
        lease_until=None,
        computed_at=timezone.now(),
        n_pairs=result.n_pairs,
        n_unresolved=result.n_unresolved,
    )
    boards.revise(Leaderboard.objects.filter(pk=board.pk))


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
    columns=RankingColumns(),
    on_failure=lambda lease, final: boards.revise(Leaderboard.objects.filter(pk=lease.row.leaderboard_id)),
)

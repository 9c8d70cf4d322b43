"""The rank ranges of a leaderboard: due when its systems change, computed by one worker, stored, shown.

Runs are compared pair by pair from their stored outcomes, each pair once; Holm's correction over all pairs of the
systems that compete then says which differences count. A board's `Ranking` is the row of this work. Bursts are one
piece of work: the worker that leases a board computes what is missing when it begins, and checks again at the end.
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
from leaderboard.comparisons.queries.rank_ranges import corrected
from leaderboard.evaluation import scorer_of_phase
from leaderboard.models import Comparison, Leaderboard, Phase, Ranking, Reason, Run, Standing, State, System
from leaderboard.work_queue.lease import Lease, LeaseLostError
from leaderboard.work_queue.work import NoAnswerError, StateColumns, Work


class RankingColumns(StateColumns):
    """A board's ranges are queued while they are due. `attempt` counts claims and `failures` attempts that failed."""

    order = "rung_at"
    retries_at_once = False

    def queued(self) -> Q:
        due = ~Q(covered=F("changes")) & Q(lease_until=None, failures__lt=settings.MAX_ATTEMPTS)
        return due & ~Q(leaderboard__state=Leaderboard.State.CANCELLED)

    def expired(self, at: datetime) -> Q:
        return Q(lease_until__lt=at)

    def attempts_left(self, lease: Lease[Any]) -> bool:
        return True

    def claim(self, at: datetime) -> dict[str, Any]:
        return {}

    def retry(self, reason: str, enqueued_at: datetime) -> dict[str, Any]:
        return {"failures": F("failures") + 1, "reason": reason, "rung_at": enqueued_at}

    def fail(self, reason: str, at: datetime) -> dict[str, Any]:
        return self.retry(reason, at)


def changed(board: Leaderboard) -> None:
    """The systems that compete, or their values, are others: ranges are due. Call with the phase's row locked."""
    if not reveals_comparisons(board.phase) or not _has_outcomes(board):
        return
    at = timezone.now()
    ranking, created = Ranking.objects.get_or_create(leaderboard=board, defaults={"rung_at": at})
    ringing = ranking.is_due and not ranking.failures and not created
    Ranking.objects.filter(pk=ranking.pk).update(
        changes=F("changes") + 1, failures=0, reason=Reason.NONE, rung_at=ranking.rung_at if ringing else at
    )
    board.standings.exclude(rank_low=None).update(rank_low=None, rank_high=None)
    boards.revise(Leaderboard.objects.filter(pk=board.pk))
    if not ringing:
        WORK.enqueue(ranking)


def rank_again(board: Leaderboard) -> None:
    """Rank a board whose standings have changed, and have its ranges computed. Call with the phase's row locked."""
    # The ranges go first: a new rank may lie outside of the old range, which the database refuses.
    changed(board)
    boards.rank(board)


@transaction.atomic
def renewed(*, board: Leaderboard, again: bool) -> int:
    """Have a board's ranges computed; how many comparisons were forgotten for it: all of them, if `again`.

    Who is at it comes too late.
    """
    Phase.objects.select_for_update().get(pk=board.phase_id)
    forgotten = Comparison.objects.filter(leaderboard=board).delete()[0] if again else 0
    Ranking.objects.filter(leaderboard=board).update(attempt=F("attempt") + 1, lease_until=None)
    changed(board)
    return forgotten


def _has_outcomes(board: Leaderboard) -> bool:
    """Whether runs can be compared: a scorer of the organisers' own may give values alone, then for each run."""
    scored = scorer_of_phase.of_board(board)
    if scored.scorer is None:
        return True
    # Hidden ones too: a board that nothing stands on may have been compared before.
    release = board_state.releases_of(board).select_related("run").first()
    given = release.run.provenance["scorer"]["outcomes"] if release else []
    return scored.scorer.primary in given


def _compare(lease: Lease[Ranking]) -> None:
    board = lease.row.leaderboard
    scored = scorer_of_phase.of_board(board)
    measure = scored.primary(board.gold_version)
    runs = {standing.release.run_id: standing.release.run for standing in competing(board)}
    wanted = {pairs.in_order(a, b) for a, b in combinations(runs, 2)}
    batches = list(pairs.batches(wanted - _there(board, measure)))
    if batches and board.task_version != scored.version:
        raise NoAnswerError(Reason.OUTDATED)
    for place, batch in enumerate(batches, start=1):
        _store(lease, pairs.compared(board=board, runs=runs, pairs=batch, measure=measure))
        if place < len(batches) and Run.objects.filter(state=State.QUEUED, reason=Reason.NONE).exists():
            # Who waits for a score goes first: a board of many systems would keep them for minutes.
            _make_way(lease)
            return
    _finish(lease)


@transaction.atomic
def _make_way(lease: Lease[Ranking]) -> None:
    """Let the board go and ring for it again, behind what waits. Each turn does one batch at least."""
    lease.write(lease_until=None, rung_at=timezone.now())
    WORK.enqueue(lease.row)


def competing(board: Leaderboard) -> list[Standing]:
    """The ranked rows, with the runs that represent them."""
    ranked = board.standings.filter(system__kind=System.Kind.PARTICIPANT, value__isnull=False, rank__isnull=False)
    return list(ranked.select_related("release__run").order_by("pk"))


def _there(board: Leaderboard, measure: str) -> set[tuple[UUID, UUID]]:
    return set(Comparison.objects.filter(leaderboard=board, measure=measure).values_list("a", "b"))


@transaction.atomic
def _store(lease: Lease[Ranking], rows: list[Comparison]) -> None:
    """Each batch for itself, so that a worker that dies loses one."""
    if not lease.renew():
        raise LeaseLostError
    Comparison.objects.bulk_create(rows)


@transaction.atomic
def _finish(lease: Lease[Ranking]) -> None:
    """Ranges, for the very systems that stand there; if they changed meanwhile the board is rung for again."""
    # Who publishes holds the phase as well: nothing changes between reading the rows and writing their ranges.
    board = lease.row.leaderboard
    Phase.objects.select_for_update().get(pk=board.phase_id)
    ranking = lease.rows().first()
    if ranking is None:
        raise LeaseLostError
    if ranking.changes != lease.row.changes:
        _make_way(lease)
        return
    standings = competing(board)
    measure = scorer_of_phase.of_board(board).primary(board.gold_version)
    found = corrected(
        values={row.release.run_id: row.value for row in standings if row.value is not None},
        comparisons=Comparison.objects.filter(leaderboard=board, measure=measure).values_list("a", "b", "p", "draws"),
        higher_is_better=board_state.direction(board, measure) > 0,
    )
    for standing in standings if found.n_pairs else ():
        standing.rank_low, standing.rank_high = found.ranges[standing.release.run_id]
    Standing.objects.bulk_update(standings, ["rank_low", "rank_high"])
    lease.write(
        covered=lease.row.changes,
        lease_until=None,
        computed_at=timezone.now(),
        n_pairs=found.n_pairs,
        n_unresolved=found.n_unresolved,
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

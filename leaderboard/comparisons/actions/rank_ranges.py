"""The rank ranges of a leaderboard: due when its systems change, computed by one worker, stored, shown.

Runs are compared pair by pair from their stored outcomes, each pair once; Holm's correction over all pairs of the
systems that compete then says which differences count. A board's `Ranking` is the truth about the work, the broker a
doorbell. Bursts are one piece of work: whoever takes a board computes what is missing when it begins, and looks again.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import combinations
from typing import Any
from uuid import UUID

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from leaderboard.boards.actions import boards
from leaderboard.boards.disclosure.policies import reveals_comparisons
from leaderboard.boards.queries import board_state
from leaderboard.comparisons.actions import pairs
from leaderboard.comparisons.queries.rank_ranges import corrected
from leaderboard.core.logs import places
from leaderboard.core.storage import AlteredError
from leaderboard.evaluation import sandbox_client as referee
from leaderboard.evaluation import scorer_of_phase as scoring
from leaderboard.evaluation.report_checks import ReportError
from leaderboard.models import Comparison, Leaderboard, Phase, Ranking, Reason, Run, Standing, State, System
from leaderboard.work_queue import notify_workers as doorbell
from leaderboard.work_queue.background import NoAnswerError
from leaderboard.work_queue.lease import Lease

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Claim:
    """A worker's right to write a board's comparisons, until it is taken away."""

    board: Leaderboard
    attempt: int
    changes: int

    def own(self) -> Any:
        return Ranking.objects.filter(leaderboard=self.board, attempt=self.attempt, lease_until__isnull=False)


class LateError(Exception):
    """The board went to another worker; nothing may be written."""


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
        doorbell.ring_for_board(board.pk)


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
    scored = scoring.of_board(board)
    if scored.scorer is None:
        return True
    # Hidden ones too: a board that nothing stands on may have been compared before.
    release = board_state.releases_of(board).select_related("run").first()
    given = release.run.provenance["scorer"]["outcomes"] if release else []
    return scored.scorer.primary in given


def claim(*, board_id: int) -> Claim | None:
    """Compare and swap: the board is ours, or there is nothing to do for us (None)."""
    waiting = _waiting().select_related(
        "leaderboard__phase__split__dataset",
        "leaderboard__phase__benchmark",
        "leaderboard__phase__scorer",
        "leaderboard__gold_version",
    )
    ranking = waiting.filter(leaderboard=board_id).first()
    if ranking is None:
        return None
    claimed = (
        _waiting()
        .filter(pk=ranking.pk, attempt=ranking.attempt)
        .update(attempt=ranking.attempt + 1, lease_until=_lease_end(timezone.now()))
    )
    if not claimed:
        return None
    changes = Ranking.objects.values_list("changes", flat=True).get(pk=ranking.pk)
    return Claim(ranking.leaderboard, ranking.attempt + 1, changes)


def _waiting() -> Any:
    due = ~Q(covered=F("changes")) & Q(lease_until=None, failures__lt=settings.MAX_ATTEMPTS)
    return Ranking.objects.filter(due).exclude(leaderboard__state=Leaderboard.State.CANCELLED)


def renew(claim: Claim) -> bool:
    return bool(claim.own().update(lease_until=_lease_end(timezone.now())))


def compare(*, board_id: int) -> None:
    """A board's ranges from claim to end. Safe to call any number of times, from any number of workers."""
    if not referee.answers() or referee.is_outdated():
        log.warning("sandbox_away_or_outdated", board=board_id)
        return
    mine = claim(board_id=board_id)
    if mine is None:
        return
    with Lease(every=settings.LEASE_SECONDS / 3, renew=lambda: renew(mine)):
        try:
            _compare(mine)
        except LateError:
            log.warning("late_comparison", board=board_id, attempt=mine.attempt)
        except NoAnswerError as error:
            log.error("not_compared", board=board_id, reason=error.reason)
            give_up(mine, reason=error.reason)
        except ReportError as error:
            log.error("comparisons_refused", board=board_id, error=str(error))
            give_up(mine, reason=Reason.BAD_REPORT)
        except referee.SandboxError as error:
            log.error("sandbox_broke", board=board_id, error=str(error))
            give_up(mine, reason=Reason.SANDBOX)
        except (FileNotFoundError, AlteredError) as error:
            log.error("stored_file_unusable", board=board_id, error=type(error).__name__)
            give_up(mine, reason=Reason.STORAGE)
        except Exception as error:  # noqa: BLE001  (logged, visible as the board's reason, retried)
            log.error("comparing_broke", board=board_id, error=type(error).__name__, at=places(error.__traceback__))
            give_up(mine, reason=Reason.INTERNAL)


def _compare(mine: Claim) -> None:
    board = mine.board
    scored = scoring.of_board(board)
    measure = scored.primary(board.gold_version)
    runs = {standing.release.run_id: standing.release.run for standing in competing(board)}
    wanted = {pairs.in_order(a, b) for a, b in combinations(runs, 2)}
    batches = list(pairs.batches(wanted - _there(board, measure)))
    if batches and board.task_version != scored.version:
        raise NoAnswerError(Reason.OUTDATED)
    for place, batch in enumerate(batches, start=1):
        _store(mine, pairs.compared(board=board, runs=runs, pairs=batch, measure=measure))
        if place < len(batches) and Run.objects.filter(state=State.QUEUED, reason=Reason.NONE).exists():
            # Who waits for a score goes first: a board of many systems would keep them for minutes.
            _make_way(mine)
            return
    _finish(mine)


@transaction.atomic
def _make_way(mine: Claim) -> None:
    """Let the board go and ring for it again, behind what waits. Each turn does one batch at least."""
    if not mine.own().update(lease_until=None, rung_at=timezone.now()):
        raise LateError
    doorbell.ring_for_board(mine.board.pk)


def competing(board: Leaderboard) -> list[Standing]:
    """The ranked rows, with the runs that represent them."""
    ranked = board.standings.filter(system__kind=System.Kind.PARTICIPANT, value__isnull=False, rank__isnull=False)
    return list(ranked.select_related("release__run").order_by("pk"))


def _there(board: Leaderboard, measure: str) -> set[tuple[UUID, UUID]]:
    return set(Comparison.objects.filter(leaderboard=board, measure=measure).values_list("a", "b"))


@transaction.atomic
def _store(mine: Claim, rows: list[Comparison]) -> None:
    """Each batch for itself, so that a worker that dies loses one."""
    if not renew(mine):
        raise LateError
    Comparison.objects.bulk_create(rows)


@transaction.atomic
def _finish(mine: Claim) -> None:
    """Ranges, for the very systems that stand there; if they changed meanwhile the board is rung for again."""
    # Who publishes holds the phase as well: nothing changes between reading the rows and writing their ranges.
    board = mine.board
    Phase.objects.select_for_update().get(pk=board.phase_id)
    ranking = mine.own().first()
    if ranking is None:
        raise LateError
    if ranking.changes != mine.changes:
        mine.own().update(lease_until=None, rung_at=timezone.now())
        doorbell.ring_for_board(board.pk)
        return
    standings = competing(board)
    measure = scoring.of_board(board).primary(board.gold_version)
    found = corrected(
        values={row.release.run_id: row.value for row in standings if row.value is not None},
        comparisons=Comparison.objects.filter(leaderboard=board, measure=measure).values_list("a", "b", "p", "draws"),
        higher_is_better=board_state.direction(board, measure) > 0,
    )
    for standing in standings if found.n_pairs else ():
        standing.rank_low, standing.rank_high = found.ranges[standing.release.run_id]
    Standing.objects.bulk_update(standings, ["rank_low", "rank_high"])
    mine.own().update(
        covered=mine.changes,
        lease_until=None,
        computed_at=timezone.now(),
        n_pairs=found.n_pairs,
        n_unresolved=found.n_unresolved,
    )
    boards.revise(Leaderboard.objects.filter(pk=board.pk))


def give_up(mine: Claim, *, reason: str) -> None:
    """Let the board go; the sweeper rings for it again while attempts are left."""
    mine.own().update(lease_until=None, failures=F("failures") + 1, reason=reason, rung_at=timezone.now())
    boards.revise(Leaderboard.objects.filter(pk=mine.board.pk))


def sweep() -> int:
    """Take back what silent workers hold, and ring again for what nobody came for; how many boards it touched."""
    at = timezone.now()
    lost = Ranking.objects.filter(lease_until__lt=at)
    touched = lost.update(lease_until=None, failures=F("failures") + 1, reason=Reason.LOST, rung_at=at - _unheard())
    forgotten = _waiting().filter(rung_at__lte=at - _unheard())
    for board_id in list(forgotten.order_by("rung_at").values_list("leaderboard", flat=True)[:1000]):
        with transaction.atomic():
            if Ranking.objects.filter(leaderboard=board_id, rung_at__lte=at - _unheard()).update(rung_at=at):
                doorbell.ring_for_board(board_id)
                touched += 1
    return touched


def _unheard() -> timedelta:
    return timedelta(seconds=settings.SWEEP_SECONDS)


def _lease_end(at: datetime) -> datetime:
    return at + timedelta(seconds=settings.LEASE_SECONDS)

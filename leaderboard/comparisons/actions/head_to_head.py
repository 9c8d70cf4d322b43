"""Head-to-head comparisons of two systems: requested by a viewer, computed once by a worker, and stored.

A run's outcomes never change, so a comparison of two runs stays valid. Every viewer may request a comparison, so the
queue is limited to MOST_WAITING, `web/rate_limit.py` limits each viewer, and only pairs on a public board are computed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import ExitStack
from enum import StrEnum
from uuid import UUID

import msgspec
from django.db import IntegrityError, transaction
from django.utils import timezone

from evaluator.jobs.compare import HeadToHeadReport
from leaderboard.boards.disclosure.policies import reveals_comparisons, reveals_items
from leaderboard.comparisons.actions import pairs
from leaderboard.core import db_clock
from leaderboard.evaluation import provenance, sandbox_client, scorer_of_phase, stored_outcomes
from leaderboard.evaluation.report_checks import ReportError
from leaderboard.models import ACTIVE, HeadToHead, Leaderboard, Reason, Run, State
from leaderboard.work_queue.lease import Lease
from leaderboard.work_queue.work import NotRetryableError, Urgency, Work

MOST_WAITING = 20
"""Maximum queue length of the whole site, so that viewers cannot occupy the workers for more than a minute or two."""
WAITING = HeadToHead.objects.select_related(
    "leaderboard__phase__benchmark",
    "leaderboard__phase__scorer",
    "leaderboard__phase__split",
    "leaderboard__gold_version",
    "a",
    "b",
)


class NotAvailable(StrEnum):
    """Reasons why there is no comparison of two runs, in the order in which they are checked."""

    NOT_REVEALED = "the phase does not show differences"
    OUTDATED = "the board was scored by an earlier version of the task, whose outcomes are no longer read"
    NO_OUTCOMES = "a scorer gave no per-unit outcomes"
    TOO_OFTEN = "this visitor has requested too many comparisons"
    BUSY = "too many other comparisons are waiting"


def find_or_enqueue(
    *, board: Leaderboard, a: UUID, b: UUID, may_ask: Callable[[], bool] = lambda: True
) -> HeadToHead | NotAvailable:
    """Return the comparison of two runs, or the reason why there is none. If none is stored, enqueue a new one.

    a, b: ids of runs that represent systems on `board`, in any order. may_ask: returns True if the viewer may request a
    new comparison; it is called only if a new one would be enqueued.
    """
    if not reveals_comparisons(board.phase):
        return NotAvailable.NOT_REVEALED
    first, second = pairs.in_order(a, b)
    row = HeadToHead.objects.filter(a=first, b=second).first()
    if row is not None:
        return NotAvailable.OUTDATED if row.reason == Reason.OUTDATED else row
    if board.task_version != scorer_of_phase.of_board(board).version:
        return NotAvailable.OUTDATED
    if Run.objects.filter(pk__in=(first, second)).exclude(outcomes="").count() < 2:
        return NotAvailable.NO_OUTCOMES
    if not may_ask():
        return NotAvailable.TOO_OFTEN
    if HeadToHead.objects.filter(state__in=ACTIVE).count() >= MOST_WAITING:
        return NotAvailable.BUSY
    at = timezone.now()
    try:
        with transaction.atomic():
            row = HeadToHead.objects.create(
                leaderboard=board, a_id=first, b_id=second, queued_at=at, enqueued_at=db_clock.now()
            )
            WORK.enqueue(row)
            return row
    except IntegrityError:  # a concurrent request created it
        return HeadToHead.objects.get(a=first, b=second)


def _compare(lease: Lease[HeadToHead]) -> None:
    row = lease.row
    board = row.leaderboard
    scored = scorer_of_phase.of_board(board)
    if board.task_version != scored.version:
        raise NotRetryableError(Reason.OUTDATED)
    gold = board.gold_version if reveals_items(board.phase) else None
    with ExitStack() as stack:
        files: dict[str, sandbox_client.File] = {
            role: stack.enter_context(stored_outcomes.opened(run)) for role, run in (("a", row.a), ("b", row.b))
        }
        if gold is not None:
            files["gold"] = gold
        answer = sandbox_client.head_to_head(
            files,
            gold_name=str(gold.file.name) if gold is not None else "",
            scorer=sandbox_client.declaration_of(scored.scorer),
            seed=provenance.seed_of(board.gold_version),
        )
    if not answer.ok:
        raise NotRetryableError(answer.reason or Reason.INTERNAL)
    lease.finish(state=State.DONE, report=msgspec.to_builtins(_checked(answer.read(HeadToHeadReport))))


def _checked(report: HeadToHeadReport) -> HeadToHeadReport:
    """Return the report; raise ReportError if it contains a number that is not finite."""
    for row in report.comparisons:
        numbers = [number for number in (row.a, row.b, row.difference, row.low, row.high, row.p) if number is not None]
        if not all(math.isfinite(number) for number in numbers):
            raise ReportError(f"the comparison by {row.measure} has the numbers {numbers}; expected finite ones")
    return report


WORK = Work(name="head_to_head", rows=WAITING, do=_compare, urgency=Urgency.PAGE)

"""Scoring again what was scored before, when gold was corrected or a task's version was raised.

The board that is shown stays as it is while the next one is prepared; `boards.settle` switches in one transaction.
Until then the scoring can be cancelled, and taken up again later (docs/adr/0006).
"""

from __future__ import annotations

from django.db import models, transaction
from django.db.models import QuerySet
from django.utils import timezone

from leaderboard.boards.actions import boards
from leaderboard.boards.queries import board_state
from leaderboard.core.refusal import Code, Refused
from leaderboard.core.rights import check_manages
from leaderboard.evaluation import scorer_of_phase
from leaderboard.models import AuditEntry, GoldVersion, Leaderboard, Phase, Reason, Run, Scorer, Split, State, User
from leaderboard.scoring.actions import releases, runs

OPEN = (State.QUEUED, State.RUNNING)


@transaction.atomic
def begin(*, phase: Phase, by: User | None = None) -> int:
    """Queue every prediction of the phase against the gold that counts and the task version; how many were queued.

    May be called again: what waits, runs or is done is left alone, and what failed is queued again.
    """
    phase = held(phase)
    gold = board_state.gold_of(phase)
    task_version = scorer_of_phase.of(phase).version
    predictions = board_state.to_score(phase)
    if gold is None or not predictions.exists():
        return 0
    board = boards.opened(phase=phase, gold_id=gold.pk, task_version=task_version)
    if board.state == Leaderboard.State.CANCELLED:
        Leaderboard.objects.filter(pk=board.pk).update(state=Leaderboard.State.PREPARING)
    _supersede(phase, board)
    live = Run.objects.filter(gold_version=gold, task_version=task_version).exclude(
        state__in=(State.FAILED, State.CANCELLED)
    )
    waiting = predictions.exclude(pk__in=live.values("prediction")).order_by("arrival", "queued_at")
    queued = [runs.queue(prediction=prediction, gold=gold) for prediction in waiting]
    releases.settle(phase)
    if queued:
        AuditEntry.record("rescoring.begun", phase, by=by, gold=gold.number, task_version=task_version, n=len(queued))
    return len(queued)


def begin_for(*, gold: GoldVersion, by: User | None = None) -> int:
    """The same for each phase on the gold's split. Call inside the transaction that keeps the gold."""
    return sum(begin(phase=phase, by=by) for phase in phases_on(gold.split))


def phases_on(split: Split) -> QuerySet[Phase]:
    """Those whose boards follow the split's gold: all but rehearsals that are over."""
    return split.phases.exclude(benchmark__rehearsal__ended_at__isnull=False)


@transaction.atomic
def cancel(*, phase: Phase, by: User) -> Leaderboard:
    """Give the board in preparation up; the one that is shown stays, and its gold counts again.

    Runs on the way are cancelled, and predictions that were only scored there, or were waiting to be, are scored for
    the board that is shown. A scorer of the organisers' own makes way for that board's. Raises Refused:
    NOT_AN_ORGANISER, NOT_PREPARING, and NOT_CANCELLABLE for a board that is prepared because the task's version was
    raised: no code of the earlier version is here to go on with.
    """
    check_manages(phase.benchmark, by)
    phase = held(phase)
    shown, board = board_state.current(phase), board_state.preparing(phase)
    if shown is None or board is None:
        raise Refused(Code.NOT_PREPARING, "No board is in preparation; there is nothing to cancel.")
    if shown.gold_version_id == board.gold_version_id:
        if phase.scorer is not None:
            return _cancel_scorer(phase=phase, shown=shown, board=board, by=by)
        raise Refused(
            Code.NOT_CANCELLABLE,
            f"The task's version was raised from {shown.task_version} to {board.task_version}. This server scores by "
            "the new version alone, so what comes in can only be ranked on the new board.",
        )
    dropped = phase.leaderboards.filter(
        state=Leaderboard.State.PREPARING, gold_version__number__gt=shown.gold_version.number
    )
    golds = list(dropped.values_list("gold_version", flat=True))
    dropped.update(state=Leaderboard.State.CANCELLED)
    _cancel(Run.objects.filter(prediction__submission__phase=phase, gold_version__in=golds, state__in=OPEN))
    AuditEntry.record(
        "rescoring.cancelled", phase, by=by, gold=board.gold_version.number, task_version=board.task_version
    )
    begin(phase=phase, by=by)
    return board


def _cancel_scorer(*, phase: Phase, shown: Leaderboard, board: Leaderboard, by: User) -> Leaderboard:
    """Back to the scorer of the board that is shown: its image is kept, as code of an earlier task version is not."""
    dropped = phase.leaderboards.filter(
        state=Leaderboard.State.PREPARING, gold_version=shown.gold_version_id, task_version__gt=shown.task_version
    )
    versions = list(dropped.values_list("task_version", flat=True))
    dropped.update(state=Leaderboard.State.CANCELLED)
    ours = Run.objects.filter(prediction__submission__phase=phase, gold_version=shown.gold_version_id)
    _cancel(ours.filter(task_version__in=versions, state__in=OPEN))
    earlier = Scorer.objects.get(benchmark=phase.benchmark_id, number=shown.task_version)
    Phase.objects.filter(pk=phase.pk).update(scorer=earlier)
    AuditEntry.record("rescoring.cancelled", phase, by=by, gold=shown.gold_version.number, scorer=board.task_version)
    begin(phase=phase, by=by)
    return board


@transaction.atomic
def resume(*, phase: Phase, gold: GoldVersion, by: User) -> int:
    """Take a cancelled scoring up again; how many runs were queued. What was scored before is kept.

    Raises Refused: NOT_AN_ORGANISER, NOT_PREPARING for gold whose scoring was not cancelled or is out of date.
    """
    check_manages(phase.benchmark, by)
    phase = held(phase)
    if gold not in resumable(phase):
        raise Refused(
            Code.NOT_PREPARING, f"The scoring on gold version {gold.number} is not one that can be taken up again."
        )
    phase.leaderboards.filter(gold_version=gold).update(state=Leaderboard.State.PREPARING)
    AuditEntry.record("rescoring.resumed", phase, by=by, gold=gold.number)
    return begin(phase=phase, by=by)


def resumable(phase: Phase) -> list[GoldVersion]:
    """Corrections after the gold that counts whose scoring was cancelled, the newest first."""
    counts = board_state.gold_of(phase)
    if counts is None:
        return []
    cancelled = phase.leaderboards.filter(state=Leaderboard.State.CANCELLED)
    later = phase.split.gold_versions.filter(number__gt=counts.number, pk__in=cancelled.values("gold_version"))
    return list(later.order_by("-number"))


def held(phase: Phase) -> Phase:
    """The phase under its lock, after its split's: the order in which submissions and corrections take them."""
    Split.objects.select_for_update().get(pk=phase.split_id)
    rows = Phase.objects.select_for_update(of=("self",)).select_related("split__dataset", "benchmark", "scorer")
    return rows.get(pk=phase.pk)


def _supersede(phase: Phase, board: Leaderboard) -> None:
    """Other boards in preparation make way for this one, and so do the runs that nobody needs any more."""
    others = phase.leaderboards.filter(state=Leaderboard.State.PREPARING).exclude(pk=board.pk)
    golds = list(others.exclude(gold_version=board.gold_version_id).values_list("gold_version", flat=True))
    others.update(state=Leaderboard.State.CANCELLED)
    ours = Run.objects.filter(prediction__submission__phase=phase)
    present = ours.filter(gold_version=board.gold_version_id, task_version=board.task_version)
    # A run that was taken for the board that is shown may end there; the board is frozen with it.
    _cancel(ours.filter(state=State.QUEUED).exclude(pk__in=present.values("pk")))
    _cancel(ours.filter(state=State.RUNNING, gold_version__in=golds).exclude(pk__in=present.values("pk")))


def _cancel(open_runs: models.QuerySet[Run]) -> None:
    """Who works on one of them is late from here on, and what it has made is not kept."""
    open_runs.update(state=State.CANCELLED, reason=Reason.SUPERSEDED, lease_until=None, finished_at=timezone.now())

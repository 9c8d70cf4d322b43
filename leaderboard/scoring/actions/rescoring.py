"""Rescoring of a phase after a correction of its gold, a new task version or a new custom scorer.

The current board does not change while a new board is in preparation. Once the new board is complete,
`boards.publish_if_complete` makes it the current board in one transaction. Until then the rescoring can be cancelled,
and resumed later (docs/adr/0006).
"""

from __future__ import annotations

from django.db import transaction
from django.db.models import QuerySet

from leaderboard.boards.actions import boards
from leaderboard.boards.queries import board_state
from leaderboard.core import row_locks
from leaderboard.core.refusal import Code, Refused
from leaderboard.core.rights import check_manages
from leaderboard.evaluation import scorer_of_phase
from leaderboard.models import AuditEntry, GoldVersion, Leaderboard, Phase, Reason, Run, Scorer, Split, State, User
from leaderboard.scoring.actions import releases, runs
from leaderboard.work_queue.lease import cancel_rows


@transaction.atomic
def begin(*, phase: Phase, by: User | None = None) -> int:
    """Queue a run of every prediction of the phase on current gold and scorer version; return the number of new runs.

    Idempotent: a prediction that already has such a run, queued, running or finished, gets none; a failed or cancelled
    run is replaced by a new one. by: the user, for the audit log; None: the server.
    """
    phase = held(phase)
    gold = board_state.gold_of(phase)
    task_version = scorer_of_phase.of(phase).version
    predictions = board_state.predictions_to_score(phase)
    if gold is None or not predictions.exists():
        return 0
    board = boards.get_or_create(phase=phase, gold_id=gold.pk, task_version=task_version)
    if board.state == Leaderboard.State.CANCELLED:
        Leaderboard.objects.filter(pk=board.pk).update(state=Leaderboard.State.PREPARING)
    _supersede(phase, board)
    live = Run.objects.filter(gold_version=gold, task_version=task_version).exclude(
        state__in=(State.FAILED, State.CANCELLED)
    )
    waiting = predictions.exclude(pk__in=live.values("prediction")).order_by("sequence", "queued_at")
    queued = [runs.queue(prediction=prediction, gold=gold) for prediction in waiting]
    releases.release_waiting(phase)
    if queued:
        AuditEntry.record("rescoring.begun", phase, by=by, gold=gold.number, task_version=task_version, n=len(queued))
    return len(queued)


def begin_for(*, gold: GoldVersion, by: User | None = None) -> int:
    """Rescore each phase on the split of a new gold version (`phases_on`); return the number of runs queued.

    Call in the transaction that creates the gold version. by: as for `begin`.
    """
    return sum(begin(phase=phase, by=by) for phase in phases_on(gold.split))


def phases_on(split: Split) -> QuerySet[Phase]:
    """Return the split's phases that are rescored when its gold changes: all except those of ended rehearsals."""
    return split.phases.exclude(benchmark__rehearsal__ended_at__isnull=False)


@transaction.atomic
def cancel(*, phase: Phase, by: User) -> Leaderboard:
    """Cancel the board in preparation and return it; the phase uses the gold of the current board again.

    Queued and running runs for the cancelled board are cancelled. Predictions that have no run for the current board,
    because they arrived during the rescoring, are queued for it. If the cancelled board is of a new custom scorer, the
    phase gets the current board's scorer back. Raises Refused: NOT_AN_ORGANISER; NOT_PREPARING if no board is in
    preparation; NOT_CANCELLABLE if the task's version was raised, since the code of the earlier version is not
    available.
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
            f"This rescoring cannot be cancelled: the task's version was raised from {shown.task_version} to "
            f"{board.task_version}. This server scores only with the new version, so new submissions can be ranked "
            "only on the new board.",
        )
    dropped = phase.leaderboards.filter(
        state=Leaderboard.State.PREPARING, gold_version__number__gt=shown.gold_version.number
    )
    golds = list(dropped.values_list("gold_version", flat=True))
    dropped.update(state=Leaderboard.State.CANCELLED)
    cancel_rows(Run.objects.filter(prediction__submission__phase=phase, gold_version__in=golds), Reason.SUPERSEDED)
    AuditEntry.record(
        "rescoring.cancelled", phase, by=by, gold=board.gold_version.number, task_version=board.task_version
    )
    begin(phase=phase, by=by)
    return board


def _cancel_scorer(*, phase: Phase, shown: Leaderboard, board: Leaderboard, by: User) -> Leaderboard:
    """Cancel the boards in preparation of newer custom scorers, and give the phase the current board's scorer back.

    shown: the current board. board: the latest board in preparation, which is returned. Unlike the code of an earlier
    task version, the image of an earlier scorer is still stored, so its board can stay.
    """
    dropped = phase.leaderboards.filter(
        state=Leaderboard.State.PREPARING, gold_version=shown.gold_version_id, task_version__gt=shown.task_version
    )
    versions = list(dropped.values_list("task_version", flat=True))
    dropped.update(state=Leaderboard.State.CANCELLED)
    phase_runs = Run.objects.filter(prediction__submission__phase=phase, gold_version=shown.gold_version_id)
    cancel_rows(phase_runs.filter(task_version__in=versions), Reason.SUPERSEDED)
    earlier = Scorer.objects.get(benchmark=phase.benchmark_id, number=shown.task_version)
    Phase.objects.filter(pk=phase.pk).update(scorer=earlier)
    AuditEntry.record("rescoring.cancelled", phase, by=by, gold=shown.gold_version.number, scorer=board.task_version)
    begin(phase=phase, by=by)
    return board


@transaction.atomic
def resume(*, phase: Phase, gold: GoldVersion, by: User) -> int:
    """Resume the cancelled rescoring on a gold version; return the number of runs queued. Finished runs are reused.

    Raises Refused: NOT_AN_ORGANISER; NOT_PREPARING if `resumable` does not return the gold version, because its
    rescoring was not cancelled, or because the phase already uses it or a later one.
    """
    check_manages(phase.benchmark, by)
    phase = held(phase)
    if gold not in resumable(phase):
        current = board_state.gold_of(phase)
        why = "it was not cancelled"
        if current is not None and gold.number <= current.number:
            why = f"the phase already uses gold version {current.number}"
        raise Refused(Code.NOT_PREPARING, f"The rescoring on gold version {gold.number} cannot be resumed: {why}.")
    phase.leaderboards.filter(gold_version=gold).update(state=Leaderboard.State.PREPARING)
    AuditEntry.record("rescoring.resumed", phase, by=by, gold=gold.number)
    return begin(phase=phase, by=by)


def resumable(phase: Phase) -> list[GoldVersion]:
    """Return the gold versions whose rescoring was cancelled and that are later than the one in use, latest first."""
    current = board_state.gold_of(phase)
    if current is None:
        return []
    cancelled = phase.leaderboards.filter(state=Leaderboard.State.CANCELLED)
    later = phase.split.gold_versions.filter(number__gt=current.number, pk__in=cancelled.values("gold_version"))
    return list(later.order_by("-number"))


def held(phase: Phase) -> Phase:
    """Lock the split's row, then the phase's, until the transaction ends; return the phase.

    Corrections lock the rows in the same order, and submissions lock only the split's, so no two transactions deadlock.
    """
    row_locks.lock_split(phase.split_id)
    return row_locks.lock_phase(phase.pk, "split__dataset", "benchmark", "scorer")


def _supersede(phase: Phase, board: Leaderboard) -> None:
    """Cancel the phase's boards in preparation other than `board`, and the phase's runs that `board` does not need.

    These are all other queued runs, and the running ones on gold of the cancelled boards that `board` does not use.
    """
    others = phase.leaderboards.filter(state=Leaderboard.State.PREPARING).exclude(pk=board.pk)
    golds = list(others.exclude(gold_version=board.gold_version_id).values_list("gold_version", flat=True))
    others.update(state=Leaderboard.State.CANCELLED)
    phase_runs = Run.objects.filter(prediction__submission__phase=phase)
    needed_runs = phase_runs.filter(gold_version=board.gold_version_id, task_version=board.task_version)
    # A running run for the current board may finish: that board will be frozen with its result.
    cancel_rows(phase_runs.filter(state=State.QUEUED).exclude(pk__in=needed_runs.values("pk")), Reason.SUPERSEDED)
    cancel_rows(
        phase_runs.filter(state=State.RUNNING, gold_version__in=golds).exclude(pk__in=needed_runs.values("pk")),
        Reason.SUPERSEDED,
    )

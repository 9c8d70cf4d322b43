"""Runs: a run is the scoring of a prediction on a gold version, queued here, run in the background and published."""

from __future__ import annotations

from hashlib import sha256
from typing import Any
from uuid import UUID

import numpy as np
import structlog
from django.core.files.base import ContentFile
from django.db import transaction
from django.db.models import Max
from msgspec import to_builtins

from evaluator.jobs.score import ScoreReport
from evaluator.jsonl.decompress import is_packed
from evaluator.tasks.registry import TASKS
from leaderboard.boards.queries import board_state, slices
from leaderboard.core import db_clock, process_metrics, row_locks, tracing
from leaderboard.core.storage import check_digest, deleted_on_failure, opened, save_unique
from leaderboard.evaluation import provenance, report_checks, sandbox_client, scorer_of_phase
from leaderboard.models import (
    GoldVersion,
    Leaderboard,
    Phase,
    Prediction,
    QuotaCharge,
    Reason,
    Run,
    Score,
    SimilarityCheck,
    Split,
    State,
    System,
)
from leaderboard.scoring.actions import plots, releases
from leaderboard.work_queue import enqueue
from leaderboard.work_queue.lease import Lease, cancel_rows
from leaderboard.work_queue.work import (
    STORAGE_ERRORS,
    Failure,
    StateColumns,
    Urgency,
    Work,
    WorkerOutdatedError,
    not_enqueued,
)
from leaderboard.work_queue.worker_status import SCORERS

log = structlog.get_logger(__name__)
SKETCHED_BYTES = 1 << 20
"""Maximum size of a predictions file whose similarity sketch is computed by the scorer."""
SCORER_TASK = "run_scorer"
"""Name of the background work that scores runs with a custom scorer (`containers.actions.run_scorer`)."""
WAITING = Run.objects.select_related(
    *("prediction__submission__phase__split", "prediction__submission__phase__benchmark"),
    *("prediction__submission__system", "gold_version__split__dataset"),
)


def queue(*, prediction: Prediction, gold: GoldVersion) -> Run:
    """Create and enqueue a run of a prediction on a gold version, with the phase's current task version or scorer.

    Call with the phase or its split locked, in the transaction of the event that makes the run necessary, such as a
    correction.
    """
    # Read again: the caller may have read the phase before it was locked, and the scorer may have changed since.
    phases = Phase.objects.select_related("benchmark", "scorer").only("benchmark__task", "scorer__number")
    phase = phases.annotate(at=db_clock.column()).get(pk=prediction.submission.phase_id)
    run = Run.objects.create(
        prediction=prediction,
        gold_version=gold,
        task_version=scorer_of_phase.of(phase).version,
        scorer=phase.scorer,
        queued_at=phase.at,
        enqueued_at=db_clock.now(),
    )
    if run.scorer_id is None:
        WORK.enqueue(run)
    else:
        enqueue.after_commit(SCORER_TASK, run.pk, queue=SCORERS)
    return run


def lock_split(phase: Phase) -> Split:
    """Lock the phase's split until the transaction ends, and return the split.

    Meanwhile no correction, rescoring or change of tracks happens on the split, so that no prediction is queued on
    replaced gold or accepted for replaced inputs. The phase stays unlocked, because workers lock it to publish scores,
    and a slow or frozen worker must not delay submissions.
    """
    with process_metrics.LOCK_SECONDS.labels("split").time():
        return row_locks.lock_split(phase.split_id)


def on_prediction_ready(*, split: Split, phase: Phase, prediction: Prediction, gold: GoldVersion) -> Run | None:
    """Store a complete prediction with the next sequence number of its split, queue a run of it and return the run.

    split: as returned by `lock_split` in this transaction, so that numbers are in the order of the commits. prediction:
    may be unsaved. Returns None, without a run, in a phase that scores only finals, unless it has been unsealed and the
    prediction is that of a final.
    """
    sequence = split.last_sequence + 1
    Split.objects.filter(pk=split.pk).update(last_sequence=sequence)
    prediction.sequence = sequence
    if prediction._state.adding:
        prediction.save(force_insert=True)
    else:
        prediction.save(update_fields=["sequence"])
    if phase.disclosure == Phase.Disclosure.SEALED:
        phase.refresh_from_db(fields=["unsealed_at"])
        if not board_state.predictions_to_score(phase).filter(pk=prediction.pk).exists():
            return None
    return queue(prediction=prediction, gold=gold)


def _is_of_our_version(run: Run) -> bool:
    """Return True if a queued run's task version is that of this worker's code.

    Raises WorkerOutdatedError for a run of a later version, which an upgraded worker has to score. A run of an earlier
    version is replaced (`replace`), since the code of that version is not available.
    """
    version = TASKS[run.gold_version.split.dataset.task].version
    if run.task_version > version:
        log.error("worker_outdated", kind=WORK.name, id=str(run.pk), task_version=run.task_version, ours=version)
        Run.objects.filter(pk=run.pk, state=State.QUEUED).update(reason=Reason.OUTDATED)
        raise WorkerOutdatedError
    if run.task_version < version:
        replace(run, version)
    return run.task_version == version


def why_not_ready() -> str:
    """Return why this worker must take no scoring work, as `Work.why_not_ready` does.

    A reason in addition to those of WORK is that an open board has a later version of its task than this worker's code.
    """
    if why_not := WORK.why_not_ready():
        return why_not
    scored = Leaderboard.objects.filter(state__in=Leaderboard.OPEN, phase__scorer=None)
    versions = scored.values_list("phase__benchmark__task").annotate(Max("task_version")).order_by()
    is_outdated = any(task in TASKS and version > TASKS[task].version for task, version in versions)
    return "worker_outdated" if is_outdated else ""


@transaction.atomic
def replace(run: Run, version: int) -> None:
    """Cancel a queued run of an earlier task version, and queue a run of `version` on the phase's current gold.

    Does not queue one if the prediction has such a run that has not failed or been cancelled. Does nothing if `run` is
    no longer queued.
    """
    phase = _hold_phase(run)
    if not cancel_rows(Run.objects.filter(pk=run.pk, state=State.QUEUED), Reason.SUPERSEDED):
        return
    gold = board_state.gold_of(phase) or run.gold_version
    current_runs = run.prediction.runs.filter(gold_version=gold, task_version=version)
    if not current_runs.exclude(state__in=(State.FAILED, State.CANCELLED)).exists():
        queue(prediction=run.prediction, gold=gold)


def _score(lease: Lease[Run]) -> None:
    run, gold = lease.row, lease.row.gold_version
    with opened(run.prediction.file) as predictions:
        check_digest(predictions, run.prediction.sha256)
        answer = sandbox_client.score(
            task=gold.split.dataset.task,
            gold=gold,
            predictions=predictions,
            name=run.prediction.name,
            options=provenance.options_of(run),
            seed=provenance.seed_of(gold),
            subset=run.prediction.submission.phase.subset,
            sketch=_is_sketched(run),
        )
    if answer.reason in (Reason.TIME, Reason.MEMORY):
        reject(lease, reason=answer.reason, problems=[])
    elif answer.reason:
        # The scorer crashed or returned an invalid report. No submission should cause that: the server has failed.
        WORK.retry_or_fail(lease, reason=answer.reason, error_id=answer.error_id)
    elif answer.ok:
        _publish_if_valid(lease, answer)
    elif answer.report.get("fault") == "predictions":
        shown = run.prediction.submission.phase.split.inputs_public
        reject(lease, reason=Reason.BAD_PREDICTIONS, problems=answer.report["problems"] if shown else [])
    else:
        WORK.retry_or_fail(lease, reason=Reason.BAD_GOLD, final=True)


def _publish_if_valid(lease: Lease[Run], answer: sandbox_client.Answer) -> None:
    """Validate the report in the sandbox's answer, and publish its scores.

    Raises ReportError for numbers that no correct scorer reports.
    """
    gold = lease.row.gold_version
    task = TASKS[gold.split.dataset.task]
    result = report_checks.checked(
        answer.report,
        task=task.name,
        task_version=lease.row.task_version,
        measures=[task.measure(name) for name in gold.measures],
    )
    publish(lease, answer, result)


def publish(lease: Lease[Run], answer: sandbox_client.Answer, result: ScoreReport, **produced_by: Any) -> None:
    """Store a run's scores, outcomes, release and state in one transaction, and then rank its board.

    answer: the sandbox's answer; its attachment is the outcomes file, which is empty for a custom scorer that returns
    none. result: the report in `answer`, which the caller has validated. produced_by: further fields of the run's
    provenance. Raises LeaseLostError, with nothing stored, if the lease is lost.
    """
    run = lease.row
    scores = [to_builtins(score) for score in result.scores]
    # Warnings quote the system's output, and boards show them: they could reveal hidden inputs.
    warnings = result.warnings if run.prediction.submission.phase.split.inputs_public else []
    digest, stored = "", ""
    if answer.attachment:
        digest = sha256(answer.attachment).hexdigest()
        # Only this attempt writes to this name. An attempt whose number is given back has ended before.
        stored = save_unique(run.outcomes.storage, _outcomes_name(run, lease.attempt), ContentFile(answer.attachment))
    with deleted_on_failure(run.outcomes.storage, stored):
        # Before the phase is locked: a slow store must not hold up the phase. Earlier attempts have lost their leases,
        # and delete what they still write.
        _discard_outcomes(run, before=lease.attempt)
        with tracing.span("publish"), process_metrics.PUBLISH_SECONDS.time(), transaction.atomic():
            with process_metrics.LOCK_SECONDS.labels("phase").time():
                phase = _hold_phase(run)
            at = db_clock.now()
            lease.finish(
                state=State.DONE,
                reason=Reason.NONE,
                finished_at=at,
                outcomes=stored,
                outcomes_sha256=digest,
                warnings=warnings,
                provenance={**provenance.of(run, answer), **produced_by},
            )
            groups: list[int | None] = [*result.groups] or [None] * len(scores)
            Score.objects.bulk_create(
                _row(run, score, n_groups) for score, n_groups in zip(scores, groups, strict=True)
            )
            with_groups = [score | {"n_groups": n} for score, n in zip(scores, groups, strict=True)]
            release = releases.publish(
                phase=phase, run=run, primary=result.primary, scores=with_groups, warnings=warnings, at=at
            )
            plots.store_plot_data(release, result.plot_data, with_groups)
            if _competes(run):
                # The sweep searches for near-duplicates. After a rescoring, there is a check already.
                check = SimilarityCheck(
                    prediction=run.prediction, phase=phase, queued_at=at, enqueued_at=not_enqueued(at)
                )
                if result.sketch:
                    check.signature = np.array(result.sketch.signature, dtype=np.uint64).tobytes()
                SimilarityCheck.objects.bulk_create([check], ignore_conflicts=True)
    releases.update_boards(run.prediction.submission.phase_id)


def _is_sketched(run: Run) -> bool:
    """Return whether the scoring job also computes the similarity sketch of the run's predictions.

    It does for small files of competing systems, so that gold and predictions are read once. For larger or compressed
    files, a separate job computes the sketch (`near_duplicates`), within the limits for one job.
    """
    prediction = run.prediction
    return _competes(run) and prediction.bytes <= SKETCHED_BYTES and not is_packed(prediction.name)


def _competes(run: Run) -> bool:
    return run.prediction.submission.system.kind == System.Kind.PARTICIPANT


def _outcomes_name(run: Run, attempt: int) -> str:
    return f"{run.pk.hex}-{attempt}.outcomes"


def _discard_outcomes(run: Run, *, before: int) -> None:
    """Delete the outcomes files of a run's attempts with numbers below `before`, which did not commit."""
    for attempt in range(1, before):
        run.outcomes.storage.delete(_outcomes_name(run, attempt))


def _row(run: Run, score: dict[str, Any], n_groups: int | None) -> Score:
    names = ("measure", "slice", "value", "low", "high", "n")
    values = {name: score[name] for name in names}
    return Score(run=run, slice_key=slices.raw_slice_key(score["slice"]), n_groups=n_groups, **values)


@transaction.atomic
def reject(lease: Lease[Run], *, reason: str, problems: list[dict[str, Any]]) -> None:
    """Reject a run because of an error in the predictions; it is not retried, and the quota is not refunded.

    reason: a value of `Reason`. problems: those of the predictions file, as shown to the team. Raises LeaseLostError if
    the lease is lost.
    """
    phase = _hold_phase(lease.row)
    lease.finish(state=State.REJECTED, reason=reason, problems=problems)
    # A board in preparation, or later runs on a ladder, may have waited for this one.
    releases.release_waiting(phase)


def _on_failure(lease: Lease[Run], final: bool) -> None:
    """If no retry follows (`final`), refund the quota charge and release the runs that waited for this one.

    The charge is not refunded if another run of the prediction was scored or rejected. Outcomes files of the run are
    deleted.
    """
    if not final:
        return
    run = lease.row
    if not run.prediction.runs.filter(state__in=(State.DONE, State.REJECTED)).exists():
        # No refund if only a rescoring failed: the submission was scored, or rejected and rightly charged, before.
        refund(run.prediction.submission_id)
    # After the commit: until then the last attempt may still finish and keep its outcomes file.
    transaction.on_commit(lambda: _discard_outcomes(run, before=run.attempt + 1), robust=True)
    releases.release_waiting(_hold_phase(run))


def refund(submission: UUID) -> None:
    """Refund the quota charge of a submission, if it was charged and not refunded yet."""
    QuotaCharge.objects.filter(submission=submission, refunded_at=None).update(refunded_at=db_clock.now())


def _hold_phase(run: Run) -> Phase:
    """Lock the run's phase until the transaction ends, and return the phase.

    Call before the run is locked: `rescoring.cancel` locks in the same order.
    """
    return row_locks.lock_phase(run.prediction.submission.phase_id)


WORK = Work(
    name="score",
    rows=WAITING.filter(scorer=None),
    do=_score,
    urgency=Urgency.SUBMISSION,
    errors={STORAGE_ERRORS: Failure(Reason.STORAGE)},
    columns=StateColumns(error_id="", detail=""),
    may_claim=_is_of_our_version,
    marks_outdated=True,
    lock=_hold_phase,
    on_failure=_on_failure,
    submission_of=lambda run: run.prediction.submission_id,
)

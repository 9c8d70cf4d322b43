"""Predictions by containers: run a submitted image, validate the predictions that it writes, and queue their scoring.

The predictions are scored exactly like an uploaded file. The workers that run images have no access to gold.
"""

from __future__ import annotations

import socket
import tempfile
import time
from typing import IO, Any

import structlog
from django.conf import settings
from django.core.files.base import File
from django.db import transaction

from evaluator.errors import UsageError
from leaderboard.boards.queries import board_state
from leaderboard.containers.actions import engine, image_files, placement, workers
from leaderboard.core import db_clock
from leaderboard.core.storage import AlteredError, check_digest, deleted_on_failure, opened
from leaderboard.core.uploads import sha256_of
from leaderboard.evaluation import container_limits, sandbox_client
from leaderboard.models import Image, Phase, Prediction, Reason, Stage, State, Submission
from leaderboard.scoring.actions import runs, sealed_phases
from leaderboard.submissions.actions.validation import problem
from leaderboard.work_queue.chosen_work import ChosenWork
from leaderboard.work_queue.lease import Lease
from leaderboard.work_queue.work import BUSY, STORAGE_ERRORS, Failure, StateColumns, Urgency, lease_lost
from leaderboard.work_queue.worker_status import queue_of

log = structlog.get_logger(__name__)
WAITING = Prediction.objects.filter(submission__kind=Submission.Kind.IMAGE).select_related(
    "submission__phase__split__dataset", "submission__image"
)


def queue(*, submission: Submission) -> Prediction:
    """Create a submission's prediction and enqueue it for a worker with a container engine.

    Call this in the transaction that creates the submission.
    """
    prediction = Prediction.objects.create(
        submission=submission,
        name="predictions.jsonl",
        inputs_sha256=submission.phase.split.inputs_sha256,
        queued_at=submission.received_at,
        enqueued_at=db_clock.now(),
    )
    WORK.enqueue(prediction)
    return prediction


def _predict(lease: Lease[Prediction]) -> None:
    prediction, submission = lease.row, lease.row.submission
    phase, image = submission.phase, submission.image
    assert image is not None, "a constraint of the database ensures that a container submission has an image"
    allowed = container_limits.of(phase)
    options = {**phase.split.options, **phase.options}
    with (
        tempfile.TemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR) as output,
        opened(phase.split.inputs, sha256=prediction.inputs_sha256) as inputs,
    ):
        check_digest(inputs, prediction.inputs_sha256)
        ran = _ran(lease, image, allowed, options=options, inputs=inputs, into=output)
        details: dict[str, Any] = {"cost": ran.cost, "execution": ran.execution, "log": ran.log}
        if ran.reason:
            reject(lease, reason=ran.reason, problems=[problem(ran.explanation)], **details)
            return
        _enter(lease, Stage.COLLECTING)
        _collect(lease, output, ran.name, details)


def _ran(
    lease: Lease[Prediction], image: Image, allowed: container_limits.ContainerLimits, **arguments: Any
) -> engine.ExecutionResult:
    """Run the image in a container; load it into the engine first if it is not there.

    arguments: `options`, `inputs` and `into`, as for `engine.run`.
    """
    # An image that was checked under the wider limits of another phase is checked again.
    is_known = image.digest and image.unpacked_bytes <= allowed.image_bytes
    loaded = image.digest if is_known else _load(lease, image, allowed)
    params = {
        "prediction": lease.row,
        "task": lease.row.submission.phase.split.dataset.task,
        "limits": allowed,
        **arguments,
    }
    for attempt in (1, 2):
        _enter(lease, Stage.RUNNING)
        try:
            return engine.run(image=loaded, keep_going=lambda: lease.rows().exists(), **params)
        except engine.ImageMissingError:
            if attempt == 2:
                raise
            loaded = _load(lease, image, allowed)
    raise AssertionError("two attempts return or raise")


def _load(lease: Lease[Prediction], image: Image, allowed: container_limits.ContainerLimits) -> str:
    """Check a submitted image and load it into the engine; return the image's id in the engine."""
    _enter(lease, Stage.READING)
    workers.make_room_for(image)
    loaded = engine.load(image, allowed, when_read=lambda: _enter(lease, Stage.LOADING))
    Image.objects.filter(pk=image.pk).update(digest=loaded.id, unpacked_bytes=loaded.size)
    return loaded.id


def _enter(lease: Lease[Prediction], stage: Stage) -> None:
    lease.write(stage=stage)


def _collect(lease: Lease[Prediction], output: IO[bytes], name: str, details: dict[str, Any]) -> None:
    """Validate a container's predictions like an upload; store them and queue their scoring, or reject them if invalid.

    output: open file with the predictions. name: their file name. details: further fields of the prediction, such as
    its cost.
    """
    submission = lease.row.submission
    phase = submission.phase
    gold = board_state.gold_of(phase)
    if gold is None:
        raise AlteredError(f"the split {phase.split_id} has no gold any more")
    try:
        answer = sandbox_client.validate(
            split=phase.split, gold=gold, predictions=output, name=name, options=phase.options
        )
    except sandbox_client.SandboxTimeoutError:
        raise
    except sandbox_client.SandboxError as error:
        log.error("sandbox_failed", kind=WORK.name, id=str(lease.row.pk), error=str(error))
        WORK.retry_or_fail(lease, reason=Reason.SANDBOX, passes=WORK.passes(error))
        return
    if not answer.ok:
        problems = (
            answer.report.get("problems", []) if answer.report.get("fault", "predictions") == "predictions" else []
        )
        if not problems and not answer.reason:
            WORK.retry_or_fail(lease, reason=Reason.BAD_GOLD, final=True)
            return
        more = answer.report.get("more", 0)
        reject(lease, reason=Reason.BAD_PREDICTIONS, problems=_shown_problems(phase, problems, more), **details)
        return
    output.seek(0, 2)
    size = output.tell()
    output.seek(0)
    digest = sha256_of(output)
    storage, extension = lease.row.file.storage, name.partition(".")[2]
    stored_name = f"{lease.row.pk.hex}-{lease.attempt}.{extension}"
    with deleted_on_failure(storage, stored_name):
        _hand_over(
            lease,
            file=storage.save(stored_name, File(output)),
            name=name,
            sha256=digest,
            bytes=size,
            n_lines=answer.report["n_lines"],
            warnings=answer.report["warnings"] if phase.split.inputs_public else [],
            **details,
        )
    for attempt in range(1, lease.attempt):
        # An earlier attempt's file is left if its worker died between storing the file and updating the database.
        storage.delete(f"{lease.row.pk.hex}-{attempt}.{extension}")


def _shown_problems(phase: Phase, problems: list[dict[str, Any]], more: int) -> list[dict[str, Any]]:
    """Return those problems in the predictions that the submission's team may see.

    Messages about problems quote ids and texts; if the phase's inputs are hidden, a single message with the number of
    problems replaces all. more: number of further problems that are not in `problems`.
    """
    if phase.split.inputs_public:
        return problems
    return [
        problem(
            f"{len(problems) + more} lines or ids of the predictions are wrong; details are not shown because the "
            "inputs are hidden"
        )
    ]


@transaction.atomic
def _hand_over(lease: Lease[Prediction], **fields: Any) -> None:
    """Finish the prediction and queue its scoring in one transaction, in which the split is locked, as uploads do.

    fields: further column values of the prediction.
    """
    phase = lease.row.submission.phase
    split = runs.lock_split(phase)
    lease.finish(state=State.DONE, reason=Reason.NONE, stage="", **fields)
    gold = board_state.gold_of(phase)
    if gold is None:
        raise AlteredError(f"the split {phase.split_id} has no gold any more")
    prediction = Prediction.objects.get(pk=lease.row.pk)
    runs.on_prediction_ready(split=split, phase=phase, prediction=prediction, gold=gold)


@transaction.atomic
def reject(
    lease: Lease[Prediction], *, reason: str, problems: list[dict[str, Any]], refund: bool = False, **details: Any
) -> None:
    """Reject the prediction without a retry.

    reason: a Reason. problems: shown to the team. refund: True refunds the quota charge; only for some invalid images,
    because a container that was started counts against the quota. details: further column values of the prediction.
    """
    lease.finish(state=State.REJECTED, reason=reason, problems=problems, stage="", **details)
    sealed_phases.remove_lost(lease.row.submission_id)
    if refund:
        runs.refund(lease.row.submission_id)
    if reason == Reason.BAD_IMAGE and lease.row.submission.image:
        image_files.drop_refused(lease.row.submission.image)


def _on_kill(lease: Lease[Prediction], error: engine.KilledError) -> None:
    """Queue the prediction again after its container was killed, perhaps by the operator.

    The last attempt rejects the prediction instead, without a refund of the quota charge: a system whose containers are
    always killed could otherwise run without limit.
    """
    log.error("container_killed", kind=WORK.name, id=str(lease.row.pk), error=str(error))
    if lease.attempt < settings.MAX_ATTEMPTS:
        WORK.retry_or_fail(lease, reason=Reason.ENGINE)
    else:
        problems = [
            problem("the container was killed, or ended with the exit status of a killed program, in every attempt")
        ]
        reject(lease, reason=Reason.SYSTEM_EXIT, problems=problems)


def _on_bad_image(lease: Lease[Prediction], error: engine.ImageError) -> None:
    reject(lease, reason=Reason.BAD_IMAGE, problems=[problem(str(error))], refund=error.is_refunded)


def _on_failure(lease: Lease[Prediction], final: bool) -> None:
    if final:
        runs.refund(lease.row.submission_id)
        sealed_phases.remove_lost(lease.row.submission_id)


def hand_back() -> int:
    """Requeue the predictions whose containers run on this host, ahead of all others; return the number of these.

    A worker calls this if it must end before its containers do. The containers lose their lease and are stopped within
    seconds. A container in its last attempt goes on, because no other worker could repeat it, and is not counted.
    """
    here = placement.running_on(socket.gethostname()).values("prediction")
    leases = [Lease(row, row.attempt) for row in WAITING.filter(pk__in=here)]
    again = [lease for lease in leases if WORK.columns.attempts_left(lease)]
    for lease in again:
        WORK.retry_or_fail(lease, reason=Reason.LOST)
    return len(again)


def end_soon() -> None:
    """Let this host start no more containers, wait for DRAIN_SECONDS, and `hand_back` those that still run."""
    workers.set_ending(True)
    time.sleep(settings.DRAIN_SECONDS)
    log.warning("containers_handed_back", number=hand_back())


WORK = ChosenWork(
    name="predict",
    queue_of=lambda prediction: queue_of(prediction.submission.phase),
    routed_rows=Prediction.objects.select_related("submission__phase").only("enqueued_at", "submission__phase__gpus"),
    rows=WAITING,
    do=_predict,
    urgency=Urgency.SUBMISSION,
    submission_of=lambda prediction: prediction.submission_id,
    errors={
        engine.CancelledError: lease_lost,
        engine.ImageError: _on_bad_image,
        engine.KilledError: _on_kill,
        # The phase needs something that this engine lacks; a retry would fail again.
        UsageError: Failure(Reason.ENGINE, final=True),
        **BUSY,
        engine.GpusBusyError: Failure(Reason.ENGINE, passes=True),
        engine.SandboxError: Failure(Reason.ENGINE),
        STORAGE_ERRORS: Failure(Reason.STORAGE),
    },
    columns=StateColumns(stage=""),
    choose=placement.choose,
    passes_on=placement.is_servable,
    is_ready=lambda: sandbox_client.answers() and workers.ready(),
    marks_outdated=True,
    on_renewal=workers.heartbeat,
    on_failure=_on_failure,
)

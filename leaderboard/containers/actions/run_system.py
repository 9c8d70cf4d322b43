"""Predictions that a container makes: made, checked, and handed to the scorers.

What comes out is scored exactly as an uploaded file. A worker here has an engine and no gold.
"""

from __future__ import annotations

import tempfile
from typing import IO, Any

import structlog
from django.conf import settings
from django.core.files.base import File
from django.db import transaction
from django.utils import timezone

from evaluator.errors import UsageError
from leaderboard.boards.queries import board_state
from leaderboard.containers.actions import engine, image_files, workers
from leaderboard.core.storage import AlteredError, check_digest, opened
from leaderboard.core.uploads import sha256_of
from leaderboard.evaluation import container_limits, sandbox_client
from leaderboard.models import Image, Phase, Prediction, QuotaCharge, Reason, Stage, State, Submission
from leaderboard.scoring.actions import runs
from leaderboard.submissions.actions import submit
from leaderboard.work_queue.lease import Lease
from leaderboard.work_queue.work import STORAGE_ERRORS, Failure, StateColumns, Work, lease_lost
from leaderboard.work_queue.worker_status import queue_of

log = structlog.get_logger(__name__)
WAITING = Prediction.objects.select_related("submission__phase__split__dataset", "submission__image")


def queue(*, submission: Submission) -> Prediction:
    """A prediction that waits for a worker with an engine. Call inside the transaction that made its reason."""
    at = timezone.now()
    made = Prediction.objects.create(
        submission=submission,
        name="predictions.jsonl",
        inputs_sha256=submission.phase.split.inputs_sha256,
        queued_at=at,
        rung_at=at,
    )
    WORK.enqueue(made)
    return made


def _predict(lease: Lease[Prediction]) -> None:
    prediction, submission = lease.row, lease.row.submission
    phase, image = submission.phase, submission.image
    assert image is not None, "the database holds: a submission of an image has one"
    allowed = container_limits.of(phase)
    options = {**phase.split.options, **phase.options}
    with tempfile.TemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR) as made, opened(phase.split.inputs) as inputs:
        check_digest(inputs, prediction.inputs_sha256)
        ran = _ran(lease, image, allowed, options=options, inputs=inputs, into=made)
        told: dict[str, Any] = {"cost": ran.cost, "execution": ran.execution, "log": ran.log}
        if ran.reason:
            reject(lease, reason=ran.reason, problems=[_problem(ran.explanation)], **told)
            return
        _enter(lease, Stage.COLLECTING)
        _collect(lease, made, ran.name, told)


def _ran(lease: Lease[Prediction], image: Image, allowed: container_limits.ContainerLimits, **given: Any) -> engine.Ran:
    """One execution. An engine that no longer has the image is given it again: an engine's disk is no store."""
    # One that was read under the wider limits of another phase is read again under these.
    is_known = image.digest and image.unpacked_bytes <= allowed.image_bytes
    loaded = image.digest if is_known else _loaded(lease, image, allowed)
    told = {"prediction": lease.row, "task": lease.row.submission.phase.split.dataset.task, "limits": allowed, **given}
    for attempt in (1, 2):
        _enter(lease, Stage.RUNNING)
        try:
            return engine.run(image=loaded, keep_going=lambda: lease.rows().exists(), **told)
        except engine.ImageMissingError:
            if attempt == 2:
                raise
            loaded = _loaded(lease, image, allowed)
    raise AssertionError("two attempts return or raise")


def _loaded(lease: Lease[Prediction], image: Image, allowed: container_limits.ContainerLimits) -> str:
    """The engine's name for the image, which is read and checked first."""
    _enter(lease, Stage.READING)
    loaded = engine.load(image, allowed, when_read=lambda: _enter(lease, Stage.LOADING))
    Image.objects.filter(pk=image.pk).update(digest=loaded.id, unpacked_bytes=loaded.size)
    return loaded.id


def _enter(lease: Lease[Prediction], stage: Stage) -> None:
    lease.write(stage=stage)


def _collect(lease: Lease[Prediction], made: IO[bytes], name: str, told: dict[str, Any]) -> None:
    """Check what the container wrote as an upload would be checked, and hand it to the scorers."""
    submission = lease.row.submission
    phase = submission.phase
    gold = board_state.gold_of(phase)
    if gold is None:
        raise AlteredError("the split has lost its gold")
    try:
        answer = sandbox_client.validate(
            split=phase.split, gold=gold, predictions=made, name=name, options=phase.options
        )
    except sandbox_client.SandboxError as error:
        log.error("sandbox_broke", prediction=str(lease.row.pk), error=str(error))
        WORK.retry_or_fail(lease, reason=Reason.SANDBOX)
        return
    if not answer.ok:
        found = answer.report.get("problems", []) if answer.report.get("fault", "predictions") == "predictions" else []
        if not found and not answer.reason:
            WORK.retry_or_fail(lease, reason=Reason.BAD_GOLD, final=True)
            return
        more = answer.report.get("more", 0)
        reject(lease, reason=Reason.BAD_PREDICTIONS, problems=_told(phase, found, more), **told)
        return
    made.seek(0, 2)
    size = made.tell()
    made.seek(0)
    digest = sha256_of(made)
    storage, extension = lease.row.file.storage, name.partition(".")[2]
    wanted = f"{lease.row.pk.hex}-{lease.attempt}.{extension}"
    try:
        _hand_over(
            lease,
            file=storage.save(wanted, File(made)),
            name=name,
            sha256=digest,
            bytes=size,
            n_lines=answer.report["n_lines"],
            warnings=answer.report["warnings"] if phase.split.inputs_public else [],
            **told,
        )
    except BaseException:
        storage.delete(wanted)
        raise
    for attempt in range(1, lease.attempt):
        # A worker that died between the store and the database left these.
        storage.delete(f"{lease.row.pk.hex}-{attempt}.{extension}")


def _told(phase: Phase, problems: list[dict[str, Any]], more: int) -> list[dict[str, Any]]:
    """What the owner may read of bad output. Errors quote ids and texts, so hidden inputs leave a count."""
    if phase.split.inputs_public:
        return problems
    return [_problem(f"{len(problems) + more} lines or ids are wrong; the inputs are hidden, so they are not shown")]


def _problem(text: str) -> dict[str, Any]:
    return {"file": "", "line": None, "what": text, "found": "", "expected": "", "text": text}


@transaction.atomic
def _hand_over(lease: Lease[Prediction], **made: Any) -> None:
    """The prediction is done and its run waits, at once. Locks as an upload does: the split, then the phase."""
    phase = lease.row.submission.phase
    submit.locked_split(phase)
    lease.finish(state=State.DONE, reason=Reason.NONE, stage="", **made)
    gold = board_state.gold_of(phase)
    if gold is None:
        raise AlteredError("the split has lost its gold")
    runs.arrived(phase=phase, prediction=Prediction.objects.get(pk=lease.row.pk), gold=gold)


@transaction.atomic
def reject(
    lease: Lease[Prediction], *, reason: str, problems: list[dict[str, Any]], refund: bool = False, **told: Any
) -> None:
    """Their failure: the end of the work. A container that started is charged; an image that was refused is not."""
    lease.finish(state=State.REJECTED, reason=reason, problems=problems, stage="", **told)
    if refund:
        _refund(lease.row)
    if reason == Reason.BAD_IMAGE and lease.row.submission.image:
        image_files.drop_refused(lease.row.submission.image)


def _on_kill(lease: Lease[Prediction], error: engine.KilledError) -> None:
    """A status that an operator's kill and a system's own will share: tried again, and in the end the system's fault.

    To fail and refund it would let a system that ends so each time be run for nothing without end.
    """
    log.error("container_killed", prediction=str(lease.row.pk), error=str(error))
    if lease.attempt < settings.MAX_ATTEMPTS:
        WORK.retry_or_fail(lease, reason=Reason.ENGINE)
    else:
        problems = [_problem("it ended with the status of a killed program")]
        reject(lease, reason=Reason.SYSTEM_EXIT, problems=problems)


def _on_bad_image(lease: Lease[Prediction], error: engine.ImageError) -> None:
    reject(lease, reason=Reason.BAD_IMAGE, problems=[_problem(str(error))], refund=True)


def _on_failure(lease: Lease[Prediction], final: bool) -> None:
    if final:
        _refund(lease.row)


def _refund(prediction: Prediction) -> None:
    QuotaCharge.objects.filter(submission=prediction.submission_id, refunded_at=None).update(refunded_at=timezone.now())


WORK = Work(
    name="predict",
    queue=lambda prediction: queue_of(prediction.submission.phase),
    rows=WAITING,
    do=_predict,
    errors={
        engine.CancelledError: lease_lost,
        engine.ImageError: _on_bad_image,
        engine.KilledError: _on_kill,
        # The phase asks for what this engine does not have; another attempt would find the same.
        UsageError: Failure(Reason.ENGINE, final=True),
        engine.SandboxError: Failure(Reason.ENGINE),
        STORAGE_ERRORS: Failure(Reason.STORAGE),
    },
    columns=StateColumns(stage=""),
    is_ready=lambda: workers.ready() and sandbox_client.answers(),
    marks_outdated=True,
    on_renewal=workers.still_here,
    on_failure=_on_failure,
)

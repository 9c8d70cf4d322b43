"""The life of a prediction that a container makes: claimed under a lease, made, checked, and handed to the scorers.

What comes out is scored exactly as an uploaded file. A worker here has an engine and no gold.
"""

from __future__ import annotations

import contextlib
import tempfile
from typing import IO, Any
from uuid import UUID

import structlog
from django.conf import settings
from django.core.files.base import File
from django.db import transaction
from django.utils import timezone

from evaluator.errors import UsageError
from leaderboard.boards.queries import board_state
from leaderboard.containers.actions import engine, image_files, workers
from leaderboard.core.logs import places
from leaderboard.core.storage import AlteredError, check_digest, opened
from leaderboard.core.uploads import sha256_of
from leaderboard.evaluation import container_limits as limits
from leaderboard.evaluation import sandbox_client as referee
from leaderboard.models import Image, Phase, Prediction, QuotaCharge, Reason, Stage, State, Submission
from leaderboard.scoring.actions import runs
from leaderboard.submissions.actions import submit as submissions
from leaderboard.work_queue import claims
from leaderboard.work_queue import notify_workers as doorbell
from leaderboard.work_queue.claims import Claim, LateError
from leaderboard.work_queue.lease import Lease
from leaderboard.work_queue.worker_status import queue_of

log = structlog.get_logger(__name__)
Mine = Claim[Prediction]
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
    doorbell.ring_for_prediction(made.pk, queue=queue_of(submission.phase))
    return made


def predict(*, prediction_id: UUID) -> None:
    """Make one prediction from claim to its end. Safe to call any number of times, from any number of workers."""
    if not (workers.ready() and referee.answers()):
        # Attempts that are spent on a restart would all be over before it is back. The sweeper rings again.
        log.warning("engine_or_sandbox_away", prediction=str(prediction_id))
        return
    if referee.is_outdated():
        Prediction.objects.filter(pk=prediction_id, state=State.QUEUED).update(reason=Reason.OUTDATED)
        return
    mine = claims.claim(WAITING, pk=prediction_id)
    if mine is None:
        return
    with Lease(every=settings.LEASE_SECONDS / 3, renew=lambda: _renew(mine)):
        try:
            _predict(mine)
        except (LateError, engine.CancelledError):
            log.warning("late_attempt", prediction=str(prediction_id), attempt=mine.attempt)
        except engine.ImageError as error:
            with contextlib.suppress(LateError):
                reject(mine, reason=Reason.BAD_IMAGE, problems=[_problem(str(error))], refund=True)
        except engine.KilledError as error:
            log.error("container_killed", prediction=str(prediction_id), error=str(error))
            _killed(mine)
        except UsageError as error:
            # The phase asks for what this engine does not have; another attempt would find the same.
            log.error("limits_cannot_be_held", prediction=str(prediction_id), error=str(error))
            give_up(mine, reason=Reason.ENGINE, final=True)
        except engine.SandboxError as error:
            log.error("engine_broke", prediction=str(prediction_id), error=str(error))
            give_up(mine, reason=Reason.ENGINE)
        except (FileNotFoundError, AlteredError) as error:
            log.error("stored_file_unusable", prediction=str(prediction_id), error=str(error))
            give_up(mine, reason=Reason.STORAGE)
        except Exception as error:  # noqa: BLE001  (logged, visible as the prediction's reason, retried)
            what, where = type(error).__name__, places(error.__traceback__)
            log.error("predicting_broke", prediction=str(prediction_id), error=what, at=where)
            give_up(mine, reason=Reason.INTERNAL)


def _renew(mine: Mine) -> bool:
    workers.still_here()
    return claims.renew(mine)


def _predict(mine: Mine) -> None:
    prediction, submission = mine.row, mine.row.submission
    phase, image = submission.phase, submission.image
    assert image is not None, "the database holds: a submission of an image has one"
    allowed = limits.of(phase)
    options = {**phase.split.options, **phase.options}
    with tempfile.TemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR) as made, opened(phase.split.inputs) as inputs:
        check_digest(inputs, prediction.inputs_sha256)
        ran = _ran(mine, image, allowed, options=options, inputs=inputs, into=made)
        told: dict[str, Any] = {"cost": ran.cost, "execution": ran.execution, "log": ran.log}
        if ran.reason:
            reject(mine, reason=ran.reason, problems=[_problem(ran.explanation)], **told)
            return
        _enter(mine, Stage.COLLECTING)
        _collect(mine, made, ran.name, told)


def _ran(mine: Mine, image: Image, allowed: limits.ContainerLimits, **given: Any) -> engine.Ran:
    """One execution. An engine that no longer has the image is given it again: an engine's disk is no store."""
    # One that was read under the wider limits of another phase is read again under these.
    is_known = image.digest and image.unpacked_bytes <= allowed.image_bytes
    loaded = image.digest if is_known else _loaded(mine, image, allowed)
    told = {"prediction": mine.row, "task": mine.row.submission.phase.split.dataset.task, "limits": allowed, **given}
    for attempt in (1, 2):
        _enter(mine, Stage.RUNNING)
        try:
            return engine.run(image=loaded, keep_going=lambda: mine.own().exists(), **told)
        except engine.ImageMissingError:
            if attempt == 2:
                raise
            loaded = _loaded(mine, image, allowed)
    raise AssertionError("two attempts return or raise")


def _loaded(mine: Mine, image: Image, allowed: limits.ContainerLimits) -> str:
    """The engine's name for the image, which is read and checked first."""
    _enter(mine, Stage.READING)
    loaded = engine.load(image, allowed, when_read=lambda: _enter(mine, Stage.LOADING))
    Image.objects.filter(pk=image.pk).update(digest=loaded.id, unpacked_bytes=loaded.size)
    return loaded.id


def _enter(mine: Mine, stage: Stage) -> None:
    if not mine.own().update(stage=stage):
        raise LateError


def _collect(mine: Mine, made: IO[bytes], name: str, told: dict[str, Any]) -> None:
    """Check what the container wrote as an upload would be checked, and hand it to the scorers."""
    submission = mine.row.submission
    phase = submission.phase
    gold = board_state.gold_of(phase)
    if gold is None:
        raise AlteredError("the split has lost its gold")
    try:
        answer = referee.validate(split=phase.split, gold=gold, predictions=made, name=name, options=phase.options)
    except referee.SandboxError as error:
        log.error("sandbox_broke", prediction=str(mine.row.pk), error=str(error))
        give_up(mine, reason=Reason.SANDBOX)
        return
    if not answer.ok:
        found = answer.report.get("problems", []) if answer.report.get("fault", "predictions") == "predictions" else []
        if not found and not answer.reason:
            give_up(mine, reason=Reason.BAD_GOLD, final=True)
            return
        more = answer.report.get("more", 0)
        reject(mine, reason=Reason.BAD_PREDICTIONS, problems=_told(phase, found, more), **told)
        return
    made.seek(0, 2)
    size = made.tell()
    made.seek(0)
    digest = sha256_of(made)
    storage, extension = mine.row.file.storage, name.partition(".")[2]
    wanted = f"{mine.row.pk.hex}-{mine.attempt}.{extension}"
    try:
        _hand_over(
            mine,
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
    for attempt in range(1, mine.attempt):
        # A worker that died between the store and the database left these.
        storage.delete(f"{mine.row.pk.hex}-{attempt}.{extension}")


def _told(phase: Phase, problems: list[dict[str, Any]], more: int) -> list[dict[str, Any]]:
    """What the owner may read of bad output. Errors quote ids and texts, so hidden inputs leave a count."""
    if phase.split.inputs_public:
        return problems
    return [_problem(f"{len(problems) + more} lines or ids are wrong; the inputs are hidden, so they are not shown")]


def _problem(text: str) -> dict[str, Any]:
    return {"file": "", "line": None, "what": text, "found": "", "expected": "", "text": text}


@transaction.atomic
def _hand_over(mine: Mine, **made: Any) -> None:
    """The prediction is done and its run waits, at once. Locks as an upload does: the split, then the phase."""
    phase = mine.row.submission.phase
    submissions.locked_split(phase)
    at = timezone.now()
    if not mine.own().update(state=State.DONE, reason=Reason.NONE, stage="", lease_until=None, finished_at=at, **made):
        raise LateError
    gold = board_state.gold_of(phase)
    if gold is None:
        raise AlteredError("the split has lost its gold")
    runs.arrived(phase=phase, prediction=Prediction.objects.get(pk=mine.row.pk), gold=gold)


@transaction.atomic
def reject(mine: Mine, *, reason: str, problems: list[dict[str, Any]], refund: bool = False, **told: Any) -> None:
    """Their failure: the end of the work. A container that started is charged; an image that was refused is not."""
    at = timezone.now()
    ended = mine.own().update(
        state=State.REJECTED, reason=reason, problems=problems, stage="", lease_until=None, finished_at=at, **told
    )
    if not ended:
        raise LateError
    if refund:
        _refund(mine.row)
    if reason == Reason.BAD_IMAGE and mine.row.submission.image:
        image_files.drop_refused(mine.row.submission.image)


def _killed(mine: Mine) -> None:
    """A status that an operator's kill and a system's own will share: tried again, and in the end the system's fault.

    To fail and refund it would let a system that ends so each time be run for nothing without end.
    """
    if mine.attempt < settings.MAX_ATTEMPTS:
        give_up(mine, reason=Reason.ENGINE)
        return
    with contextlib.suppress(LateError):
        reject(mine, reason=Reason.SYSTEM_EXIT, problems=[_problem("it ended with the status of a killed program")])


@transaction.atomic
def give_up(mine: Mine, *, reason: str, final: bool = False) -> None:
    """Our failure: queued again while attempts are left, else failed and refunded."""
    at = timezone.now()
    if final or mine.attempt >= settings.MAX_ATTEMPTS:
        if mine.own().update(state=State.FAILED, reason=reason, stage="", lease_until=None, finished_at=at):
            _refund(mine.row)
    elif mine.own().update(state=State.QUEUED, reason=reason, stage="", lease_until=None, rung_at=at):
        doorbell.ring_for_prediction(mine.row.pk, queue=queue_of(mine.row.submission.phase))


def _refund(prediction: Prediction) -> None:
    QuotaCharge.objects.filter(submission=prediction.submission_id, refunded_at=None).update(refunded_at=timezone.now())

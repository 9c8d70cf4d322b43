"""Validation of uploaded predictions files: during the request, or for large files in the background.

A large file is received first: its submission is charged, and a worker validates the file before it is scored. If the
file is invalid, the submission is rejected, refunded, and the file deleted.
"""

from __future__ import annotations

from typing import IO, Any

import structlog
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from leaderboard.boards.queries import board_state
from leaderboard.core.refusal import Code, Refused
from leaderboard.core.storage import AlteredError, check_digest, opened
from leaderboard.evaluation import sandbox_client
from leaderboard.models import (
    GoldVersion,
    Phase,
    Prediction,
    QuotaCharge,
    Reason,
    State,
    Submission,
    User,
)
from leaderboard.scoring.actions import runs
from leaderboard.submissions.actions import refused_uploads
from leaderboard.work_queue.lease import Lease
from leaderboard.work_queue.work import STORAGE_ERRORS, Failure, Work

log = structlog.get_logger(__name__)
GZIP_FACTOR = 10
"""A gzip file counts as this many times its size when it is decided whether it is large."""
OVER_LIMITS = (
    "The file could not be validated within the limits of time and memory for one file. Nothing was scored, and no "
    "quota was used."
)
INPUTS_REPLACED = (
    "The phase's inputs were replaced while the file was validated. Download the new inputs, and submit predictions "
    "for them."
)


def is_large(name: str, n_bytes: int) -> bool:
    """Return True if a file is so large that it is validated in the background, and not during the request.

    n_bytes: its size as uploaded. Validation during the request would hold a process of the web server too long.
    """
    return n_bytes * (GZIP_FACTOR if name.endswith(".gz") else 1) > settings.VALIDATE_NOW_BYTES


def validate_now(*, phase: Phase, gold: GoldVersion, file: IO[bytes], name: str, by: User) -> tuple[int, list[str]]:
    """Validate the file in the sandbox; return its number of lines and the warnings.

    Raises Refused: INVALID_PREDICTIONS, with the problems if the file was read; SANDBOX_UNAVAILABLE if the sandbox does
    not respond or the phase's inputs cannot be read.
    """
    try:
        answer = _ask(phase, gold, file, name)
    except sandbox_client.SandboxError as error:
        raise sandbox_client.unavailable("Your file could not be checked", error) from error
    if answer.ok:
        return answer.report["n_lines"], answer.report["warnings"]
    if not answer.reason and answer.report.get("fault") != "predictions":
        log.error("inputs_unreadable", split=phase.split_id)
        raise Refused(
            Code.SANDBOX_UNAVAILABLE,
            "Your file could not be checked: the benchmark's inputs cannot be read. Tell the organisers.",
        )
    _record_refusal(phase, answer, by=by)
    if answer.reason:
        raise Refused(Code.INVALID_PREDICTIONS, OVER_LIMITS)
    problems, more = answer.report["problems"], answer.report["more"]
    count = len(problems) + more
    raise Refused(
        Code.INVALID_PREDICTIONS,
        f"The file has {count} problem{'s' if count != 1 else ''}. Nothing was submitted, and no quota was used.",
        problems,
        more,
    )


def _ask(phase: Phase, gold: GoldVersion, file: IO[bytes], name: str) -> sandbox_client.Answer:
    return sandbox_client.validate(split=phase.split, gold=gold, predictions=file, name=name, options=phase.options)


def _record_refusal(phase: Phase, answer: sandbox_client.Answer, *, by: User) -> None:
    reason = answer.reason or Reason.BAD_PREDICTIONS
    refused_uploads.record("submission.refused", phase, by=by, reason=reason, cpu_seconds=answer.cpu_seconds)


def _validate(lease: Lease[Prediction]) -> None:
    prediction, submission = lease.row, lease.row.submission
    gold = board_state.gold_of(submission.phase)
    if gold is None:
        raise AlteredError("the split has no gold any more")
    with opened(prediction.file) as file:
        check_digest(file, prediction.sha256)
        answer = _ask(submission.phase, gold, file, prediction.name)
    if answer.ok:
        _accept(lease, n_lines=answer.report["n_lines"], warnings=answer.report["warnings"])
    elif not answer.reason and answer.report.get("fault") != "predictions":
        WORK.retry_or_fail(lease, reason=Reason.BAD_GOLD, final=True)
    else:
        _record_refusal(submission.phase, answer, by=submission.submitted_by)
        problems = [problem(OVER_LIMITS)] if answer.reason else list(answer.report["problems"])
        if more := answer.report.get("more"):
            problems.append(problem(f"… and {more} more problem{'s' if more != 1 else ''}"))
        _reject(lease, problems)


@transaction.atomic
def _accept(lease: Lease[Prediction], **fields: Any) -> None:
    phase = lease.row.submission.phase
    split = runs.lock_split(phase)
    gold = board_state.gold_of(phase)
    if gold is None:
        raise AlteredError("the split has no gold any more")
    if split.inputs_sha256 != lease.row.inputs_sha256:
        _reject(lease, [problem(INPUTS_REPLACED)])
        return
    lease.finish(state=State.DONE, reason=Reason.NONE, **fields)
    runs.on_prediction_ready(phase=phase, prediction=Prediction.objects.get(pk=lease.row.pk), gold=gold)


@transaction.atomic
def _reject(lease: Lease[Prediction], problems: list[dict[str, Any]]) -> None:
    storage, name = lease.row.file.storage, str(lease.row.file.name)
    lease.finish(state=State.REJECTED, reason=Reason.BAD_PREDICTIONS, problems=problems, file="")
    _refund(lease.row)
    transaction.on_commit(lambda: storage.delete(name), robust=True)


def _on_failure(lease: Lease[Prediction], final: bool) -> None:
    if final:
        _refund(lease.row)


def _refund(prediction: Prediction) -> None:
    QuotaCharge.objects.filter(submission=prediction.submission_id, refunded_at=None).update(refunded_at=timezone.now())


def problem(text: str) -> dict[str, Any]:
    """Return a problem that concerns no line of the file, with the keys of a problem in the report of a validation."""
    return {"file": "", "line": None, "what": text, "found": "", "expected": "", "text": text}


WORK = Work(
    name="validate",
    rows=Prediction.objects.filter(submission__kind=Submission.Kind.PREDICTIONS).select_related(
        "submission__phase__split__dataset", "submission__phase__benchmark", "submission__submitted_by"
    ),
    do=_validate,
    errors={STORAGE_ERRORS: Failure(Reason.STORAGE)},
    marks_outdated=True,
    on_failure=_on_failure,
)

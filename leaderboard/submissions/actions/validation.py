"""Validation of uploaded predictions files: during the request, or for large files in the background.

A large file is accepted first: the quota is charged, and a worker validates the file before it is scored. If the file
is invalid, the submission is rejected, the charge refunded and the file deleted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, Any

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import Model

from evaluator.tasks.registry import TASKS
from leaderboard.boards.queries import board_state
from leaderboard.core.refusal import Code, Refused
from leaderboard.core.storage import AlteredError, check_digest, delete_after_commit, opened
from leaderboard.evaluation import sandbox_client
from leaderboard.models import (
    GoldVersion,
    Prediction,
    Reason,
    Split,
    State,
    Submission,
    User,
)
from leaderboard.scoring.actions import runs, sealed_phases
from leaderboard.submissions.actions import refused_uploads
from leaderboard.work_queue.lease import Lease
from leaderboard.work_queue.work import STORAGE_ERRORS, Failure, Urgency, Work

log = structlog.get_logger(__name__)
MAX_OTHER_SPLITS = 4
"""Number of other splits that a file with unknown ids is compared with."""
GZIP_FACTOR = 10
"""A gzip file counts as this many times its size when it is decided whether it is large."""
INPUTS_UNREADABLE = "the benchmark's inputs cannot be read"
INPUTS_REPLACED = (
    "The phase's inputs were replaced while the file was validated. Download the new inputs, and submit predictions "
    "for them."
)


def is_large(n_bytes: int, *, packed: bool) -> bool:
    """Return True if an uploaded file is so large that it is validated in the background, not during the request.

    n_bytes: size as uploaded. packed: True for a compressed file, which counts GZIP_FACTOR times. Validation of a large
    file during the request would hold a process of the web server too long.
    """
    return n_bytes * (GZIP_FACTOR if packed else 1) > settings.VALIDATE_NOW_BYTES


def validate_now(
    *,
    split: Split,
    gold: GoldVersion,
    file: IO[bytes],
    name: str,
    options: Mapping[str, str],
    action: str,
    subject: Model,
    by: User,
    only_check: bool = False,
) -> tuple[int, list[str]]:
    """Validate a predictions file in the sandbox; return its number of lines and the warnings about it.

    name: the file's name. options: the phase's task options. action, subject: with which `refused_uploads.record`
    records a refused file. only_check: True if the file is not submitted; its check is then recorded too.
    Raises Refused: INVALID_PREDICTIONS, with the problems unless the check exceeded its limits or the file is for
    another split; SANDBOX_UNAVAILABLE if the sandbox does not respond, the validation crashes, or the split's inputs
    cannot be read; THROTTLED as `refused_uploads.check` does.
    """
    refused_uploads.check(by=by)
    try:
        answer = sandbox_client.validate(split=split, gold=gold, predictions=file, name=name, options=options)
    except sandbox_client.SandboxError as error:
        raise sandbox_client.unavailable("Your file could not be checked", error) from error
    except STORAGE_ERRORS as error:
        log.error("validation_failed", split=split.pk, error=str(error))
        raise _not_checked(INPUTS_UNREADABLE) from error
    if answer.ok:
        if only_check:
            refused_uploads.record("submission.checked", subject, by=by, reason="", cpu_seconds=answer.cpu_seconds)
        return answer.report["n_lines"], answer.report["warnings"]
    if _is_our_fault(answer):
        log.error("validation_failed", split=split.pk, reason=answer.reason, error_id=answer.error_id)
        raise _not_checked("the validation failed" if answer.reason else INPUTS_UNREADABLE)
    other, cpu_seconds = _find_other_split(answer, split=split, file=file, name=name, options=options)
    refused_uploads.record(action, subject, by=by, reason=_reason(answer), cpu_seconds=answer.cpu_seconds + cpu_seconds)
    unused = "Nothing was submitted, and no quota was used."
    if answer.reason:
        raise Refused(Code.INVALID_PREDICTIONS, f"{_over_limits()} {unused}")
    if other is not None:
        raise Refused(Code.INVALID_PREDICTIONS, f"{_ids_of(other, expected=split)} {unused}")
    problems, more = answer.report["problems"], answer.report["more"]
    count = len(problems) + more
    message = f"The file has {count} problem{'s' if count != 1 else ''}. {unused}"
    raise Refused(Code.INVALID_PREDICTIONS, message, problems, more)


def _not_checked(cause: str) -> Refused:
    return Refused(Code.SANDBOX_UNAVAILABLE, f"Your file could not be checked: {cause}. Tell the organisers.")


def _is_our_fault(answer: sandbox_client.Answer) -> bool:
    """Return whether a validation failed because of the server: it crashed or could not read the split's inputs.

    No uploaded file should cause that (docs/adr/0001).
    """
    if answer.reason:
        return answer.reason not in (Reason.TIME, Reason.MEMORY)
    return bool(answer.report.get("fault") != "predictions")


def _reason(answer: sandbox_client.Answer) -> str:
    return answer.reason or Reason.BAD_PREDICTIONS


def _find_other_split(
    answer: sandbox_client.Answer, *, split: Split, file: IO[bytes], name: str, options: Mapping[str, str]
) -> tuple[Split | None, float]:
    """Return (another split of the dataset whose ids a refused file has, or None; processor seconds of the search).

    At most MAX_OTHER_SPLITS published splits with public inputs are compared, and only if at least half of the file's
    problems are unknown ids. answer: of the validation for `split`, which refused the file.
    """
    n_unknown = 0 if answer.reason else _count_unknown(answer, split)
    if 2 * n_unknown < _count(answer) or not n_unknown:
        return None, 0.0
    public = split.dataset.splits.exclude(pk=split.pk).exclude(inputs="").exclude(state=Split.State.DRAFT)
    seconds = 0.0
    for other in public.filter(inputs_public=True)[:MAX_OTHER_SPLITS]:
        gold = other.current_gold
        if gold is None:
            continue
        file.seek(0)
        try:
            comparison = sandbox_client.validate(split=other, gold=gold, predictions=file, name=name, options=options)
        except (sandbox_client.SandboxError, *STORAGE_ERRORS):
            return None, seconds
        seconds += comparison.cpu_seconds
        if comparison.ok or (not comparison.reason and 2 * _count_unknown(comparison, split) < n_unknown):
            return other, seconds
    return None, seconds


def _count(answer: sandbox_client.Answer) -> int:
    return len(answer.report.get("problems", ())) + int(answer.report.get("more", 0))


def _count_unknown(answer: sandbox_client.Answer, split: Split) -> int:
    """Return the number of problems in a validation's answer that are ids unknown to the inputs; 0 for a valid file."""
    what = f"unknown {TASKS[split.dataset.task].id_key}"
    return max((row["count"] for row in answer.report.get("problems", ()) if row["what"] == what), default=0)


def _ids_of(other: Split, *, expected: Split) -> str:
    return f"These are the ids of the {other.name} split; this phase takes {expected.name}."


def _over_limits() -> str:
    limits = sandbox_client.limits_in_words(settings.VALIDATE_SECONDS)
    return f"The file could not be checked within the limits for one file: {limits}."


def _validate(lease: Lease[Prediction]) -> None:
    prediction, submission = lease.row, lease.row.submission
    phase = submission.phase
    gold = board_state.gold_of(phase)
    if gold is None:
        raise AlteredError("the split has no gold any more")
    with opened(prediction.file) as file:
        check_digest(file, prediction.sha256)
        split, name, options = phase.split, prediction.name, phase.options
        answer = sandbox_client.validate(split=split, gold=gold, predictions=file, name=name, options=options)
        other, seconds = None, 0.0
        if not answer.ok and not _is_our_fault(answer):
            other, seconds = _find_other_split(answer, split=split, file=file, name=name, options=options)
    if answer.ok:
        accept(lease, n_lines=answer.report["n_lines"], warnings=answer.report["warnings"])
    elif _is_our_fault(answer):
        reason = answer.reason or Reason.BAD_GOLD
        WORK.retry_or_fail(lease, reason=reason, final=not answer.reason, error_id=answer.error_id)
    else:
        by, reason = submission.submitted_by, _reason(answer)
        refused_uploads.record(
            "submission.refused", phase, by=by, reason=reason, cpu_seconds=answer.cpu_seconds + seconds
        )
        problems = [problem(_over_limits())] if answer.reason else list(answer.report["problems"])
        if other is not None:
            problems = [problem(_ids_of(other, expected=phase.split))]
        elif more := answer.report.get("more"):
            problems.append(problem(f"… and {more} more problem{'s' if more != 1 else ''}"))
        reject(lease, problems)


@transaction.atomic
def accept(lease: Lease[Prediction], **fields: Any) -> None:
    """Finish a prediction whose file is valid, and queue its run. fields: further column values of the prediction."""
    phase = lease.row.submission.phase
    split = runs.lock_split(phase)
    gold = board_state.gold_of(phase)
    if gold is None:
        raise AlteredError("the split has no gold any more")
    if split.inputs_sha256 != lease.row.inputs_sha256:
        reject(lease, [problem(INPUTS_REPLACED)])
        return
    lease.finish(state=State.DONE, reason=Reason.NONE, **fields)
    prediction = Prediction.objects.get(pk=lease.row.pk)
    runs.on_prediction_ready(split=split, phase=phase, prediction=prediction, gold=gold)


@transaction.atomic
def reject(lease: Lease[Prediction], problems: list[dict[str, Any]]) -> None:
    """Reject a prediction, give its quota charge back, and delete its file. problems: shown to the team."""
    lease.finish(state=State.REJECTED, reason=Reason.BAD_PREDICTIONS, problems=problems, file="")
    _give_back(lease.row)
    if lease.row.file:
        delete_after_commit(lease.row.file)


def on_failure(lease: Lease[Prediction], final: bool) -> None:
    """Give the quota charge of a prediction back that has failed for good (`final`)."""
    if final:
        _give_back(lease.row)


def _give_back(prediction: Prediction) -> None:
    """Refund the quota charge of a prediction's submission, and remove the submission from its team's finals."""
    runs.refund(prediction.submission_id)
    sealed_phases.remove_lost(prediction.submission_id)


def problem(text: str) -> dict[str, Any]:
    """Return a problem of a whole predictions file as a dict with the keys of the problems in a validation's report."""
    return {"file": "", "line": None, "what": text, "found": "", "expected": "", "text": text, "count": 1}


WORK = Work(
    name="validate",
    # A prediction without a file is one that the server still has to make: see `curation.actions.baselines`.
    rows=Prediction.objects.filter(submission__kind=Submission.Kind.PREDICTIONS)
    .exclude(file="")
    .select_related("submission__phase__split__dataset", "submission__phase__benchmark", "submission__submitted_by"),
    do=_validate,
    urgency=Urgency.SUBMISSION,
    errors={STORAGE_ERRORS: Failure(Reason.STORAGE)},
    marks_outdated=True,
    on_failure=on_failure,
    submission_of=lambda prediction: prediction.submission_id,
)

"""Worker side of dry runs: run a baseline on the data that participants have, and score it like a submission."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import IO, Any

from django.conf import settings
from msgspec import to_builtins

from evaluator.tasks.registry import TASKS
from leaderboard.core.storage import check_digest, opened
from leaderboard.evaluation import provenance, report_checks, sandbox_client
from leaderboard.models import DryRun, Reason, State
from leaderboard.work_queue.lease import Lease
from leaderboard.work_queue.work import NotRetryableError, Urgency, Work

WAITING = DryRun.objects.select_related("gold__split__dataset")


class UnsuitableGoldError(Exception):
    """The uploaded predictions file is invalid, or the baseline cannot predict on this gold.

    The dry run is then rejected, not retried.
    """


def _run(lease: Lease[DryRun]) -> None:
    row = lease.row
    if row.gold.split.inputs_sha256 != row.inputs_sha256:
        raise NotRetryableError(Reason.SUPERSEDED)
    try:
        with predictions(row) as file:
            result = {**_score(row, file), "predictions_sha256": _digest(file)}
    except UnsuitableGoldError:
        lease.finish(state=State.REJECTED)
    else:
        lease.finish(state=State.DONE, result=result)


def _digest(file: IO[bytes]) -> str:
    file.seek(0)
    return hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]


@contextmanager
def predictions(row: DryRun) -> Iterator[IO[bytes]]:
    """Yield the predictions of a dry run: the uploaded file, or the output of the baseline, which is run again.

    A baseline is deterministic. Raises UnsuitableGoldError if the baseline makes no predictions, NotRetryableError if
    the baseline fails, SandboxError if the sandbox is not available, FileNotFoundError or AlteredError if a stored file
    is missing or altered.
    """
    if row.kind == DryRun.Kind.FILE:
        with opened(row.file) as stored:
            check_digest(stored, row.sha256)
            yield stored
        return
    answer = _run_baseline(row)
    if not answer.ok:
        raise NotRetryableError(answer.reason or Reason.BAD_GOLD)
    if not answer.attachment:
        raise UnsuitableGoldError
    with tempfile.TemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR) as file:
        file.write(answer.attachment)
        file.flush()
        file.seek(0)
        yield file


def _run_baseline(row: DryRun) -> sandbox_client.Answer:
    split, trains = row.gold.split, list(row.trains.select_related("split").order_by("split", "pk"))
    with ExitStack() as stack:
        files = {"inputs": stack.enter_context(opened(split.inputs, sha256=split.inputs_sha256))}
        check_digest(files["inputs"], row.inputs_sha256)
        for index, train in enumerate(trains):
            files[str(index)] = stack.enter_context(opened(train.file))
            check_digest(files[str(index)], train.sha256)
        return sandbox_client.baseline(
            files,
            task=split.dataset.task,
            baseline=row.name,
            inputs_name=sandbox_client.INPUTS,
            train_names=[str(train.file.name) for train in trains],
            expects=row.gold.expects,
            options=row.options,
        )


def _score(row: DryRun, file: IO[bytes]) -> dict[str, Any]:
    gold, task = row.gold, TASKS[row.gold.split.dataset.task]
    answer = sandbox_client.score(
        task=task.name,
        gold=gold,
        predictions=file,
        name="predictions.jsonl.gz" if str(row.file.name).endswith(".gz") else "predictions.jsonl",
        options=row.options,
        seed=provenance.seed_of(gold),
        subset=row.subset,
    )
    if not answer.ok:
        if not answer.reason and answer.report.get("fault") == "predictions":
            raise UnsuitableGoldError
        raise NotRetryableError(answer.reason or Reason.BAD_GOLD)
    report = report_checks.checked(
        answer.report,
        task=task.name,
        task_version=task.version,
        measures=[task.measure(name) for name in gold.measures],
    )
    return {
        "primary": report.primary,
        "task_version": task.version,
        "n_units": report.result.n_units,
        "n_groups": report.result.n_groups,
        "scores": [to_builtins(score) for score in report.scores],
    }


WORK = Work(name="dry_run", rows=WAITING, do=_run, urgency=Urgency.CURATION)

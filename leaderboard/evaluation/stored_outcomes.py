"""The stored outcomes of runs. A file that is missing or altered is reported, and written again by scoring again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import IO

import structlog
from django.core.files.base import ContentFile

from evaluator.tasks.registry import TASKS
from leaderboard.core import storage
from leaderboard.core.storage import AlteredError, check_digest
from leaderboard.evaluation import provenance, sandbox_client
from leaderboard.models import Run

log = structlog.get_logger(__name__)


@contextmanager
def opened(run: Run) -> Iterator[IO[bytes]]:
    """Open the outcomes of a run for reading; if the file is missing or altered, first score the run again.

    Raises FileNotFoundError or AlteredError if that does not give the same outcomes, or is not possible: for a run by a
    custom scorer, or by another version of the task than this code has.
    """
    with ExitStack() as stack:
        try:
            file = _open(stack, run)
        except (FileNotFoundError, AlteredError) as error:
            log.error("outcomes_lost", run=str(run.pk), error=type(error).__name__)
            if not _restore(run):
                raise
            # Its field keeps the file that was opened before.
            file = _open(stack, Run.objects.get(pk=run.pk))
        yield file


def _open(stack: ExitStack, run: Run) -> IO[bytes]:
    file = stack.enter_context(storage.opened(run.outcomes, sha256=run.outcomes_sha256))
    check_digest(file, run.outcomes_sha256)
    return file


def _restore(run: Run) -> bool:
    """Score a run again and store its outcomes under their name; return False, with nothing stored, if they differ.

    Scoring is deterministic, so that the scores are those that are published.
    """
    run = Run.objects.select_related(
        "prediction__submission__phase__split", "gold_version__split__dataset", "scorer"
    ).get(pk=run.pk)
    task = run.gold_version.split.dataset.task
    if run.scorer is not None or run.task_version != TASKS[task].version:
        return False
    with storage.opened(run.prediction.file) as predictions:
        check_digest(predictions, run.prediction.sha256)
        answer = sandbox_client.score(
            task=task,
            gold=run.gold_version,
            predictions=predictions,
            name=run.prediction.name,
            options=provenance.options_of(run),
            seed=provenance.seed_of(run.gold_version),
            subset=run.prediction.submission.phase.subset,
        )
    if not answer.ok or hashlib.sha256(answer.attachment).hexdigest() != run.outcomes_sha256:
        log.error("outcomes_differ", run=str(run.pk), reason=answer.reason)
        return False
    name = str(run.outcomes.name)
    run.outcomes.storage.delete(name)
    run.outcomes.storage.save(name, ContentFile(answer.attachment))
    log.warning("outcomes_restored", run=str(run.pk))
    return True

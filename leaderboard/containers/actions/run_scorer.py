"""Runs by custom scorers: execute the scorer twice, read its output, and publish the scores.

The workers of the queue `scorers` have a container engine and gold, and run no participant's image. If a scorer is at
fault, the run fails, and its quota charge is refunded. Organisers see the reason; participants only see that the run
failed.
"""

from __future__ import annotations

import hashlib
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import IO, Any

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models.fields.files import FieldFile
from django.utils.crypto import salted_hmac

from evaluator.errors import FileError, ProblemList
from evaluator.jobs.score import ScorerOutputReport
from evaluator.jsonl.decompress import ReadLimits, chunks
from leaderboard.boards.disclosure import costs
from leaderboard.containers.actions import engine, scorer_engine, workers
from leaderboard.containers.actions.scorer_engine import TIMES, ExecutionResult
from leaderboard.core.storage import check_digest, opened
from leaderboard.evaluation import container_limits, provenance, report_checks, sandbox_client, scorer_of_phase
from leaderboard.models import Image, Phase, Reason, Run, Scorer, State
from leaderboard.scoring.actions import runs
from leaderboard.work_queue import worker_status
from leaderboard.work_queue.lease import Lease
from leaderboard.work_queue.work import BUSY, STORAGE_ERRORS, Failure, lease_lost

log = structlog.get_logger(__name__)
WAITING = runs.WAITING.select_related(
    "prediction__submission__phase__split",
    "prediction__submission__phase__benchmark",
    "prediction__submission__system",
    "gold_version__split__dataset",
    "scorer__image",
).filter(scorer__isnull=False)


class ScorerImageError(Exception):
    """Error: the output of a custom scorer cannot be used. The message is for the benchmark's organisers."""


def _is_by_current_scorer(run: Run) -> bool:
    """Return True if a queued run is by the current scorer of its phase.

    Otherwise cancel the run, queue a run by the current scorer in its place, and return False.
    """
    phase = Phase.objects.select_related("benchmark", "scorer").get(pk=run.prediction.submission.phase_id)
    if run.scorer_id == phase.scorer_id:
        return True
    runs.replace(run, scorer_of_phase.of(phase).version)
    return False


def _score(lease: Lease[Run]) -> None:
    run = lease.row
    if run.prediction.submission.phase.subset:
        raise ScorerImageError(
            "The phase scores only the public or the private groups of its gold, which scorer images do not support."
        )
    with ExitStack() as stack:
        gold = stack.enter_context(_plain(run.gold_version.file, run.gold_version.sha256, str(run.gold_version.file)))
        prediction = run.prediction
        predictions = stack.enter_context(_plain(prediction.file, prediction.sha256, prediction.name))
        executions: list[tuple[ExecutionResult, dict[str, IO[bytes]]]] = []
        for time in TIMES:
            files = {name: stack.enter_context(_temporary()) for name in ("scores", "outcomes")}
            executions.append((_executed(lease, time, gold, predictions, files), files))
        (first, files), (second, others) = executions
        _check_same(first, files, second, others)
        if not first.has_outcomes:
            files.pop("outcomes")
        _read_and_publish(lease, files, [first.seconds, second.seconds])


def _executed(
    lease: Lease[Run], time: int, gold: IO[bytes], predictions: IO[bytes], files: dict[str, IO[bytes]]
) -> ExecutionResult:
    """Execute the run's scorer once; load its image into the engine first if it is not there.

    time: number of the execution, 1 or 2. files: open files to which the output is written, with the keys `scores` and
    `outcomes`. Raises ScorerImageError if the scorer did not write scores.
    """
    run = lease.row
    assert run.scorer is not None, "only runs by a scorer are claimed"
    allowed, image = container_limits.of_scorer(), run.scorer.image
    params: dict[str, Any] = {
        "run": run,
        "time": time,
        "task": run.gold_version.split.dataset.task,
        "options": provenance.options_of(run),
        "gold": gold,
        "predictions": predictions,
        "limits": allowed,
        "keep_going": lambda: lease.rows().exists(),
        **files,
    }
    loaded = image.digest or _load(image, allowed)
    try:
        ran = scorer_engine.run(image=loaded, **params)
    except engine.ImageMissingError:
        ran = scorer_engine.run(image=_load(image, allowed), **params)
    if ran.reason:
        raise ScorerImageError(f"Execution {time} of {len(TIMES)}: {ran.reason}.")
    return ran


def _load(image: Image, allowed: container_limits.ContainerLimits) -> str:
    """Check a scorer's image and load it into the engine; return the image's id in the engine."""
    workers.make_room_for(image)
    loaded = engine.load(image, allowed, when_read=lambda: None)
    Image.objects.filter(pk=image.pk).update(digest=loaded.id, unpacked_bytes=loaded.size)
    image.digest = loaded.id
    return loaded.id


def _check_same(
    first: ExecutionResult, files: dict[str, IO[bytes]], second: ExecutionResult, others: dict[str, IO[bytes]]
) -> None:
    """Raise ScorerImageError unless both executions of a scorer wrote the same bytes.

    first, files: result of one execution, and the files that it wrote, with the keys `scores` and `outcomes`. second,
    others: result and files of the other execution.
    """
    if first.has_outcomes != second.has_outcomes:
        raise ScorerImageError("The scorer is not deterministic: only one of its two executions wrote outcomes.jsonl.")
    for name, file in (("scores", "scores.json"), ("outcomes", "outcomes.jsonl")):
        if _digest(files[name]) != _digest(others[name]):
            raise ScorerImageError(
                f"The scorer is not deterministic: its two executions on the same files wrote different {file}."
            )


def _read_and_publish(lease: Lease[Run], files: dict[str, IO[bytes]], seconds: list[float]) -> None:
    run, scorer = lease.row, lease.row.scorer
    assert scorer is not None, "only runs by a scorer are claimed"
    gold = run.gold_version
    answer = sandbox_client.read_scorer(
        files,
        task=gold.split.dataset.task,
        task_version=scorer.number,
        measures=sandbox_client.measures_of(scorer),
        primary=scorer.primary,
        dimensions=gold.dimensions,
        seed=provenance.seed_of(gold),
    )
    if answer.reason:
        raise ScorerImageError(
            f"The scorer's output could not be read within {sandbox_client.limits_in_words(settings.SCORE_SECONDS)}."
        )
    if not answer.ok:
        raise ScorerImageError(" ".join(f"{problem['text']}." for problem in answer.report.get("problems", [])[:3]))
    phase = run.prediction.submission.phase
    scored = scorer_of_phase.PhaseScorer(scorer_of_phase.of(phase).task, scorer)
    try:
        result = answer.read(ScorerOutputReport)
        report_checks.check(result, task=scored.task.name, task_version=scorer.number, measures=scored.declared)
    except report_checks.ReportError as error:
        raise ScorerImageError(f"The scorer's output cannot be ranked: {error}.") from None
    receipt = {
        "number": scorer.number,
        "image": scorer.image.digest,
        "outcomes": result.measures,
        "units": _units(result),
        "execution_seconds": [costs.step(duration) for duration in seconds],
        "runtime": scorer_engine.held_by(),
        "limits": container_limits.of_scorer().as_dict(),
    }
    with transaction.atomic():
        # Runs of one scorer are published one at a time, because the first run on a gold version determines the units.
        Scorer.objects.select_for_update().get(pk=scorer.pk)
        _check_units(run, receipt)
        runs.publish(lease, answer, result, scorer=receipt)


def _units(report: ScorerOutputReport) -> str:
    """Return a keyed digest (HMAC) of the units in a scorer's outcomes: their number, ids, groups, slices and measures.

    The receipt may publish the digest: without the server's key, nobody can test guesses about the units with it.
    """
    text = f"{report.result.n_units} {report.result.n_groups} {report.units_sha256}"
    return salted_hmac("leaderboard.scorer_units", text, algorithm="sha256").hexdigest()[:16]


def _check_units(run: Run, receipt: dict[str, Any]) -> None:
    """Raise ScorerImageError if a run's units differ from those of its scorer's first run on the same gold version.

    receipt: has the digest of the run's units (`_units`) under the key `units`.
    """
    earlier = Run.objects.filter(scorer=run.scorer, gold_version=run.gold_version, state=State.DONE)
    before = earlier.order_by("finished_at").values_list("provenance", flat=True).first()
    if before is not None and before["scorer"]["units"] != receipt["units"]:
        raise ScorerImageError(
            "The units, the groups or the measures of outcomes.jsonl differ from those of the first run on "
            "the same gold; they must depend on gold alone, not on predictions."
        )


def _fail(lease: Lease[Run], detail: str) -> None:
    """Fail the run without a retry because of its scorer, and refund the quota charge.

    detail: the reason, which is shown to organisers only.
    """
    error_id = uuid.uuid4().hex[:12]
    log.error(
        "scorer_failed",
        kind=WORK.name,
        id=str(lease.row.pk),
        scorer=str(lease.row.scorer),
        error_id=error_id,
        detail=detail,
    )
    WORK.retry_or_fail(lease, reason=Reason.SCORER, error_id=error_id, detail=detail[:2000], final=True)


def _on_kill(lease: Lease[Run], error: engine.KilledError) -> None:
    """Queue the run again after its scorer's container was killed, perhaps by the operator.

    The last attempt fails the run instead.
    """
    log.error("container_killed", kind=WORK.name, id=str(lease.row.pk), error=str(error))
    if lease.attempt < settings.MAX_ATTEMPTS:
        WORK.retry_or_fail(lease, reason=Reason.ENGINE)
    else:
        _fail(
            lease,
            f"The scorer's container was killed, or ended with the exit status of a killed program (137), in each of "
            f"{settings.MAX_ATTEMPTS} attempts.",
        )


@contextmanager
def _plain(stored: FieldFile, sha256: str, name: str) -> Iterator[IO[bytes]]:
    """Yield the decompressed content of a stored file as an unnamed temporary file that is open for reading only.

    sha256: recorded digest of the stored file, which may be compressed. name: of the file, for error messages. Raises
    AlteredError or FileNotFoundError for an altered or missing file.
    """
    with opened(stored) as source, _temporary() as plain:
        check_digest(source, sha256)
        for chunk in chunks(source, ReadLimits(), ProblemList(name, FileError)):  # type: ignore[arg-type]
            plain.write(chunk)
        plain.flush()
        with open(f"/proc/self/fd/{plain.fileno()}", "rb") as readable:  # noqa: PTH123  (reopens an unnamed file)
            yield readable


def _temporary() -> Any:
    return tempfile.TemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR)


def _digest(file: IO[bytes]) -> str:
    file.flush()
    file.seek(0)
    digest = hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]
    file.seek(0)
    return digest


WORK = replace(
    runs.WORK,
    name=runs.SCORER_TASK,
    queue=worker_status.SCORERS,
    rows=WAITING,
    do=_score,
    errors={
        engine.CancelledError: lease_lost,
        ScorerImageError: lambda lease, error: _fail(lease, str(error)),
        engine.ImageError: lambda lease, error: _fail(lease, f"The image cannot be used: {error}."),
        engine.KilledError: _on_kill,
        **BUSY,
        engine.SandboxError: Failure(Reason.ENGINE),
        STORAGE_ERRORS: Failure(Reason.STORAGE),
    },
    is_ready=lambda: sandbox_client.answers() and workers.ready(workers.SCORERS),
    may_claim=_is_by_current_scorer,
    on_renewal=lambda: workers.heartbeat(queue=workers.SCORERS),
    has_workers=lambda: worker_status.of(worker_status.SCORERS).ready,
)

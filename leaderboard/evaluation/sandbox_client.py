"""Client of the sandboxed evaluator: one function for each job, which sends files and returns the job's Answer.

Every function of a job raises SandboxError if the sandbox does not respond or fails, and its subclass
SandboxTimeoutError if the sandbox server is too busy. Files never cause these errors, and a retry may succeed. For a
file that exceeds the limits of processor time or memory, the function returns an Answer with a `reason`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import IO, Any, TypeVar

import msgspec
import structlog
from django.conf import settings
from django.utils import timezone

from evaluator import code_digest as sources
from evaluator.custom_scorer.measures import MeasureDeclaration
from evaluator.errors import SandboxError, SandboxTimeoutError
from evaluator.jobs.audit import AuditPartRequest
from evaluator.jobs.base import Refusal, Report, Request
from evaluator.jobs.baseline import BaselineReport, BaselineRequest
from evaluator.jobs.compare import CompareBoardRequest, HeadToHeadRequest, PlotRequest, ScorerDeclaration
from evaluator.jobs.examples import ExamplesReport, ExamplesRequest
from evaluator.jobs.generate import GenerateRequest
from evaluator.jobs.gold import PartitionReport, PartitionRequest, PrepareGoldRequest
from evaluator.jobs.gold_diff import GoldDifferenceRequest
from evaluator.jobs.picture import PictureReport, ReencodePictureRequest
from evaluator.jobs.score import ScoreRequest, ScorerOutputRequest, ValidateReport, ValidateRequest
from evaluator.jobs.similarity import NearDuplicatesRequest, SketchRequest
from evaluator.jobs.tables import ReadTableRequest, TableReport, WriteTableRequest
from evaluator.sandbox.contract import Execution, Limits, Result, Verdict
from evaluator.sandbox.process.client import ProcessSandbox
from leaderboard.core import process_metrics, tracing
from leaderboard.core.refusal import Code, Refused
from leaderboard.core.storage import check_digest, opened
from leaderboard.evaluation.report_checks import ReportError, convert_report
from leaderboard.models import GoldVersion, PublicPrivatePartition, Reason, Scorer, Split

__all__ = [
    "Answer",
    "SandboxError",
    "SandboxTimeoutError",
    "answers",
    "audit_part",
    "baseline",
    "check",
    "compare_board",
    "examples",
    "generate",
    "gold_difference",
    "gold_part",
    "head_to_head",
    "is_outdated",
    "limits_in_words",
    "near_duplicates",
    "partition",
    "plot",
    "prepare_gold",
    "read_scorer",
    "read_table",
    "reencode_picture",
    "score",
    "similarity_sketch",
    "unavailable",
    "validate",
    "write_table",
]

log = structlog.get_logger(__name__)
T = TypeVar("T")
_INPUTS = "inputs.jsonl"
MAX_FILES = 16
"""Maximum number of files that are sent with one job, except those of outcomes."""
MAX_TABLES = 252
"""Maximum number of files of outcomes that are sent with one job."""
MAX_OUTPUT_BYTES = 256 << 20
"""Maximum bytes of all files that a generator writes."""
WALL_FACTOR = 5
"""A job's limit of wall time, as a multiple of its limit of processor time.

The sandbox server runs two jobs for each processor (at least four in all), and the site needs processor time too.
"""
RETRY_AFTER = timedelta(seconds=30)
"""After what time a request that the sandbox could not serve may be sent again."""
READY_SECONDS = 5.0
"""How long a worker waits for the sandbox server's reply before it counts as away. No job delays that reply."""
REASONS = {
    Verdict.TIME: Reason.TIME,
    Verdict.MEMORY: Reason.MEMORY,
    Verdict.OUTPUT: Reason.OUTPUT,
    Verdict.EXIT: Reason.EXIT,
}


@dataclass(frozen=True)
class Answer:
    """The sandbox's response to one job.

    reason: empty if the job sent a report, otherwise the Reason why it did not, such as exceeded time.
    report: if `ok`, the job's report, which `read` validates; if the job refused its files, a validated
    `evaluator.jobs.base.Refusal` as a map; empty if there is a `reason`.
    attachment: the bytes that some jobs send after their report, such as inputs or predictions.
    seconds: wall time from request to result; start_seconds: from request until the sandbox was ready.
    layers: the isolation layers that were active. code_sha256: digest of the code of the evaluator that ran the job;
    empty if the job ended before it sent the digest. error_id: the id of an internal error in the sandbox server's log;
    empty if there was none. cpu_seconds: processor time of the job.
    """

    reason: str
    report: dict[str, Any]
    attachment: bytes
    seconds: float
    start_seconds: float
    layers: dict[str, Any]
    code_sha256: str = ""
    error_id: str = ""
    cpu_seconds: float = 0.0

    @property
    def ok(self) -> bool:
        return not self.reason and self.report.get("ok") is True

    def read(self, kind: type[T]) -> T:
        """Convert the report to the type `kind`. Raises ReportError if the report does not have this type."""
        return convert_report(self.report, kind)


def answers() -> bool:
    """Return True if the sandbox server replies within READY_SECONDS."""
    return ProcessSandbox(settings.SANDBOX_SOCKET, patience=READY_SECONDS).answers()


class CodeMismatchError(SandboxError):
    """The sandbox server and this process run different code: one of them was not restarted after an upgrade."""


def check(*, patience: float = 60.0) -> None:
    """Raise SandboxError if no sandbox server responds within `patience` seconds.

    Raises CodeMismatchError, a SandboxError, if the server and this process run different code.
    """
    _check_code(ProcessSandbox(settings.SANDBOX_SOCKET, patience=patience).code())


def is_outdated() -> bool:
    """Return True, and log an error, if a sandbox server responds and runs other code than this process.

    False if both run the same code, and if no server replies within READY_SECONDS.
    """
    try:
        check(patience=READY_SECONDS)
    except CodeMismatchError as error:
        log.error("sandbox_outdated", error=str(error))
        return True
    except SandboxError:
        return False
    return False


def limits_in_words(seconds: float) -> str:
    """Return a job's limits of processor time (`seconds`) and memory as text, for messages that a file exceeds them."""
    return f"{seconds:g} s of processor time and {settings.SANDBOX_MEMORY_BYTES >> 20:,} MiB of memory"


def unavailable(failure: str, error: Exception, *, heading: str = "") -> Refused:
    """Return the refusal SANDBOX_UNAVAILABLE of an action that needs the sandbox, with a `retry_at`; log the error.

    failure: sentence that says which step failed, without a full stop, such as "Your file could not be checked".
    error: why the sandbox could not do it. heading: of the refusal; empty: the code's default.
    """
    log.error("sandbox_unavailable", error=str(error))
    match error:
        case CodeMismatchError():
            cause = "the server is being upgraded"
        case SandboxTimeoutError():
            cause = "the server is too busy"
        case _:
            cause = "the server's sandbox does not respond"
    message = f"{failure}: {cause}. Try again soon."
    return Refused(Code.SANDBOX_UNAVAILABLE, message, heading=heading, retry_at=timezone.now() + RETRY_AFTER)


def _check_code(served: str) -> None:
    if served != sources.SHA256:
        raise CodeMismatchError(
            f"the sandbox server at {settings.SANDBOX_SOCKET} runs evaluator code "
            f"{f'with digest {served[:12]}' if served else 'of an earlier release'}, this process with digest "
            f"{sources.SHA256[:12]}: restart both, the sandbox server first"
        )


def validate(
    *, split: Split, gold: GoldVersion, predictions: IO[bytes], name: str, options: Mapping[str, str]
) -> Answer:
    """Validate a predictions file against the split's inputs, without reading the gold file.

    gold: the version whose stored requirements (`expects`) the predictions must meet. name: the predictions file's
    name, whose suffix shows whether the file is compressed. options: the phase's task options, which override the
    split's. The answer's report is a ValidateReport or a Refusal. Raises SandboxError.
    """
    request = ValidateRequest(
        task=split.dataset.task,
        options={**split.options, **options},
        inputs_name=_INPUTS,
        predictions_name=name,
        expects=gold.expects,
    )
    with ExitStack() as stack:
        files = {
            "inputs": stack.enter_context(opened(split.inputs, sha256=split.inputs_sha256)),
            "predictions": predictions,
        }
        return _ask(request, files, settings.VALIDATE_SECONDS, output_bytes=4 << 20, report=ValidateReport)


def score(
    *,
    task: str,
    gold: GoldVersion,
    predictions: IO[bytes],
    name: str,
    options: Mapping[str, str],
    seed: int,
    subset: str = "",
    sketch: bool = False,
) -> Answer:
    """Score a predictions file against a gold version.

    task: its name. name: the predictions file's name. options: the task options of split and phase. seed: of the
    bootstrap. subset: "public" or "private" to score only the gold's groups in this subset; empty: all groups. sketch:
    True if the report shall also have the predictions' similarity sketch. Raises SandboxError, FileNotFoundError for a
    missing file, and AlteredError if the gold file, or the file that lists the groups of the subsets, was altered.
    """
    request = ScoreRequest(
        task=task,
        options=dict(options),
        resamples=settings.RESAMPLES,
        seed=seed,
        gold_name=str(gold.file.name),
        predictions_name=name,
        subset=subset,
        sketch=sketch,
    )
    with ExitStack() as stack:
        files = {"gold": stack.enter_context(opened(gold.file, sha256=gold.sha256)), "predictions": predictions}
        check_digest(files["gold"], gold.sha256)
        if subset:
            partition = PublicPrivatePartition.objects.get(gold=gold)
            files["partition"] = stack.enter_context(opened(partition.file, sha256=partition.sha256))
            check_digest(files["partition"], partition.sha256)
        return _ask(request, files, settings.SCORE_SECONDS, output_bytes=256 << 20)


def examples(
    *, gold: GoldVersion, predictions: IO[bytes], name: str, options: Mapping[str, str], **filters: Any
) -> Answer:
    """List the items of a public gold version with the predictions in a file for them. Raises SandboxError.

    name: the predictions file's name. options: the task options of split and phase. filters: the other fields of the
    ExamplesRequest, by name. The answer's report is an ExamplesReport or a Refusal.
    """
    request = ExamplesRequest(
        task=gold.split.dataset.task,
        options=dict(options),
        gold_name=str(gold.file.name),
        predictions_name=name,
        **filters,
    )
    with opened(gold.file, sha256=gold.sha256) as file:
        files = {"gold": file, "predictions": predictions}
        return _ask(request, files, settings.SCORE_SECONDS, output_bytes=256 << 20, report=ExamplesReport)


def prepare_gold(*, task: str, gold: IO[bytes], name: str, options: Mapping[str, str]) -> Answer:
    """Validate a gold file and derive the inputs, which are the answer's attachment. Raises SandboxError.

    name: the gold file's name. The answer's report is a PrepareGoldReport or a Refusal.
    """
    request = PrepareGoldRequest(task=task, options=dict(options), gold_name=name)
    # The inputs are hardly larger than the gold.
    output_bytes = max(256 << 20, 2 * settings.MAX_FILE_BYTES)
    return _ask(request, {"gold": gold}, settings.SCORE_SECONDS, output_bytes=output_bytes)


def read_table(
    *, task: str, gold: IO[bytes], name: str, options: Mapping[str, str], seconds: float, is_gold: bool = True
) -> Answer:
    """Validate gold in a table file; the answer's attachment is the gold as JSON Lines. Raises SandboxError.

    name: the file's name, whose suffix is one of `tables.FORMATS`. seconds: limit of processor time. is_gold: False to
    convert the table without a check of its lines.
    """
    request = ReadTableRequest(task=task, options=dict(options), gold_name=name, is_gold=is_gold)
    return _ask(request, {"gold": gold}, seconds, output_bytes=MAX_OUTPUT_BYTES, report=TableReport)


def write_table(*, gold: GoldVersion, kind: str) -> Answer:
    """Convert a gold version to a table file, which is the answer's attachment. Raises SandboxError.

    kind: one of `tables.FORMATS`, such as "csv".
    """
    request = WriteTableRequest(gold_name=str(gold.file.name), format=kind)
    with opened(gold.file, sha256=gold.sha256) as file:
        files = {"gold": file}
        return _ask(request, files, settings.SCORE_SECONDS, output_bytes=MAX_OUTPUT_BYTES, report=TableReport)


def reencode_picture(*, picture: IO[bytes]) -> Answer:
    """Decode a picture and encode it again; the answer's attachment is the new file, its report a PictureReport.

    Raises SandboxError.
    """
    files = {"picture": picture}
    return _ask(ReencodePictureRequest(), files, settings.VALIDATE_SECONDS, output_bytes=16 << 20, report=PictureReport)


def partition(
    *,
    task: str,
    gold: IO[bytes],
    name: str,
    options: Mapping[str, str],
    seed: int,
    share: str,
    previous: PublicPrivatePartition | None,
) -> Answer:
    """Divide the groups of a gold file at random into public and private; the answer's attachment lists both.

    name: the gold file's name. seed: of the random draw. share: fraction of the groups that becomes public, as a
    decimal text between 0 and 1. previous: the division of an earlier gold version, whose groups stay public or
    private; None: all groups are drawn. Raises SandboxError, and FileNotFoundError if the file of `previous` is
    missing.
    """
    request = PartitionRequest(task=task, options=dict(options), gold_name=name, seed=seed, share=share)
    with ExitStack() as stack:
        files = {"gold": gold}
        if previous is not None:
            files["previous"] = stack.enter_context(opened(previous.file, sha256=previous.sha256))
        return _ask(request, files, settings.SCORE_SECONDS, output_bytes=256 << 20, report=PartitionReport)


def read_scorer(*, scorer: Scorer, gold: GoldVersion, files: Mapping[str, IO[bytes]], seed: int) -> Answer:
    """Validate the files that a custom scorer wrote, and compute confidence intervals of its scores.

    Reads no gold file. gold: the version that the scorer read. files: the scorer's scores.json as "scores", and its
    outcomes.jsonl as "outcomes" if it wrote one. seed: of the bootstrap. Raises SandboxError.
    """
    request = ScorerOutputRequest(
        task=gold.split.dataset.task,
        task_version=scorer.number,
        measures=_measures(scorer),
        primary=scorer.primary,
        dimensions=gold.dimensions,
        resamples=settings.RESAMPLES,
        seed=seed,
    )
    return _ask(request, files, settings.SCORE_SECONDS, output_bytes=256 << 20)


def compare_board(
    *,
    tables: Sequence[IO[bytes]],
    pairs: Sequence[tuple[int, int]],
    measure: str,
    seed: int,
    scorer: Scorer | None = None,
) -> Answer:
    """Test the differences between the systems of a board, pair by pair, from their stored outcomes. Reads no gold.

    tables: files of outcomes, at most MAX_TABLES. pairs: the two systems' indices in `tables` for each test. measure:
    name of the compared measure. seed: of the resampling. scorer: the custom scorer that wrote the outcomes; None: the
    task wrote them. Raises SandboxError.
    """
    request = CompareBoardRequest(
        pairs=list(pairs),
        measure=measure,
        scorer=_declaration(scorer),
        resamples=settings.RESAMPLES,
        seed=seed,
    )
    files = {str(index): table for index, table in enumerate(tables)}
    return _ask(request, files, settings.SCORE_SECONDS, output_bytes=4 << 20)


def head_to_head(
    *, a: IO[bytes], b: IO[bytes], gold: GoldVersion | None, seed: int, scorer: Scorer | None = None
) -> Answer:
    """Compare two systems by every measure on every slice, from their stored outcomes. Raises SandboxError.

    a, b: the systems' files of outcomes. gold: public gold with the names of the units; None: no gold is read. seed,
    scorer: as for `compare_board`.
    """
    request = HeadToHeadRequest(
        gold_name=str(gold.file.name) if gold is not None else "",
        scorer=_declaration(scorer),
        resamples=settings.RESAMPLES,
        seed=seed,
    )
    with ExitStack() as stack:
        files = {"a": a, "b": b}
        if gold is not None:
            files["gold"] = stack.enter_context(opened(gold.file, sha256=gold.sha256))
        return _ask(request, files, settings.SCORE_SECONDS, output_bytes=32 << 20)


def plot(*, table: IO[bytes]) -> Answer:
    """Compute plot data, such as ROC curves, from a file of stored outcomes. Reads no gold. Raises SandboxError."""
    return _ask(PlotRequest(), {"table": table}, settings.SCORE_SECONDS, output_bytes=4 << 20)


def similarity_sketch(
    *, task: str, gold: GoldVersion, predictions: IO[bytes], name: str, options: Mapping[str, str]
) -> Answer:
    """Compute the similarity sketch of a predictions file. Similar predictions have similar sketches.

    So sketches select the pairs of files to compare exactly (`near_duplicates`). name: the predictions file's name.
    options: the task options of split and phase. Raises SandboxError, and FileNotFoundError if the gold file is
    missing.
    """
    request = SketchRequest(task=task, options=dict(options), gold_name=str(gold.file.name), predictions_name=name)
    with opened(gold.file, sha256=gold.sha256) as stored:
        files = {"gold": stored, "predictions": predictions}
        return _ask(request, files, settings.SCORE_SECONDS, output_bytes=1 << 20)


def near_duplicates(
    *, task: str, gold: GoldVersion, predictions: Sequence[tuple[str, IO[bytes]]], options: Mapping[str, str]
) -> Answer:
    """Compare the first of several predictions files with each of the other files, unit by unit.

    predictions: (name, file) of each; with the gold, at most MAX_FILES files. options: the task options of split and
    phase. Raises SandboxError, and FileNotFoundError if the gold file is missing.
    """
    names = [name for name, _ in predictions]
    request = NearDuplicatesRequest(task=task, options=dict(options), gold_name=str(gold.file.name), names=names)
    with opened(gold.file, sha256=gold.sha256) as stored:
        files = {"gold": stored} | {str(index): file for index, (_, file) in enumerate(predictions)}
        return _ask(request, files, settings.SCORE_SECONDS, output_bytes=1 << 20)


def audit_part(
    *,
    part: str,
    gold: GoldVersion,
    files: Mapping[str, IO[bytes]],
    gold_name: str,
    train_names: Sequence[str],
    options: Mapping[str, str],
) -> Answer:
    """Run one part of a split's audit (`evaluator.jobs.audit`). The report quotes gold. Raises SandboxError.

    part: one of `evaluator.jobs.audit.NAMES`. files: the gold as "gold", the inputs as "inputs" if they are public, and
    public gold of other splits as "0", "1"...; at most MAX_FILES files. gold_name: the file name by which findings cite
    the gold. train_names: the same for "0", "1"... in this order.
    """
    request = AuditPartRequest(
        part=part,
        task=gold.split.dataset.task,
        options=dict(options),
        gold_name=gold_name,
        inputs_name=_INPUTS,
        train_names=list(train_names),
    )
    return _ask(request, files, settings.SCORE_SECONDS, output_bytes=4 << 20)


def gold_difference(*, split: Split, files: Mapping[str, IO[bytes]], names: Mapping[str, str]) -> Answer:
    """Compare two gold files of a split item by item. Raises SandboxError.

    files, names: the earlier file and its name under the key "before", the corrected ones under "after"; a name ending
    in .gz marks a compressed file. The report has only counts; the attachment lists the changed items and quotes gold.
    """
    request = GoldDifferenceRequest(
        task=split.dataset.task, options=split.options, before_name=names["before"], after_name=names["after"]
    )
    return _ask(request, files, settings.SCORE_SECONDS, output_bytes=256 << 20)


def baseline(
    *,
    task: str,
    name: str,
    files: Mapping[str, IO[bytes]],
    train_names: Sequence[str],
    expects: Mapping[str, Any],
    options: Mapping[str, str],
) -> Answer:
    """Compute a baseline's predictions, which are the answer's attachment; it is empty if the baseline cannot predict.

    name: the baseline's name. files: the inputs as "inputs", and public gold to learn from as "0", "1"...; at most
    MAX_FILES files. No other gold is read. train_names: the file names of "0", "1"... expects: requirements on
    predictions, as `prepare_gold` reports them. Raises SandboxError.
    """
    request = BaselineRequest(
        task=task,
        baseline=name,
        options=dict(options),
        inputs_name=_INPUTS,
        train_names=list(train_names),
        expects=dict(expects),
    )
    return _ask(request, files, settings.SCORE_SECONDS, output_bytes=256 << 20, report=BaselineReport)


def generate(
    *,
    task: str,
    generator: str,
    parameters: Mapping[str, str],
    sources: Sequence[tuple[str, str]],
    files: Mapping[str, IO[bytes]],
    seed: int,
    salt: str,
) -> Answer:
    """Generate the gold of one or more splits from raw files (`evaluator.jobs.generate`). Raises SandboxError.

    generator: its name. parameters: the generator's parameters as text, by name. files: the raw files as "0", "1"...
    sources: (name of the generator's source, file name) of each raw file, in this order. seed: of all random choices.
    salt: secret from which the generated ids are computed. Seed and salt are as secret as gold.
    """
    request = GenerateRequest(
        task=task,
        generator=generator,
        parameters=dict(parameters),
        sources=list(sources),
        seed=seed,
        salt=salt,
    )
    return _ask(request, files, settings.SCORE_SECONDS, output_bytes=MAX_OUTPUT_BYTES)


def gold_part(*, part: str, task: str, gold: IO[bytes], name: str, options: Mapping[str, str]) -> Answer:
    """Run one part of an audit of a gold file that belongs to no split yet. The report quotes gold.

    part: one of `evaluator.jobs.audit.NAMES`. name: the gold file's name. Raises SandboxError.
    """
    request = AuditPartRequest(part=part, task=task, options=dict(options), gold_name=name)
    return _ask(request, {"gold": gold}, settings.SCORE_SECONDS, output_bytes=4 << 20)


def _measures(scorer: Scorer) -> list[MeasureDeclaration]:
    return msgspec.convert(scorer.measures, list[MeasureDeclaration])


def _declaration(scorer: Scorer | None) -> ScorerDeclaration | None:
    return ScorerDeclaration(scorer.number, _measures(scorer), scorer.primary) if scorer is not None else None


def _ask(
    request: Request,
    files: Mapping[str, IO[bytes]],
    seconds: float,
    *,
    output_bytes: int,
    report: type[Report] | None = None,
) -> Answer:
    """Run a job in the sandbox and return its answer. Raises SandboxError.

    seconds: limit of processor time. output_bytes: limit of report and attachment together. report: the type that the
    report must have; None if the caller validates it with `Answer.read`.
    """
    limits = Limits(
        wall_seconds=WALL_FACTOR * seconds,
        cpu_seconds=seconds,
        memory_bytes=settings.SANDBOX_MEMORY_BYTES,
        output_bytes=output_bytes,
    )
    with ExitStack() as stack:
        descriptors = {name: stack.enter_context(_read_only(file)) for name, file in files.items()}
        execution = Execution(job=request.job, arguments=msgspec.to_builtins(request), files=descriptors, limits=limits)
        try:
            with tracing.span(request.job):
                result: Result = ProcessSandbox(settings.SANDBOX_SOCKET).run(execution)
        except SandboxError:
            process_metrics.SANDBOX_RESULTS.labels(request.job, "unavailable").inc()
            raise
    process_metrics.SANDBOX_RESULTS.labels(request.job, result.verdict.value).inc()
    process_metrics.SANDBOX_WAIT_SECONDS.labels(request.job).observe(result.start_seconds)
    process_metrics.SANDBOX_SECONDS.labels(request.job).observe(result.wall_seconds)
    # A job that exceeded a limit may end before its sandbox has sent the code digest.
    if result.code_sha256 or result.verdict is Verdict.DONE:
        _check_code(result.code_sha256)
    response = Answer(
        reason="" if result.verdict is Verdict.DONE else REASONS[result.verdict],
        report=result.report or {},
        attachment=result.attachment,
        seconds=result.wall_seconds,
        start_seconds=result.start_seconds,
        layers=dict(result.layers),
        code_sha256=result.code_sha256,
        error_id=result.error_id,
        cpu_seconds=result.cpu_seconds,
    )
    expected = report if response.ok else Refusal
    if response.reason or expected is None:
        return response
    try:
        response.read(expected)
    except ReportError as error:
        log.error("report_malformed", job=request.job, error=str(error))
        return replace(response, reason=Reason.OUTPUT, report={}, attachment=b"")
    return response


@contextmanager
def _read_only(file: IO[bytes]) -> Iterator[int]:
    """Yield a new read-only file descriptor of an open file, whose existing descriptor may allow writing."""
    if file.writable():
        file.flush()
    descriptor = os.open(f"/proc/self/fd/{file.fileno()}", os.O_RDONLY | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)

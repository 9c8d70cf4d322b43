"""Client of the sandboxed evaluator: a table of its jobs, each of which is called with files and returns an Answer.

A call raises SandboxError if the sandbox does not respond or fails, and its subclass SandboxTimeoutError if the sandbox
server is too busy. Files never cause these errors, and a retry may succeed. For a file that exceeds the limits of
processor time or memory, the Answer has a `reason`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import IO, Any, Generic, ParamSpec, TypeVar

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

log = structlog.get_logger(__name__)
T = TypeVar("T")
P = ParamSpec("P")
File = IO[bytes] | GoldVersion
"""A file of a job: an open file, or a gold version, whose file is opened."""
INPUTS = "inputs.jsonl"
"""Name of the inputs in messages about them."""
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


@dataclass(frozen=True)
class Job(Generic[P]):
    """A job of the sandbox. It is called with its files and the fields of its request, and returns the Answer.

    request: the class of the request, whose function in `evaluator.jobs` says what the job does, and which files it
    reads. The field `resamples` is set here. report: the class of the report, which is checked; None: the caller reads
    it with `Answer.read`. output_bytes: limit of report and attachment together. seconds: limit of processor time, or
    the name of the setting that has it.
    """

    request: Callable[P, Request]
    report: type[Report] | None = None
    output_bytes: int = 256 << 20
    seconds: float | str = "SCORE_SECONDS"

    def __call__(self, files: Mapping[str, File], /, *args: P.args, **fields: P.kwargs) -> Answer:
        """Run the job. files: role -> file."""
        request = self.request(*args, **fields)
        if "resamples" in request.__struct_fields__:
            request = msgspec.structs.replace(request, resamples=settings.RESAMPLES)
        seconds = getattr(settings, self.seconds) if isinstance(self.seconds, str) else self.seconds
        with ExitStack() as stack:
            descriptors = {}
            for role, file in files.items():
                if isinstance(file, GoldVersion):
                    file = stack.enter_context(opened(file.file, sha256=file.sha256))  # noqa: PLW2901
                descriptors[role] = stack.enter_context(_read_only(file))
            return _ask(request, descriptors, seconds, output_bytes=self.output_bytes, report=self.report)

    def within(self, seconds: float) -> Job[P]:
        """Return the job with another limit of processor time."""
        return replace(self, seconds=seconds)


prepare_gold = Job(PrepareGoldRequest, output_bytes=max(256 << 20, 2 * settings.MAX_FILE_BYTES))
"""The attachment is the inputs, which are hardly larger than the gold."""
read_table = Job(ReadTableRequest, report=TableReport, output_bytes=MAX_OUTPUT_BYTES)
"""The attachment is the gold as JSON Lines."""
write_table = Job(WriteTableRequest, report=TableReport, output_bytes=MAX_OUTPUT_BYTES)
reencode_picture = Job(ReencodePictureRequest, report=PictureReport, output_bytes=16 << 20, seconds="VALIDATE_SECONDS")
partition = Job(PartitionRequest, report=PartitionReport)
gold_difference = Job(GoldDifferenceRequest)
"""The report has only counts; the attachment lists the changed items and quotes gold."""
audit_part = Job(AuditPartRequest, output_bytes=4 << 20)
"""The report quotes gold."""
generate = Job(GenerateRequest, output_bytes=MAX_OUTPUT_BYTES)
"""Seed and salt are as secret as gold."""
baseline = Job(BaselineRequest, report=BaselineReport)
"""The attachment is the predictions; it is empty if the baseline cannot predict."""
examples = Job(ExamplesRequest, report=ExamplesReport)
read_scorer = Job(ScorerOutputRequest)
compare_board = Job(CompareBoardRequest, output_bytes=4 << 20)
"""Reads at most MAX_TABLES files of outcomes, and no gold."""
head_to_head = Job(HeadToHeadRequest, output_bytes=32 << 20)
plot = Job(PlotRequest, output_bytes=4 << 20)
similarity_sketch = Job(SketchRequest, output_bytes=1 << 20)
near_duplicates = Job(NearDuplicatesRequest, output_bytes=1 << 20)
_validate = Job(ValidateRequest, report=ValidateReport, output_bytes=4 << 20, seconds="VALIDATE_SECONDS")
_score = Job(ScoreRequest)


def validate(
    *, split: Split, gold: GoldVersion, predictions: IO[bytes], name: str, options: Mapping[str, str]
) -> Answer:
    """Validate a predictions file against the split's inputs, without reading the gold file.

    gold: the version whose stored requirements (`expects`) the predictions must meet. name: the predictions file's
    name, whose suffix shows whether the file is compressed. options: the phase's task options, which override the
    split's. The answer's report is a ValidateReport or a Refusal. Raises SandboxError.
    """
    with opened(split.inputs, sha256=split.inputs_sha256) as inputs:
        return _validate(
            {"inputs": inputs, "predictions": predictions},
            task=split.dataset.task,
            options={**split.options, **options},
            inputs_name=INPUTS,
            predictions_name=name,
            expects=gold.expects,
        )


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
    with ExitStack() as stack:
        files = {"gold": stack.enter_context(opened(gold.file, sha256=gold.sha256)), "predictions": predictions}
        check_digest(files["gold"], gold.sha256)
        if subset:
            partition = PublicPrivatePartition.objects.get(gold=gold)
            files["partition"] = stack.enter_context(opened(partition.file, sha256=partition.sha256))
            check_digest(files["partition"], partition.sha256)
        return _score(
            files,
            task=task,
            options=dict(options),
            seed=seed,
            gold_name=str(gold.file.name),
            predictions_name=name,
            subset=subset,
            sketch=sketch,
        )


def measures_of(scorer: Scorer) -> list[MeasureDeclaration]:
    return msgspec.convert(scorer.measures, list[MeasureDeclaration])


def declaration_of(scorer: Scorer | None) -> ScorerDeclaration | None:
    """Return what a job must know of the custom scorer that wrote outcomes; None if the task wrote them."""
    return ScorerDeclaration(scorer.number, measures_of(scorer), scorer.primary) if scorer is not None else None


def _ask(
    request: Request,
    descriptors: Mapping[str, int],
    seconds: float,
    *,
    output_bytes: int,
    report: type[Report] | None = None,
) -> Answer:
    """Run a job in the sandbox and return its answer. Raises SandboxError.

    descriptors: role of a file -> its descriptor, open for reading. seconds: limit of processor time. output_bytes:
    limit of report and attachment together. report: the type that the report must have; None if the caller validates it
    with `Answer.read`.
    """
    limits = Limits(
        wall_seconds=WALL_FACTOR * seconds,
        cpu_seconds=seconds,
        memory_bytes=settings.SANDBOX_MEMORY_BYTES,
        output_bytes=output_bytes,
    )
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

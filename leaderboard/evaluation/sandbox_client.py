"""Client of the sandboxed evaluator: sends stored files, returns validated reports. It has a function for each job."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import IO, Any, TypeVar

import msgspec
import structlog
from django.conf import settings

from evaluator import code_digest as sources
from evaluator.custom_scorer.measures import MeasureDeclaration
from evaluator.errors import SandboxError
from evaluator.jobs.audit import AuditPartRequest
from evaluator.jobs.base import Refusal, Report, Request
from evaluator.jobs.baseline import BaselineReport, BaselineRequest
from evaluator.jobs.compare import CompareBoardRequest, HeadToHeadRequest, PlotRequest, ScorerDeclaration
from evaluator.jobs.generate import GenerateRequest
from evaluator.jobs.gold import PartitionReport, PartitionRequest, PrepareGoldRequest
from evaluator.jobs.gold_diff import GoldDifferenceRequest
from evaluator.jobs.score import ScoreRequest, ScorerOutputRequest, ValidateReport, ValidateRequest
from evaluator.jobs.similarity import NearDuplicatesRequest, SignatureRequest
from evaluator.sandbox.contract import Execution, Limits, Result, Verdict
from evaluator.sandbox.process.client import ProcessSandbox
from leaderboard.core.storage import check_digest, opened
from leaderboard.evaluation.report_checks import ReportError, in_shape
from leaderboard.models import GoldVersion, PublicPrivatePartition, Reason, Scorer, Split

__all__ = [
    "Answer",
    "SandboxError",
    "answers",
    "audit_part",
    "baseline",
    "check",
    "compare_board",
    "generate",
    "gold_difference",
    "gold_part",
    "head_to_head",
    "is_outdated",
    "near_duplicates",
    "partition",
    "plot",
    "prepare_gold",
    "read_scorer",
    "score",
    "signature",
    "validate",
]

log = structlog.get_logger(__name__)
T = TypeVar("T")
_INPUTS = "inputs.jsonl"
MOST_TABLES = 16
"""Maximum number of files in one job."""
MAX_OUTPUT_BYTES = 256 << 20
"""Maximum bytes of all files that a generator writes."""
REASONS = {
    Verdict.TIME: Reason.TIME,
    Verdict.MEMORY: Reason.MEMORY,
    Verdict.OUTPUT: Reason.OUTPUT,
    Verdict.EXIT: Reason.EXIT,
}


@dataclass(frozen=True)
class Answer:
    """The sandbox's response.

    `reason` is empty if there is a report, else the reason why not. `report` is a validated `Refusal` of
    `evaluator.jobs.base`, or the job's report, which `read` validates.
    """

    reason: str
    report: dict[str, Any]
    attachment: bytes
    seconds: float
    start_seconds: float
    layers: dict[str, Any]
    code_sha256: str = ""
    error_id: str = ""

    @property
    def ok(self) -> bool:
        return not self.reason and self.report.get("ok") is True

    def read(self, kind: type[T]) -> T:
        """Convert the report to its type. Raises ReportError for one that no correct job can have written."""
        return in_shape(self.report, kind)


def answers() -> bool:
    """Return True if a sandbox responds."""
    return ProcessSandbox(settings.SANDBOX_SOCKET).answers()


class CodeMismatchError(SandboxError):
    """The sandbox server runs other code than this process: one of them was not restarted after an upgrade."""


def check(*, patience: float = 60.0) -> None:
    """Raise SandboxError if no sandbox responds within `patience` seconds, or it runs other code than this process."""
    _check_code(ProcessSandbox(settings.SANDBOX_SOCKET, patience=patience).code())


def is_outdated() -> bool:
    """Return True if a sandbox responds and runs other code than this process."""
    try:
        check()
    except CodeMismatchError as error:
        log.error("sandbox_outdated", error=str(error))
        return True
    except SandboxError:
        return False
    return False


def _check_code(served: str) -> None:
    if served != sources.SHA256:
        raise CodeMismatchError(
            f"the sandbox server at {settings.SANDBOX_SOCKET} runs code {served[:12] or 'of an earlier release'}, this "
            f"process {sources.SHA256[:12]}: restart both, the sandbox server first"
        )


def validate(
    *, split: Split, gold: GoldVersion, predictions: IO[bytes], name: str, options: Mapping[str, str]
) -> Answer:
    """Validate an uploaded file against the split's public inputs. Reads no gold. Raises SandboxError (ours)."""
    request = ValidateRequest(
        task=split.dataset.task,
        options={**split.options, **options},
        inputs_name=_INPUTS,
        predictions_name=name,
        expects=gold.expects,
    )
    with ExitStack() as stack:
        files = {"inputs": stack.enter_context(opened(split.inputs)), "predictions": predictions}
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
) -> Answer:
    """Score a prediction against hidden gold, or against one half of its groups.

    Raises SandboxError (ours), and FileNotFoundError or AlteredError for a missing or altered partition file.
    """
    request = ScoreRequest(
        task=task,
        options=dict(options),
        resamples=settings.RESAMPLES,
        seed=seed,
        gold_name=str(gold.file.name),
        predictions_name=name,
        subset=subset,
    )
    with ExitStack() as stack:
        files = {"gold": stack.enter_context(opened(gold.file)), "predictions": predictions}
        if subset:
            partition = PublicPrivatePartition.objects.get(gold=gold)
            files["partition"] = stack.enter_context(opened(partition.file))
            check_digest(files["partition"], partition.sha256)
        return _ask(request, files, settings.SCORE_SECONDS, output_bytes=256 << 20)


def prepare_gold(*, task: str, gold: IO[bytes], name: str, options: Mapping[str, str]) -> Answer:
    """Validate gold and derive the public inputs (the attachment). Raises SandboxError (ours)."""
    request = PrepareGoldRequest(task=task, options=dict(options), gold_name=name)
    return _ask(request, {"gold": gold}, settings.SCORE_SECONDS, output_bytes=256 << 20)


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
    """Divide a gold's groups into a public and a private half (the attachment), keeping an earlier partition's halves.

    Raises SandboxError (ours), and FileNotFoundError for a missing partition file.
    """
    request = PartitionRequest(task=task, options=dict(options), gold_name=name, seed=seed, share=share)
    with ExitStack() as stack:
        files = {"gold": gold}
        if previous is not None:
            files["previous"] = stack.enter_context(opened(previous.file))
        return _ask(request, files, settings.SCORE_SECONDS, output_bytes=256 << 20, report=PartitionReport)


def read_scorer(*, scorer: Scorer, gold: GoldVersion, files: Mapping[str, IO[bytes]], seed: int) -> Answer:
    """Validate a custom scorer's files: scores, and outcomes if any. Reads no gold. Raises SandboxError (ours)."""
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
    """Compare pairs of at most MOST_TABLES stored outcomes. Reads no gold. Raises SandboxError (ours).

    scorer: the custom scorer that wrote the outcomes; None: the task's.
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
    """Compare two stored outcomes by every measure on every slice. Raises SandboxError (ours).

    gold: public gold to name the units, or None to read no gold. scorer: as for `compare_board`.
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
            files["gold"] = stack.enter_context(opened(gold.file))
        return _ask(request, files, settings.SCORE_SECONDS, output_bytes=32 << 20)


def plot(*, table: IO[bytes]) -> Answer:
    """Compute plot data from stored outcomes. Reads no gold. Raises SandboxError (ours)."""
    return _ask(PlotRequest(), {"table": table}, settings.SCORE_SECONDS, output_bytes=4 << 20)


def signature(*, task: str, gold: GoldVersion, predictions: IO[bytes], name: str, options: Mapping[str, str]) -> Answer:
    """Compute a signature of predictions for near-duplicate search. Raises SandboxError (ours), FileNotFoundError."""
    request = SignatureRequest(task=task, options=dict(options), gold_name=str(gold.file.name), predictions_name=name)
    with opened(gold.file) as stored:
        files = {"gold": stored, "predictions": predictions}
        return _ask(request, files, settings.SCORE_SECONDS, output_bytes=1 << 20)


def near_duplicates(
    *, task: str, gold: GoldVersion, predictions: Sequence[tuple[str, IO[bytes]]], options: Mapping[str, str]
) -> Answer:
    """Compare the first of some (name, predictions) with each other one, unit by unit; at most MOST_TABLES files.

    Raises SandboxError (ours), FileNotFoundError.
    """
    names = [name for name, _ in predictions]
    request = NearDuplicatesRequest(task=task, options=dict(options), gold_name=str(gold.file.name), names=names)
    with opened(gold.file) as stored:
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
    """Run one part of a split's audit (`evaluator.jobs.audit`); the report quotes gold. Raises SandboxError (ours).

    files: gold, inputs, and gold of public training splits as "0", "1"..., at most MOST_TABLES in all.
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
    """Compare two gold files; the report has counts, the attachment quotes gold. Raises SandboxError (ours).

    files, names: by `before` and `after`; a name ending in .gz marks a compressed file.
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
    """Compute a baseline's predictions (the attachment; empty if it cannot predict). Raises SandboxError (ours).

    files: inputs, and public gold as "0", "1"..., at most MOST_TABLES in all. No other gold is read.
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
    """Generate gold of one or more splits from raw files (`evaluator.jobs.generate`). Raises SandboxError (ours).

    sources: the role of each of `files` ("0", "1"...) in the generator, and its name.
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
    """Run one part of an audit of gold that belongs to no split; the report quotes gold. Raises SandboxError (ours)."""
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
    """Run a job in the sandbox. report: type of the report, if callers do not validate it themselves."""
    limits = Limits(
        wall_seconds=seconds,
        cpu_seconds=seconds,
        memory_bytes=settings.SANDBOX_MEMORY_BYTES,
        output_bytes=output_bytes,
    )
    with ExitStack() as stack:
        descriptors = {name: stack.enter_context(_read_only(file)) for name, file in files.items()}
        execution = Execution(job=request.job, arguments=msgspec.to_builtins(request), files=descriptors, limits=limits)
        result: Result = ProcessSandbox(settings.SANDBOX_SOCKET).run(execution)
    # A job that exceeded its output limit may end before its sandbox has sent anything.
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
    """Yield a read-only descriptor of the same file: an upload's own descriptor could still be written to."""
    if file.writable():
        file.flush()
    descriptor = os.open(f"/proc/self/fd/{file.fileno()}", os.O_RDONLY | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)

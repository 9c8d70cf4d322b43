"""The one door to the evaluator's sandbox: stored files in, checked reports out."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import IO, Any

import structlog
from django.conf import settings

from evaluator import sources
from evaluator.errors import SandboxError
from evaluator.sandbox.contract import Execution, Limits, Result, Verdict
from evaluator.sandbox.process import ProcessSandbox
from leaderboard.models import GoldVersion, Reason, Split
from leaderboard.storage import opened

__all__ = [
    "Answer",
    "SandboxError",
    "answers",
    "check",
    "compare_board",
    "is_outdated",
    "prepare_gold",
    "score",
    "validate",
]

log = structlog.get_logger(__name__)
MOST_TABLES = 16
"""As many open files as one job takes."""
REASONS = {
    Verdict.TIME: Reason.TIME,
    Verdict.MEMORY: Reason.MEMORY,
    Verdict.OUTPUT: Reason.OUTPUT,
    Verdict.EXIT: Reason.EXIT,
}


@dataclass(frozen=True)
class Answer:
    """What the sandbox answered.

    `reason` is empty for a report, else why there is none. `report` follows `evaluator.operations`.
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
        return not self.reason and bool(self.report.get("ok"))


def answers() -> bool:
    """Whether a sandbox is there to be asked."""
    return ProcessSandbox(settings.SANDBOX_SOCKET).answers()


class OtherCodeError(SandboxError):
    """The sandbox server was not restarted when the code was replaced, or this process was not."""


def check(*, patience: float = 60.0) -> None:
    """Raises SandboxError when no sandbox answers in `patience` seconds, or when it runs other code than we do."""
    _check_code(ProcessSandbox(settings.SANDBOX_SOCKET, patience=patience).code())


def is_outdated() -> bool:
    """Whether there is a sandbox that says it runs other code than we do."""
    try:
        check()
    except OtherCodeError as error:
        log.error("sandbox_outdated", error=str(error))
        return True
    except SandboxError:
        return False
    return False


def _check_code(theirs: str) -> None:
    if theirs != sources.SHA256:
        raise OtherCodeError(
            f"the sandbox server at {settings.SANDBOX_SOCKET} runs code {theirs[:12] or 'of an earlier release'}, this "
            f"process {sources.SHA256[:12]}: restart both, the sandbox server first"
        )


def validate(
    *, split: Split, gold: GoldVersion, predictions: IO[bytes], name: str, options: Mapping[str, str]
) -> Answer:
    """Check an uploaded file against the split's public inputs. No gold is read. Raises SandboxError (ours)."""
    arguments = {
        "task": split.dataset.task,
        "options": {**split.options, **options},
        "inputs_name": "inputs.jsonl",
        "predictions_name": name,
        "expects": gold.expects,
    }
    with ExitStack() as stack:
        files = {"inputs": stack.enter_context(opened(split.inputs)), "predictions": predictions}
        return _ask("validate", arguments, files, settings.VALIDATE_SECONDS, output_bytes=4 << 20)


def score(
    *, task: str, gold: GoldVersion, predictions: IO[bytes], name: str, options: Mapping[str, str], seed: int
) -> Answer:
    """Score a prediction against hidden gold. Raises SandboxError (ours)."""
    arguments = {
        "task": task,
        "options": dict(options),
        "resamples": settings.RESAMPLES,
        "seed": seed,
        "gold_name": gold.file.name,
        "predictions_name": name,
    }
    with ExitStack() as stack:
        files = {"gold": stack.enter_context(opened(gold.file)), "predictions": predictions}
        return _ask("score", arguments, files, settings.SCORE_SECONDS, output_bytes=256 << 20)


def prepare_gold(*, task: str, gold: IO[bytes], name: str, options: Mapping[str, str]) -> Answer:
    """Check gold and write the public inputs from it (the attachment). Raises SandboxError (ours)."""
    arguments = {"task": task, "options": dict(options), "gold_name": name}
    return _ask("prepare_gold", arguments, {"gold": gold}, settings.SCORE_SECONDS, output_bytes=256 << 20)


def compare_board(*, tables: Sequence[IO[bytes]], pairs: Sequence[tuple[int, int]], measure: str, seed: int) -> Answer:
    """Compare at most MOST_TABLES stored outcomes pair by pair. No gold is read. Raises SandboxError (ours)."""
    arguments = {"pairs": list(pairs), "measure": measure, "resamples": settings.RESAMPLES, "seed": seed}
    files = {str(place): table for place, table in enumerate(tables)}
    return _ask("compare_board", arguments, files, settings.SCORE_SECONDS, output_bytes=4 << 20)


def _ask(
    job: str, arguments: dict[str, Any], files: Mapping[str, IO[bytes]], seconds: float, *, output_bytes: int
) -> Answer:
    limits = Limits(
        wall_seconds=seconds,
        cpu_seconds=seconds,
        memory_bytes=settings.SANDBOX_MEMORY_BYTES,
        output_bytes=output_bytes,
    )
    with ExitStack() as stack:
        descriptors = {name: stack.enter_context(_read_only(file)) for name, file in files.items()}
        execution = Execution(job=job, arguments=arguments, files=descriptors, limits=limits)
        result: Result = ProcessSandbox(settings.SANDBOX_SOCKET).run(execution)
    # A job that overran its output may be over before its sandbox has said anything.
    if result.code_sha256 or result.verdict is Verdict.DONE:
        _check_code(result.code_sha256)
    return Answer(
        reason="" if result.verdict is Verdict.DONE else REASONS[result.verdict],
        report=result.report or {},
        attachment=result.attachment,
        seconds=result.wall_seconds,
        start_seconds=result.start_seconds,
        layers=dict(result.layers),
        code_sha256=result.code_sha256,
        error_id=result.error_id,
    )


@contextmanager
def _read_only(file: IO[bytes]) -> Iterator[int]:
    """A descriptor of the same file that cannot write: an upload's own, still open as it was received, could."""
    if file.writable():
        file.flush()
    descriptor = os.open(f"/proc/self/fd/{file.fileno()}", os.O_RDONLY | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)

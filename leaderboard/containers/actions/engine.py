"""The door to the container engine: an image and public inputs in, a predictions file out. No gold comes here.

`scorer_engine` is the other one, for organisers' own scorers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import IO, Any, BinaryIO

import structlog
from django.conf import settings

from evaluator.errors import SandboxError
from evaluator.sandbox.containers.docker import DockerSandbox
from evaluator.sandbox.containers.image_errors import ImageError, TooLargeError
from evaluator.sandbox.containers.image_reader import ImageLimits, read_image
from evaluator.sandbox.containers.image_reference import parse_reference
from evaluator.sandbox.containers.system_contract import (
    CancelledError,
    ImageMissingError,
    KilledError,
    LoadedImage,
    SystemExecution,
    SystemLimits,
    SystemResult,
)
from evaluator.sandbox.contract import Verdict
from leaderboard.core.storage import check_digest, opened
from leaderboard.evaluation.container_limits import ContainerLimits
from leaderboard.models import Image, Prediction, Reason

__all__ = [
    "CancelledError",
    "ImageError",
    "ImageMissingError",
    "KilledError",
    "SandboxError",
    "ahead",
    "check",
    "checked_reference",
    "forget",
    "held",
    "load",
    "reap",
    "run",
    "sandbox",
]

log = structlog.get_logger(__name__)
REASONS = {
    Verdict.TIME: Reason.SYSTEM_TIME,
    Verdict.MEMORY: Reason.SYSTEM_RESOURCES,
    Verdict.OUTPUT: Reason.SYSTEM_OUTPUT,
    Verdict.EXIT: Reason.SYSTEM_EXIT,
}


@dataclass(frozen=True)
class Ran:
    """How a container ended. `reason` is empty where it left predictions; `cost` and `execution` are JSON."""

    reason: str
    explanation: str
    name: str
    log: str
    cost: dict[str, Any]
    execution: dict[str, Any]


@cache
def sandbox() -> DockerSandbox:
    """One for the process: it remembers that its health check passed until the engine fails."""
    return DockerSandbox(
        url=settings.ENGINE or None,
        runtime=settings.ENGINE_RUNTIME,
        instance=settings.INSTANCE,
        registries=settings.REGISTRIES,
    )


def ahead() -> Mapping[str, Any]:
    """What holds around a container here: the health check. Raises SandboxError that says what to install."""
    return {**sandbox().layers(), "processors": sandbox().processors}


def checked_reference(reference: str) -> str:
    """A registry's image by digest, as it is kept; raises ImageError for one that no allowed registry can answer."""
    return str(parse_reference(reference, settings.REGISTRIES))


def check() -> None:
    """Raises SandboxError unless the engine answers and its last health check passed. Cheap."""
    sandbox().check()


def load(image: Image, limits: ContainerLimits, *, when_read: Callable[[], None]) -> LoadedImage:
    """The image as the engine has it, read and checked first; `when_read` is called between the two.

    Raises ImageError (theirs), SandboxError and AlteredError (ours).
    """
    if image.reference:
        when_read()
        pulled = sandbox().pull(image.reference)
        if pulled.size > limits.image_bytes:
            raise TooLargeError(f"the image has {pulled.size} bytes, expected at most {limits.image_bytes}")
        return pulled
    with opened(image.archive) as archive:
        check_digest(archive, image.archive_sha256)
        read = read_image(
            archive.fileno(), ImageLimits(archive_bytes=limits.image_bytes, unpacked_bytes=limits.image_bytes)
        )
        when_read()
        return sandbox().load(read)


def run(
    *,
    prediction: Prediction,
    task: str,
    options: Mapping[str, str],
    image: str,
    inputs: IO[bytes],
    limits: ContainerLimits,
    into: BinaryIO,
    keep_going: Callable[[], bool],
) -> Ran:
    """One execution. Raises ImageError (theirs), SandboxError (ours), CancelledError once `keep_going` says no."""
    execution = SystemExecution(
        execution_id=name_of(prediction),
        image=image,
        inputs=inputs.fileno(),
        task=task,
        options=dict(options),
        limits=held(limits),
        gpus=limits.gpus,
    )
    result = sandbox().run(execution, into, keep_going=keep_going)
    return Ran(
        reason="" if result.verdict is Verdict.DONE else REASONS[result.verdict],
        explanation=result.explanation,
        name=result.output_name,
        log=result.log,
        cost=_cost(result),
        execution=_execution(result, execution, limits),
    )


def held(limits: ContainerLimits) -> SystemLimits:
    """A phase's limits as the sandbox takes them: without the image's, which is held when it is loaded."""
    return SystemLimits(
        wall_seconds=limits.wall_seconds,
        cpus=limits.cpus,
        memory_bytes=limits.memory_bytes,
        processes=limits.processes,
        output_bytes=limits.output_bytes,
        output_files=limits.output_files,
        log_bytes=limits.log_bytes,
    )


def name_of(prediction: Prediction) -> str:
    """What the reaper knows an attempt's container by."""
    return f"{prediction.pk.hex}-{prediction.attempt}"


def reap(*, keep: Callable[[], frozenset[str]]) -> list[str]:
    """Remove what dead workers left; what was removed, in words. Raises SandboxError.

    `keep` tells the executions that are under way. A claim is committed before its container is made, so whoever reads
    it after the engine was asked for its containers misses none.
    """
    return sandbox().reap(keep=keep, settle_seconds=0)


def forget(images: frozenset[str]) -> None:
    """Have the engine remove these images, as far as they are there, have no tag and are not in use."""
    try:
        for image in sorted(images & sandbox().images()):
            sandbox().forget(image)
    except SandboxError as error:
        log.warning("images_not_forgotten", error=str(error))


def _cost(result: SystemResult) -> dict[str, Any]:
    return {
        "wall_seconds": result.wall_seconds,
        "cpu_seconds": result.usage.cpu_seconds,
        "peak_memory_bytes": result.usage.peak_memory_bytes,
        "peak_is_sampled": result.usage.peak_is_sampled,
        "image_bytes": result.image_bytes,
    }


def _execution(result: SystemResult, execution: SystemExecution, limits: ContainerLimits) -> dict[str, Any]:
    return {
        "image": execution.image,
        "limits": limits.as_dict(),
        "runtime": settings.ENGINE_RUNTIME,
        "sandbox": dict(result.layers),
        "timings": {name: round(seconds, 3) for name, seconds in result.timings.items()},
        "exit_code": result.exit_code,
        "log_is_cut": result.log_is_cut,
    }

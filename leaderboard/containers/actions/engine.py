"""Interface to the container engine for submitted systems: runs an image on inputs to get a predictions file.

Gold is never read here. `scorer_engine` is the interface for custom scorers.
"""

from __future__ import annotations

import os
import shlex
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import IO, Any, BinaryIO

import structlog
from django.conf import settings

from evaluator.errors import SandboxError
from evaluator.sandbox.containers.docker import DockerSandbox
from evaluator.sandbox.containers.gpu import Gpus, GpusBusyError
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
from leaderboard.evaluation.container_limits import ContainerLimits, Resources
from leaderboard.models import Image, Prediction, Reason

__all__ = [
    "CancelledError",
    "GpusBusyError",
    "ImageError",
    "ImageMissingError",
    "KilledError",
    "SandboxError",
    "check",
    "checked_reference",
    "disk_free_bytes",
    "forget",
    "gpus",
    "health_check",
    "held",
    "images",
    "load",
    "offer",
    "reap",
    "run",
    "sandbox",
]

log = structlog.get_logger(__name__)
GB = 1_000_000_000
REASONS = {
    Verdict.TIME: Reason.SYSTEM_TIME,
    Verdict.MEMORY: Reason.SYSTEM_RESOURCES,
    Verdict.OUTPUT: Reason.SYSTEM_OUTPUT,
    Verdict.EXIT: Reason.SYSTEM_EXIT,
}


@dataclass(frozen=True)
class ExecutionResult:
    """Result of one execution of a submitted image.

    reason: empty if the container wrote predictions, otherwise the Reason why it did not. explanation: a sentence about
    the outcome, without any content that the container chose. name: file name of the predictions. log: the end of the
    text that the container printed. cost: time, memory and image size. execution: other facts for the record (image,
    limits, isolation layers, timings, exit code).
    """

    reason: str
    explanation: str
    name: str
    log: str
    cost: dict[str, Any]
    execution: dict[str, Any]


@cache
def sandbox() -> DockerSandbox:
    """Return the client of the container engine, one object for the whole process.

    The object remembers that a health check has passed until the engine fails.
    """
    return DockerSandbox(
        allow_plain=settings.ENGINE_PLAIN,
        runtime=settings.ENGINE_RUNTIME,
        instance=settings.INSTANCE,
        registries=settings.REGISTRIES,
        gpus=Gpus(settings.GPUS, runtime=settings.GPU_RUNTIME, command=shlex.split(settings.NVIDIA_SMI)),
    )


def cancel_earlier(*names: str) -> None:
    """Remove the containers and volumes of the executions with the ids `names`, if there are any left.

    These are earlier attempts whose worker died or froze. Raises SandboxError for a failure of the engine.
    """
    for name in names:
        if sandbox().cancel(name):
            log.warning("container_removed", what=[f"earlier attempt {name}"])


@dataclass(frozen=True)
class OfferedGpu:
    """A GPU that this worker offers to containers. memory_gb: its memory in whole GB (10**9 bytes), rounded down."""

    name: str
    memory_gb: int


def gpus() -> list[OfferedGpu]:
    """Return the GPUs that this worker offers to containers. Raises SandboxError if they cannot be listed."""
    return [OfferedGpu(gpu.name, gpu.memory_bytes // GB) for gpu in sandbox().gpus.offered()]


def health_check() -> Mapping[str, Any]:
    """Check the container engine with a test container; return facts about the engine: name -> value.

    These are its isolation layers, and `processors`, the number of its processors. Raises SandboxError if the check
    fails; the message says what is missing.
    """
    return {**sandbox().layers(), "processors": sandbox().processors}


def checked_reference(reference: str) -> str:
    """Validate a reference to an image in a registry, `registry/name@sha256:...`, and return it in normal form.

    Raises ImageError if the text is malformed or if the operator has not allowed its registry.
    """
    return str(parse_reference(reference, settings.REGISTRIES))


def check() -> None:
    """Raise SandboxError unless the engine responds and has passed a health check.

    A health check, with a test container, is made only if none has passed since the engine last failed.
    """
    sandbox().check()


def load(image: Image, limits: ContainerLimits, *, when_read: Callable[[], None]) -> LoadedImage:
    """Check an image and load it into the engine: from its archive, or by its reference from a registry.

    when_read: called once, after an archive was checked and before the image is loaded or pulled. Raises ImageError
    for an image that is invalid or exceeds its size limit (the submitter's fault); SandboxError for a failure of the
    engine, and AlteredError or FileNotFoundError for an altered or missing archive (the server's fault).
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
        began = time.monotonic()
        loaded = sandbox().load(read)
        log.info("image_loaded", image=str(image.pk), seconds=round(time.monotonic() - began, 1))
        return loaded


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
) -> ExecutionResult:
    """Run a system's container once on the file `inputs`, and write its predictions to `into`.

    image: id of an image that is loaded in the engine. keep_going: called about once a second while the container runs;
    if it returns False, the container is stopped and CancelledError raised. Raises ImageError if the image must not be
    run (the submitter's fault), and SandboxError for a failure of the engine (the server's fault).
    """
    execution = SystemExecution(
        execution_id=name_of(prediction),
        image=image,
        inputs=inputs.fileno(),
        task=task,
        options=dict(options),
        limits=held(limits),
        gpus=limits.gpus,
        gpu_memory_bytes=limits.gpu_memory_gb * GB,
    )
    cancel_earlier(*(name_of(prediction, attempt) for attempt in range(1, prediction.attempt)))
    result = sandbox().run(execution, into, keep_going=keep_going)
    return ExecutionResult(
        reason="" if result.verdict is Verdict.DONE else REASONS[result.verdict],
        explanation=result.explanation,
        name=result.output_name,
        log=result.log,
        cost=_cost(result, execution),
        execution=_execution(result, execution, limits),
    )


def held(limits: ContainerLimits) -> SystemLimits:
    """Convert container limits to the sandbox's type, which lacks the limit of the image's size: `load` enforces it."""
    return SystemLimits(
        wall_seconds=limits.wall_seconds,
        cpus=limits.cpus,
        memory_bytes=limits.memory_bytes,
        processes=limits.processes,
        output_bytes=limits.output_bytes,
        output_files=limits.output_files,
        log_bytes=limits.log_bytes,
    )


def name_of(prediction: Prediction, attempt: int | None = None) -> str:
    """Return the execution id of an attempt at a prediction, by which its container is found.

    attempt: its number from 1; None: the current attempt.
    """
    return f"{prediction.pk.hex}-{prediction.attempt if attempt is None else attempt}"


def reap(*, keep: Callable[[], frozenset[str]]) -> list[str]:
    """Remove this site's containers and volumes of executions that no longer run; return a description of each.

    keep: returns the ids of all running executions, whose containers stay. It is called after the engine's containers
    have been listed. A worker commits its claim of a row before it creates the container, so no container of a living
    worker is removed. Raises SandboxError for a failure of the engine.
    """
    return sandbox().reap(keep=keep, min_age_seconds=0)


def images() -> frozenset[str]:
    """Return the ids of all images in the engine, including images that this site has not loaded.

    Raises SandboxError for a failure of the engine.
    """
    return sandbox().images()


def forget(image: str) -> bool:
    """Remove the image with an id from the engine, and return True.

    Return False if the image is not there, if a container uses it, or if it has a tag: this site loads images without
    tags. Raises SandboxError for a failure of the engine.
    """
    return sandbox().forget(image)


def offer() -> Resources:
    """Return the processors and memory that the engine's machine offers to containers.

    Raises SandboxError for a failure of the engine.
    """
    return Resources(
        cpus=settings.ENGINE_CPUS or sandbox().processors,
        memory_bytes=settings.ENGINE_MEMORY_BYTES or sandbox().memory_bytes * 9 // 10,
    )


def disk_free_bytes() -> int | None:
    """Return the free space on the engine's disk in bytes; None if it cannot be read from this machine.

    Raises SandboxError for a failure of the engine.
    """
    address = os.environ.get("DOCKER_HOST", "")
    is_local = not address or address.startswith("unix:")
    folder = settings.ENGINE_DISK or (sandbox().root_folder if is_local else "")
    try:
        return shutil.disk_usage(folder).free if folder else None
    except OSError:
        return None


def _cost(result: SystemResult, execution: SystemExecution) -> dict[str, Any]:
    gpus = {
        "gpu_seconds": result.usage.gpu_seconds,
        "peak_gpu_memory_bytes": result.usage.peak_gpu_memory_bytes,
    }
    return {
        "wall_seconds": result.wall_seconds,
        "cpu_seconds": result.usage.cpu_seconds,
        "peak_memory_bytes": result.usage.peak_memory_bytes,
        "peak_is_sampled": result.usage.peak_is_sampled,
        "image_bytes": result.image_bytes,
        **(gpus if execution.gpus else {}),
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
        **({"gpus": list(result.gpus)} if execution.gpus else {}),
    }

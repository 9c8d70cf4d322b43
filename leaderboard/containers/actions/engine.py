"""Interface to the container engine that runs submitted systems: it turns an image and inputs into a predictions file.

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
from evaluator.sandbox.containers.backend import ContainerBackend, waived_promises
from evaluator.sandbox.containers.docker import DockerSandbox
from evaluator.sandbox.containers.gpu import Gpus, GpusBusyError
from evaluator.sandbox.containers.image_errors import ImageError, TooLargeError
from evaluator.sandbox.containers.image_reader import ImageLimits, read_image
from evaluator.sandbox.containers.image_reference import parse_reference
from evaluator.sandbox.containers.podman import PodmanSandbox
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

    reason: empty if the container wrote predictions, otherwise the Reason why not. explanation: a sentence about the
    outcome, without any content that the container chose. name: file name of the predictions. log: the end of what the
    container printed. cost: time, memory and image size, as JSON. execution: what else is recorded (image, limits,
    isolation layers, timings, exit code), as JSON.
    """

    reason: str
    explanation: str
    name: str
    log: str
    cost: dict[str, Any]
    execution: dict[str, Any]


@cache
def sandbox() -> ContainerBackend:
    """Return this process's only sandbox object. It remembers a passed health check until the engine fails.

    Raises SandboxError if HOLDOUT_ENGINE_BACKEND or HOLDOUT_ENGINE_WAIVED has an unknown value.
    """
    try:
        waived = waived_promises(settings.ENGINE_WAIVED)
    except ValueError as error:
        raise SandboxError(f"HOLDOUT_ENGINE_WAIVED has {error}") from None
    if settings.ENGINE_BACKEND == "podman":
        return PodmanSandbox(
            runtime=settings.ENGINE_RUNTIME,
            instance=settings.INSTANCE,
            load_seconds=settings.SYSTEM_LOAD_SECONDS,
            waived=waived,
        )
    if settings.ENGINE_BACKEND != "docker":
        raise SandboxError(f"HOLDOUT_ENGINE_BACKEND is {settings.ENGINE_BACKEND!r}, expected docker or podman")
    return DockerSandbox(
        url=settings.ENGINE or None,
        certs=settings.ENGINE_CERTS or None,
        allow_plain=settings.ENGINE_PLAIN,
        runtime=settings.ENGINE_RUNTIME,
        instance=settings.INSTANCE,
        registries=settings.REGISTRIES,
        gpus=Gpus(settings.GPUS, runtime=settings.GPU_RUNTIME, command=shlex.split(settings.NVIDIA_SMI)),
        load_seconds=settings.SYSTEM_LOAD_SECONDS,
    )


def cancel_earlier(*names: str) -> None:
    """Remove the containers and volumes of earlier attempts whose worker died or froze. Raises SandboxError.

    names: the ids of the attempts' executions.
    """
    for name in names:
        if sandbox().cancel(name):
            log.warning("container_removed", what=[f"earlier attempt {name}"])


@dataclass(frozen=True)
class OfferedGpu:
    """A GPU that this worker offers. memory_gb: whole GB (10**9 bytes)."""

    name: str
    memory_gb: int


def gpus() -> list[OfferedGpu]:
    """Return the GPUs that this worker offers to containers. Raises SandboxError if they cannot be listed."""
    return [OfferedGpu(gpu.name, gpu.memory_bytes // GB) for gpu in sandbox().gpus.offered()]


def health_check() -> Mapping[str, Any]:
    """Run the health check, which starts a test container; return the isolation layers and the number of processors.

    Raises SandboxError if the check fails; its message says what is missing.
    """
    return {**sandbox().layers(), "processors": sandbox().processors}


def checked_reference(reference: str) -> str:
    """Return a valid registry reference with digest (`registry/name@sha256:...`).

    Raises ImageError if the text is malformed or if the operator has not allowed its registry.
    """
    return str(parse_reference(reference, settings.REGISTRIES))


def check() -> None:
    """Raise SandboxError unless the engine responds and its last health check passed.

    A test container is started only if no health check has passed since the engine last failed.
    """
    sandbox().check()


def load(image: Image, limits: ContainerLimits, *, when_read: Callable[[], None]) -> LoadedImage:
    """Read and check an archive or a registry reference, and load the image into the engine.

    when_read: called once, before the image is loaded or pulled. Raises ImageError for an image that is invalid or
    exceeds its size limit (the submitter's fault); SandboxError for a failure of the engine, and AlteredError or
    FileNotFoundError for an altered or missing archive (the server's fault).
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
    """Run a system's container once on `inputs` and write its predictions to `into`.

    image: the engine's id of a loaded image. keep_going: called about once a second while the container runs; False
    ends the container and raises CancelledError. Raises ImageError if the image must not be run (the submitter's
    fault), and SandboxError for a failure of the engine (the server's fault).
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
    """Convert container limits to the sandbox's type, which has no limit of the image's size: `load` enforces it."""
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
    """Return the execution id of a prediction's attempt (None: the current one), by which its container is found."""
    return f"{prediction.pk.hex}-{prediction.attempt if attempt is None else attempt}"


def reap(*, keep: Callable[[], frozenset[str]]) -> list[str]:
    """Remove containers and volumes left by dead workers; return a description of each. Raises SandboxError.

    keep: returns the ids of running executions, whose containers stay. It is called after the engine's containers have
    been listed. A worker commits its claim of a row before it creates the container, so no running container is
    removed.
    """
    return sandbox().reap(keep=keep, min_age_seconds=0)


def images() -> frozenset[str]:
    """Return the ids of all images on the engine, also of images that others have loaded. Raises SandboxError."""
    return sandbox().images()


def forget(image: str) -> bool:
    """Remove an image from the engine by its id. Raises SandboxError.

    Return False if the engine does not have it, if a container uses it, or if it has a tag: then it was not loaded by
    this site.
    """
    return sandbox().forget(image)


def offer() -> Resources:
    """Return the processors and memory that the engine's machine offers to containers. Raises SandboxError."""
    return Resources(
        cpus=settings.ENGINE_CPUS or sandbox().processors,
        memory_bytes=settings.ENGINE_MEMORY_BYTES or sandbox().memory_bytes * 9 // 10,
    )


def disk_free_bytes() -> int | None:
    """Return the free space on the engine's disk; None if this machine cannot tell. Raises SandboxError."""
    address = settings.ENGINE or os.environ.get("DOCKER_HOST", "")
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

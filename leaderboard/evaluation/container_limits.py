"""Resource limits of submitted containers: the operator's defaults, and the values that a phase changes.

`Resources` are the limits of resources that the containers on a host share: a host starts a container only if enough
of each resource is free.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

from django.conf import settings

from leaderboard.core.refusal import Code, Refused
from leaderboard.models import Phase

MB = 1_000_000


@dataclass(frozen=True, kw_only=True)
class Resources:
    """Resources of a host that a container takes while it runs, or that the host offers to containers.

    cpus: number of processors, may be a fraction. gpus: number of GPUs. gpu_memory_gb: memory of each GPU, which is
    compared and never summed.
    """

    cpus: float = 0.0
    memory_bytes: int = 0
    gpus: int = 0
    gpu_memory_gb: int = 0

    def fits(self, room: Resources) -> bool:
        """Return whether a host on which `room` is free can start a container that takes these resources."""
        return (
            # Sums of fractions are not exact, and an engine rounds processors to billionths.
            self.cpus <= room.cpus + 1e-9
            and self.memory_bytes <= room.memory_bytes
            and self.gpus <= room.gpus
            and (not self.gpus or self.gpu_memory_gb <= room.gpu_memory_gb)
        )

    def without(self, taken: Iterable[Resources]) -> Resources:
        """Return the resources that are left of a host's offer while its containers take `taken`.

        Numbers are negative if the containers take more. The memory of each GPU stays the same.
        """
        used = list(taken)
        return replace(
            self,
            cpus=self.cpus - sum(each.cpus for each in used),
            memory_bytes=self.memory_bytes - sum(each.memory_bytes for each in used),
            gpus=self.gpus - sum(each.gpus for each in used),
        )


@dataclass(frozen=True, kw_only=True)
class ContainerLimits:
    """Limits of one container of a submitted image or of a custom scorer.

    wall_seconds: from start to end of the container. cpus: number of processors, may be a fraction. processes: number
    of processes and threads at a time. image_bytes: of the image's unpacked layers, and also of its archive.
    output_bytes: of all files in /output together. output_files: number of files and folders in /output. log_bytes:
    stored from the end of the printed output. gpus: number of GPUs, which only workers of the queue `systems-gpu` have.
    gpu_memory_gb: minimum memory of each GPU; 0: any.
    """

    wall_seconds: float
    memory_bytes: int
    cpus: float
    processes: int
    image_bytes: int
    output_bytes: int
    output_files: int
    log_bytes: int
    gpus: int = 0
    gpu_memory_gb: int = 0

    def check_archive(self, n_bytes: int) -> None:
        """Raise Refused EMPTY_FILE or TOO_LARGE unless an image's archive of `n_bytes` is within the limit."""
        if not 1 <= n_bytes <= self.image_bytes:
            raise Refused(
                Code.TOO_LARGE if n_bytes else Code.EMPTY_FILE,
                f"The archive has {n_bytes:,} bytes; expected 1 to {self.image_bytes:,}.",
            )

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def resources(self) -> Resources:
        return Resources(
            cpus=self.cpus, memory_bytes=self.memory_bytes, gpus=self.gpus, gpu_memory_gb=self.gpu_memory_gb
        )


def defaults() -> ContainerLimits:
    """Return the default limits of submitted containers, from the operator's settings HOLDOUT_SYSTEM_...; no GPUs."""
    return ContainerLimits(
        wall_seconds=settings.SYSTEM_SECONDS,
        memory_bytes=settings.SYSTEM_MEMORY_MB * MB,
        cpus=settings.SYSTEM_CPUS,
        processes=settings.SYSTEM_PROCESSES,
        image_bytes=settings.SYSTEM_IMAGE_MB * MB,
        output_bytes=settings.SYSTEM_OUTPUT_MB * MB,
        output_files=settings.SYSTEM_OUTPUT_FILES,
        log_bytes=settings.SYSTEM_LOG_KB * 1000,
    )


def of_scorer() -> ContainerLimits:
    """Return the limits of a custom scorer's container. Only the operator sets them, because scorers read gold."""
    return replace(
        defaults(),
        wall_seconds=settings.SCORER_SECONDS,
        memory_bytes=settings.SCORER_MEMORY_MB * MB,
        output_bytes=settings.SCORER_OUTPUT_MB * MB,
    )


def of(phase: Phase) -> ContainerLimits:
    """Return the limits of the containers submitted to a phase: the defaults with the phase's changes and GPUs."""
    return replace(with_changes(phase.limits), gpus=phase.gpus, gpu_memory_gb=phase.gpu_memory_gb)


def with_changes(changes: dict[str, Any]) -> ContainerLimits:
    """Return the default limits with some values replaced.

    changes: new values by the names of fields of ContainerLimits, except `gpus` and `gpu_memory_gb`. Raises ValueError,
    whose message names the limit, for an unknown name or an invalid value.
    """
    limits = {name: value for name, value in defaults().as_dict().items() if name not in ("gpus", "gpu_memory_gb")}
    for name, value in changes.items():
        if name not in limits:
            raise ValueError(f"unknown limit {name!r}, expected one of {', '.join(limits)}")
        is_integer = name not in ("wall_seconds", "cpus")
        if isinstance(value, bool) or not isinstance(value, int if is_integer else int | float):
            raise ValueError(f"limit {name} is {value!r}, expected a {'whole ' if is_integer else ''}number")
        # A container engine rounds processors to billionths and treats zero as unlimited, hence the minimum of 0.01.
        minimum = 0.01 if name == "cpus" else 1
        if not minimum <= value < math.inf:
            raise ValueError(f"limit {name} is {value!r}, expected {minimum} or more")
    return ContainerLimits(**{**limits, **changes})

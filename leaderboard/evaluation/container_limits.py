"""What a submitted container may use: the operator's defaults, and what a phase sets instead."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Any

from django.conf import settings

from leaderboard.models import Phase

MB = 1_000_000


@dataclass(frozen=True, kw_only=True)
class ContainerLimits:
    """Limits of one container. Sizes are bytes, `cpus` processors; `gpus` asks for a worker that has them."""

    wall_seconds: float
    memory_bytes: int
    cpus: float
    processes: int
    image_bytes: int
    output_bytes: int
    output_files: int
    log_bytes: int
    gpus: int = 0

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def defaults() -> ContainerLimits:
    """The operator's."""
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
    """The limits of an organisers' own scorer: the operator's alone, since it is run where gold is."""
    return replace(
        defaults(),
        wall_seconds=settings.SCORER_SECONDS,
        memory_bytes=settings.SCORER_MEMORY_MB * MB,
        output_bytes=settings.SCORER_OUTPUT_MB * MB,
    )


def of(phase: Phase) -> ContainerLimits:
    """The limits of a phase's containers."""
    return with_changes(phase.limits)


def with_changes(changes: dict[str, Any]) -> ContainerLimits:
    """The defaults with some of them changed; raises ValueError that names what is wrong with a change."""
    known = defaults().as_dict()
    for name, value in changes.items():
        if name not in known:
            raise ValueError(f"unknown limit {name!r}, expected one of {', '.join(known)}")
        whole = name not in ("wall_seconds", "cpus")
        if isinstance(value, bool) or not isinstance(value, int if whole else int | float):
            raise ValueError(f"limit {name} is {value!r}, expected a {'whole ' if whole else ''}number")
        # An engine counts billionths of a processor, and takes none of them for no limit.
        least = {"gpus": 0, "cpus": 0.01}.get(name, 1)
        if not least <= value < math.inf:
            raise ValueError(f"limit {name} is {value!r}, expected {least} or more")
    return ContainerLimits(**{**known, **changes})

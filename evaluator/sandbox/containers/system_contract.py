"""Contract of the container sandbox: inputs, outputs and limits of a submitted system.

A system is a container image. Its container has these files:

    /input/inputs.jsonl   the split's public inputs, read-only
    /input/task.json      {"format_version", "task", "options", "limits", "inputs", "output"}

The system writes `/output/predictions.jsonl` (or else `predictions.jsonl.gz`), then exits with status 0. Environment
variables `HOLDOUT_*` repeat the task, the paths and the main limits. The system runs as nobody (uid 65534) on a
read-only root, without network and capabilities; `/tmp` is its scratch space and its HOME. `/tmp` and `/output` are in
memory and count towards its memory limit.

`evaluator.sandbox.containers.docker` runs the container.
"""

from __future__ import annotations

import enum
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from evaluator.errors import SandboxError
from evaluator.sandbox.contract import Verdict, check_limits

FORMAT_VERSION = 1
INPUTS = "/input/inputs.jsonl"
TASK = "/input/task.json"
OUTPUT = "/output/predictions.jsonl"
OUTPUT_PACKED = OUTPUT + ".gz"

_EXECUTION_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_IMAGE_ID = re.compile(r"sha256:[0-9a-f]{64}")
_COARSE = (10, 30, 60, 120, 300, 600, 1200, 1800, 3600)


class PublicClass(enum.StrEnum):
    """How a container ended, as shown to participants.

    The exit status is not shown: a system could choose among its 256 values to reveal something about hidden inputs.
    """

    COMPLETED = "completed"
    ERROR = "error"  # a non-zero status, a crash, or no usable output
    LIMIT = "limit"  # exceeded its time or memory limit


@dataclass(frozen=True, kw_only=True)
class SystemLimits:
    """Limits of one container. Sizes are bytes. `memory_bytes` includes `/tmp` and `/output`; there is no swap."""

    wall_seconds: float = 600.0  # from the container's start
    cpus: float = 1.0  # processors at a time
    memory_bytes: int = 4_000_000_000
    processes: int = 256  # processes and threads at a time
    tmp_bytes: int = 512 << 20
    output_bytes: int = 200_000_000  # of the predictions file, and of all files in /output together
    output_files: int = 64  # files and folders in /output
    open_files: int = 1024
    log_bytes: int = 64_000  # stored bytes from the end of its printed output

    def __post_init__(self) -> None:
        check_limits(vars(self))
        for name in ("memory_bytes", "processes", "tmp_bytes", "output_bytes", "output_files", "open_files"):
            if not isinstance(getattr(self, name), int):
                raise ValueError(f"limit {name} is {getattr(self, name)!r}, expected a whole number")
        if self.memory_bytes < 6 << 20:
            raise ValueError(
                f"limit memory_bytes is {self.memory_bytes}, expected at least {6 << 20}, the minimum of engines"
            )


@dataclass(frozen=True, kw_only=True)
class SystemExecution:
    """One execution of one image on one file of inputs.

    execution_id: the caller's name for the execution, unique among those in progress (such as a prediction's id and
    attempt), by which a backend finds its job again. image: `sha256:...`, as returned by loading or pulling, never a
    tag. inputs: an open read-only descriptor of a regular file; it is not closed, and its offset does not change. gpus:
    number of GPUs, each with at least `gpu_memory_bytes`, that no other execution uses.
    """

    execution_id: str
    image: str
    inputs: int
    task: str
    options: Mapping[str, Any] = field(default_factory=dict)
    limits: SystemLimits = field(default_factory=SystemLimits)
    gpus: int = 0
    gpu_memory_bytes: int = 0

    def __post_init__(self) -> None:
        check_names(self.execution_id, self.image)


def check_names(execution_id: str, image: str) -> None:
    """Raise ValueError unless `execution_id` is a valid name and `image` is an image's id (`sha256:...`)."""
    if not _EXECUTION_ID.fullmatch(execution_id):
        raise ValueError(f"execution_id is {execution_id!r}, expected 1 to 64 of A-Z a-z 0-9 _ . -")
    if not _IMAGE_ID.fullmatch(image):
        raise ValueError(f"image is {image[:80]!r}, expected sha256: and 64 hexadecimal digits")


@dataclass(frozen=True, kw_only=True)
class Usage:
    """Resource usage of a container, sampled from the engine while it ran.

    cpu_seconds: processor time until the last sample, which was `gap_seconds` before the end. peak_memory_bytes: the
    kernel's own maximum if the engine reports it (cgroup 1); otherwise the largest sample (`peak_is_sampled` is True),
    which can miss a short peak; page cache and tmpfs count. Both are None if the container ended before the first
    sample. gpu_seconds: time in which its GPUs computed, and peak_gpu_memory_bytes: the largest sample of their memory,
    both of all its GPUs together; None without GPUs.
    """

    cpu_seconds: float | None = None
    peak_memory_bytes: int | None = None
    peak_is_sampled: bool = False
    samples: int = 0
    gap_seconds: float = 0.0  # from the last sample to the end of the container
    gpu_seconds: float | None = None
    peak_gpu_memory_bytes: int | None = None


@dataclass(frozen=True, kw_only=True)
class SystemResult:
    """Result of a system's or scorer's container.

    Of a system's result participants may see `public_class`, `public_seconds` and `explanation`, of a scorer's nothing.
    `log`, `exit_code` and exact times are for organisers: each could leak hidden inputs.
    """

    verdict: Verdict
    explanation: str  # the sandbox's own sentence, without any content that the container chose
    exit_code: int | None = None  # None if it was killed or did not start
    output_name: str = ""  # predictions.jsonl or predictions.jsonl.gz; empty unless the verdict is DONE
    output_bytes: int = 0
    output_sha256: str = ""
    outputs: Mapping[str, int] = field(default_factory=dict)  # all copied files: name -> bytes
    wall_seconds: float = 0.0  # of the container, start to end
    total_seconds: float = 0.0  # from request to result
    timings: Mapping[str, float] = field(default_factory=dict)  # step of the sandbox, such as prepare -> seconds
    usage: Usage = field(default_factory=Usage)
    image_bytes: int = 0  # the image's uncompressed size
    log: str = ""  # the end of its standard output and error, without control characters
    log_is_cut: bool = False
    layers: Mapping[str, bool | str] = field(default_factory=dict)  # layers of confinement by name, with the runtime
    gpus: tuple[str, ...] = ()  # models of the GPUs that it had

    @property
    def public_class(self) -> PublicClass:
        if self.verdict is Verdict.DONE:
            return PublicClass.COMPLETED
        return PublicClass.LIMIT if self.verdict in {Verdict.TIME, Verdict.MEMORY} else PublicClass.ERROR

    @property
    def public_seconds(self) -> int:
        """Wall time in seconds, rounded up to a coarse step (10 s to one hour, then whole hours)."""
        steps = (step for step in _COARSE if self.wall_seconds <= step)
        return next(steps, math.ceil(self.wall_seconds / 3600) * 3600)


class ImageMissingError(SandboxError):
    """The engine does not have the image (any more). The caller should load or pull it again, then retry."""


class KilledError(SandboxError):
    """The container ended with status 137 (128 + SIGKILL): it was killed from outside, or exited with this status.

    The caller must limit retries, since a system could end like this every time.
    """


class CancelledError(SandboxError):
    """The execution was cancelled because `keep_going` returned False. It has no valid output."""


@dataclass(frozen=True, kw_only=True)
class LoadedImage:
    """An image on the engine. id: the value for `SystemExecution.image`. size: its uncompressed bytes."""

    id: str
    size: int

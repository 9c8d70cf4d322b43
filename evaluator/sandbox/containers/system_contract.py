"""What a submitted system is given, and what comes back: the contract of the container sandbox.

A system is a container image. It finds

    /input/inputs.jsonl   the split's public inputs, read-only
    /input/task.json      {"format_version", "task", "options", "limits", "inputs", "output"}

and writes `/output/predictions.jsonl` (or, without that, `predictions.jsonl.gz`), then exits with status 0. The same
facts stand in its environment as `HOLDOUT_*`. It runs as nobody (65534) on a read-only root, without network and
capabilities; `/tmp` is its scratch space and its HOME. `/tmp` and `/output` lie in memory and count towards it.

This module knows no engine; `evaluator.sandbox.containers.docker.DockerSandbox` does what it says.
"""

from __future__ import annotations

import enum
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Protocol

from evaluator.errors import SandboxError
from evaluator.sandbox.containers.image_reader import ImageArchive
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
    """All that a participant learns of how a container ended: an exit status has 256 values, and could tell inputs."""

    COMPLETED = "completed"
    ERROR = "error"  # a status that is not 0, a crash, or no output that can be used
    LIMIT = "limit"  # over its time or memory


@dataclass(frozen=True, kw_only=True)
class SystemLimits:
    """What one execution may use. Sizes are bytes. `memory_bytes` holds `/tmp` and `/output` too; there is no swap."""

    wall_seconds: float = 600.0  # from the container's start
    cpus: float = 1.0  # processors at a time
    memory_bytes: int = 4_000_000_000
    processes: int = 256  # processes and threads at a time
    tmp_bytes: int = 512 << 20
    output_bytes: int = 200_000_000  # of the predictions file; the folder has little more room
    output_files: int = 64  # files and folders that /output can hold
    open_files: int = 1024
    log_bytes: int = 64_000  # the end of what it prints, which is kept

    def __post_init__(self) -> None:
        check_limits(vars(self))
        for name in ("memory_bytes", "processes", "tmp_bytes", "output_bytes", "output_files", "open_files"):
            if not isinstance(getattr(self, name), int):
                raise ValueError(f"limit {name} is {getattr(self, name)!r}, expected a whole number")
        if self.memory_bytes < 6 << 20:
            raise ValueError(f"limit memory_bytes is {self.memory_bytes}, expected 6 MiB or more: no engine takes less")


@dataclass(frozen=True, kw_only=True)
class SystemExecution:
    """One execution of one image on one file of inputs.

    execution_id: the caller's name for it, unique among those under way (a prediction's id and attempt): the reaper
    knows it by that. image: `sha256:...`, as loading or pulling gave it, never a tag. inputs: an open read-only
    descriptor of a regular file, neither moved nor closed. gpus: refused, unless 0.
    """

    execution_id: str
    image: str
    inputs: int
    task: str
    options: Mapping[str, Any] = field(default_factory=dict)
    limits: SystemLimits = field(default_factory=SystemLimits)
    gpus: int = 0

    def __post_init__(self) -> None:
        check_names(self.execution_id, self.image)


def check_names(execution_id: str, image: str) -> None:
    """Raises ValueError for a name that an engine would not take, or an image that is not named by its id."""
    if not _EXECUTION_ID.fullmatch(execution_id):
        raise ValueError(f"execution_id is {execution_id!r}, expected 1 to 64 of A-Z a-z 0-9 _ . -")
    if not _IMAGE_ID.fullmatch(image):
        raise ValueError(f"image is {image[:80]!r}, expected sha256: and 64 hexadecimal digits")


@dataclass(frozen=True, kw_only=True)
class Usage:
    """What a container was seen to use, by asking the engine while it ran.

    cpu_seconds: at the last look, so at most `gap_seconds` of running short. peak_memory_bytes: the kernel's own
    maximum where it keeps one that the engine passes on (cgroup 1), else the largest sample (`peak_is_sampled`), which
    a short peak escapes; page cache and tmpfs count. None: it ended before the first look.
    """

    cpu_seconds: float | None = None
    peak_memory_bytes: int | None = None
    peak_is_sampled: bool = False
    samples: int = 0
    gap_seconds: float = 0.0  # from the last look to the end


@dataclass(frozen=True, kw_only=True)
class SystemResult:
    """What came out of a system's container, or a scorer's. Only `public_class`, `public_seconds` and `explanation` of
    a system are for participants.

    `log`, `exit_code` and exact times are the organisers': where inputs are hidden, each could carry them out.
    """

    verdict: Verdict
    explanation: str  # our own sentence, with nothing in it that the container chose
    exit_code: int | None = None  # None: it was killed, or did not start
    output_name: str = ""  # predictions.jsonl or predictions.jsonl.gz; empty unless the verdict is DONE
    output_bytes: int = 0
    output_sha256: str = ""
    outputs: Mapping[str, int] = field(default_factory=dict)  # all files that were fetched: name -> bytes
    wall_seconds: float = 0.0  # of the container, start to end
    total_seconds: float = 0.0  # from request to result
    timings: Mapping[str, float] = field(default_factory=dict)  # seconds of each step of ours
    usage: Usage = field(default_factory=Usage)
    image_bytes: int = 0  # unpacked
    log: str = ""  # the end of its standard output and error, without control characters
    log_is_cut: bool = False
    layers: Mapping[str, bool | str] = field(default_factory=dict)  # as for `contract.Result`, and the runtime

    @property
    def public_class(self) -> PublicClass:
        if self.verdict is Verdict.DONE:
            return PublicClass.COMPLETED
        return PublicClass.LIMIT if self.verdict in {Verdict.TIME, Verdict.MEMORY} else PublicClass.ERROR

    @property
    def public_seconds(self) -> int:
        """The wall time rounded up to a coarse step (10 s to an hour, then whole hours)."""
        steps = (step for step in _COARSE if self.wall_seconds <= step)
        return next(steps, math.ceil(self.wall_seconds / 3600) * 3600)


class ImageMissingError(SandboxError):
    """The engine no longer has the image: load or pull it again, then retry."""


class KilledError(SandboxError):
    """It ended with status 137: killed from outside, or it chose this status itself. Who retries must not do so for
    ever: a system that always ends like this would be run for nothing.
    """


class CancelledError(SandboxError):
    """`keep_going` said no; the container is gone and nothing was written that counts."""


@dataclass(frozen=True, kw_only=True)
class LoadedImage:
    """An image that the engine has. `id` is what SystemExecution.image wants; `size` is unpacked bytes."""

    id: str
    size: int


class SystemSandbox(Protocol):
    """Runs submitted systems."""

    def load(self, archive: ImageArchive) -> LoadedImage:
        """Give the engine an image that `images.read_image` has read; loading it twice is fine, no tag is touched.

        Raises SandboxError, and ImageError where the engine makes of it what its config does not say.
        """

    def pull(self, reference: str) -> LoadedImage:
        """Fetch `registry/name@sha256:...` from a registry that the operator allowed. Raises ImageError, SandboxError.

        The engine unpacks what a registry sends, without our caps on layers: allow registries that you trust.
        """

    def forget(self, image: str) -> bool:
        """Remove an image by id; False when it is gone already, in use, or carries a tag (then it is not ours)."""

    def run(
        self, execution: SystemExecution, predictions: BinaryIO, *, keep_going: Callable[[], bool] | None = None
    ) -> SystemResult:
        """Run a system to its end and write its predictions file, as it is, to `predictions`.

        At most `output_bytes` are written; what is there counts only if the verdict is DONE. keep_going: asked about
        once a second while the container runs (a place to renew a lease); False ends it and raises CancelledError.

        Raises SandboxError (ours, may be retried; ImageMissingError and CancelledError are such), ImageError (the
        image itself must not be run: theirs) and UsageError (a GPU, or a limit that this engine cannot hold). Whatever
        happens, no container and no volume of this execution is left, unless the engine itself is gone: then the
        reaper removes them.
        """

    def reap(self, *, keep: frozenset[str] | Callable[[], frozenset[str]] = frozenset()) -> list[str]:
        """Remove what a dead worker left: containers and volumes of this instance's label, save executions in `keep`.

        keep: a function is asked after the engine was: an execution that is noted before its container is made is then
        never taken for a dead one. Returns what was removed, in words. Raises SandboxError.
        """

    def layers(self) -> Mapping[str, bool | str]:
        """Run a container as a system's would be and tell what holds there: the health check. Raises SandboxError."""

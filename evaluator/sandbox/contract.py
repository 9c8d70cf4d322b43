"""Interface of sandboxes: executions, limits, results, and verdicts on failed jobs."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol


class Verdict(enum.StrEnum):
    """How a job ended. All but DONE are the job's own fault and final: a retry would end the same."""

    DONE = "done"
    EXIT = "exit"  # it raised, exited non-zero or crashed
    TIME = "time"  # wall or processor time ran out
    MEMORY = "memory"  # it exceeded its memory limit
    OUTPUT = "output"  # its report is too large, malformed, or not representable in JSON (NaN)


def check_limits(limits: Mapping[str, object]) -> None:
    """Raise ValueError unless each limit is a number above 0."""
    for name, value in limits.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
            raise ValueError(f"limit {name} is {value!r}, expected a number above 0")


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Resource limits of one job. Sizes are bytes; `memory_bytes` is added to the sandbox's own size."""

    wall_seconds: float = 20.0
    cpu_seconds: float = 20.0
    memory_bytes: int = 1 << 30
    processes: int = 1  # the process sandbox forks once and allows no more, whatever this value
    output_bytes: int = 64 << 20  # report and attachment together
    output_files: int = 1  # of a container; a process job writes to a pipe and to no file
    log_bytes: int = 4096  # of the diagnosis in the operator's log

    def __post_init__(self) -> None:
        check_limits(vars(self))


@dataclass(frozen=True, kw_only=True)
class Execution:
    """One job: its name, JSON-able arguments, and files as open read-only descriptors of regular files.

    The caller keeps ownership of the descriptors: they are not closed, and their offsets do not change.
    """

    job: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, int] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, kw_only=True)
class Result:
    """Result of a job. `report` is None unless the verdict is DONE; its content is untrusted."""

    verdict: Verdict
    report: dict[str, Any] | None = None
    attachment: bytes = b""
    wall_seconds: float = 0.0  # request to result
    start_seconds: float = 0.0  # request to a confined child that is ready
    layers: Mapping[str, bool | str] = field(default_factory=dict)
    code_sha256: str = ""  # of the sources that the sandbox runs (evaluator.code_digest); empty if unknown
    error_id: str = ""  # of an EXIT: identifies the operator's log line; the only thing a participant may see


class Sandbox(Protocol):
    """Runs jobs that may be hostile."""

    def run(self, execution: Execution) -> Result:
        """Run one job to its end.

        Raises SandboxError if the sandbox itself failed (gone, overloaded, broken): the job may be run again.
        """

    def layers(self) -> Mapping[str, bool | str]:
        """Return the active layers of confinement. Raises SandboxError if the sandbox does not respond."""

"""Interface of sandboxes: executions, limits, results and verdicts."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol


class Verdict(enum.StrEnum):
    """How a job ended.

    If the verdict is not DONE, the job itself is at fault, and a retry would end in the same way.
    """

    DONE = "done"
    EXIT = "exit"  # it raised, exited non-zero or crashed
    TIME = "time"  # it used up its processor time; a container, its wall time
    MEMORY = "memory"  # it exceeded its memory limit
    OUTPUT = "output"  # its report is too large, malformed, or not representable in JSON (NaN)


def check_limits(limits: Mapping[str, object]) -> None:
    """Raise ValueError unless each limit is a number above 0."""
    for name, value in limits.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
            raise ValueError(f"limit {name} is {value!r}, expected a number above 0")


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Resource limits of one job. Sizes are bytes; `memory_bytes` does not include the memory of the sandbox itself.

    A job in the process sandbox that exceeds `cpu_seconds` has the verdict TIME. If it exceeds `wall_seconds` first,
    the sandbox has failed and not the job: it got too little processor time, because the machine was busy.
    """

    wall_seconds: float = 20.0
    cpu_seconds: float = 20.0
    memory_bytes: int = 1 << 30
    processes: int = 1  # the process sandbox forks once and allows no more, whatever this value
    output_bytes: int = 64 << 20  # report and attachment together
    output_files: int = 1  # of a container; a process job writes to a pipe and to no file
    log_bytes: int = 4096  # of the error description that goes to the operator's log

    def __post_init__(self) -> None:
        check_limits(vars(self))


@dataclass(frozen=True, kw_only=True)
class Execution:
    """One job to run: its name, its arguments (JSON values), its limits, and its files by name.

    A file is given as an open read-only descriptor of a regular file.

    The caller keeps ownership: descriptors are not closed, and their offsets do not change.
    """

    job: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, int] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, kw_only=True)
class Result:
    """Result of a job.

    report: the JSON object that the job returned; None unless the verdict is DONE. attachment: the bytes that it
    returned with the report. Both are untrusted. layers: the layers that confined the job, by name.
    """

    verdict: Verdict
    report: dict[str, Any] | None = None
    attachment: bytes = b""
    wall_seconds: float = 0.0  # from the request to the result
    cpu_seconds: float = 0.0  # processor time of a process job; 0 if it was ended because its report is too large
    start_seconds: float = 0.0  # from the request until the confined process was ready to run the job
    layers: Mapping[str, bool | str] = field(default_factory=dict)
    code_sha256: str = ""  # of the sources that the sandbox runs (evaluator.code_digest); empty if unknown
    # For the verdict EXIT: identifies the line of the operator's log. Participants may see no more of the error.
    error_id: str = ""


class Sandbox(Protocol):
    """Interface of a sandbox, which runs jobs that may be hostile."""

    def run(self, execution: Execution) -> Result:
        """Run one job to its end.

        Raises SandboxError if the sandbox itself failed (gone, overloaded, broken): the job may be run again. Raises
        SandboxTimeoutError, its subclass, if the sandbox did not respond in time, or if the job reached its limit of
        wall time before that of processor time.
        """

    def layers(self) -> Mapping[str, bool | str]:
        """Return name -> state of all layers of confinement: True or False, or a text that describes an active layer.

        Raises SandboxError if the sandbox does not respond.
        """

"""Resource limits of a job. They are only lowered, which needs no capability."""

from __future__ import annotations

import math
import resource

from evaluator.sandbox.contract import Limits

CPU_GRACE = 1  # seconds from SIGXCPU, which a process with pid 1 ignores, to the kernel's SIGKILL


def table(limits: Limits, *, size: int, descriptors: int) -> dict[int, tuple[int, int]]:
    """Return the limits of a job's process: RLIMIT_* number -> (soft limit, hard limit).

    size: bytes of address space that the process has before the job starts, which are added to the job's limit;
    descriptors: maximum number of open descriptors.
    """
    memory = size + limits.memory_bytes
    cpu = math.ceil(limits.cpu_seconds)
    return {
        resource.RLIMIT_AS: (memory, memory),
        resource.RLIMIT_CPU: (cpu, cpu + CPU_GRACE),
        resource.RLIMIT_NPROC: (0, 0),
        resource.RLIMIT_FSIZE: (0, 0),
        resource.RLIMIT_NOFILE: (descriptors, descriptors),
        resource.RLIMIT_CORE: (0, 0),
        resource.RLIMIT_MEMLOCK: (0, 0),
        resource.RLIMIT_MSGQUEUE: (0, 0),
    }


def apply(limits: Limits, *, size: int, descriptors: int) -> None:
    """Set the resource limits of this process. size, descriptors: as for `table`.

    Raises OSError or ValueError if a limit cannot be set, or has another value when it is read back.
    """
    for kind, (soft, hard) in table(limits, size=size, descriptors=descriptors).items():
        ceiling = resource.getrlimit(kind)[1]
        expected = (soft, hard) if ceiling == resource.RLIM_INFINITY else (min(soft, ceiling), min(hard, ceiling))
        resource.setrlimit(kind, expected)
        if (actual := resource.getrlimit(kind)) != expected:
            raise OSError(f"resource limit {kind} reads back as {actual}, expected {expected}")

"""The resource limits of a job. Root without CAP_SYS_RESOURCE may lower them too, which is all that is done."""

from __future__ import annotations

import math
import resource

from evaluator.sandbox.contract import Limits

CPU_GRACE = 1  # seconds from SIGXCPU, which a process with pid 1 ignores, to the kernel's SIGKILL


def table(limits: Limits, *, size: int, descriptors: int) -> dict[int, tuple[int, int]]:
    """Limit -> (soft, hard).

    size: bytes of address space that the process has before the job; descriptors: how many it may have open.
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
    """Raises OSError or ValueError where a limit cannot be set or does not read back."""
    for kind, (soft, hard) in table(limits, size=size, descriptors=descriptors).items():
        ceiling = resource.getrlimit(kind)[1]
        wanted = (soft, hard) if ceiling == resource.RLIM_INFINITY else (min(soft, ceiling), min(hard, ceiling))
        resource.setrlimit(kind, wanted)
        if (found := resource.getrlimit(kind)) != wanted:
            raise OSError(f"resource limit {kind} reads back as {found}, expected {wanted}")

"""Confinement of a job's process, so that it can only compute and write one report. The order of the steps matters.

User and group ids are dropped before capabilities, since dropping ids needs capabilities. no_new_privs is set before
Landlock and seccomp, which both require it. Resource limits are set after Landlock, which briefly needs a descriptor.
The seccomp filter is installed last, since it refuses the calls of all other steps.
"""

from __future__ import annotations

import os
import signal

from evaluator.sandbox.confinement import landlock, rlimits, seccomp, syscalls
from evaluator.sandbox.confinement.layers import Layers, drop_uid
from evaluator.sandbox.contract import Limits

NULL = (0, 1, 2)  # a job's standard streams are discarded
REPORT, STATUS, FIRST_FILE = 3, 4, 5
WRITABLE = (REPORT, STATUS, 1, 2)


def arrange(*, null: int, report: int, status: int, files: list[int]) -> None:
    """Move the descriptors to the numbers that the job expects, and close all others.

    null: /dev/null, moved to 0, 1 and 2. report, status: the pipes that the job writes to, moved to 3 and 4. files: the
    job's files, moved to FIRST_FILE and on.
    """
    targets = [null, null, null, report, status, *files]
    copies = [_above(descriptor, len(targets)) for descriptor in targets]
    for number, descriptor in enumerate(copies):
        os.dup2(descriptor, number, inheritable=False)
    os.closerange(len(targets), os.sysconf("SC_OPEN_MAX") if os.sysconf("SC_OPEN_MAX") > 0 else 1 << 20)


def _above(descriptor: int, least: int) -> int:
    """Return a copy of the descriptor with a number of at least `least`, so that no later dup2 overwrites it."""
    import fcntl

    return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, least)


def confine(limits: Limits, layers: Layers, *, size: int, descriptors: int) -> None:
    """Apply every layer of confinement to this process.

    size: bytes of address space that the process has already. descriptors: the maximum number of open descriptors.
    Raises OSError, ValueError or KeyError, after which the process must not continue.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN if number == signal.SIGINT else signal.SIG_DFL)
    if layers.uid_drop:
        drop_uid()
    syscalls.drop_capabilities()
    syscalls.prctl(syscalls.PR_SET_PDEATHSIG, signal.SIGKILL)
    syscalls.prctl(syscalls.PR_SET_DUMPABLE, 0)
    syscalls.prctl(syscalls.PR_SET_NO_NEW_PRIVS, 1)
    if syscalls.prctl(syscalls.PR_GET_NO_NEW_PRIVS) != 1:
        raise OSError("no_new_privs is not set")
    if layers.landlock:
        landlock.restrict(layers.landlock)
    rlimits.apply(limits, size=size, descriptors=descriptors)
    seccomp.install(WRITABLE)

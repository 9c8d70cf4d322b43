"""From a fresh fork of the server to a process that can compute and write one report, in this order for a reason.

Ids before capabilities (dropping ids needs them), no_new_privs before Landlock and seccomp (both ask for it),
limits after Landlock (it needs a descriptor for a moment), seccomp last (it refuses all of the above).
"""

from __future__ import annotations

import os
import signal

from evaluator.sandbox.confinement import landlock, rlimits, seccomp, syscalls
from evaluator.sandbox.confinement.layers import Layers, drop_uid
from evaluator.sandbox.contract import Limits

NULL = (0, 1, 2)  # what a job prints goes nowhere
REPORT, STATUS, FIRST_FILE = 3, 4, 5
WRITABLE = (REPORT, STATUS, 1, 2)


def arrange(*, null: int, report: int, status: int, files: list[int]) -> None:
    """Put the descriptors where the job expects them, the files from FIRST_FILE on, and close all others."""
    wanted = [null, null, null, report, status, *files]
    spare = [_above(descriptor, len(wanted)) for descriptor in wanted]
    for place, descriptor in enumerate(spare):
        os.dup2(descriptor, place, inheritable=False)
    os.closerange(len(wanted), os.sysconf("SC_OPEN_MAX") if os.sysconf("SC_OPEN_MAX") > 0 else 1 << 20)


def _above(descriptor: int, least: int) -> int:
    """A copy with a number that no later dup2 overwrites."""
    import fcntl

    return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, least)


def confine(limits: Limits, layers: Layers, *, size: int, descriptors: int) -> None:
    """Apply every layer to this process. Raises OSError, ValueError or KeyError: then it must not go on."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN if number == signal.SIGINT else signal.SIG_DFL)
    if layers.uid_drop:
        drop_uid()
    syscalls.drop_capabilities()
    syscalls.prctl(syscalls.PR_SET_PDEATHSIG, signal.SIGKILL)
    syscalls.prctl(syscalls.PR_SET_DUMPABLE, 0)
    syscalls.prctl(syscalls.PR_SET_NO_NEW_PRIVS, 1)
    if syscalls.prctl(syscalls.PR_GET_NO_NEW_PRIVS) != 1:
        raise OSError("no_new_privs does not hold")
    if layers.landlock:
        landlock.restrict(layers.landlock)
    rlimits.apply(limits, size=size, descriptors=descriptors)
    seccomp.install(WRITABLE)

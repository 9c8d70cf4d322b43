"""Self-test of the required layers: a real job process attempts every forbidden action.

If a required layer is missing, the server refuses to start and says what to change.
"""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import socket
import sys
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO

from evaluator.errors import SandboxError
from evaluator.sandbox.confinement import syscalls
from evaluator.sandbox.confinement.apply import FIRST_FILE
from evaluator.sandbox.confinement.layers import Layers
from evaluator.sandbox.contract import Limits, Verdict
from evaluator.sandbox.process import protocol
from evaluator.sandbox.process.job import Forker, HostDescriptors

SELF_TEST = "sandbox-self-test"
_PAGE = 4096
_READ_EXEC, _PRIVATE_ANONYMOUS = 0x5, 0x22


def _libc(name: str, *arguments: object) -> Callable[[], int]:
    function = getattr(syscalls.LIBC, name)
    return lambda: int(function(*arguments))


_FORBIDDEN: dict[str, Callable[[], int]] = {
    "open a file": _libc("open", b"/", 0),
    "stat a file": _libc("access", b"/", 0),
    "make a socket": _libc("socket", socket.AF_UNIX, socket.SOCK_STREAM, 0),
    "run a program": _libc("execv", b"/bin/true", None),
    "send a signal": _libc("kill", 0, signal.SIGCONT),
    "change itself": _libc("prctl", syscalls.PR_SET_DUMPABLE, 1, 0, 0, 0),
    "copy a descriptor": _libc("dup", 0),
    "map executable memory": lambda: -1 if _map_executable() in (None, ctypes.c_void_p(-1).value) else 0,
}


def _map_executable() -> int | None:
    syscalls.LIBC.mmap.restype = ctypes.c_void_p
    address: int | None = syscalls.LIBC.mmap(
        None, ctypes.c_size_t(_PAGE), _READ_EXEC, _PRIVATE_ANONYMOUS, -1, ctypes.c_long(0)
    )
    return address


def attempt_everything(_: Mapping[str, BinaryIO], __: Mapping[str, Any]) -> tuple[dict[str, Any], bytes]:
    """Try every forbidden action, and look for inherited descriptors. This is the self-test's job.

    The report lists the actions that were not refused with EPERM, and the open descriptors from FIRST_FILE on.
    """
    allowed = []
    for name, attempt in _FORBIDDEN.items():
        ctypes.set_errno(0)
        if attempt() != -1 or ctypes.get_errno() != errno.EPERM:
            allowed.append(name)
    try:
        if os.fork() == 0:
            os._exit(0)
        allowed.append("fork")
    except PermissionError:
        pass
    inherited = [descriptor for descriptor in range(FIRST_FILE, 1024) if _is_open(descriptor)]
    return {"allowed": allowed, "descriptors": inherited}, b""


def _is_open(descriptor: int) -> bool:
    try:
        os.pread(descriptor, 1, 0)  # a pipe or socket answers ESPIPE
    except OSError as problem:
        return problem.errno != errno.EBADF
    return True


def check(layers: Layers, descriptors: HostDescriptors) -> None:
    """Run a job that tests its own confinement.

    Raises SandboxError, with the cause and advice, if a required layer does not hold or no job can be started.
    """
    forker = Forker({SELF_TEST: attempt_everything}, layers, descriptors)
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    report_read, report_write = os.pipe2(os.O_CLOEXEC)
    try:
        order = protocol.Order(job=SELF_TEST, arguments={}, files=[])
        socket.send_fds(ours, [protocol.pack(order)], [report_write])
        os.close(report_write)
        job = forker.fork(theirs, Limits(wall_seconds=30, cpu_seconds=30))
        ended = job.finish()
        os.close(job.status)
        os.close(job.pidfd)
        received = os.read(report_read, 1 << 16)
    except OSError as problem:
        raise SandboxError(f"a job process cannot be started: {problem}. {_ADVICE}") from None
    finally:
        os.close(report_read)
        ours.close()
        theirs.close()
    if ended.event == "failed":
        raise SandboxError(f"a required layer is refused: {ended.what}. {_ADVICE}")
    if ended.verdict != Verdict.DONE:
        raise SandboxError(f"the self-test ended with {ended.verdict}: {job.diagnosis}. {_ADVICE}")
    report, _ = protocol.read_frame(received)
    if report["allowed"] or report["descriptors"]:
        raise SandboxError(
            f"a job can still do this: {report['allowed']}; and it inherits these descriptors: "
            f"{report['descriptors'][:10]}. {_ADVICE}"
        )


_ADVICE = (
    "The sandbox needs no_new_privs, resource limits and seccomp filters: Linux 5.4 or later built with "
    "CONFIG_SECCOMP_FILTER, on x86_64 or aarch64; in a container, an engine whose seccomp profile is the default "
    "one or less strict (Docker 20.10 or later). This is "
    f"{os.uname().sysname} {os.uname().release} on {os.uname().machine}, Python {sys.version.split()[0]}."
)

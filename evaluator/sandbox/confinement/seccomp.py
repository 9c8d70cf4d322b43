"""Seccomp filter for jobs: an allow-list of system calls as a BPF program; every other call fails with EPERM.

No allowed call takes a path, creates a descriptor, a process or executable memory, or reaches another process. Files
are read only with pread, since a descriptor's own offset is shared with the client that sent the descriptor. A call
with the number of another architecture (i386, x32) kills the process. Source: seccomp(2), linux/seccomp.h,
linux/filter.h.
"""

from __future__ import annotations

import ctypes
import errno
import struct
from collections.abc import Sequence

from evaluator.sandbox.confinement import syscalls

# call: its number on (x86_64, aarch64); None where the architecture has no such call
CALLS: dict[str, tuple[int | None, int | None]] = {
    "close": (3, 57),
    "munmap": (11, 215),
    "brk": (12, 214),
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "pread64": (17, 67),
    "sched_yield": (24, 124),
    "mremap": (25, 216),
    "madvise": (28, 233),
    "nanosleep": (35, 101),
    "getpid": (39, 172),
    "exit": (60, 93),
    "gettimeofday": (96, 169),
    "getrusage": (98, 165),
    "getuid": (102, 174),
    "getgid": (104, 176),
    "geteuid": (107, 175),
    "getegid": (108, 177),
    "getppid": (110, 173),
    "sigaltstack": (131, 132),
    "gettid": (186, 178),
    "time": (201, None),
    "futex": (202, 98),
    "sched_getaffinity": (204, 123),
    "restart_syscall": (219, 128),
    "clock_gettime": (228, 113),
    "clock_getres": (229, 114),
    "clock_nanosleep": (230, 115),
    "exit_group": (231, 94),
    "preadv": (295, 69),
    "preadv2": (327, 286),  # glibc and Python may turn one into the other
    "getrandom": (318, 278),
}

WRITES = {"write": (1, 64), "writev": (20, 66)}  # allowed on the descriptors that the caller names
MAPPINGS = {"mmap": (9, 222), "mprotect": (10, 226)}  # allowed without PROT_EXEC

AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
COLUMN = {"x86_64": 0, "aarch64": 1}
X32_BIT = 0x40000000
PROT_EXEC = 4

ALLOW = 0x7FFF0000
REFUSE = 0x00050000 | errno.EPERM
KILL = 0x80000000

LOAD, JUMP_EQUAL, JUMP_AT_LEAST, JUMP_ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
NUMBER, ARCHITECTURE = 0, 4  # offsets in struct seccomp_data
ARGUMENT_0, ARGUMENT_2 = 16, 32  # lower 32 bits: both machines are little-endian, and only these bits count

Instruction = tuple[int, int, int, int]  # code, steps to jump if true, if false, operand


def program(machine: str, writable: Sequence[int]) -> list[Instruction]:
    """Return the filter's instructions. Raises KeyError for an architecture other than x86_64 and aarch64.

    machine: the architecture. writable: the descriptors that the process may write to.
    """
    column = COLUMN[machine]
    code: list[Instruction] = [
        (LOAD, 0, 0, ARCHITECTURE),
        (JUMP_EQUAL, 1, 0, AUDIT[machine]),
        (RETURN, 0, 0, KILL),
        (LOAD, 0, 0, NUMBER),
    ]
    if machine == "x86_64":
        code += [(JUMP_AT_LEAST, 0, 1, X32_BIT), (RETURN, 0, 0, KILL)]
    for numbers in CALLS.values():
        if (number := numbers[column]) is not None:
            code += [(JUMP_EQUAL, 0, 1, number), (RETURN, 0, 0, ALLOW)]
    for numbers in MAPPINGS.values():
        code += [
            (JUMP_EQUAL, 0, 4, numbers[column]),
            (LOAD, 0, 0, ARGUMENT_2),
            (JUMP_ANY_BIT, 0, 1, PROT_EXEC),
            (RETURN, 0, 0, REFUSE),
            (RETURN, 0, 0, ALLOW),
        ]
    for numbers in WRITES.values():
        code += [(JUMP_EQUAL, 0, 2 * len(writable) + 2, numbers[column]), (LOAD, 0, 0, ARGUMENT_0)]
        for descriptor in writable:
            code += [(JUMP_EQUAL, 0, 1, descriptor), (RETURN, 0, 0, ALLOW)]
        code.append((RETURN, 0, 0, REFUSE))
    code.append((RETURN, 0, 0, REFUSE))
    return code


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]


def install(writable: Sequence[int]) -> None:
    """Install the filter in this process, for good. `no_new_privs` must be set before.

    writable: the descriptors that the process may still write to. Raises OSError if the kernel refuses the filter,
    KeyError for an architecture other than x86_64 and aarch64.
    """
    code = program(syscalls.machine(), writable)
    text = b"".join(struct.pack("=HBBI", *instruction) for instruction in code)
    filter_mode = 2
    syscalls.prctl(syscalls.PR_SET_SECCOMP, filter_mode, ctypes.byref(_Program(len(code), text)))

"""System calls for which Python has no function, made through libc.

A function raises OSError, with the name of the call in its text, if the call fails.
"""

from __future__ import annotations

import ctypes
import os
import platform

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.syscall.restype = ctypes.c_long

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_SECCOMP = 22
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
PR_GET_NO_NEW_PRIVS = 39

CLONE_NEWNS = 0x00020000
CLONE_NEWCGROUP = 0x02000000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_RDONLY = 1
MS_NOSUID = 2
MS_NODEV = 4
MS_NOEXEC = 8
MS_REMOUNT = 32
MS_REC = 16384
MS_PRIVATE = 1 << 18
MNT_DETACH = 2

# Numbers on (x86_64, aarch64) of the calls for which not every libc has a wrapper.
NUMBERS = {
    "pivot_root": (155, 41),
    "capset": (126, 91),
    "landlock_create_ruleset": (444, 444),
    "landlock_restrict_self": (446, 446),
}


def machine() -> str:
    """Return this machine's architecture, such as `x86_64` or `aarch64`."""
    return platform.machine()


def _checked(result: int, name: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return result


def call(name: str, *arguments: object) -> int:
    """Make a system call by its name in NUMBERS. Integer arguments are passed as C longs.

    Returns the result of the call. Raises OSError if the call fails, KeyError for an unknown name or an architecture
    other than x86_64 and aarch64.
    """
    column = {"x86_64": 0, "aarch64": 1}[machine()]
    wide = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    return _checked(LIBC.syscall(ctypes.c_long(NUMBERS[name][column]), *wide), name)


def prctl(option: int, argument: int = 0, pointer: object = 0) -> int:
    third = ctypes.c_ulong(pointer) if isinstance(pointer, int) else pointer
    zero = ctypes.c_ulong(0)
    return _checked(LIBC.prctl(option, ctypes.c_ulong(argument), third, zero, zero), "prctl")


def unshare(flags: int) -> None:
    _checked(LIBC.unshare(flags), "unshare")


def setns(descriptor: int, kind: int) -> None:
    _checked(LIBC.setns(descriptor, kind), "setns")


def mount(source: str, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    texts = [None if text is None else text.encode() for text in (source, target, kind, data)]
    _checked(LIBC.mount(texts[0], texts[1], texts[2], ctypes.c_ulong(flags), texts[3]), "mount")


def umount(target: str, flags: int = 0) -> None:
    _checked(LIBC.umount2(target.encode(), flags), "umount2")


def pivot_root(new: str, old: str) -> None:
    call("pivot_root", ctypes.c_char_p(new.encode()), ctypes.c_char_p(old.encode()))


def drop_capabilities() -> None:
    """Drop every capability of this process. This needs no privilege. Raises OSError."""
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)  # version 3, this process
    nothing = (ctypes.c_uint32 * 6)()
    call("capset", header, nothing)

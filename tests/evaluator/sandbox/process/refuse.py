"""Run a command with some system calls refused, as a container engine's default profile refuses them.

    python refuse.py CALL[,CALL...] COMMAND...

It builds its own small filter, to be independent of the code under test.
"""

import ctypes
import errno
import os
import struct
import sys

NUMBERS = {  # (x86_64, aarch64)
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "landlock_create_ruleset": (444, 444),
    "pidfd_open": (434, 434),
    "seccomp_filter": (157, 167),  # prctl(PR_SET_SECCOMP)
}


def main():
    names, command = sys.argv[1].split(","), sys.argv[2:]
    column = os.uname().machine == "aarch64"
    code = [(0x20, 0, 0, 0)]
    for name in names:
        number = NUMBERS[name][column]
        if name == "seccomp_filter":
            code += [(0x15, 0, 3, number), (0x20, 0, 0, 16), (0x15, 0, 1, 22), (0x06, 0, 0, 0x50000 | errno.EINVAL)]
            code += [(0x20, 0, 0, 0)]
        else:
            code += [(0x15, 0, 1, number), (0x06, 0, 0, 0x50000 | errno.EPERM)]
    code.append((0x06, 0, 0, 0x7FFF0000))
    text = b"".join(struct.pack("=HBBI", *line) for line in code)
    libc = ctypes.CDLL(None, use_errno=True)

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]

    libc.prctl(38, 1, 0, 0, 0)  # no_new_privs: otherwise a filter needs CAP_SYS_ADMIN
    if libc.prctl(22, 2, ctypes.byref(Program(len(code), text)), 0, 0) != 0:
        sys.exit(f"no filter: {os.strerror(ctypes.get_errno())}")
    os.execvp(command[0], command)


main()

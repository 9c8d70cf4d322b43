"""Landlock rules: a job cannot open, change or run files, use TCP, or reach processes or abstract sockets outside it.

Landlock does not cover stat and similar calls; the seccomp filter denies them. Source: landlock(7), linux/landlock.h.
"""

from __future__ import annotations

import ctypes
import os

from evaluator.sandbox.confinement import syscalls

_VERSION = 1  # LANDLOCK_CREATE_RULESET_VERSION: query the ABI only
# ABI version: number of file access rights. Version 1 has bits 0 to 12; refer, truncate and device ioctl came later.
_FILE_BITS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
_NET_FROM, _SCOPE_FROM = 4, 6  # the ABI versions that added TCP ports and scopes
_TWO_BITS = 0b11  # for ports: bind and connect; for scopes: abstract sockets and signals


def abi() -> int:
    """Return the version of the kernel's Landlock ABI; 0 if the kernel has no Landlock or has it disabled."""
    try:
        return syscalls.call("landlock_create_ruleset", None, 0, _VERSION)
    except (OSError, KeyError):
        return 0


def restrict(version: int) -> None:
    """Deny this process every right that ABI `version` covers. `no_new_privs` must be set before. Raises OSError."""
    files = (1 << _FILE_BITS[min(version, max(_FILE_BITS))]) - 1
    ports = _TWO_BITS if version >= _NET_FROM else 0
    scopes = _TWO_BITS if version >= _SCOPE_FROM else 0
    size = 8 if version < _NET_FROM else 16 if version < _SCOPE_FROM else 24
    attributes = (ctypes.c_uint64 * 3)(files, ports, scopes)
    ruleset = syscalls.call("landlock_create_ruleset", attributes, size, 0)
    try:
        syscalls.call("landlock_restrict_self", ruleset, 0)
    finally:
        os.close(ruleset)

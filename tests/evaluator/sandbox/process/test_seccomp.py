"""The filter, run by a small BPF interpreter, so that both architectures' tables are tested on either."""

from __future__ import annotations

import ctypes
import struct

import pytest

from evaluator.sandbox.confinement import seccomp, syscalls

ALLOW, REFUSE, KILL = seccomp.ALLOW, seccomp.REFUSE, seccomp.KILL
WRITABLE = (3, 4)


def run(machine: str, number: int, *arguments: int, audit: int | None = None) -> int:
    """The filter's verdict on one system call."""
    padded = [*arguments, *[0] * (6 - len(arguments))]
    data = struct.pack("<iIQ6Q", number, seccomp.AUDIT[machine] if audit is None else audit, 0, *padded)
    code = seccomp.program(machine, WRITABLE)
    position, value = 0, 0
    while True:
        operation, yes, no, operand = code[position]
        position += 1
        if operation == 0x06:
            return operand
        if operation == 0x20:
            value = struct.unpack_from("<I", data, operand)[0]
        else:
            truth = {0x15: value == operand, 0x35: value >= operand, 0x45: bool(value & operand)}[operation]
            position += yes if truth else no


def number(name: str, machine: str) -> int | None:
    tables = seccomp.CALLS | seccomp.WRITES | seccomp.MAPPINGS
    return tables[name][seccomp.COLUMN[machine]]


both = pytest.mark.parametrize("machine", ["x86_64", "aarch64"])


@both
def test_exactly_the_listed_calls_pass(machine: str) -> None:
    listed = {number(name, machine) for name in seccomp.CALLS} - {None}
    conditional = {number(name, machine) for name in (*seccomp.WRITES, *seccomp.MAPPINGS)}
    passing = {n for n in range(600) if run(machine, n) == ALLOW}
    assert passing - conditional == listed
    assert {run(machine, n) for n in set(range(600)) - passing} == {REFUSE}


@both
@pytest.mark.parametrize("name", ["mmap", "mprotect"])
def test_no_executable_memory(machine: str, name: str) -> None:
    call = number(name, machine)
    assert call is not None
    assert [run(machine, call, 0, 4096, prot) for prot in range(8)] == [ALLOW] * 4 + [REFUSE] * 4
    assert run(machine, call, 0, 4096, 0xFFFFFFFF00000004) == REFUSE


@both
@pytest.mark.parametrize("name", ["write", "writev"])
def test_writes_go_to_known_descriptors(machine: str, name: str) -> None:
    call = number(name, machine)
    assert call is not None
    assert [descriptor for descriptor in range(100) if run(machine, call, descriptor) == ALLOW] == list(WRITABLE)
    # The kernel reads only the lower half of a descriptor's register, and so must the filter.
    assert run(machine, call, (1 << 32) + 5) == REFUSE


@both
def test_foreign_tables_are_fatal(machine: str) -> None:
    assert run(machine, 0, audit=0x40000003) == KILL  # i386
    if machine == "x86_64":
        assert run(machine, 0x40000000) == KILL  # x32


TABLES = seccomp.CALLS | seccomp.WRITES | seccomp.MAPPINGS | syscalls.NUMBERS


@pytest.fixture(scope="module")
def libseccomp() -> ctypes.CDLL:
    """Debian's libseccomp2, on which apt depends; it knows the call numbers of every architecture."""
    try:
        library = ctypes.CDLL("libseccomp.so.2")
    except OSError:
        pytest.skip("needs libseccomp: apt-get install libseccomp2")
    library.seccomp_syscall_resolve_name_arch.argtypes = [ctypes.c_uint32, ctypes.c_char_p]
    return library


@both
def test_call_numbers_equal_those_of_libseccomp(libseccomp: ctypes.CDLL, machine: str) -> None:
    """libseccomp returns a negative number for a call that the architecture does not have."""
    resolve, column = libseccomp.seccomp_syscall_resolve_name_arch, seccomp.COLUMN[machine]
    expected = {name: resolve(seccomp.AUDIT[machine], name.encode()) for name in TABLES}
    assert {name: numbers[column] for name, numbers in TABLES.items()} == {
        name: number if number >= 0 else None for name, number in expected.items()
    }

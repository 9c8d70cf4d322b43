"""Jobs that attempt forbidden operations. The sandbox server loads this module; it needs nothing of the test suite.

An attack returns its loot. `python hostile_jobs.py NAME JSON` runs one outside any sandbox and prints the same
report, so a test can show that the attack is real.
"""

import ctypes
import errno
import gc
import json
import mmap
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

import numpy as np

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.syscall.restype = ctypes.c_long
LIBC.mmap.restype = ctypes.c_void_p
LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
LIBC.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
ARM = os.uname().machine == "aarch64"
REPORT, STATUS, FIRST_FILE = 3, 4, 5


def raw(x86_64, aarch64, *arguments):
    """A system call by number: (x86_64, aarch64)."""
    ctypes.set_errno(0)
    wide = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    result = LIBC.syscall(ctypes.c_long(aarch64 if ARM else x86_64), *wide)
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def libc(name, *arguments):
    ctypes.set_errno(0)
    result = getattr(LIBC, name)(*arguments)
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def read(path):
    descriptor = os.open(path, os.O_RDONLY)
    return os.read(descriptor, 100).decode("utf-8", "replace")


def connect(family, address):
    with socket.socket(family, socket.SOCK_STREAM) as client:
        client.connect(address)
        return client.recv(100).decode()


def write_file(path):
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT)
    return os.write(descriptor, b"loot")


def write_gold():
    return os.write(FIRST_FILE, b"everything is right")


def executable_memory():
    address = LIBC.mmap(None, 4096, mmap.PROT_READ | mmap.PROT_EXEC, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
    if address == ctypes.c_void_p(-1).value:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return "mapped"


def memory_made_executable():
    address = LIBC.mmap(None, 4096, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
    return libc("mprotect", address, 4096, mmap.PROT_READ | mmap.PROT_EXEC)


def handle(path):
    """open_by_handle_at: escape from a container by a file's handle."""
    buffer = (ctypes.c_uint32 * 40)(128)
    mount = ctypes.c_int()
    at_fdcwd = -100
    raw(303, 264, at_fdcwd, ctypes.c_char_p(os.fsencode(path)), buffer, ctypes.byref(mount), 0)
    folder = os.open(os.path.dirname(path), os.O_RDONLY)  # noqa: PTH120
    return os.read(raw(304, 265, folder, buffer, os.O_RDONLY), 100).decode()


def other_memory(pid):
    local = ctypes.create_string_buffer(8)
    remote = (ctypes.c_uint64 * 2)(ctypes.addressof(local), 8)
    own = (ctypes.c_uint64 * 2)(ctypes.addressof(local), 8)
    try:
        return raw(310, 270, pid, own, 1, remote, 1, 0)
    except OSError as problem:
        if problem.errno != errno.EFAULT:
            raise
        return "allowed, with an address that means nothing there"


def thread():
    done = threading.Event()
    threading.Thread(target=done.set).start()
    return done.wait(10)


def own_file_again():
    """Reopen a read-only descriptor for writing by /proc/self/fd."""
    return os.write(os.open(f"/proc/self/fd/{FIRST_FILE}", os.O_WRONLY), b"")


def mapped_shared():
    """A writable shared mapping of a read-only file."""
    mmap.mmap(FIRST_FILE, 4, flags=mmap.MAP_SHARED, prot=mmap.PROT_READ | mmap.PROT_WRITE)[0] = 88
    return "written"


ATTACKS = {
    "read_passwd": lambda a: read("/etc/passwd"),
    "read_sibling": lambda a: read(a["path"]),
    "read_by_openat2": lambda a: raw(437, 437, -100, ctypes.c_char_p(b"/etc/passwd"), (ctypes.c_uint64 * 3)(), 24),
    "read_own_image": lambda a: read("/proc/self/maps"),
    "read_environ_of_server": lambda a: read(f"/proc/{a['pid']}/environ"),
    "read_memory_of_server": lambda a: other_memory(a["pid"]),
    "list_root": lambda a: os.listdir("/"),  # noqa: PTH208
    "stat_sibling": lambda a: os.stat(a["path"]).st_size,  # noqa: PTH116
    "access_sibling": lambda a: libc("access", os.fsencode(a["path"]), 0),
    "open_by_handle": lambda a: handle(a["path"]),
    "write_tmp": lambda a: write_file(a["new"]),
    "temporary_file": lambda a: tempfile.TemporaryFile().write(b"loot"),  # noqa: SIM115
    "delete_sibling": lambda a: os.rename(a["path"], a["path"]),  # noqa: PTH104
    "mkdir": lambda a: os.mkdir(a["new"]),  # noqa: PTH102
    "symlink": lambda a: os.symlink("/etc/passwd", a["new"]),  # noqa: PTH211
    "mkfifo": lambda a: os.mkfifo(a["new"]),
    "chdir": lambda a: os.chdir("/"),
    "fork": lambda a: os.fork() or os._exit(0),
    "thread": lambda a: thread(),
    "subprocess": lambda a: subprocess.run(["/bin/true"], check=False).returncode,
    "spawn": lambda a: os.posix_spawn("/bin/true", ["true"], {}),
    "exec": lambda a: os.execv("/bin/echo", ["echo", '{"loot": "a new program"}']),
    "tcp_localhost": lambda a: connect(socket.AF_INET, ("127.0.0.1", a["port"])),
    "unix_socket": lambda a: connect(socket.AF_UNIX, a["unix"]),
    "abstract_socket": lambda a: connect(socket.AF_UNIX, "\0" + a["abstract"]),
    "udp": lambda a: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", a["port"])),
    "netlink": lambda a: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0).fileno(),
    "socketpair": lambda a: len(socket.socketpair()),
    "pipe": lambda a: os.pipe()[0],
    "duplicate": lambda a: os.dup(FIRST_FILE),
    "memfd": lambda a: os.memfd_create("loot"),
    "eventfd": lambda a: os.eventfd(0),
    "signal_parent": lambda a: os.kill(os.getppid() or a["pid"], 0),
    "signal_everybody": lambda a: os.kill(-1, 0),
    "signal_itself": lambda a: os.kill(os.getpid(), 0),
    "pidfd": lambda a: os.pidfd_open(os.getpid()),
    "ptrace": lambda a: libc("ptrace", 0, 0, 0, 0),
    "prctl": lambda a: libc("prctl", 4, 1, 0, 0, 0),
    "raise_limits": lambda a: resource.setrlimit(resource.RLIMIT_CORE, resource.getrlimit(resource.RLIMIT_CORE)),
    "setuid": lambda a: os.setuid(os.getuid()),
    "umask": lambda a: os.umask(0o077),
    "shared_memory": lambda a: libc("shmget", 0, 4096, 0o1600),
    "message_queue": lambda a: libc("msgget", 0, 0o1600),
    "io_uring": lambda a: raw(425, 425, 4, ctypes.create_string_buffer(256)),
    "executable_memory": lambda a: executable_memory(),
    "memory_made_executable": lambda a: memory_made_executable(),
    "move_offset": lambda a: os.lseek(FIRST_FILE, 1, os.SEEK_SET),
    "move_offset_by_reading": lambda a: os.read(FIRST_FILE, 1),
    "write_gold": lambda a: write_gold(),
    "truncate_gold": lambda a: os.ftruncate(FIRST_FILE, 0),
    "own_file_again": lambda a: own_file_again(),
    "mapped_shared": lambda a: mapped_shared(),
    "chmod_gold": lambda a: os.fchmod(FIRST_FILE, 0o777),
}


def attack(files, arguments):
    try:
        loot = ATTACKS[arguments["name"]](arguments)
    except Exception as problem:  # noqa: BLE001 any refusal counts
        return {"refused": type(problem).__name__, "errno": getattr(problem, "errno", None)}, b""
    return {"loot": repr(loot)}, b""


def every_call(files, arguments):
    """Try every system call outside the list with zero arguments; report those not refused with EPERM."""
    strange = {}
    for number in range(arguments["to"]):
        if number in arguments["allowed"]:
            continue
        ctypes.set_errno(0)
        result = LIBC.syscall(ctypes.c_long(number), *[ctypes.c_long(0)] * 6)
        if result != -1 or ctypes.get_errno() != errno.EPERM:
            strange[str(number)] = [result, ctypes.get_errno()]
    return {"strange": strange}, b""


def surroundings(files, arguments):
    """The job's view of its environment."""
    open_descriptors = []
    for descriptor in range(1024):
        try:
            os.pread(descriptor, 1, 0)
        except OSError as problem:
            if problem.errno == errno.EBADF:
                continue
        open_descriptors.append(descriptor)
    return {
        "environment": dict(os.environ),
        "uid": os.getuid(),
        "pid": os.getpid(),
        "parent": os.getppid(),
        "descriptors": open_descriptors,
        "threads": threading.active_count(),
    }, b""


def echo(files, arguments):
    contents = {name: file.read().decode() for name, file in files.items()}
    return {"arguments": dict(arguments), "files": contents}, arguments.get("attachment", "").encode()


def walk(files, arguments):
    """Reads in small pieces, seeks, and reads lines."""
    file = files["text"]
    lines = [line.decode() for line in file]
    file.seek(-4, os.SEEK_END)
    tail = file.read(2).decode()
    file.seek(0)
    return {"lines": lines, "tail": tail, "first": file.readline().decode(), "place": file.tell()}, b""


def empty(files, arguments):
    return {}, b""


def numbers(files, arguments):
    values = np.random.default_rng(7).normal(size=(1000, 300))
    order = np.sort(values.mean(axis=1))
    return {"mean": float(order.mean()), "low": float(order[25])}, order.tobytes()


def allocate(files, arguments):
    size = arguments["bytes"]
    block = np.ones(size, dtype=np.uint8) if arguments["how"] == "numpy" else bytearray(size)
    return {"allocated": len(block)}, b""


def memory_by_pieces(files, arguments):
    heap = []
    while True:
        heap.append(bytearray(1 << 20))


def spin(files, arguments):
    if arguments.get("deaf"):
        for number in range(1, 65):
            try:
                signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError):
                continue
    if arguments.get("in_c"):
        re.fullmatch(r"(a|aa)+$", "a" * 200 + "b")
    while True:
        pass


def sleep(files, arguments):
    if arguments.get("shut"):
        os.close(STATUS)
        os.close(REPORT)
    while True:
        time.sleep(3600)


def flood(files, arguments):
    block = b"x" * (1 << 20)
    while True:
        os.write(arguments["descriptor"], block)


def prints(files, arguments):
    for descriptor in (1, 2):
        os.write(descriptor, arguments["words"].encode())
    sys.stderr.write(arguments["words"] + "\n")
    sys.stderr.flush()
    return {"printed": True}, b""


def report(files, arguments):
    """Return a forbidden report."""
    values = {
        "nan": float("nan"),
        "infinity": float("inf"),
        "numpy_nan": np.float64("nan"),
        "nested_nan": {"scores": [{"value": [1.0, float("nan")]}]},
        "object": object(),
        "bytes": b"x",
        "set": {1},
        "large": "x" * arguments.get("bytes", 0),
        "surrogate": "\ud800",
    }
    nested = None
    for _ in range(100_000):
        nested = [nested]
    values["deep"] = nested
    return {"value": values[arguments["what"]]}, b""


def wrong_shape(files, arguments):
    return {"none": None, "list": ([1], b""), "text": ({}, "text"), "three": ({}, b"", 1)}[arguments["what"]]


def forge(files, arguments):
    """Write raw bytes to the report's pipe, then exit with the given code."""
    data = bytes.fromhex(arguments["hex"])
    while data:
        data = data[os.write(REPORT, data) :]
    os._exit(arguments["code"])


def leave(files, arguments):
    os._exit(arguments["code"])


def die(files, arguments):
    how = arguments["how"]
    if how == "segfault":
        ctypes.string_at(0)
    elif how == "abort":
        os.abort()
    elif how == "sys.exit":
        sys.exit(arguments.get("code", 0))
    elif how == "interrupt":
        raise KeyboardInterrupt(arguments["words"])
    elif how == "recursion":
        die(files, arguments)
    elif how == "foreign_table":
        LIBC.syscall(ctypes.c_long(0x40000000 + 39))
    return {}, b""


def raise_gold(files, arguments):
    """Raise an error that quotes gold in its message, its type's name and its notes."""
    gold = files["gold"].read().decode()
    if arguments.get("mute"):
        os.close(STATUS)
    problem = ValueError(f"unexpected label {gold}")
    if arguments.get("named"):
        problem = type(gold, (Exception,), {})(gold)
    if arguments.get("chained"):
        problem.__cause__ = KeyError(gold)
    problem.add_note(gold)
    raise problem


def forged_diagnosis(files, arguments):
    os.write(STATUS, arguments["words"].encode())
    os._exit(arguments["code"])


def raise_named(files, arguments):
    from evaluator import errors

    if arguments["what"] == "PredictionError":
        raise errors.PredictionError([errors.Problem("f", 1, "w")], 0)
    raise {"SandboxError": errors.SandboxError, "UsageError": errors.UsageError}[arguments["what"]]("words")


def late_import(files, arguments):
    import turtle

    return {"module": turtle.__name__}, b""


def leftovers(files, arguments):
    """Look for the data of an earlier job among the objects of this process."""
    secret = arguments["half"] + arguments["other_half"]
    holders = [type(o).__name__ for o in gc.get_objects() if secret in repr(o)[:10_000] and o is not arguments]
    return {"found": [name for name in holders if name != "frame"]}, b""


JOBS = {
    function.__name__: function
    for function in (
        attack, every_call, surroundings, echo, walk, empty, numbers, allocate, memory_by_pieces, spin, sleep,
        flood, prints, report, wrong_shape, forge, leave, die, raise_gold, forged_diagnosis, raise_named,
        late_import, leftovers,
    )
}  # fmt: skip


def warm_up():
    numbers({}, {})
    echo({}, {})
    import evaluator.errors  # noqa: F401


if __name__ == "__main__":
    print(json.dumps(attack({}, {"name": sys.argv[1], **json.loads(sys.argv[2])})[0]))

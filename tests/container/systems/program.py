"""The program of the tests' image: it runs the function named by the option `do`, and writes its findings."""

# Paths are strings here: they go into JSON, and some are no valid names.
# ruff: noqa: PTH114, PTH118, PTH123, PTH208

from __future__ import annotations

import ctypes
import errno
import json
import os
import resource
import signal
import socket
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

TASK = json.loads(Path("/input/task.json").read_text())
OPTIONS = TASK["options"]
OUTPUT = Path("/output/predictions.jsonl")


def copy() -> None:
    """Copy the inputs, like an honest system."""
    OUTPUT.write_bytes(Path("/input/inputs.jsonl").read_bytes())


def packed() -> None:
    import gzip

    Path("/output/predictions.jsonl.gz").write_bytes(gzip.compress(Path("/input/inputs.jsonl").read_bytes()))


def sleep() -> None:
    time.sleep(OPTIONS["seconds"])
    copy()


def leave() -> None:
    copy()
    os._exit(OPTIONS["status"])


def burn() -> None:
    """Use a second of processor time, then 100 MB."""
    end = time.process_time() + 1
    while time.process_time() < end:
        pass
    block = b"x" * 100_000_000
    time.sleep(2)
    report(len(block))


# Exceeding limits


def fork_bomb() -> None:
    while True:
        try:
            os.fork()
        except OSError:
            time.sleep(0.01)


def memory() -> None:
    blocks = []
    while True:
        blocks.append(b"x" * 10_000_000)


def memory_of_a_child() -> None:
    """Let a child exceed the memory limit; the system survives it."""
    child = subprocess.run([sys.executable, "-c", "b = []\nwhile True: b.append(b'x' * 10_000_000)"], check=False)
    report(child.returncode)


def fill_tmp() -> None:
    report({"bytes": filled(Path("/tmp")), "shared": filled(Path("/dev/shm"))})


def fill_output() -> None:
    report_on_stdout(filled(Path("/output")))


def filled(folder: Path) -> int:
    written = 0
    try:
        with (folder / "fill").open("wb", buffering=0) as file:
            while True:
                written += file.write(b"x" * 65536)
    except OSError:
        (folder / "fill").unlink()
        return written


def inode_flood() -> None:
    counts = {}
    for folder in ("/tmp", "/output"):
        n_created = 0
        try:
            while n_created < 200_000:
                Path(folder, f"file-{n_created}").touch()
                n_created += 1
        except OSError:
            pass
        counts[folder] = n_created
    Path("/output/file-0").unlink()
    report(counts)


def sparse() -> None:
    """Create a sparse file of a terabyte, or of the largest size that the limit allows."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with OUTPUT.open("wb") as file:
        try:
            file.truncate(1 << 40)
        except OSError:
            file.truncate(resource.getrlimit(resource.RLIMIT_FSIZE)[0])


def flood_log() -> None:
    line = b"\x1b[31mred\x1b[0m \x07 \x1b]0;title\x07 tail-" + b"x" * 8000 + b"\n"
    for _ in range(5000):
        os.write(1, line)
        os.write(2, line)
    copy()


def endless_line() -> None:
    for _ in range(2000):
        os.write(1, b"y" * 8192)
    copy()


def deaf() -> None:
    for number in range(1, signal.NSIG):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            continue
    while True:
        time.sleep(60)


def daemonise() -> None:
    """Let a grandchild in its own session continue to write after its parent has ended."""
    copy()
    if os.fork():
        os._exit(0)
    os.setsid()
    if os.fork():
        os._exit(0)
    while True:
        with OUTPUT.open("ab") as file:
            file.write(b"late\n")


def daemonise_and_stay() -> None:
    """Keep the first process and a daemon running; both ignore all signals."""
    if not os.fork():
        os.setsid()
        deaf()
    deaf()


# Wrong outputs


def output_symlink() -> None:
    OUTPUT.symlink_to(OPTIONS["to"])


def output_fifo() -> None:
    os.mkfifo(OUTPUT)


def output_hard_link() -> None:
    target = Path("/output/other")
    target.write_bytes(Path("/input/inputs.jsonl").read_bytes())
    OUTPUT.hardlink_to(target)


def output_hard_link_outside() -> None:
    OUTPUT.hardlink_to("/etc/passwd")


def output_device() -> None:
    os.mknod(OUTPUT, stat.S_IFCHR | 0o666, os.makedev(1, 5))


def output_socket() -> None:
    socket.socket(socket.AF_UNIX).bind(str(OUTPUT))


def output_folder() -> None:
    OUTPUT.mkdir()


def output_nothing() -> None:
    return


def odd_names() -> None:
    for name in ("a\nb", "\x1b[31mred", "..\\x", "-rf", " ", "\u202etxt", "x" * 255):
        Path("/output", name).touch()
    copy()


# Reaching out of the container


def write_everywhere() -> None:
    """List writable folders and files, except those of the kernel."""
    writable = []
    for folder, folders, files in os.walk("/"):
        folders[:] = [name for name in folders if os.path.join(folder, name) not in ("/proc", "/sys")]
        for path in [folder, *(os.path.join(folder, name) for name in files)]:
            if not os.path.islink(path) and os.access(path, os.W_OK):
                writable.append(path)
    report(sorted(writable))


def surroundings() -> None:
    interfaces = [line.split(":")[0].strip() for line in Path("/proc/net/dev").read_text().splitlines()[2:]]
    status = dict(line.split(":\t", 1) for line in Path("/proc/self/status").read_text().splitlines() if ":\t" in line)
    report(
        {
            "interfaces": interfaces,
            "status": {name: value.strip() for name, value in status.items()},
            "environment": dict(os.environ),
            "processes": [name for name in os.listdir("/proc") if name.isdigit()],
            "hostname": socket.gethostname(),
            "groups": os.getgroups(),
            "sockets": [path for path in everything() if is_socket(path)],
            "pid": os.getpid(),
            "control_groups": Path("/proc/self/cgroup").read_text(),
        }
    )


def reach_out() -> None:
    results = {}
    for name, host, port in OPTIONS["targets"]:
        try:
            with socket.create_connection((host, port), timeout=3):
                results[name] = "connected"
        except OSError as problem:
            results[name] = type(problem).__name__
    try:
        results["dns"] = socket.getaddrinfo("example.org", 80)[0][4][0]
    except OSError as problem:
        results["dns"] = type(problem).__name__
    for name, family, kind in (("vsock", 40, 1), ("packet", 17, 3), ("alg", 38, 5), ("raw", 2, 3), ("netlink", 16, 3)):
        try:
            socket.socket(family, kind).close()
            results[name] = "opened"
        except OSError as problem:
            results[name] = type(problem).__name__
    report(results)


def search() -> None:
    """Search every readable file, the environment and mounts for a word, which the options contain in two halves."""
    word = (OPTIONS["half"] + OPTIONS["other_half"]).encode()
    matches = []
    for path in everything():
        try:
            if stat.S_ISREG(os.lstat(path).st_mode):
                with open(path, "rb") as file:
                    content = file.read(4 << 20)
                if word in content:
                    matches.append(path)
        except OSError:
            continue
    for system_path in ("/proc/self/mountinfo", "/proc/self/environ", "/proc/1/environ", "/proc/cmdline"):
        try:
            if word in Path(system_path).read_bytes():
                matches.append(system_path)
        except OSError:
            continue
    report(matches)


def everything() -> list[str]:
    paths = []
    for folder, folders, files in os.walk("/"):
        folders[:] = [name for name in folders if os.path.join(folder, name) not in ("/proc", "/sys")]
        paths += [os.path.join(folder, name) for name in files]
    return paths


def is_socket(path: str) -> bool:
    try:
        return stat.S_ISSOCK(os.lstat(path).st_mode)
    except OSError:
        return False


def calls() -> None:
    """Make x86_64 system calls by number; report the error's name, or `done`."""
    libc = ctypes.CDLL(None, use_errno=True)
    buffer = ctypes.create_string_buffer(256)
    results = {}
    for name, (number, *arguments) in OPTIONS["calls"].items():
        values = [
            ctypes.cast(buffer, ctypes.c_void_p) if value == "buffer" else ctypes.c_long(value) for value in arguments
        ]
        ctypes.set_errno(0)
        answer = libc.syscall(ctypes.c_long(number), *values)
        if name.startswith("clone") and answer == 0:
            os._exit(0)
        results[name] = "done" if answer >= 0 else errno.errorcode[ctypes.get_errno()]
    report(results)


def leave_marks() -> None:
    for folder in ("/tmp", "/dev/shm", "/output", "/dev/mqueue", "/var/tmp", "/input", "/run", "/"):
        try:
            Path(folder, "mark-of-an-earlier-run").write_text("here")
        except OSError:
            continue
    copy()


def find_marks() -> None:
    report([path for path in everything() if "mark-of-an-earlier-run" in path])


def meet() -> None:
    """For two concurrent runs: leave marks wherever another could find them, and look for the other's."""
    mine, other = OPTIONS["mine"], OPTIONS["other"]
    libc = ctypes.CDLL(None, use_errno=True)
    key = 0x4242
    shared = libc.shmget(key, 4096, 0o1000 | 0o666)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(f"\0{mine}")
    listener.listen()
    for folder in ("/tmp", "/dev/shm"):
        Path(folder, mine).write_text(mine)
    finds = []
    end = time.monotonic() + OPTIONS["seconds"]
    while time.monotonic() < end:
        try:
            socket.socket(socket.AF_UNIX).connect(f"\0{other}")
            finds.append("abstract socket")
        except OSError:
            pass
        finds += [path for folder in ("/tmp", "/dev/shm") for path in os.listdir(folder) if path == other]
        finds += [pid for pid in os.listdir("/proc") if pid.isdigit() and int(pid) != os.getpid()]
        time.sleep(0.05)
    listed = Path("/proc/sysvipc/shm")  # missing in gVisor
    segments = len(listed.read_text().splitlines()) - 1 if listed.exists() else 1
    report({"found": finds, "shared": shared >= 0, "segments": segments})


def list_input() -> None:
    report(sorted(os.listdir("/input")))


def wait_for_health() -> None:
    time.sleep(4)
    report(Path("/tmp/healthy").exists())


def report(value: Any) -> None:
    OUTPUT.write_text(json.dumps(value) + "\n")


def report_on_stdout(value: Any) -> None:
    print(json.dumps(value), flush=True)
    copy()


globals()[OPTIONS.get("do", "copy")]()

"""Start of the sandbox server as a separate program, with a new environment and no inherited descriptors."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from evaluator.errors import SandboxError

ROOT = Path(__file__).resolve().parents[3]
_ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
_ARROW = {"ARROW_DEFAULT_MEMORY_POOL": "system", "JE_ARROW_MALLOC_CONF": "background_thread:false"}
"""Make pyarrow use malloc. The allocator jemalloc, which it loads all the same, would start a thread on import."""
LOOK_EVERY, SAY_EVERY = 0.5, 15.0
"""Seconds between two looks at a server that is starting, and between two lines for the operator."""
LIMIT = "HOLDOUT_MAX_FILE_MB"
"""Variable that `evaluator/jsonl/decompress.py` reads."""


def environment() -> dict[str, str]:
    """Return all environment variables of the server.

    Of the variables of this process, which may hold secrets, the server inherits only the limit on the size of files.
    Each BLAS library gets one thread, pyarrow none.
    """
    limit = {LIMIT: os.environ[LIMIT]} if LIMIT in os.environ else {}
    return {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "TZ": "UTC"} | _ARROW | dict.fromkeys(_ONE_THREAD, "1") | limit


def command(python: str, arguments: Sequence[str], root: Path = ROOT) -> list[str]:
    """Return the server's command line.

    python: the interpreter. arguments: the server's options. root: the folder that holds the `evaluator`
    package to run.
    """
    return [python, "-I", str(root / "evaluator/sandbox/__main__.py"), "--clean", *arguments]


def start(
    socket_path: str | os.PathLike[str],
    *,
    jobs: str = "evaluator.jobs",
    paths: Sequence[str | os.PathLike[str]] = (),
    parallel: int | None = None,
    python: str = sys.executable,
    wrapper: Sequence[str] = (),
    root: Path = ROOT,
    timeout: float = 60.0,
    stderr: int | None = None,
    say: Callable[[str], None] = lambda line: None,
) -> subprocess.Popen[bytes]:
    """Start a sandbox server and return its process when it is ready for clients.

    The server ends when `terminate()` is called on the returned process, or when the calling process dies.

    socket_path: the path of the socket to which clients connect. jobs: the module that defines the jobs, JOBS (name ->
    function), and their preparation, warm_up(). paths: additional folders to import from. parallel: the maximum number
    of jobs at the same time; None: the server's default. python: the interpreter that runs the server. wrapper: a
    command that starts the server's command line, such as `setpriv ...`. root: the folder that holds the `evaluator`
    package. stderr: where the operator's log is written, as for Popen. timeout: how long to wait while the server makes
    no progress; on a slow or busy machine it loads its libraries for minutes. say: called with a line for the operator
    each SAY_EVERY seconds meanwhile.

    Raises SandboxError if the server refuses to start (with its reason), or makes no progress for `timeout` seconds.
    """
    ready_read, ready_write = os.pipe()
    arguments = ["--socket", os.fspath(socket_path), "--jobs", jobs, "--ready-fd", str(ready_write), "--tied"]
    for path in paths:
        arguments += ["--path", os.fspath(path)]
    if parallel is not None:
        arguments += ["--parallel", str(parallel)]
    try:
        server = subprocess.Popen(  # noqa: S603 a program of ours, no shell
            [*wrapper, *command(python, arguments, root)],
            env=environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            pass_fds=[ready_write],
            cwd="/",
            start_new_session=True,
        )
    except OSError as problem:
        os.close(ready_read)
        raise SandboxError(f"the sandbox server could not be started: {problem}") from None
    finally:
        os.close(ready_write)
    with open(ready_read, "rb", buffering=0) as ready:  # noqa: PTH123 a descriptor
        words = _words(ready.fileno(), timeout, server.pid, say)
    if words.get("ready"):
        return server
    server.kill()
    server.wait()
    if server.stdin:
        server.stdin.close()
    raise SandboxError(
        str(words.get("error") or f"the sandbox server was not ready, and did nothing for {timeout:g} seconds")
    )


def _progress(pid: int) -> list[str]:
    """Return what changes while a process works: its page faults and its processor time, with those of its children.

    Empty if the process has ended.
    """
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []
    return fields[7:15]


def _words(descriptor: int, timeout: float, pid: int, say: Callable[[str], None]) -> dict[str, object]:
    """Return the JSON object that the server writes when it is ready or refuses to start; empty if none comes in time.

    If the server ends without writing one, the result has the key `error`. descriptor: the reading end of a pipe.
    timeout: seconds to wait while the process `pid` makes no progress. say: as for `start`.
    """
    began = moved = said = time.monotonic()
    last: list[str] = []
    received = b""
    while (now := time.monotonic()) - moved < timeout:
        if (progress := _progress(pid)) != last:
            last, moved = progress, now
        if now - said >= SAY_EVERY:
            said = now
            say(f"the sandbox server is starting, for {now - began:.0f} s")
        if select.select([descriptor], [], [], min(LOOK_EVERY, timeout))[0]:
            piece = os.read(descriptor, 1 << 16)
            if not piece:
                break
            received += piece
    else:
        return {}
    if not received:
        return {"error": "the sandbox server ended before it was ready; its log has the reason"}
    words: dict[str, object] = json.loads(received)
    return words

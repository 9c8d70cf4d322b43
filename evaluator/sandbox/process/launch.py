"""Starts the sandbox server as a separate program, with a clean environment and nothing inherited."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from evaluator.errors import SandboxError

ROOT = Path(__file__).resolve().parents[3]
_ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")


def environment() -> dict[str, str]:
    """Return the server's whole environment: no secret of the site, and one thread for every BLAS."""
    return {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "TZ": "UTC"} | dict.fromkeys(_ONE_THREAD, "1")


def command(python: str, arguments: Sequence[str], root: Path = ROOT) -> list[str]:
    """Return the server's command line. root: the folder that holds the `evaluator` package to run."""
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
) -> subprocess.Popen[bytes]:
    """Start a server and return it when it is ready for clients; it ends with `terminate()`, or when this process dies.

    jobs: the module with JOBS and warm_up; paths: additional folders to import from; wrapper: words put before the
    command (`setpriv ...`); root: the folder that holds the `evaluator` package; stderr: destination of the operator's
    log, as for Popen.
    Raises SandboxError with the server's reason if it refuses, or if it is not ready in `timeout` seconds.
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
        words = _words(ready.fileno(), timeout)
    if words.get("ready"):
        return server
    server.kill()
    server.wait()
    if server.stdin:
        server.stdin.close()
    raise SandboxError(str(words.get("error") or f"the sandbox server was not ready in {timeout:g} seconds"))


def _words(descriptor: int, timeout: float) -> dict[str, object]:
    """Read the server's message when it is ready or refuses: one JSON object, then the end of the pipe."""
    deadline = time.monotonic() + timeout
    received = b""
    while (left := deadline - time.monotonic()) > 0:
        if select.select([descriptor], [], [], left)[0]:
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

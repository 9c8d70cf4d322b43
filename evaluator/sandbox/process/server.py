"""The sandbox server: loads the jobs' libraries once, confines itself, and forks one confined child per job.

    python -m evaluator.sandbox.process.server --socket PATH [--jobs MODULE] [--path FOLDER]... [--parallel N]
    python -m evaluator.sandbox.process.server --probe

With `--probe` it starts no server: it prints the layers of confinement that this machine permits, and exits.

The server has two processes. The inner process serves the clients; it is pid 1 of its namespaces and sees an empty root
folder. The outer process waits for the inner one to end, and then removes the socket's file. Clients are authenticated
by the socket's file mode alone, which admits only the server's user.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import json
import os
import resource
import signal
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path

from evaluator.errors import SandboxError
from evaluator.options import Parser
from evaluator.sandbox.confinement import layers, namespaces, self_test, syscalls
from evaluator.sandbox.process import launch
from evaluator.sandbox.process import listener as listening
from evaluator.sandbox.process.child import Jobs
from evaluator.sandbox.process.event_loop import Loop
from evaluator.sandbox.process.job import Forker, HostDescriptors

_MOST_LINE = 2000  # characters of a field of the operator's log
_MOST_A_MINUTE = 120  # lines of it


def main(argv: list[str] | None = None) -> int:
    """Run the server and return its exit status: 0 after it was stopped, 1 if it refused to start.

    The reason for a refusal is written to standard error and, if --ready-fd is given, to that descriptor. argv: the
    arguments; None: those of the process.
    """
    arguments = _parser().parse_args(argv)
    if not arguments.clean:
        server_command = launch.command(sys.executable, sys.argv[1:] if argv is None else argv)
        os.execve(server_command[0], server_command, launch.environment())  # noqa: S606 itself, no shell
    try:
        return _serve(arguments)
    except SandboxError as problem:
        sys.stderr.write(f"sandbox server: {problem}\n")
        _report_ready(arguments.ready_fd, {"error": str(problem)})
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog="python -m evaluator.sandbox.process.server", description="The sandbox server.")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--socket", type=Path, metavar="PATH", help="path of the Unix socket to which clients connect")
    what.add_argument(
        "--probe", action="store_true", help="print the layers of confinement that this machine permits, and exit"
    )
    parser.add_argument(
        "--jobs", default="evaluator.jobs", metavar="MODULE", help="the module that defines JOBS and warm_up()"
    )
    parser.add_argument(
        "--path", action="append", default=[], metavar="FOLDER", help="another folder to import from; may be repeated"
    )
    parser.add_argument(
        "--parallel", type=int, default=max(4, 2 * (os.cpu_count() or 1)), help="maximum number of simultaneous jobs"
    )
    parser.add_argument("--tied", action="store_true", help="stop when standard input is closed")
    parser.add_argument("--ready-fd", type=int, default=None, help=argparse.SUPPRESS)
    parser.add_argument("--clean", action="store_true", help=argparse.SUPPRESS)
    return parser


def _serve(arguments: argparse.Namespace) -> int:
    _close_inherited(arguments.ready_fd)
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 4096) if most > 0 else 4096, most))
    listener = None if arguments.probe else listening.listen(arguments.socket)
    jobs = {} if arguments.probe else load(arguments.jobs)
    plan = namespaces.choose()
    alive_read, alive_write = os.pipe2(os.O_CLOEXEC)
    try:
        namespaces.leave_host(plan)
    except OSError as problem:
        raise SandboxError(f"namespaces could be created in a test process, but not by the server: {problem}") from None
    inner = os.fork()
    if inner == 0:
        os.close(alive_write)
        stops = [alive_read, *([0] if arguments.tied else [])]
        os._exit(_run_guarded(lambda: _inside(arguments, plan, jobs, listener, stops), arguments.ready_fd))
    os.close(alive_read)
    if arguments.ready_fd is not None:
        os.close(arguments.ready_fd)
        arguments.ready_fd = None
    if listener is not None:
        listener.close()
    return _wait(inner, arguments.socket)


def _run_guarded(action: Callable[[], None], ready: int | None) -> int:
    try:
        action()
    except SandboxError as problem:
        text = str(problem)
    except Exception as problem:  # noqa: BLE001 reported, and the process ends
        text = f"{type(problem).__name__}: {problem}"
    else:
        return 0
    sys.stderr.write(f"sandbox server: {text}\n")
    sys.stderr.flush()
    _report_ready(ready, {"error": text})
    return 1


def load(module: str) -> Jobs:
    """Import a module of jobs, run its `warm_up()` and return its JOBS (name -> function).

    The warm-up imports all that jobs need, since nothing can be imported later under the empty root folder. Raises
    SandboxError if the import or the warm-up fails, or if a library has started threads, which a fork would lose.
    """
    try:
        loaded = importlib.import_module(module)
        loaded.warm_up()
        jobs: Jobs = loaded.JOBS
    except Exception as problem:
        raise SandboxError(f"the jobs of {module} cannot be loaded: {type(problem).__name__}: {problem}") from problem
    threads = list(Path("/proc/self/task").iterdir())
    if len(threads) != 1:
        raise SandboxError(
            f"{module} has started {len(threads) - 1} threads, expected none, because a fork loses threads"
        )
    gc.collect()
    gc.freeze()
    return jobs


def _inside(
    arguments: argparse.Namespace,
    plan: namespaces.Plan,
    jobs: Jobs,
    listener: socket.socket | None,
    stops: list[int],
) -> None:
    syscalls.prctl(syscalls.PR_SET_PDEATHSIG, signal.SIGKILL)
    syscalls.prctl(syscalls.PR_SET_CHILD_SUBREAPER, 1)
    stops = [*stops, _signals()]
    # To write to its own files in /proc, an ordinary user's process has to be dumpable when it opens them.
    syscalls.prctl(syscalls.PR_SET_DUMPABLE, 1)
    descriptors = HostDescriptors(pids=plan.rest)
    syscalls.prctl(syscalls.PR_SET_DUMPABLE, 0)
    if plan.rest:
        namespaces.empty_root()
    active_layers = layers.find(plan, descriptors.pids)
    self_test.check(active_layers, descriptors)
    if listener is None:
        sys.stdout.write(describe(active_layers))
        sys.stdout.flush()
        return
    log = OperatorLog()
    log("sandbox_ready", layers=active_layers.report())
    _report_ready(arguments.ready_fd, {"ready": True, "layers": active_layers.report()})
    Loop(listener, Forker(jobs, active_layers, descriptors), stops=stops, parallel=arguments.parallel, log=log).run()


def describe(active: layers.Layers) -> str:
    """Return a text table of the layers of confinement: name, active or not, required or best effort."""
    lines = [
        f"{name:16} {'no' if value is False else 'yes' if value is True else value:8} "
        f"{'required' if name in layers.REQUIRED else 'best effort'}"
        for name, value in active.report().items()
    ]
    return "\n".join([*lines, "The required layers are present: jobs can run here."]) + "\n"


def _signals() -> int:
    """Return a descriptor that becomes readable when the server receives SIGTERM or SIGINT."""
    read, write = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)
    signal.set_wakeup_fd(write, warn_on_full_buffer=False)
    return read


def _wait(inner: int, socket_path: Path | None) -> int:
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: os.kill(inner, signal.SIGTERM))
    status = os.waitstatus_to_exitcode(os.waitpid(inner, 0)[1])
    if socket_path is not None:
        try:
            socket_path.unlink(missing_ok=True)
        except OSError:
            return status  # in a namespace the folder's owner may be unmapped; the next server removes the file
    return status


def _close_inherited(keep: int | None) -> None:
    last = os.sysconf("SC_OPEN_MAX")
    if keep is None:
        os.closerange(3, last)
    else:
        os.set_inheritable(keep, False)
        os.closerange(3, keep)
        os.closerange(keep + 1, last)


def _report_ready(ready: int | None, words: dict[str, object]) -> None:
    if ready is not None:
        os.write(ready, json.dumps(words).encode())
        os.close(ready)


class OperatorLog:
    """The operator's log on standard error: a call writes one JSON object a line, with an event's name and its fields.

    A call never fails. Lines that cannot be written are dropped, and so are lines after the first _MOST_A_MINUTE of a
    minute.
    """

    def __init__(self, descriptor: int = 2) -> None:
        self._descriptor = descriptor
        self._minute = 0
        self._written = 0

    def __call__(self, event: str, **fields: object) -> None:
        minute = int(time.monotonic() // 60)
        if minute != self._minute:
            self._minute, self._written = minute, 0
        self._written += 1
        if self._written > _MOST_A_MINUTE:
            return
        if self._written == _MOST_A_MINUTE:
            event, fields = "log_suppressed", {"until": "end of this minute"}
        truncated = {name: value[:_MOST_LINE] if isinstance(value, str) else value for name, value in fields.items()}
        line = json.dumps({"time": round(time.time(), 3), "event": event, **truncated}, default=str)
        try:
            os.write(self._descriptor, line.encode() + b"\n")
        except OSError:
            return


if __name__ == "__main__":
    sys.exit(main())

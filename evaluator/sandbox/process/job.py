"""The server's side of jobs: it forks a process for each, enforces its deadline, and judges how it ended."""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import socket
import time
from collections.abc import Iterator

from evaluator import code_digest
from evaluator.sandbox.confinement.layers import Layers
from evaluator.sandbox.confinement.namespaces import JobPids
from evaluator.sandbox.contract import Limits, Verdict
from evaluator.sandbox.process import child, protocol, sanitized_errors

_PAGE = os.sysconf("SC_PAGE_SIZE")
_STATUS_BYTES = 4096
READY_SECONDS = 10.0  # maximum time in which a job receives its order and confines itself
_VERDICTS = {
    0: Verdict.DONE,
    child.EXIT_MEMORY: Verdict.MEMORY,
    child.EXIT_OUTPUT: Verdict.OUTPUT,
}


JOB_OOM_SCORE = b"1000"
"""The kernel's adjustment of a job's OOM score, the highest: if the host lacks memory, it kills a job and no server."""


class HostDescriptors:
    """Descriptors of some files of /dev and /proc, which the server opens before it gives up the host's root folder.

    pids: True if each job is to get its own pid namespace.
    """

    def __init__(self, *, pids: bool) -> None:
        self.null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        self.statm = os.open("/proc/self/statm", os.O_RDONLY | os.O_CLOEXEC)
        self.oom_score, self._own_oom_score = -1, b""
        with contextlib.suppress(OSError):  # a machine may refuse it
            self.oom_score = os.open("/proc/self/oom_score_adj", os.O_RDWR | os.O_CLOEXEC)
            self._own_oom_score = os.pread(self.oom_score, 20, 0).strip()
        self.pids = JobPids() if pids else None

    @contextlib.contextmanager
    def forking(self) -> Iterator[None]:
        """Let a process that is forked in the `with` block have JOB_OOM_SCORE, which it inherits from this process.

        Without a privilege, a process may raise its own and lower it to where it was, but not that of another.
        """
        with contextlib.suppress(OSError):
            os.pwrite(self.oom_score, JOB_OOM_SCORE, 0)
        try:
            yield
        finally:
            with contextlib.suppress(OSError):
                os.pwrite(self.oom_score, self._own_oom_score, 0)


class Forker:
    """The part of the server that forks a process for each job. jobs: the known jobs by name."""

    def __init__(self, jobs: child.Jobs, layers: Layers, descriptors: HostDescriptors) -> None:
        self.jobs = jobs
        self.layers = layers
        self._descriptors = descriptors
        self._pids = descriptors.pids if layers.pid_namespace else None

    def size(self) -> int:
        """Return the size of this process's address space in bytes. A forked process starts with the same size."""
        return int(os.pread(self._descriptors.statm, 100, 0).split()[0]) * _PAGE

    def fork(self, connection: socket.socket, limits: Limits) -> RunningJob:
        """Fork a process that runs the job of this connection, and return the job. The forked process never returns.

        Raises OSError if no process can be created.
        """
        size = self.size()
        status_read, status_write = os.pipe2(os.O_CLOEXEC)
        try:
            if self._pids:
                self._pids.next_fork()
            try:
                with self._descriptors.forking():
                    pid = os.fork()
                    if pid == 0:
                        signal.set_wakeup_fd(-1)
                        child.run(
                            connection,
                            jobs=self.jobs,
                            limits=limits,
                            layers=self.layers,
                            null=self._descriptors.null,
                            status=status_write,
                            size=size,
                        )
            finally:
                if self._pids:
                    self._pids.back()
        except OSError:
            os.close(status_read)
            raise
        finally:
            os.close(status_write)
        os.set_blocking(status_read, False)
        return RunningJob(connection, limits, pid, status_read, self.layers)


class RunningJob:
    """One forked job: its process, its deadline, and what it has written to its status pipe.

    killed: why the server killed the process; empty if it did not. diagnosis: what went wrong, for the operator's log.
    """

    def __init__(self, connection: socket.socket, limits: Limits, pid: int, status: int, layers: Layers) -> None:
        self.connection = connection
        self.limits = limits
        self.status = status
        self.pid = pid
        self.pidfd = os.pidfd_open(pid)
        self.deadline = time.monotonic() + READY_SECONDS  # the job's own time starts when it is ready
        self.killed = ""
        self.diagnosis = ""
        self._layers = layers
        self._said = b""
        self._announced = False

    def read_status(self) -> bool:
        """Read from the job's status pipe. Return False if the pipe has ended or its maximum size has been read.

        When the job first reports that it is ready, its wall time starts and the client is informed.
        """
        room = min(_STATUS_BYTES, len(child.READY) + int(self.limits.log_bytes)) - len(self._said)
        try:
            piece = os.read(self.status, room) if room > 0 else b""
        except BlockingIOError:
            return True
        self._said += piece
        if not self._announced and self._said.startswith(child.READY):
            self._announced = True
            self.deadline = time.monotonic() + self.limits.wall_seconds
            ready = protocol.Reply(event="ready", layers=self._layers.report(), code=code_digest.SHA256)
            try:
                self.connection.send(protocol.pack(ready), socket.MSG_NOSIGNAL)
            except OSError:
                return bool(piece)  # the client is gone; its hang-up is a separate event
        return bool(piece)

    def kill(self, why: str) -> None:
        """Kill the process, once. why: `time`, `hang-up` (of the client) or `stopped` (the whole server)."""
        if not self.killed:
            self.killed = why
            signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)

    def finish(self) -> protocol.Reply:
        """Reap the ended process and return the reply to the client, with the job's verdict."""
        _, status, usage = os.wait4(self.pid, 0)
        while self.read_status() and len(self._said) < _STATUS_BYTES:
            pass
        if not self._announced:
            text = self._said.decode("utf-8", "replace").removeprefix("failed ")
            ended = (
                f"did not become ready within {READY_SECONDS:g} s"
                if self.killed == "time"
                else f"ended (status {status}) before it was ready"
            )
            self.diagnosis = text or f"the job's process {ended}"
            return protocol.Reply(event="late" if self.killed == "time" else "failed", what=self.diagnosis)
        cpu_seconds = usage.ru_utime + usage.ru_stime
        reply = self._judge(status, cpu_seconds)
        reply.cpu_seconds = cpu_seconds
        return reply

    def _judge(self, status: int, cpu_seconds: float) -> protocol.Reply:
        code = os.waitstatus_to_exitcode(status)
        if code == -signal.SIGXCPU:
            return protocol.Reply(event="end", verdict=Verdict.TIME)
        if code == -signal.SIGKILL:
            if cpu_seconds >= self.limits.cpu_seconds:
                return protocol.Reply(event="end", verdict=Verdict.TIME)
            if self.killed == "time":
                self.diagnosis = (
                    f"the job got {cpu_seconds:.1f} of {self.limits.cpu_seconds:g} s of processor time within its "
                    f"{self.limits.wall_seconds:g} s: the machine is too busy, or the job waits for something"
                )
                return protocol.Reply(event="late", what=self.diagnosis)
            # A job cannot send signals, so this came from outside: an operator, or the kernel's OOM killer.
            return protocol.Reply(event="late", what="the job was killed from outside the sandbox (SIGKILL)")
        text = sanitized_errors.sanitise(self._said.removeprefix(child.READY))
        if code == child.EXIT_UNPREPARED:
            self.diagnosis = f"warm_up() does not cover all imports of the job: {text}"
            return protocol.Reply(event="failed", what=self.diagnosis)
        if code in _VERDICTS:
            return protocol.Reply(event="end", verdict=_VERDICTS[code])
        error_id = secrets.token_hex(6)
        self.diagnosis = text if code == child.EXIT_RAISED else f"ended with status {code}"
        return protocol.Reply(event="end", verdict=Verdict.EXIT, error_id=error_id)

    def close(self) -> None:
        self.connection.close()
        os.close(self.status)
        os.close(self.pidfd)

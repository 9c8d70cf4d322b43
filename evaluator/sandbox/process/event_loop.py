"""Event loop of the sandbox server: one thread that serves up to MOST_CONNECTIONS clients.

The loop never sees a job's arguments or files. It reads the limits from a client's request, forks a process for the
job, and waits until that process ends, the job's time is over or the client disconnects.
"""

from __future__ import annotations

import contextlib
import select
import socket
import time
from collections import deque
from collections.abc import Callable

from evaluator import code_digest
from evaluator.sandbox.process import protocol
from evaluator.sandbox.process.job import Forker, RunningJob

MOST_CONNECTIONS = 256
REQUEST_SECONDS = 5.0  # a client that sends no request is disconnected after this
LONGEST_NAP = 3600.0  # seconds; epoll has a maximum timeout
_HANG_UP = select.EPOLLRDHUP | select.EPOLLHUP | select.EPOLLERR


class Loop:
    """The event loop. Requests beyond `parallel` jobs wait in the order of arrival.

    listener: a socket that is bound and listening. forker: starts the jobs' processes. stops: descriptors; the server
    must stop when one of them becomes readable or its other end is closed. parallel: the maximum number of jobs that
    run at the same time. log: called with an event's name and its fields as keyword arguments.
    """

    def __init__(
        self, listener: socket.socket, forker: Forker, *, stops: list[int], parallel: int, log: Callable[..., None]
    ) -> None:
        self._listener = listener
        self._forker = forker
        self._stops = frozenset(stops)
        self._parallel = parallel
        self._log = log
        self._poll = select.epoll()
        self._silent: dict[int, tuple[socket.socket, float]] = {}  # clients without a request yet, and when to give up
        self._waiting: deque[tuple[socket.socket, protocol.Request]] = deque()
        # Each job has three keys: the descriptors of its connection, its status pipe and its pidfd.
        self._running: dict[int, RunningJob] = {}

    def run(self) -> None:
        """Serve until one of the `stops` descriptors is readable, then kill all running jobs and return."""
        self._listener.setblocking(False)
        self._poll.register(self._listener.fileno(), select.EPOLLIN)
        for stop in self._stops:
            self._poll.register(stop, select.EPOLLIN)
        while True:
            ready = self._poll.poll(self._patience())
            if any(descriptor in self._stops for descriptor, _ in ready):
                break
            # Handle the listener last: connections closed in this round free capacity for new ones.
            for descriptor, events in sorted(ready, key=lambda entry: entry[0] == self._listener.fileno()):
                self._handle(descriptor, events)
            self._expire()
            self._start_waiting()
        for job in set(self._running.values()):
            job.kill("stopped")

    def _patience(self) -> float | None:
        deadlines = [until for _, until in self._silent.values()]
        deadlines += [job.deadline for job in self._running.values() if not job.killed]
        return min(LONGEST_NAP, max(0.0, min(deadlines) - time.monotonic())) if deadlines else None

    def _handle(self, descriptor: int, events: int) -> None:
        if descriptor == self._listener.fileno():
            self._accept()
        elif descriptor in self._silent:
            self._read_request(descriptor)
        elif job := self._running.get(descriptor):
            if descriptor == job.pidfd:
                self._finish(job)
            elif descriptor == job.status:
                if not job.read_status():
                    self._ignore(job.status)
            elif events & _HANG_UP:
                job.kill("hang-up")
                self._ignore(descriptor)
        else:
            self._forget_waiting(descriptor)

    def _accept(self) -> None:
        try:
            connection, _ = self._listener.accept()
        except OSError as problem:
            if not isinstance(problem, BlockingIOError | ConnectionAbortedError):
                self._log("accept_failed", what=str(problem))
            return
        connection.setblocking(False)
        if len(self._silent) + len(self._waiting) + len(self._running) // 3 >= MOST_CONNECTIONS:
            what = f"too many simultaneous clients, expected at most {MOST_CONNECTIONS}"
            _reply(connection, protocol.Reply(event="failed", what=what))
            connection.close()
            return
        self._silent[connection.fileno()] = connection, time.monotonic() + REQUEST_SECONDS
        self._poll.register(connection.fileno(), select.EPOLLIN)

    def _read_request(self, descriptor: int) -> None:
        connection, _ = self._silent.pop(descriptor)
        self._ignore(descriptor)
        try:
            request = protocol.unpack(connection.recv(protocol.PACKET_BYTES), protocol.Request)
        except (OSError, ValueError) as problem:
            _reply(connection, protocol.Reply(event="failed", what=f"invalid request: {problem}"))
            connection.close()
            return
        if request.ask == "run" and request.limits is not None:
            self._waiting.append((connection, request))
            self._poll.register(descriptor, select.EPOLLRDHUP)
        else:
            ready = protocol.Reply(event="ready", layers=self._forker.layers.report(), code=code_digest.SHA256)
            _reply(connection, ready)
            connection.close()

    def _start_waiting(self) -> None:
        while self._waiting and len(self._running) // 3 < self._parallel:
            connection, request = self._waiting.popleft()
            assert request.limits is not None
            try:
                job = self._forker.fork(connection, request.limits)
            except OSError as problem:
                self._log("fork_failed", what=str(problem))
                _reply(connection, protocol.Reply(event="late", what=f"the job's process cannot be started: {problem}"))
                self._ignore(connection.fileno())
                connection.close()
                continue
            for descriptor in (job.pidfd, job.status):
                self._poll.register(descriptor, select.EPOLLIN)
            self._running |= dict.fromkeys((connection.fileno(), job.pidfd, job.status), job)

    def _forget_waiting(self, descriptor: int) -> None:
        for entry in list(self._waiting):
            if entry[0].fileno() == descriptor:
                self._waiting.remove(entry)
                self._ignore(descriptor)
                entry[0].close()

    def _ignore(self, descriptor: int) -> None:
        """Remove a descriptor from epoll. Closing it is not enough: the entry stays while a forked job has a copy."""
        with contextlib.suppress(OSError):
            self._poll.unregister(descriptor)

    def _finish(self, job: RunningJob) -> None:
        for descriptor in (job.connection.fileno(), job.pidfd, job.status):
            del self._running[descriptor]
            self._ignore(descriptor)
        reply = job.finish()
        if job.diagnosis:
            self._log("job_failed", error_id=reply.error_id, what=job.diagnosis)
        if job.killed != "hang-up":
            _reply(job.connection, reply)
        job.close()

    def _expire(self) -> None:
        moment = time.monotonic()
        for job in set(self._running.values()):
            if job.deadline <= moment and not job.killed:
                job.kill("time")
        for descriptor, (connection, until) in list(self._silent.items()):
            if until <= moment:
                del self._silent[descriptor]
                self._ignore(descriptor)
                connection.close()


def _reply(connection: socket.socket, reply: protocol.Reply) -> None:
    try:
        connection.send(protocol.pack(reply), socket.MSG_NOSIGNAL)
    except OSError:
        return  # the client is gone

"""Process supervisor: starts child processes, restarts those that die, and stops all of them on a signal."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import FrameType
from typing import Protocol

FIRST_PAUSE = 1.0
"""Seconds before the first restart of a child; the pause doubles with each restart, up to LONGEST_PAUSE."""
LONGEST_PAUSE = 30.0
# A child that has run for this many seconds is considered healthy: its next restart follows after FIRST_PAUSE again.
HEALTHY_AFTER = 60.0
STOP_TIMEOUT = 15.0
"""Seconds after which a child that does not terminate is killed."""


class Process(Protocol):
    """What the supervisor uses of a child process; `subprocess.Popen` has it."""

    pid: int
    returncode: int | None

    def poll(self) -> int | None: ...

    def wait(self) -> int | None: ...


class CannotStart(Exception):
    """Error: a child process cannot be started. The message has the process's name and the cause."""


@dataclass
class Child:
    """A child process of a `Supervisor`.

    start: starts the process and returns it, or raises CannotStart. needed_by_others: True if other children need this
    one to finish their work, so that it is stopped after them. process: None before the first start. started: monotonic
    time of the last start. pause: seconds before the next restart. due: monotonic time of the pending restart; None if
    none is pending.
    """

    name: str
    start: Callable[[], Process]
    needed_by_others: bool = False
    process: Process | None = None
    started: float = 0.0
    pause: float = FIRST_PAUSE
    due: float | None = None

    def begin(self) -> None:
        self.process, self.due, self.started = self.start(), None, time.monotonic()


@dataclass
class Supervisor:
    """Starts `children` in the listed order, restarts those that die, and stops all.

    say: prints a line for the operator. stopping: becomes True at the first SIGINT, SIGTERM or SIGHUP; a second such
    signal kills all children at once.
    """

    children: Sequence[Child]
    say: Callable[[str], None]
    stopping: bool = False
    _wake: tuple[int, int] = field(default_factory=os.pipe)

    def __post_init__(self) -> None:
        os.set_blocking(self._wake[1], False)
        signal.set_wakeup_fd(self._wake[1], warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._on_signal)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if self.stopping:
            for child in self.children:
                self._kill(child)
        self.stopping = True

    def start(self) -> None:
        """Start all children in order. Raises CannotStart, without a retry, at the first that cannot be started."""
        for child in self.children:
            if not self.stopping:
                child.begin()

    def follow(self, until: Callable[[], bool] = lambda: False, *, watch: Sequence[socket.socket] = ()) -> None:
        """Restart children that die, until `until` returns True or the supervisor is stopping.

        `until` is called at the start, and whenever a process has died, a signal has arrived, a restart was due, or a
        socket of `watch` is readable.
        """
        while not self.stopping:
            self._look()
            if until():
                break
            due = [child.due for child in self.children if child.due is not None]
            self._wait(max(0.0, min(due) - time.monotonic()) if due else None, watch)

    def stop(self) -> None:
        """Stop the children that no other child needs, then those that others needed (`needed_by_others`).

        A child that has not ended after STOP_TIMEOUT is killed.
        """
        self.stopping = True
        for needed in (False, True):
            self._stop([child for child in self.children if child.needed_by_others == needed])

    def _stop(self, children: Sequence[Child]) -> None:
        for child in children:
            child.due = None
            self._ask(child)
        deadline = time.monotonic() + STOP_TIMEOUT
        while (running := [child for child in children if child.process and self._ended(child) is None]) and (
            time.monotonic() < deadline
        ):
            self._wait(deadline - time.monotonic())
        for child in running:
            assert child.process
            self.say(f"{child.name} did not stop within {STOP_TIMEOUT:.0f} s and was killed")
            self._kill(child)
            child.process.wait()

    def _look(self) -> None:
        for child in self.children:
            status = self._ended(child) if child.due is None else None
            if status is not None:
                lived = time.monotonic() - child.started
                child.pause = FIRST_PAUSE if lived > HEALTHY_AFTER else child.pause
                self._retry(child, f"{child.name} {ending(status)} after {lived:.0f} s")
            elif child.due is not None and child.due <= time.monotonic():
                self._restart(child)

    def _ended(self, child: Child) -> int | None:
        """Return the exit status of a child that has ended (negative: number of the signal); None if it has not.

        The rest of the child's process group is killed before the child is reaped: its id could be reused after that.
        """
        if child.process is None:
            return None
        if child.process.returncode is None:
            if os.waitid(os.P_PID, child.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
                return None
            self._kill(child)
        return child.process.poll()

    def _restart(self, child: Child) -> None:
        try:
            child.begin()
        except CannotStart as error:
            self._retry(child, str(error))
        else:
            self.say(f"{child.name} is running again")

    def _retry(self, child: Child, why: str) -> None:
        self.say(f"{why}; restarting in {child.pause:.0f} s")
        child.due = time.monotonic() + child.pause
        child.pause = min(child.pause * 2, LONGEST_PAUSE)

    def _wait(self, seconds: float | None, watch: Sequence[socket.socket] = ()) -> None:
        """Wait until a child dies, a signal arrives, a socket of `watch` is readable, or `seconds` have passed.

        seconds: None for no limit.
        """
        readable, _, _ = select.select([self._wake[0], *watch], [], [], seconds)
        if self._wake[0] in readable:
            os.read(self._wake[0], 4096)

    @staticmethod
    def _ask(child: Child) -> None:
        """Send SIGTERM to a child, but not to its process group.

        The child stops its own child processes; a pool of workers hangs if these get the signal too.
        """
        if child.process is not None and child.process.returncode is None:
            # Not Popen.terminate: that would reap a dead process, so that the id of its group could be reused.
            os.kill(child.process.pid, signal.SIGTERM)

    @staticmethod
    def _kill(child: Child) -> None:
        """Kill a child and its whole process group."""
        if child.process is not None and child.process.returncode is None:
            pid = child.process.pid
            with contextlib.suppress(ProcessLookupError, PermissionError):
                if os.getpgid(pid) == pid:
                    os.killpg(pid, signal.SIGKILL)
                else:
                    os.kill(pid, signal.SIGKILL)


def ending(status: int) -> str:
    """Describe the return code of a process: "ended with status 3"; "was ended by SIGKILL" for -9."""
    return f"was ended by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"

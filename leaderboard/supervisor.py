"""Keeps a handful of child processes alive: starts them, restarts who dies, stops all of them when told to."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import FrameType

FIRST_PAUSE = 1.0
LONGEST_PAUSE = 30.0
# Who has lived so long is taken to be well: the next death starts again with the first pause.
WELL_AFTER = 60.0
PATIENCE = 15.0

Popen = subprocess.Popen[bytes]


@dataclass
class Child:
    """One process to keep alive; `start` raises OSError or SubprocessError where it cannot be started."""

    name: str
    start: Callable[[], Popen]
    process: Popen | None = None
    started: float = 0.0
    pause: float = FIRST_PAUSE
    due: float | None = None  # when to try again; None while it runs


@dataclass
class Supervisor:
    """`children` in the order of their start; they are stopped in the opposite one. `say` prints a line."""

    children: Sequence[Child]
    say: Callable[[str], None]
    stopping: bool = False
    _wake: tuple[int, int] = field(default_factory=os.pipe)

    def __post_init__(self) -> None:
        os.set_blocking(self._wake[1], False)
        signal.set_wakeup_fd(self._wake[1], warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._asked)

    def _asked(self, number: int, frame: FrameType | None) -> None:
        if self.stopping:
            for child in self.children:
                self._signal(child, signal.SIGKILL)
        self.stopping = True

    def start(self) -> None:
        for child in self.children:
            if not self.stopping:
                self._start(child)

    def follow(self, until: Callable[[], bool]) -> None:
        """Restarts whoever dies, until `until` is true or a signal asks to stop."""
        while not self.stopping and not until():
            self._look()
            due = [child.due for child in self.children if child.due is not None]
            self._wait(max(0.0, min(due) - time.monotonic()) if due else None)

    def stop(self) -> None:
        """Ends all children: the last started first, and with force who does not listen."""
        self.stopping = True
        for child in reversed(self.children):
            child.due = None
            self._signal(child, signal.SIGTERM)
            deadline = time.monotonic() + PATIENCE
            while child.process and child.process.poll() is None and time.monotonic() < deadline:
                self._wait(deadline - time.monotonic())
            if child.process and child.process.poll() is None:
                self.say(f"{child.name} did not stop within {PATIENCE:.0f} s and was killed")
            # Whatever a child left behind in its process group goes with it.
            self._signal(child, signal.SIGKILL)
            if child.process:
                child.process.wait()

    def _look(self) -> None:
        for child in self.children:
            status = child.process.poll() if child.process else None
            if child.due is None and status is not None:
                lived = time.monotonic() - child.started
                child.pause = FIRST_PAUSE if lived > WELL_AFTER else child.pause
                self._retry(child, f"{child.name} {ending(status)} after {lived:.0f} s")
            elif child.due is not None and child.due <= time.monotonic():
                self._signal(child, signal.SIGKILL)  # what the dead one left in its group
                self._start(child)

    def _start(self, child: Child) -> None:
        try:
            child.process, child.due, child.started = child.start(), None, time.monotonic()
        except (OSError, subprocess.SubprocessError) as error:
            self._retry(child, f"{child.name} could not be started: {error}")

    def _retry(self, child: Child, why: str) -> None:
        self.say(f"{why}; it is started again in {child.pause:.0f} s")
        child.due = time.monotonic() + child.pause
        child.pause = min(child.pause * 2, LONGEST_PAUSE)

    def _wait(self, seconds: float | None) -> None:
        """Until a child dies, a signal comes, or the time is over."""
        if select.select([self._wake[0]], [], [], seconds)[0]:
            os.read(self._wake[0], 4096)

    @staticmethod
    def _signal(child: Child, number: signal.Signals) -> None:
        if child.process is not None:
            try:
                os.killpg(child.process.pid, number)
            except (ProcessLookupError, PermissionError):
                pass


def ending(status: int) -> str:
    """A wait status in words: `ended with status 3`, `was ended by SIGKILL`."""
    return f"was ended by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"

"""Processes of the services and hosts: their logs, their processor time, and an end for each that was started."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

CGROUPS = (
    (Path("/sys/fs/cgroup/cpuacct"), "cpuacct.usage", lambda text: int(text) / 1e9),
    (Path("/sys/fs/cgroup/unified"), "cpu.stat", lambda text: int(text.split()[1]) / 1e6),
    (Path("/sys/fs/cgroup"), "cpu.stat", lambda text: int(text.split()[1]) / 1e6),
)
PATIENCE = 60.0


def eventually(condition: Callable[[], object], what: str, *, seconds: float = PATIENCE) -> None:
    """Wait until a condition holds; otherwise raise AssertionError."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"{what}: not within {seconds:.0f} s"
        time.sleep(0.05)


class ProcessorTime:
    """Processor time of each kind of process, ended ones included, if the kernel's control groups can be used."""

    def __init__(self) -> None:
        self._name = f"holdout{os.getpid()}"
        self._kinds: dict[str, Path] = {}
        self._root, self._file, self._read = next(
            (entry for entry in CGROUPS if self._is_usable(entry[0], entry[1])), (None, "", CGROUPS[0][2])
        )

    def _is_usable(self, root: Path, file: str) -> bool:
        folder = root / self._name
        try:
            folder.mkdir()
            return (folder / file).exists() and (folder / "cgroup.procs").exists()
        except OSError:
            return False
        finally:
            if folder.exists():
                folder.rmdir()

    def joining(self, kind: str) -> Callable[[], None]:
        """Return a function for a new process, which then counts for this kind."""
        if self._root is None:
            return lambda: None
        folder = self._root / f"{self._name}-{kind}"
        folder.mkdir(exist_ok=True)
        self._kinds[kind] = folder
        procs = folder / "cgroup.procs"

        def join() -> None:
            procs.write_text("0")

        return join

    def seconds(self) -> dict[str, float]:
        return {kind: self._read((folder / self._file).read_text()) for kind, folder in self._kinds.items()}

    def remove(self) -> None:
        for folder in self._kinds.values():
            try:
                folder.rmdir()
            except OSError:
                continue


class Process:
    """A process with a log file, which may be started again. kind: what its processor time counts for."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        kind: str,
        log: Path,
        times: ProcessorTime,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> None:
        self.command, self.kind, self.log, self.env, self.cwd = [*command], kind, log, env, cwd
        self._join = times.joining(kind)
        self.running: subprocess.Popen[bytes] | None = None

    def start(self, **env: str) -> None:
        with self.log.open("ab") as log:
            self.running = subprocess.Popen(
                self.command,
                cwd=self.cwd,
                env={**(self.env if self.env is not None else os.environ), **env},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=self._join,  # noqa: PLW1509  it only writes a file
            )

    @property
    def is_alive(self) -> bool:
        return self.running is not None and self.running.poll() is None

    def send(self, number: int) -> None:
        """Send a signal to the process and what it has started in its session."""
        if self.is_alive:
            os.killpg(self.running.pid, number)

    def stop(self, number: int = signal.SIGTERM) -> None:
        if self.running is None:
            return
        if self.is_alive:
            self.running.send_signal(number)
            try:
                self.running.wait(PATIENCE / 3)
            except subprocess.TimeoutExpired:
                self.send(signal.SIGKILL)
        self.running.wait()

"""The site on three hosts: their processes, and one benchmark with a hidden test set."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from tests.several_hosts.network import LAN, SUBNET, Link
from tests.several_hosts.processes import Process, ProcessorTime
from tests.several_hosts.services import HTTP, ROOT

ROLES = {
    "a": ("sandbox", "web", "worker", "beat"),
    "b": ("sandbox", "web", "worker", "beat"),
    "c": ("sandbox", "worker"),
}
WEB_PORT = 8000
LEASE_SECONDS, SWEEP_SECONDS = 10, 3
TAKEN_BACK_SECONDS = LEASE_SECONDS + 2 * SWEEP_SECONDS
RESAMPLES = 20
RESTART_SECONDS = 1.0
Say = Callable[[str], None]


def environment(folder: Path, services: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a host whose own files are in a folder. services: the addresses of the services."""
    data = folder / "data"
    data.mkdir(parents=True)
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith("HOLDOUT_")},
        "HOLDOUT_DATA": str(data),
        "HOLDOUT_HOSTS": ",".join([LAN, *(f"{SUBNET}.{10 + number}" for number in range(1, 10))]),
        "HOLDOUT_BASE_URL": HTTP,
        "HOLDOUT_PROXY": "true",
        "HOLDOUT_SECONDS_PER_MINUTE": "0",
        "HOLDOUT_LEASE_SECONDS": str(LEASE_SECONDS),
        "HOLDOUT_SWEEP_SECONDS": str(SWEEP_SECONDS),
        "HOLDOUT_RESAMPLES": str(RESAMPLES),
        **services,
    }


def secret() -> dict[str, str]:
    return {"HOLDOUT_SECRET_KEY": secrets.token_urlsafe(64)}


class Host:
    """One host: its processes are started again when they end, as a service manager does, unless the host is down."""

    def __init__(self, link: Link, folder: Path, env: dict[str, str], times: ProcessorTime, say: Say) -> None:
        self.link, self.folder, self.env, self.say = link, folder, env, say
        self.name = link.host
        self.clock: dict[str, str] = {}
        self.is_up = False
        self.restarts = 0
        self.switched_off: set[str] = set()
        self.processes: dict[str, Process] = {}
        self._lock = threading.RLock()
        for role in ROLES[self.name]:
            self.add_role(role, times=times, env=env)

    def add_role(self, role: str, *, times: ProcessorTime, env: dict[str, str]) -> None:
        command = [sys.executable, "manage.py", "serve", role, "--host", self.link.address, "--port", str(WEB_PORT)]
        self.add(role, command, times=times, env=env, cwd=ROOT)

    def use(self, tree: Path, *roles: str) -> None:
        """Let the host's processes, or only some, run the code in a folder from their next start on."""
        for role, process in self.processes.items():
            if role in (roles or ROLES[self.name]):
                process.cwd = tree

    def run(self, *command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
        """Run a command on the host with the site's environment, and return its result."""
        return subprocess.run(
            self.link.command(*command), cwd=cwd, env=self.env, capture_output=True, text=True, check=False
        )

    def add(self, role: str, command: list[str], **options: object) -> None:
        log = self.folder / f"{role}.log"
        self.processes[role] = Process(self.link.command(*command), kind=role, log=log, **options)

    def start(self) -> None:
        """Start everything that is not running."""
        with self._lock:
            self.is_up = True
            for role in self.processes:
                self._start(role)

    def _start(self, role: str) -> None:
        process = self.processes[role]
        if not process.is_alive and role not in self.switched_off:
            # The sandbox's children may not load other libraries, and no time of theirs reaches another host.
            process.start(**({} if role in ("sandbox", "engine") else self.clock))

    def restart_ended(self) -> None:
        with self._lock:
            for role, process in self.processes.items() if self.is_up else ():
                if not process.is_alive and role not in self.switched_off:
                    self.restarts += 1
                    status = process.running.returncode if process.running else None
                    self.say(f"{role} on host {self.name} ended with status {status}; it is started again")
                    self._start(role)

    def switch_off(self, role: str) -> None:
        """End a process, which is not started again until `switch_on`."""
        with self._lock:
            self.switched_off.add(role)
            self.processes[role].stop()

    def switch_on(self, role: str) -> None:
        with self._lock:
            self.switched_off.remove(role)
            self._start(role)

    def kill(self) -> None:
        """Kill every process of the host, by its id."""
        with self._lock:
            self.is_up = False
            while pids := self.link.pids():
                for pid in pids:
                    _kill(pid, signal.SIGKILL)
                time.sleep(0.05)
            for process in self.processes.values():
                process.stop(signal.SIGKILL)

    def stop(self) -> None:
        """Stop the host's processes in the order of a shutdown, and kill what is left."""
        with self._lock:
            self.is_up = False
            for process in self.processes.values():
                process.send(signal.SIGCONT)
                if process.is_alive and process.running is not None:
                    process.running.terminate()
            deadline = time.monotonic() + 15
            while self.link.pids() and time.monotonic() < deadline:
                time.sleep(0.1)
        self.kill()

    def restart(self, tree: Path, role: str) -> None:
        """Restart one process of the host with the code in a folder."""
        with self._lock:
            self.processes[role].stop()
            self.use(tree, role)
            self._start(role)

    def restart_with_clock(self, clock: dict[str, str]) -> None:
        """Restart the host's processes with another clock."""
        self.stop()
        self.clock = clock
        self.start()


def _kill(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return


class Keeper(threading.Thread):
    """Restarts processes that end by themselves."""

    def __init__(self, hosts: list[Host]) -> None:
        super().__init__(daemon=True, name="keeper")
        self.hosts = hosts
        self.over = threading.Event()

    def run(self) -> None:
        while not self.over.wait(RESTART_SECONDS):
            for host in self.hosts:
                host.restart_ended()

    def stop(self) -> None:
        self.over.set()
        self.join()

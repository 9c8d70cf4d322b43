"""`manage.py serve` as a process: what it starts, survives and refuses; it leaves no process behind."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, Queue
from urllib.parse import urlsplit

import pytest
from django.core.management import call_command

from leaderboard.operations.processes import ROLES
from tests.conftest import ROOT
from tests.support.seeded_site import prepare_data
from tests.support.workers.running_stack import children

PATIENCE = 120.0


@dataclass
class Serving:
    """A running `serve` and its output, line by line."""

    process: subprocess.Popen[str]
    output: list[str] = field(default_factory=list)
    _lines: Queue[str] = field(default_factory=Queue)

    def __post_init__(self) -> None:
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line.rstrip())

    def until(self, words: str) -> str:
        """Returns the next line with this text. Fails with the whole output if it does not come."""
        try:
            while True:
                self.output.append(self._lines.get(timeout=PATIENCE))
                if words in self.output[-1]:
                    return self.output[-1]
        except Empty:
            pytest.fail(f"serve never said {words!r}, but:\n" + "\n".join(self.output))

    def children(self) -> list[int]:
        return children(self.process.pid)

    def stop(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(PATIENCE)


def descendants(pid: int) -> list[int]:
    return [each for child in children(pid) for each in (child, *descendants(child))]


def start(data: Path, *options: str) -> Serving:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("HOLDOUT_")}
    environment.pop("DJANGO_SETTINGS_MODULE", None)
    process = subprocess.Popen(
        [sys.executable, "manage.py", "serve", *options],
        cwd=ROOT,
        env={**environment, "HOLDOUT_DATA": str(data)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return Serving(process)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    prepare_data(folder)
    return folder


@pytest.fixture(scope="module")
def serving(data: Path) -> Iterator[Serving]:
    serving = start(data, "--port", "0", "--no-seed")
    try:
        serving.until("ready; ")
        yield serving
    finally:
        if serving.process.poll() is None:
            serving.stop()


def address(serving: Serving) -> str:
    return next(line.split()[-1] for line in serving.output if "Holdout is at" in line)


def get(url: str) -> str:
    with urllib.request.urlopen(url, timeout=60) as answer:
        body: bytes = answer.read()
    return body.decode()


def test_it_responds_at_the_printed_address(serving: Serving) -> None:
    ready = {
        "database": True,
        "schema": True,
        "clock": True,
        "broker": True,
        "sandbox": True,
        "disk": True,
        "store": True,
    }
    assert json.loads(get(address(serving) + "health/ready")) == ready
    assert "<title>" in get(address(serving))


def test_a_second_instance_on_the_same_data_is_refused(serving: Serving, data: Path) -> None:
    second = start(data, "--port", "0")
    assert f"is already served by process {serving.process.pid}." in second.until("CommandError")
    assert second.process.wait(PATIENCE) == 1


def test_a_taken_port_is_refused(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        refused = start(tmp_path, "--port", str(port))
        assert f"cannot listen on 127.0.0.1 port {port}" in refused.until("CommandError")
        assert refused.process.wait(PATIENCE) == 1


def test_a_killed_sandbox_is_restarted(serving: Serving) -> None:
    os.kill(serving.children()[0], signal.SIGKILL)
    assert "sandbox was ended by SIGKILL" in serving.until("restarting in")
    serving.until("sandbox is running again")
    assert '"sandbox": true' in get(address(serving) + "health/ready")


def test_a_process_is_started_by_its_role(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[list[str]] = []

    def execve(path: str, command: list[str], environment: dict[str, str]) -> None:
        started.append(command)
        raise SystemExit

    monkeypatch.setattr(os, "execve", execve)
    with pytest.raises(SystemExit):
        call_command("serve", "notifications")
    (command,) = started
    assert command[command.index("--queues") + 1] == "notifications"


def test_it_leaves_no_process_and_restarts_over_a_stale_socket(serving: Serving, data: Path) -> None:
    """Exits by SIGKILL clean nothing up, and the socket's file remains. A process of the web server is busy."""
    assert len(serving.children()) == len(ROLES) - 2, "scorers and systems-gpu are off unless they are asked for"
    with unfinished_request(address(serving)):
        watched = {pid: os.pidfd_open(pid) for pid in descendants(serving.process.pid)}
        assert len(watched) > len(ROLES) + 4, "processes of the pools and of the web server"
        serving.process.kill()
        serving.process.wait()
        for pid, descriptor in watched.items():
            assert _ends(descriptor), Path(f"/proc/{pid}/cmdline").read_bytes()
    again = start(data, "--port", "0", "--no-seed")
    again.until("ready; ")
    watched = [os.pidfd_open(pid) for pid in again.children()]
    assert again.stop(signal.SIGINT) == 0
    assert all(_ends(descriptor) for descriptor in watched)
    again.until(f"stopped; the data remain in {data}")


@contextmanager
def unfinished_request(url: str) -> Iterator[None]:
    """A request in the hands of the web server, which waits for the rest of its body."""
    where = urlsplit(url)
    assert where.hostname is not None
    headers = {
        "Host": where.netloc,
        "Expect": "100-continue",
        "Cookie": f"csrftoken={'a' * 32}",  # otherwise it is refused before its body is read
        "Content-Type": "application/x-www-form-urlencoded",
        "Content-Length": "9",
    }
    with socket.create_connection((where.hostname, where.port or 80)) as client:
        lines = ["POST /accounts/login/ HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
        client.sendall("\r\n".join((*lines, "", "csrfmid")).encode())
        assert client.recv(12) == b"HTTP/1.1 100"
        yield
        client.setblocking(False)
        with suppress(OSError):
            assert b"HTTP/1.1" not in client.recv(4096), "it was answered, so the server did not wait"


def _ends(descriptor: int) -> bool:
    """Waits until a process is dead: then its descriptor can be read."""
    dead = bool(select.select([descriptor], [], [], PATIENCE)[0])
    os.close(descriptor)
    return dead

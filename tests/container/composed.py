"""Runs the services of compose.yaml for a test session: PostgreSQL, Redis, and each process in its own container."""

from __future__ import annotations

import json
import os
import secrets
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.container import engine

PATIENCE = 600.0


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


@dataclass(frozen=True)
class Answer:
    status: int
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


def request(url: str, content: bytes | None = None, **headers: str) -> Answer:
    """Make an HTTP request; responses with an error status are returned too."""
    prepared = urllib.request.Request(url, content, headers)
    try:
        with urllib.request.urlopen(prepared, timeout=60) as response:
            return Answer(response.status, response.read())
    except urllib.error.HTTPError as error:
        return Answer(error.code, error.read())


def eventually(url: str, accepts: Any, *, seconds: float = PATIENCE, **headers: str) -> Answer:
    """Return the first response that `wanted` accepts; otherwise fail with the last one."""
    deadline = time.monotonic() + seconds
    last: object = None
    while time.monotonic() < deadline:
        try:
            answer = request(url, **headers)
            if accepts(answer):
                return answer
            last = answer
        except OSError as error:
            last = error
        time.sleep(0.2)
    raise AssertionError(f"{url}: not within {seconds:.0f} s; last seen: {last}")


@dataclass
class Services:
    """The composed services. address: the site's address for a browser on this machine."""

    address: str
    environment: dict[str, str]
    project: str = field(default_factory=lambda: f"holdout-test-{os.getpid()}")

    def compose(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        command = [*engine.compose_command(), "-p", self.project, *arguments]
        return engine._run(command, check=check, env=self.environment)

    def inside(self, service: str, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a command in a service's container."""
        return self.compose("exec", "-T", service, *command, check=False)

    def python(self, service: str, code: str) -> subprocess.CompletedProcess[str]:
        return self.inside(service, "python", "-c", code)


def _engine_for_systems() -> dict[str, str]:
    """Return the settings of the profile `systems`, with the socket of the engine that the test uses."""
    path = os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock").removeprefix("unix://")
    return {"COMPOSE_PROFILES": "systems", "DOCKER_SOCKET": path, "DOCKER_GID": str(Path(path).stat().st_gid)}


@contextmanager
def services() -> Iterator[Services]:
    """Start the services and wait until they respond; finally write artifacts/compose.log and remove the volumes."""
    port = free_port()
    passwords = ("HOLDOUT_SECRET_KEY", "POSTGRES_PASSWORD", "REDIS_PASSWORD")
    environment = {
        **{name: secrets.token_hex(24) for name in passwords},
        "HOLDOUT_IMAGE": engine.IMAGE,
        "HOLDOUT_PUBLISH": f"127.0.0.1:{port}",
        "HOLDOUT_BASE_URL": f"http://127.0.0.1:{port}",
        **_engine_for_systems(),
    }
    composed = Services(f"http://127.0.0.1:{port}", environment)
    try:
        composed.compose("up", "--detach", "--no-build")
        eventually(f"{composed.address}/health/ready", lambda answer: answer.status == 200)
        yield composed
    finally:
        artifacts = engine.ROOT / "artifacts"
        artifacts.mkdir(exist_ok=True)
        (artifacts / "compose.log").write_text(composed.compose("logs", "--no-color", check=False).stdout)
        composed.compose("down", "--volumes", "--timeout", "20", check=False)

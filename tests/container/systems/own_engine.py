"""A separate engine that a test can stop, start and misconfigure."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from evaluator.sandbox.containers.docker import DockerSandbox


class OwnEngine:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.options: list[str] = []  # further arguments of dockerd
        self.listener: socket.socket | None = None  # on which it also listens, as `--host fd://`
        self.sockets = Path(tempfile.mkdtemp(prefix="engine-"))  # their paths have at most 107 bytes
        self.url = f"unix://{folder}/docker.sock"
        self.runtimes: dict[str, object] = {}
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        settings = self.folder / "daemon.json"
        settings.write_text(json.dumps({"runtimes": self.runtimes, "bridge": "none", "iptables": False}))
        folders = ["--data-root", f"{self.folder}/data", "--exec-root", str(self.sockets)]
        options = ["--config-file", str(settings), "--host", self.url, "--pidfile", f"{self.folder}/pid", *folders]
        options += self.options
        with (self.folder / "log").open("ab") as log:
            # In its own network namespace: an engine without a bridge removes that of the machine's engine.
            # A socket that was made outside is reachable from there, and is passed on as systemd does.
            command = ["unshare", "--net", "dockerd", *options]
            given = []
            if self.listener:
                given = [self.listener.fileno()]
                command = ["bash", "-c", f'LISTEN_PID=$$ LISTEN_FDS=1 exec "$@" 3<&{given[0]}', "bash", *command]
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, pass_fds=given)
        deadline = time.monotonic() + 60
        while self.docker("version").returncode:
            assert time.monotonic() < deadline and self.process.poll() is None, (self.folder / "log").read_text()[
                -2000:
            ]
            time.sleep(0.1)

    def stop(self) -> None:
        if self.process is not None:
            self.process.terminate()
            self.process.wait(60)
            self.process = None

    def docker(self, *arguments: str, stdin: int | None = None) -> subprocess.CompletedProcess[bytes]:
        environment = {**os.environ, "DOCKER_HOST": self.url}
        command = ["docker", *arguments]
        return subprocess.run(command, env=environment, stdin=stdin, capture_output=True, check=False)

    def sandbox(self, runtime: str = "runc") -> DockerSandbox:
        return DockerSandbox(instance="own", url=self.url, runtime=runtime)


@contextmanager
def own_engine(folder: Path) -> Iterator[OwnEngine]:
    if os.geteuid() or not shutil.which("dockerd"):
        pytest.skip("needs root and dockerd, to start a separate engine")
    engine = OwnEngine(folder)
    try:
        yield engine
    finally:
        engine.stop()
        mounts = [line.split()[1] for line in Path("/proc/mounts").read_text().splitlines()]
        for path in reversed([path for path in mounts if path.startswith((f"{folder}/", f"{engine.sockets}/"))]):
            subprocess.run(["umount", path], check=False)
        shutil.rmtree(engine.sockets, ignore_errors=True)

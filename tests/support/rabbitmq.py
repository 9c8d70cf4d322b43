"""A cluster of RabbitMQ nodes on this machine, which a test starts and kills."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

SERVER = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")
"""The program itself: the one in the PATH changes to the user of Debian's service."""
PATIENCE = 120.0

needs_rabbitmq = pytest.mark.skipif(
    not SERVER.exists() or not shutil.which("epmd"), reason="needs RabbitMQ: apt-get install rabbitmq-server"
)


@dataclass
class Node:
    """A node of the cluster. process: None while it does not run."""

    folder: Path
    name: str
    ports: tuple[int, int]
    environment: Mapping[str, str]
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"amqp://guest:guest@127.0.0.1:{self.ports[0]}//"

    @property
    def log(self) -> Path:
        return self.folder / f"{self.name}.log"

    def begin(self) -> None:
        variables = {
            "RABBITMQ_NODENAME": f"{self.name}@localhost",
            "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODE_PORT": str(self.ports[0]),
            "RABBITMQ_DIST_PORT": str(self.ports[1]),
        }
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [SERVER],
                env={**os.environ, **self.environment, **variables},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def wait(self) -> None:
        """Wait until clients can connect: RabbitMQ listens when all its applications have started."""
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.ports[0])).close()
                return
            except OSError:
                running = self.process is not None and self.process.poll() is None
                assert running and time.monotonic() < deadline, self.log.read_text(errors="replace")[-4000:]
                time.sleep(0.1)

    def signal(self, number: int) -> None:
        if self.process is not None:
            os.killpg(self.process.pid, number)

    def kill(self) -> None:
        self.signal(signal.SIGKILL)
        if self.process is not None:
            self.process.wait()
        self.process = None


@dataclass
class Cluster:
    """Nodes that know each other."""

    nodes: list[Node] = field(default_factory=list)

    @property
    def url(self) -> str:
        """The address with which clients try one node after another."""
        return ";".join(node.url for node in self.nodes)

    def start(self) -> None:
        """Start the nodes that do not run, and wait for all."""
        for node in self.nodes:
            if node.process is None:
                node.begin()
        for node in self.nodes:
            node.wait()


def _free_ports(n: int) -> list[int]:
    listeners = [socket.create_server(("127.0.0.1", 0)) for _ in range(n)]
    ports = [listener.getsockname()[1] for listener in listeners]
    for listener in listeners:
        listener.close()
    return ports


@contextmanager
def cluster(folder: Path, *, nodes: int = 3) -> Iterator[Cluster]:
    """Run a cluster with its data in `folder`, which must have a short path, and its own port mapper of Erlang."""
    mapper, *ports = _free_ports(1 + 2 * nodes)
    names = [f"holdout{number}" for number in range(nodes)]
    config = ["cluster_formation.peer_discovery_backend = classic_config", "cluster_name = holdout"]
    config += [f"cluster_formation.classic_config.nodes.{n} = {name}@localhost" for n, name in enumerate(names, 1)]
    (folder / "rabbitmq.conf").write_text("\n".join(config) + "\n")
    (folder / "enabled_plugins").write_text("[].\n")
    environment = {
        "HOME": str(folder),  # the cookie that the nodes share
        "ERL_EPMD_PORT": str(mapper),
        "RABBITMQ_MNESIA_BASE": str(folder / "data"),
        "RABBITMQ_LOG_BASE": str(folder / "log"),
        "RABBITMQ_CONFIG_FILE": str(folder / "rabbitmq"),
        "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "enabled_plugins"),
        "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "+S 1:1",
    }
    (folder / ".erlang.cookie").write_text("HOLDOUT")
    (folder / ".erlang.cookie").chmod(0o400)
    # Otherwise the first node would start one that outlives it.
    epmd = subprocess.Popen(["epmd", "-port", str(mapper), "-address", "127.0.0.1"], stdin=subprocess.DEVNULL)
    pairs = list(zip(ports[::2], ports[1::2], strict=True))
    running = Cluster([Node(folder, name, pair, environment) for name, pair in zip(names, pairs, strict=True)])
    try:
        running.start()
        yield running
    finally:
        for node in running.nodes:
            node.kill()
        epmd.kill()
        epmd.wait()

"""Hosts as network namespaces, connected by a bridge in a namespace of its own: this machine's interfaces stay."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
SUBNET = "10.77.0"
LAN = f"{SUBNET}.1"
"""Address of the machine with the proxy and the services: the database, the broker, the cache and the store."""
KEEPALIVE = {"time": 1, "intvl": 1, "probes": 2}
"""TCP keepalive of that machine, as docs/operators.md recommends for the proxy."""
SKIPPED = 77
"""Exit status of a run that this machine lacks something for."""
_CLONE_NEWNET = 0x40000000


def missing() -> str:
    """Return why hosts cannot be made here; empty if they can."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    programs = ("ip", "ss", "nsenter", "unshare", "nginx", "redis-server", "cc")
    absent = [name for name in programs if not shutil.which(name, path=PATH)]
    absent += [] if [*Path("/usr/lib/postgresql").glob("*/bin/postgres")] else ["postgres"]
    packages = "iproute2 util-linux nginx-light redis-server postgresql gcc libc6-dev"
    return f"needs {', '.join(absent)}: apt-get install {packages}" if absent else ""


def ip(*arguments: str) -> str:
    done = subprocess.run(["ip", *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"ip {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout


def answers(port: int) -> bool:
    try:
        socket.create_connection((LAN, port), timeout=1).close()
    except OSError:
        return False
    return True


class Link:
    """The namespace of one host, and its cable."""

    def __init__(self, lan: str, host: str, number: int) -> None:
        self.lan, self.host, self.name = lan, host, f"{lan}-{host}"
        self.address = f"{SUBNET}.{10 + number}"
        ip("netns", "add", self.name)
        ip("-n", lan, "link", "add", "name", host, "type", "veth", "peer", "name", "eth0", "netns", self.name)
        ip("-n", lan, "link", "set", "dev", host, "master", "bridge", "up")
        ip("-n", self.name, "addr", "add", f"{self.address}/24", "dev", "eth0")
        for interface in ("lo", "eth0"):
            ip("-n", self.name, "link", "set", interface, "up")

    def cut(self) -> None:
        ip("-n", self.lan, "link", "set", "dev", self.host, "down")

    def mend(self) -> None:
        ip("-n", self.lan, "link", "set", "dev", self.host, "up")

    def command(self, *command: str) -> list[str]:
        """Return the command line that runs a command on this host, under its host name."""
        named = ["unshare", "--uts", "sh", "-c", f'hostname {self.host}; exec "$@"', "sh"]
        return ["nsenter", f"--net=/run/netns/{self.name}", *named, *command]

    def pids(self) -> list[int]:
        """Return the ids of the host's processes, those of its containers included, which have other namespaces."""
        found = [int(pid) for pid in ip("netns", "pids", self.name).split()]
        for pid in found:
            found += [child for child in _children(pid) if child not in found]
        return found

    def client_of(self, port: int) -> int | None:
        """Return the id of the process that has a connection from this port."""
        listed = self.run("ss", "-Htnp", "sport", "=", f":{port}")
        return int(listed.split("pid=")[1].split(",")[0]) if "pid=" in listed else None

    def run(self, *command: str) -> str:
        entered = ["nsenter", f"--net=/run/netns/{self.name}", *command]
        return subprocess.run(entered, capture_output=True, text=True, check=False).stdout


def _children(pid: int) -> list[int]:
    try:
        threads = list(Path(f"/proc/{pid}/task").iterdir())
        return [int(child) for thread in threads for child in (thread / "children").read_text().split()]
    except OSError:
        return []


@contextmanager
def links(*hosts: str) -> Iterator[dict[str, Link]]:
    """Make the namespaces, and enter that of the services: call it before this process has other threads."""
    lan = f"holdout{os.getpid()}"
    outside = os.open("/proc/self/ns/net", os.O_RDONLY)
    made = [lan]
    try:
        ip("netns", "add", lan)
        ip("-n", lan, "link", "add", "bridge", "type", "bridge")
        ip("-n", lan, "addr", "add", f"{LAN}/24", "dev", "bridge")
        for interface in ("lo", "bridge"):
            ip("-n", lan, "link", "set", interface, "up")
        result = {}
        for number, host in enumerate(hosts, 1):
            made.append(f"{lan}-{host}")
            result[host] = Link(lan, host, number)
        with Path(f"/run/netns/{lan}").open() as namespace:
            _enter(namespace.fileno())
        for name, value in KEEPALIVE.items():
            Path(f"/proc/sys/net/ipv4/tcp_keepalive_{name}").write_text(str(value))
        yield result
    finally:
        _enter(outside)
        os.close(outside)
        _end_processes(lan)
        for name in made:
            subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)


def _end_processes(namespace: str) -> None:
    """Kill what services have left behind, such as Erlang's name server."""
    listed = subprocess.run(["ip", "netns", "pids", namespace], capture_output=True, text=True, check=False)
    for pid in listed.stdout.split():
        with suppress(ProcessLookupError):
            os.kill(int(pid), signal.SIGKILL)


def _enter(namespace: int) -> None:
    if ctypes.CDLL(None, use_errno=True).setns(namespace, _CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "setns")

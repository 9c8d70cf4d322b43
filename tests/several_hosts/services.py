"""The services that all hosts share, each started by hand from Debian's packages."""

from __future__ import annotations

import shutil
import signal
import subprocess
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psycopg
import redis

from tests.several_hosts.network import LAN, Link, answers
from tests.several_hosts.processes import Process, ProcessorTime, eventually
from tests.several_hosts.rabbitmq import RabbitMQ
from tests.several_hosts.swift import Swift
from tests.support import nginx

ROOT = Path(__file__).resolve().parents[2]
HTTP = f"http://{LAN}:8080"


class Postgres:
    """PostgreSQL as it is installed; nothing that makes it forget is switched on."""

    server = f"postgres://holdout@{LAN}:5432"
    url = f"{server}/holdout"

    def __init__(self, folder: Path, times: ProcessorTime) -> None:
        folder.mkdir()
        shutil.chown(folder, "postgres", "postgres")
        bin_ = sorted(Path("/usr/lib/postgresql").glob("*/bin"))[-1]
        user = ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--init-groups"]
        data = folder / "data"
        log = folder / "postgres.log"
        made = subprocess.run(
            [*user, bin_ / "initdb", "-D", data, "-U", "holdout", "--auth", "trust", "-E", "UTF8"],
            cwd="/",
            capture_output=True,
            text=True,
            check=False,
        )
        assert made.returncode == 0, made.stderr
        (data / "pg_hba.conf").write_text("host all all 10.77.0.0/24 trust\n")
        options = {"listen_addresses": LAN, "unix_socket_directories": "", "max_connections": "200"}
        command = [*user, str(bin_ / "postgres"), "-D", str(data)]
        command += [word for name, value in options.items() for word in ("-c", f"{name}={value}")]
        self.process = Process(command, kind="postgres", log=log, times=times, cwd=folder)
        self.process.start()

    def create(self) -> None:
        self.wait()
        with psycopg.connect(f"{self.server}/postgres", autocommit=True) as connection:
            connection.execute("CREATE DATABASE holdout")

    def wait(self) -> None:
        def connects() -> bool:
            try:
                psycopg.connect(f"{self.server}/postgres", connect_timeout=2).close()
            except psycopg.Error:
                return False
            return True

        eventually(connects, "PostgreSQL")

    def stop(self) -> None:
        """Stop it at once, in the middle of transactions: it recovers at the next start."""
        self.process.stop(signal.SIGQUIT)

    def start(self) -> None:
        self.process.start()
        self.wait()


class Redis:
    """Redis as the cache (database 1), and as the broker (database 0) unless there is another one."""

    url = f"redis://{LAN}:6379/0"
    cache_url = f"redis://{LAN}:6379/1"

    def __init__(self, folder: Path, times: ProcessorTime) -> None:
        folder.mkdir()
        command = ["redis-server", "--port", "6379", "--bind", LAN, "--save", "", "--dir", str(folder)]
        self.process = Process(
            [*command, "--protected-mode", "no"], kind="redis", log=folder / "redis.log", times=times
        )
        self.process.start()

    def wait(self) -> None:
        eventually(lambda: answers(6379), "Redis")

    def wipe(self) -> None:
        redis.Redis.from_url(self.url).flushdb()

    def stop(self) -> None:
        self.process.stop()


class Proxy:
    """nginx with the configuration of deploy/, in front of several web hosts."""

    def __init__(self, folder: Path, times: ProcessorTime, upstreams: list[str]) -> None:
        folder.mkdir()
        main = nginx.configuration(folder, upstreams=upstreams, port=8080)
        command = ["nginx", "-p", str(folder), "-c", str(main), "-g", "daemon off;"]
        self.process = Process(command, kind="nginx", log=folder / "error.log", times=times)
        self.process.start()

    def stop(self) -> None:
        self.process.stop()


class Folder:
    """The files in one folder, which every host has mounted."""

    can_hang = False
    signs_time = False
    environment: Mapping[str, str] = {}

    def __init__(self, folder: Path) -> None:
        self.files = folder / "files"
        self.files.mkdir()

    def create(self) -> None:
        pass

    def stop(self) -> None:
        pass


class Services:
    """The services of the site. environment: their addresses, for the site's processes."""

    broker: Any
    store: Any

    def __init__(
        self,
        folder: Path,
        times: ProcessorTime,
        links: Mapping[str, Link],
        stack: ExitStack,
        *,
        broker: str,
        store: str,
    ) -> None:
        """Start the services; the stack stops them."""
        self.postgres = Postgres(folder / "postgres", times)
        stack.callback(self.postgres.stop)
        self.redis = Redis(folder / "redis", times)
        stack.callback(self.redis.stop)
        self.broker = self.redis if broker == "redis" else RabbitMQ(folder / "rabbitmq", times)
        stack.callback(self.broker.stop)
        self.store = Folder(folder) if store == "folder" else Swift(folder / "swift", times)
        stack.callback(self.store.stop)
        self.proxy = Proxy(folder / "nginx", times, [f"{links[name].address}:8000" for name in ("a", "b")])
        stack.callback(self.proxy.stop)
        self.postgres.create()
        self.broker.wait()
        self.store.create()
        eventually(lambda: answers(8080), "nginx")
        self.environment = {
            "HOLDOUT_DATABASE_URL": self.postgres.url,
            "HOLDOUT_BROKER_URL": self.broker.url,
            "HOLDOUT_CACHE_URL": self.redis.cache_url,
            **self.store.environment,
        }

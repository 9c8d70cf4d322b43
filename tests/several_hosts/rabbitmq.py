"""RabbitMQ as the broker."""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path

from tests.several_hosts.network import LAN, answers
from tests.several_hosts.processes import Process, ProcessorTime, eventually

PORT = 5672
START_PATIENCE = 180.0


def missing() -> str:
    return "" if shutil.which("rabbitmq-server") else "needs RabbitMQ: apt-get install rabbitmq-server"


class RabbitMQ:
    url = f"amqp://guest:guest@{LAN}:{PORT}//"

    def __init__(self, folder: Path, times: ProcessorTime) -> None:
        folder.mkdir()
        self.folder = folder
        (folder / "rabbitmq.conf").write_text(f"listeners.tcp.1 = {LAN}:{PORT}\nloopback_users = none\n")
        (folder / "plugins").write_text("[].\n")
        env = {
            **os.environ,
            "HOME": str(folder),
            "RABBITMQ_NODENAME": "holdout@localhost",
            "RABBITMQ_CONFIG_FILE": str(folder / "rabbitmq.conf"),
            "RABBITMQ_CONF_ENV_FILE": "/dev/null",
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "plugins"),
            "RABBITMQ_MNESIA_BASE": str(folder / "database"),
            "RABBITMQ_LOGS": "-",
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "+sbwt none",
        }
        # Debian's own command changes the user, and then the folders.
        program = sorted(Path("/usr/lib/rabbitmq/lib").glob("*/sbin/rabbitmq-server"))[-1]
        self.process = Process([str(program)], kind="rabbitmq", log=folder / "rabbitmq.log", times=times, env=env)
        self.process.start()

    def wait(self) -> None:
        eventually(lambda: answers(PORT), "RabbitMQ", seconds=START_PATIENCE)

    def wipe(self) -> None:
        """Start it again without anything that it stored."""
        self.stop()
        shutil.rmtree(self.folder / "database")
        self.process.start()
        self.wait()

    def stop(self) -> None:
        self.process.send(signal.SIGKILL)
        self.process.stop(signal.SIGKILL)

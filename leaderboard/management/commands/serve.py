"""`manage.py serve`: run all of Holdout on this machine, or one of its processes in the foreground."""

from __future__ import annotations

import logging
import os
import signal
import socket
import subprocess
import sys
from argparse import ArgumentParser
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection

from leaderboard.boards.queries import prepared_board
from leaderboard.management.base import BaseCommand
from leaderboard.operations import demo, embedded, forks, processes
from leaderboard.operations.supervisor import CannotStart, Supervisor


class Command(BaseCommand):
    help = (
        "Without ROLE: migrate, start the sandbox, the web server, a worker and the sweep, fill an empty site with "
        "the demonstration, and keep everything running until Ctrl-C. With ROLE: run only that process, as containers "
        "do."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "role",
            nargs="?",
            choices=processes.ROLES,
            metavar=f"{{{','.join(processes.ROLES)}}}",
            help="run only this process, in the foreground",
        )
        parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default %(default)s)")
        parser.add_argument("--port", type=int, default=8000, help="port (default %(default)s; 0: a free one)")
        parser.add_argument("--no-seed", action="store_true", help="do not fill an empty site with the demonstration")

    def handle(self, *, role: str | None, host: str, port: int, no_seed: bool, **_: Any) -> None:
        if role:
            self.become(role, host, port)
        with embedded.locked(settings.DATA) as lock, embedded.listening(host, port) as listener:
            address = embedded.url(listener)
            # Mails and permalinks contain the actual port.
            embedded.use_address(address.rstrip("/"))
            sandbox = self.prepare()
            supervisor = Supervisor(embedded.children(lock, listener, sandbox, self.say), self.say)
            try:
                with embedded.announced(settings.DATA, os.environ["HOLDOUT_BASE_URL"]):
                    supervisor.start()
                    self.welcome(supervisor, listener, address, seed=not no_seed)
                    supervisor.follow()
            except CannotStart as error:
                raise CommandError(str(error)) from None
            finally:
                self.say("stopping")
                supervisor.stop()
                self.say(f"stopped; the data remain in {settings.DATA}")

    def become(self, role: str, host: str, port: int) -> None:
        """Replace this process by the one called `role`, such as `web` or `beat`; never returns.

        host, port: on which `web` listens. Raises CommandError for `scorers` or `systems-gpu` if the settings switch it
        off.
        """
        if role == "scorers" and not settings.SCORERS:
            raise CommandError(
                "the role scorers is switched off, since its worker needs gold and a container engine; switch it on: "
                "HOLDOUT_SCORERS=on"
            )
        if role == "systems-gpu" and not settings.GPUS:
            raise CommandError(
                "the role systems-gpu has no GPUs; say which ones it offers, for example HOLDOUT_GPUS=all"
            )
        if role == "web":
            embedded.collect_static()
        command = processes.command(role, bind=f"[{host}]:{port}" if ":" in host else f"{host}:{port}")
        os.execve(command[0], command, processes.environment())  # noqa: S606

    def prepare(self) -> Future[subprocess.Popen[bytes]]:
        """Migrate, collect static files, start the sandbox and load the code, all at the same time.

        Returns the sandbox server, or the error that it cannot be started.
        """
        self.say(f"preparing the database and static files in {settings.DATA}")
        # In processes of their own, whose memory the site's do not inherit.
        steps = [
            forks.start(step.__name__, step, output=sys.stdout.fileno()) for step in (migrate, embedded.collect_static)
        ]
        with ThreadPoolExecutor(1) as pool:
            sandbox = pool.submit(embedded.start_sandbox, self.say)
            forks.load()
        statuses = [step.wait() for step in steps]
        if any(statuses):
            raise CommandError("the database and static files could not be prepared, see above")
        return sandbox

    def welcome(self, supervisor: Supervisor, listener: socket.socket, address: str, *, seed: bool) -> None:
        """Wait until the site responds, and print its address and the demo users' passwords.

        seed: True also creates those parts of the demonstration that are not there yet.
        """
        with embedded.FirstResponse(listener) as answer:
            supervisor.follow(answer.came, watch=[answer.socket])
        if supervisor.stopping:
            return
        self.say(f"Holdout is at {address}")
        if seed and embedded.wants_seed():
            self.say("filling the site with the demonstration, through the normal upload and scoring path")
            if self.seed(supervisor):
                embedded.mark_seeded()
        if not supervisor.stopping:
            for line in demo.login_lines():
                self.say(line)
            for phase, version in prepared_board.outdated():
                self.say(
                    f"{phase} was scored by version {version} of its task, which has changed since: "
                    f"manage.py rescore {phase.benchmark.slug} {phase.slug}"
                )
            self.say(f"ready; logs are in {embedded.logs()}; press Ctrl-C to stop")
        # The site is ready before these steps, which take longer than the rest of the first start.
        for option in embedded.remaining_steps() if seed else ():
            if not supervisor.stopping and self.seed(supervisor, option):
                embedded.mark_done(option)

    def seed(self, supervisor: Supervisor, *options: str) -> bool:
        """Run `manage.py seed` with these options; return False if it failed or the site is stopping."""

        def run() -> None:
            if options:
                os.nice(10)  # what follows when the site is ready must not slow it down
            # It reports its progress itself; a log line a submission between would hide that.
            logging.getLogger().setLevel(os.environ.get("HOLDOUT_LOG_LEVEL", "WARNING"))
            call_command("seed", *options)

        seeding = forks.start("seed", run, output=sys.stdout.fileno())
        supervisor.follow(lambda: seeding.poll() is not None)
        if supervisor.stopping and seeding.poll() is None:
            os.kill(seeding.pid, signal.SIGTERM)
            seeding.wait()
        elif seeding.returncode:
            self.say(f"seeding failed with status {seeding.returncode}; the next start tries again")
        return not supervisor.stopping and not seeding.returncode

    def say(self, line: str) -> None:
        self.stdout.write(f"holdout: {line}")
        self.stdout.flush()


def migrate() -> None:
    # The data folder is locked: no other process uses its SQLite database, whatever the last ones reported.
    alone = connection.vendor == "sqlite"
    call_command("migrate", verbosity=0, interactive=False, stop_older_code=alone)

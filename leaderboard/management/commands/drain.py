"""`manage.py drain`: stop a host from starting containers of submitted images, or let it start them again."""

from __future__ import annotations

import socket
import time
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from leaderboard.containers.actions import placement, workers
from leaderboard.management.base import BaseCommand
from leaderboard.models import WorkerReport

POLL_SECONDS = 1.0


class Command(BaseCommand):
    help = (
        "Tell the systems worker of a host to start no more containers. It finishes those that run and starts no "
        "others, also after a restart, until --resume."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("host", nargs="?", default=socket.gethostname(), help="default: this host (%(default)s)")
        parser.add_argument("--resume", action="store_true", help="let it start containers again")
        parser.add_argument("--wait", action="store_true", help="return when nothing runs there any more")

    def handle(self, *, host: str, resume: bool, wait: bool, **_: Any) -> None:
        known = WorkerReport.objects.exclude(queue=workers.SCORERS)
        reports = list(known.filter(host=host))
        if not reports:
            hosts = ", ".join(sorted(set(known.values_list("host", flat=True)))) or "none"
            raise CommandError(f"unknown host {host!r}, expected one whose systems worker has reported: {hosts}")
        for report in reports:
            workers.resume(report) if resume else workers.drain(report)
        if resume:
            self.stdout.write(f"{host} starts containers")
            return
        while (left := placement.running_on(host).count()) and wait:
            time.sleep(POLL_SECONDS)
        workers.note_drained(host)
        self.stdout.write(f"{host} is draining: {left} still running" if left else f"{host} is drained")

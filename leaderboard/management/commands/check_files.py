"""`manage.py check_files`: reads every stored file, and compares it with the sha256 that its record names."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from leaderboard.actions import stored_files


class Command(BaseCommand):
    help = (
        "Reads every stored file (gold, inputs, predictions, outcomes, images, ...) and names what is missing or is "
        "not what its record says. Nothing is changed. Exit status 1 where something is wrong."
    )

    def handle(self, **_: Any) -> None:
        n = 0
        faults = 0
        for looked in stored_files.look():
            n += 1
            if looked.fault:
                faults += 1
                self.stdout.write(f"{looked.owner}: {looked.fault}")
        if faults:
            raise CommandError(f"{faults} of {n} files are missing or altered")
        self.stdout.write(f"{n} files: all are there, with their sha256")

"""`manage.py cleanup`: list data that can be removed, and remove it with --apply."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from leaderboard.management.base import BaseCommand
from leaderboard.management.command_errors import storage_errors_as_command_errors
from leaderboard.operations import cleanup, orphaned_files


class Command(BaseCommand):
    help = (
        "List what can be removed: leftovers of broken uploads, old mails and logs, expired rows, and images and "
        "archives without a record. --apply removes them. Gold, raw files, inputs, predictions and outcomes are never "
        "removed: those without a record are only listed. The exit status is 1 if so many stored files have no record "
        "that they may belong to another database; then none of them is removed."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--apply", action="store_true", help="remove the listed items; without it nothing is changed"
        )
        parser.add_argument(
            "--days", type=int, default=30, help="minimum age of mails and logs, in days (default %(default)s)"
        )

    @storage_errors_as_command_errors()
    def handle(self, *, apply: bool, days: int, verbosity: int, **_: Any) -> None:
        if days < 1:
            raise CommandError(f"--days is {days}, expected 1 or more")
        total = 0
        orphaned = orphaned_files.find()
        for kind, items in cleanup.find_removable(days=days, strays=orphaned).items():
            size = sum(item.bytes for item in items)
            total += size
            self.stdout.write(f"{kind}: {len(items)}, {size / 1e6:.1f} MB")
            for item in items:
                if verbosity > 1:
                    self.stdout.write(f"  {item.name}: {item.bytes} bytes")
                if apply:
                    item.remove()
        self._print_reported(orphaned.reported, verbosity)
        status = "removed" if apply else "can be removed: use --apply; --verbosity 2 lists each item"
        self.stdout.write(f"{total / 1e6:.1f} MB in {settings.DATA} {status}")
        if orphaned.doubt:
            raise CommandError(orphaned.doubt)

    def _print_reported(self, strays: list[orphaned_files.OrphanedFile], verbosity: int) -> None:
        size = sum(stray.bytes for stray in strays)
        self.stdout.write(f"stored files without a record, not removed: {len(strays)}, {size / 1e6:.1f} MB")
        for stray in strays if verbosity > 1 else ():
            self.stdout.write(f"  {stray}: {stray.bytes} bytes")

"""`manage.py tidy`: what may go, and with --apply its going."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from leaderboard.actions import tidying


class Command(BaseCommand):
    help = (
        "Lists what the site may lose: leftovers of broken uploads, old mails and logs, what has expired, and stored "
        "files that no record names. Nothing that a board, a receipt or a scoring needs. --apply removes it."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--apply", action="store_true", help="remove it; without this nothing is changed")
        parser.add_argument("--days", type=int, default=30, help="how old mails and logs must be (default %(default)s)")

    def handle(self, *, apply: bool, days: int, verbosity: int, **_: Any) -> None:
        if days < 1:
            raise CommandError(f"--days is {days}; expected 1 or more")
        total = 0
        for kind, items in tidying.found(days=days).items():
            size = sum(item.bytes for item in items)
            total += size
            self.stdout.write(f"{kind}: {len(items)}, {size / 1e6:.1f} MB")
            for item in items:
                if verbosity > 1:
                    self.stdout.write(f"  {item.name}: {item.bytes} bytes")
                if apply:
                    item.remove()
        done = "removed" if apply else "may be removed: --apply does it, --verbosity 2 names each"
        self.stdout.write(f"{total / 1e6:.1f} MB in {settings.DATA} {done}")

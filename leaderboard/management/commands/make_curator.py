"""`manage.py make_curator`: let a user create benchmarks and manage all of them."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from leaderboard.accounts.actions import curators
from leaderboard.models import User


class Command(BaseCommand):
    help = "Lets an account create benchmarks and manage all of them, or with --no-longer takes that back."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username")
        parser.add_argument("--no-longer", action="store_true", help="take it back")

    def handle(self, *, username: str, no_longer: bool, **_: Any) -> None:
        try:
            changed = curators.appoint(username=username, is_curator=not no_longer)
        except User.DoesNotExist:
            raise CommandError(f"there is no account {username!r}; createsuperuser makes one, or the site") from None
        state = "is no curator" if no_longer else "is a curator"
        self.stdout.write(f"{username} {state}" + ("" if changed else " already"))

"""`manage.py make_curator`: allow a user to create benchmarks and to manage all of them, or revoke this right."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from leaderboard.accounts.actions import curators
from leaderboard.management.base import BaseCommand
from leaderboard.models import User


class Command(BaseCommand):
    help = "Make an account a curator, who may create benchmarks and manage all of them; --no-longer revokes it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username")
        parser.add_argument("--no-longer", action="store_true", help="revoke the right")

    def handle(self, *, username: str, no_longer: bool, **_: Any) -> None:
        try:
            changed = curators.appoint(username=username, is_curator=not no_longer)
        except User.DoesNotExist:
            raise CommandError(f"unknown account {username!r}; create it on the site or with createsuperuser") from None
        state = "is not a curator" if no_longer else "is a curator"
        self.stdout.write(f"{username} {state}" + ("" if changed else " (unchanged)"))

"""`manage.py run_failed_again`: run work again that failed because of this server."""

from __future__ import annotations

from typing import Any

from leaderboard.management.base import BaseCommand
from leaderboard.operations import run_again


class Command(BaseCommand):
    help = (
        "Queue all work of the last 30 days again that failed because of this server, such as scorings during a full "
        "disk, and charge the refunded submissions again. Workers take it at the next sweep."
    )

    def handle(self, **_: Any) -> None:
        queued = run_again.run_failed_again()
        self.stdout.write(f"{queued} failed job{'s' if queued != 1 else ''} queued again")

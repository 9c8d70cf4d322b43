"""`manage.py check_boards`: makes every board that was shown again from what is stored, and compares byte for byte."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from leaderboard.models import Leaderboard
from leaderboard.rebuilding import differences


class Command(BaseCommand):
    help = (
        "Makes every current and frozen board again from its runs' stored scores, in the order of its releases, and "
        "names what differs from what is shown. Nothing is changed. Exit status 1 where something differs."
    )

    def handle(self, **_: Any) -> None:
        shown = Leaderboard.objects.filter(state__in=Leaderboard.PUBLIC).order_by("pk")
        found = {board: differences(board) for board in shown.select_related("phase__benchmark", "gold_version__split")}
        for board, different in found.items():
            self.stdout.write(f"{board}: {'the same' if not different else ', '.join(different)}")
        if any(found.values()):
            raise CommandError("a board is not what its runs make of it")

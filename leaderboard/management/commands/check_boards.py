"""`manage.py check_boards`: rebuild every public board from stored scores, and compare it byte for byte."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from leaderboard.boards.queries.reported_results import left_out
from leaderboard.evaluation import sandbox_client
from leaderboard.management.base import BaseCommand
from leaderboard.models import Benchmark, Leaderboard
from leaderboard.scoring.verification import rebuild_plots
from leaderboard.scoring.verification.rebuild_board import differences


class Command(BaseCommand):
    help = (
        "Rebuild every current and frozen board from its runs' stored scores, in the order of its releases, and list "
        "the differences from the public boards. Plot data are rebuilt from stored outcomes if the sandbox responds. "
        "Reported results whose numbers cannot be shown are listed too. Nothing is changed. The exit status is 1 if "
        "something differs or cannot be shown."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--without-plots", "--without-drawings", action="store_true", help="compare no plot data, which is faster"
        )

    def handle(self, *, without_plots: bool = False, **_: Any) -> None:
        shown = Leaderboard.objects.filter(state__in=Leaderboard.PUBLIC).order_by("pk")
        differing = {
            board: differences(board) for board in shown.select_related("phase__benchmark", "gold_version__split")
        }
        if not without_plots and sandbox_client.answers():
            differing = {
                board: [*different, *rebuild_plots.differences(board)] for board, different in differing.items()
            }
        else:
            self.stdout.write(
                "plot data were not compared" + ("" if without_plots else ": the sandbox does not respond")
            )
        for board, different in differing.items():
            self.stdout.write(f"{board}: {'unchanged' if not different else ', '.join(different)}")
        invalid = [(benchmark, row) for benchmark in Benchmark.objects.order_by("pk") for row in left_out(benchmark)]
        for benchmark, row in invalid:
            self.stdout.write(f"reported result {row.row.pk} of {benchmark.slug}, {row.row}: {row.reason}")
        if any(differing.values()):
            raise CommandError("at least one board differs from the one rebuilt from its runs; see the list above")
        if invalid:
            raise CommandError(f"reported results that cannot be shown: {len(invalid)}; see the list above")

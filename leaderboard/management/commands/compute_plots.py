"""`manage.py compute_plots`: compute the missing plot data of a phase's published results."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from leaderboard.core.storage import AlteredError
from leaderboard.evaluation import sandbox_client
from leaderboard.evaluation.report_checks import ReportError
from leaderboard.management.base import BaseCommand
from leaderboard.management.command_errors import find_phase
from leaderboard.models import Leaderboard
from leaderboard.scoring.actions import plots


class Command(BaseCommand):
    help = (
        "Compute missing plot data (ROC curves, rank histograms and pair counts) of a phase's published results from "
        "their stored outcomes, if the phase discloses full scores. Boards of an earlier task version get none."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("benchmark", help="the benchmark's slug")
        parser.add_argument("phase", help="the phase's slug")

    def handle(self, *, benchmark: str, phase: str, **_: Any) -> None:
        row = find_phase(benchmark, phase)
        n_computed, n_left = 0, 0
        for board in row.leaderboards.filter(state__in=Leaderboard.PUBLIC).order_by("pk"):
            for release in plots.without_plot_data(board):
                try:
                    n_computed += plots.add_plot_data(release) is not None
                except (plots.NoPlotDataError, ReportError) as error:
                    n_left += 1
                    self.stderr.write(f"release {release.sequence}: {error}")
                except (AlteredError, FileNotFoundError):
                    n_left += 1
                    self.stderr.write(f"release {release.sequence}: the stored outcomes are missing or altered")
                except sandbox_client.SandboxError as error:
                    raise CommandError(
                        f"release {release.sequence}: {error}; stopped after {n_computed} results, run the command "
                        "again to continue"
                    ) from error
        self.stdout.write(f"plot data of {n_computed} result{'s' if n_computed != 1 else ''} computed")
        if n_left:
            raise CommandError(f"plot data of {n_left} results could not be computed; see the reasons above")

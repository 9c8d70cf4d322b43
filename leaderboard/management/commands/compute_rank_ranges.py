"""`manage.py compute_rank_ranges`: compute missing comparisons, or all, for the rank ranges of a phase's board."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from leaderboard.boards.queries import board_state
from leaderboard.comparisons.actions import rank_ranges
from leaderboard.management.base import BaseCommand
from leaderboard.management.command_errors import find_phase


class Command(BaseCommand):
    help = (
        "Queue the computation of the rank ranges of a phase's board: missing comparisons, or all with --again. The "
        "same runs give the same numbers, so --again is only useful for comparisons that may be damaged."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("benchmark", help="the benchmark's slug")
        parser.add_argument("phase", help="the phase's slug")
        parser.add_argument("--again", action="store_true", help="delete the stored comparisons first")

    def handle(self, *, benchmark: str, phase: str, again: bool, **_: Any) -> None:
        board = board_state.current(find_phase(benchmark, phase))
        if board is None:
            raise CommandError(f"phase {phase} of benchmark {benchmark} has no board yet; expected a phase with scores")
        n = rank_ranges.recompute(board=board, again=again)
        self.stdout.write(f"{n} comparisons will be recomputed" if again else "missing comparisons will be computed")

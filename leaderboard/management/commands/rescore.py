"""`manage.py rescore`: score a phase again on its present gold and task version."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from leaderboard.actions import rescoring
from leaderboard.models import Phase
from leaderboard.preparing import progress_of


class Command(BaseCommand):
    help = (
        "Queues every prediction of a phase that has no score on the present gold and task version, failed ones "
        "included. The board that is shown is replaced at once when the last of them is scored."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("benchmark", help="the benchmark's slug")
        parser.add_argument("phase", help="the phase's slug")

    def handle(self, *, benchmark: str, phase: str, **_: Any) -> None:
        found = Phase.objects.filter(benchmark__slug=benchmark, slug=phase).first()
        if found is None:
            raise CommandError(f"there is no phase {phase} in a benchmark {benchmark}")
        queued = rescoring.begin(phase=found)
        self.stdout.write(f"{queued} run{'s' if queued != 1 else ''} queued")
        progress = progress_of(found)
        if progress is not None:
            self.stdout.write(f"{progress.done} of {progress.total} scored on {progress.board}")

"""`manage.py rescore`: rescore a phase on its current gold version with the current task version."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from leaderboard.boards.queries.prepared_board import outdated, progress_of
from leaderboard.management.base import BaseCommand
from leaderboard.management.command_errors import find_phase
from leaderboard.models import Phase
from leaderboard.scoring.actions import rescoring


class Command(BaseCommand):
    help = (
        "Queue every prediction of a phase that has no score for the current gold version and task version, including "
        "failed ones. The new board replaces the public one when the last of them is scored."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("benchmark", nargs="?", help="the benchmark's slug")
        parser.add_argument("phase", nargs="?", help="the phase's slug")
        parser.add_argument("--outdated", action="store_true", help="all phases scored by an earlier task version")
        parser.add_argument("--dry-run", action="store_true", help="with --outdated: only list them")

    def handle(self, *, benchmark: str | None, phase: str | None, outdated: bool, dry_run: bool, **_: Any) -> None:
        if outdated == bool(benchmark and phase) or (dry_run and not outdated):
            raise CommandError("expected either a benchmark and a phase, or --outdated, optionally with --dry-run")
        if outdated:
            self.all_outdated(dry_run=dry_run)
            return
        self.begin(find_phase(benchmark, phase))

    def all_outdated(self, *, dry_run: bool) -> None:
        phases = outdated()
        if not phases:
            self.stdout.write("no phase is outdated")
        for phase, version in phases:
            if dry_run:
                self.stdout.write(f"{phase.benchmark.slug} {phase.slug}: scored by task version {version}")
            else:
                self.begin(phase)

    def begin(self, phase: Phase) -> None:
        queued = rescoring.begin(phase=phase)
        self.stdout.write(f"{phase.benchmark.slug} {phase.slug}: {queued} run{'s' if queued != 1 else ''} queued")
        progress = progress_of(phase)
        if progress is not None:
            self.stdout.write(f"{progress.done} of {progress.total} scored on {progress.board}")

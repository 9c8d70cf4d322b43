"""`manage.py partition_split`: divide a split's groups at random into public and private."""

from __future__ import annotations

from argparse import ArgumentParser
from decimal import Decimal, InvalidOperation
from typing import Any

from django.core.management.base import CommandError

from leaderboard.core.refusal import Refused
from leaderboard.datasets.actions import partition_gold
from leaderboard.management.base import BaseCommand
from leaderboard.management.command_errors import find_user
from leaderboard.models import Benchmark, User


class Command(BaseCommand):
    help = (
        "Divide the groups of a split's gold into public and private groups, permanently; a phase can score only the "
        "public or only the private groups. Corrections of the gold keep this division. The sandbox server must be "
        "running."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("benchmark", help="the benchmark's slug")
        parser.add_argument("split", help="the split's name")
        parser.add_argument("--share", default="0.5", help="fraction of the groups that becomes public (default 0.5)")
        parser.add_argument("--seed", type=int, help="seed of the random draw (default: a random one)")
        parser.add_argument(
            "--by", metavar="USERNAME", help="acting user, for the audit trail (default: the first curator)"
        )

    def handle(self, *, benchmark: str, split: str, share: str, seed: int | None, by: str | None, **_: Any) -> None:
        benchmark_row = Benchmark.objects.filter(slug=benchmark).select_related("dataset").first()
        split_row = (
            benchmark_row.dataset.splits.filter(name=split).select_related("dataset").first() if benchmark_row else None
        )
        if split_row is None:
            raise CommandError(
                f"split {split} of benchmark {benchmark} does not exist; expected a benchmark's slug and a split's name"
            )
        person = find_user(by) or User.objects.filter(is_curator=True).order_by("pk").first()
        if person is None:
            raise CommandError("there is no curator; choose an account with --by USERNAME")
        try:
            partition = partition_gold.partition(split=split_row, share=Decimal(share), seed=seed, by=person)
        except InvalidOperation as error:
            raise CommandError(f"--share is {share!r}, expected a number greater than 0 and less than 1") from error
        except Refused as refused:
            raise CommandError(str(refused)) from refused
        self.stdout.write(f"{split_row}: {partition.n_public:,} public groups, {partition.n_private:,} private groups")

"""`manage.py export_benchmark SLUG FILE --to KEY`: export a whole benchmark as one archive file."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from leaderboard.archives.actions import encryption, writing
from leaderboard.core.refusal import Refused
from leaderboard.management.base import BaseCommand
from leaderboard.management.command_errors import find_user
from leaderboard.models import Benchmark


class Command(BaseCommand):
    help = (
        "Write a benchmark with everything that belongs to it to one file: manifest, public files and boards, readable "
        "by anyone; gold, submissions, scores and people in a part encrypted to the given keys (age format; "
        "`manage.py archive_key` generates a key). Without a key that part is left out."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("benchmark", help="the benchmark's slug")
        parser.add_argument("file", type=Path, help="file to write; it must not exist yet")
        parser.add_argument(
            "--to", action="append", default=[], metavar="age1...", help="a public key; may be repeated"
        )
        parser.add_argument("--to-file", type=Path, metavar="FILE", help="a file with public keys, one per line")
        parser.add_argument("--by", metavar="USERNAME", help="acting user, for the audit trail")

    def handle(
        self, *, benchmark: str, file: Path, to: list[str], to_file: Path | None, by: str | None, **_: Any
    ) -> None:
        row = Benchmark.objects.filter(slug=benchmark).select_related("dataset").first()
        if row is None:
            raise CommandError(f"benchmark {benchmark} does not exist; expected the slug of a benchmark")
        person = find_user(by)
        try:
            lines = [*to, *(to_file.read_text().splitlines() if to_file else [])]
            keys = encryption.recipients(lines) if lines or to_file else []
            writing.write(benchmark=row, to=file, keys=keys, by=person, say=self.stdout.write)
        except Refused as refused:
            raise CommandError(refused.message) from refused
        except encryption.InvalidKeyError as problem:
            raise CommandError(str(problem)) from problem
        except OSError as error:
            raise CommandError(f"{error.filename or file}: {error.strerror}") from error
        if not keys:
            self.stdout.write("no key was given: gold, submissions and scores are left out; --to adds them, encrypted")
        self.stdout.write(f"{file}: {file.stat().st_size:,} bytes")

"""`manage.py import_archive ARCHIVE --key FILE`: import a whole benchmark, unchanged. FILE has the archive's key."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from leaderboard.archives.actions import encryption, reading
from leaderboard.archives.actions.errors import ArchiveError
from leaderboard.management.base import BaseCommand
from leaderboard.management.command_errors import find_user

UNCHANGED = "nothing was changed"


class Command(BaseCommand):
    help = (
        "Import an archive written by export_benchmark, completely or not at all: gold, submissions, scores, boards "
        "and the order of publication. The boards are compared byte for byte before anything is saved. New accounts "
        "have no password and no rights; existing accounts with the same name and address are reused."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument(
            "--key", type=Path, required=True, metavar="FILE", help="a file with the secret key or the passphrase"
        )
        parser.add_argument("--by", metavar="USERNAME", help="acting user, for the audit trail")

    def handle(self, *, file: Path, key: Path, by: str | None, **_: Any) -> None:
        person = find_user(by, more=f"; {UNCHANGED}")
        try:
            with file.open("rb") as archive:
                keys = reading.keys_of(archive, key.read_text())
                result = reading.import_contents(archive=archive, keys=keys, by=person, say=self.stdout.write)
        except ArchiveError as problem:
            raise CommandError("\n".join([f"{file.name}:", *problem.lines, UNCHANGED])) from problem
        except encryption.InvalidKeyError as problem:
            raise CommandError(f"{key.name}: {problem}; {UNCHANGED}") from problem
        except (OSError, UnicodeDecodeError) as error:
            raise CommandError(f"{getattr(error, 'filename', None) or file}: {error}; {UNCHANGED}") from error
        self.stdout.write(result.benchmark.get_absolute_url())

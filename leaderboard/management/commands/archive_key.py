"""`manage.py archive_key FILE`: generate a key that archives are encrypted to."""

from __future__ import annotations

import os
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from leaderboard.archives.actions import encryption


class Command(BaseCommand):
    help = (
        "Writes a fresh secret key to a file for its owner's eyes, as age-keygen does, and says the public one. Keep "
        "the file away from the server: who has it can read the gold of every archive that was written to the key."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="where to write; it must not be there yet")

    def handle(self, *, file: Path, **_: Any) -> None:
        secret, public = encryption.generate_key()
        try:
            descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except OSError as error:
            raise CommandError(f"{file}: {error.strerror}") from error
        with os.fdopen(descriptor, "w") as stream:
            stream.write(f"# public key: {public}\n{secret}\n")
        self.stdout.write(public)

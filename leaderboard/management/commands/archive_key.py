"""`manage.py archive_key FILE`: generate a key pair for the encryption of archives."""

from __future__ import annotations

import os
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from leaderboard.archives.actions import encryption
from leaderboard.management.base import BaseCommand


class Command(BaseCommand):
    help = (
        "Write a new secret key to a file that only its owner can read, as age-keygen does, and print the public key. "
        "Keep the file away from the server: it decrypts the gold of every archive that was encrypted to this key."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="file to write; it must not exist yet")

    def handle(self, *, file: Path, **_: Any) -> None:
        secret, public = encryption.generate_key()
        try:
            descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except OSError as error:
            raise CommandError(f"the key was not written to {file}: {error.strerror}") from error
        with os.fdopen(descriptor, "w") as stream:
            stream.write(f"# public key: {public}\n{secret}\n")
        self.stdout.write(public)

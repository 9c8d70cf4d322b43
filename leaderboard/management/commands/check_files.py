"""`manage.py check_files`: verify the SHA-256 of every stored file, and list files that no database row names."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError

from leaderboard.management.base import BaseCommand
from leaderboard.management.command_errors import storage_errors_as_command_errors
from leaderboard.operations import orphaned_files, stored_files


class Command(BaseCommand):
    help = (
        "Read every stored file (gold, inputs, predictions, outcomes, images, ...) and list files that are missing or "
        "differ from their record in the database, and stored files without a record. Nothing is changed. The exit "
        "status is 1 if files are missing or differ, or if so many have no record that they may belong to another "
        "database."
    )

    @storage_errors_as_command_errors()
    def handle(self, **_: Any) -> None:
        n = 0
        n_problems = 0
        for result in stored_files.verify_file():
            n += 1
            if result.problem:
                n_problems += 1
                self.stdout.write(f"{result.owner}: {result.problem}")
        orphaned = orphaned_files.find()
        for stray in orphaned.files:
            self.stdout.write(f"{stray}: no record")
        if n_problems:
            raise CommandError(f"{n_problems} of {n} files are missing, altered or unreadable; see the list above")
        self.stdout.write(f"{n} files: all exist and match their sha256")
        if orphaned.doubt:
            raise CommandError(orphaned.doubt)

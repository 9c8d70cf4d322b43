"""`manage.py migrate`: Django's command, without PostgreSQL's limit on the pauses of a transaction."""

from __future__ import annotations

from typing import Any

from django.core.management.commands import migrate
from django.db import connections

from leaderboard.core.db_locks import IDLE_LIMIT
from leaderboard.management.base import BaseCommand


class Command(BaseCommand, migrate.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        """Run Django's `migrate`, in which a migration may compute for any time between two statements.

        For this, the timeout of idle transactions is switched off for the session. Not behind PgBouncer, whose sessions
        serve other clients too: the timeout of its configuration then applies.
        """
        connection = connections[options["database"]]
        if "options" not in connection.settings_dict["OPTIONS"]:
            super().handle(*args, **options)
            return
        with connection.cursor() as cursor:
            cursor.execute(f"SET {IDLE_LIMIT} = 0")
        super().handle(*args, **options)
        with connection.cursor() as cursor:
            cursor.execute(f"RESET {IDLE_LIMIT}")

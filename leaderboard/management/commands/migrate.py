"""`manage.py migrate`: Django's command, without the limit on the pauses of a transaction."""

from __future__ import annotations

from typing import Any

from django.core.management.commands import migrate
from django.db import connections

from leaderboard.core.db_locks import IDLE_LIMIT


class Command(migrate.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        """Migrate; on PostgreSQL a migration may compute between two statements for as long as it takes.

        Behind PgBouncer the limit is that of its configuration, since its sessions serve other clients too.
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

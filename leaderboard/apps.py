"""The Django application."""

from collections.abc import Collection
from typing import Any

from django.apps import AppConfig
from django.core.checks import CheckMessage, Error, Tags, Warning, register


class LeaderboardConfig(AppConfig):
    name = "leaderboard"
    verbose_name = "Holdout"

    def ready(self) -> None:
        from leaderboard.core import db_schema, tracing
        from leaderboard.operations import error_reports

        # Django loads its middleware later, and workers fork later.
        tracing.set_up()
        error_reports.set_up()
        db_schema.known()


@register
def check_task_packages(**_: Any) -> list[CheckMessage]:
    """Return a warning for each installed task that could not be loaded.

    Django shows it at startup and in `manage.py check`.
    """
    from evaluator.tasks.registry import TASKS

    return [Warning(str(problem), id="leaderboard.W001") for problem in TASKS.problems]


@register(Tags.database)
def check_database_timeouts(databases: Collection[str] | None = None, **_: Any) -> list[CheckMessage]:
    """Return an error for each PostgreSQL timeout that the site needs and that is switched off.

    databases: aliases of the databases to check; None: none. Behind PgBouncer, the timeouts are off unless its
    configuration sets them.

    `manage.py migrate` and `manage.py check --database default` run this check.
    """
    from django.db import connections

    errors: list[CheckMessage] = []
    for alias in databases or ():
        connection = connections[alias]
        for name in (
            ("lock_timeout", "idle_in_transaction_session_timeout") if connection.vendor == "postgresql" else ()
        ):
            with connection.cursor() as cursor:
                cursor.execute("SELECT current_setting(%s)", [name])
                if cursor.fetchone()[0] == "0":
                    hint = "With HOLDOUT_PGBOUNCER, connect_query in pgbouncer.ini sets it: see deploy/pgbouncer.ini."
                    errors.append(
                        Error(f"PostgreSQL's {name} is 0, expected a time.", hint=hint, id="leaderboard.E001")
                    )
    return errors

"""Empties the database between tests in milliseconds instead of tenths of a second.

Django's own code rewrites content types and permissions after each test, and TRUNCATE creates new files for each table
and index of PostgreSQL.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.core.management.color import no_style
from django.db import OperationalError, connections
from django.db.backends.postgresql.operations import DatabaseOperations
from django.test import TransactionTestCase
from psycopg.errors import DeadlockDetected

_truncating = DatabaseOperations.sql_flush
_executing = DatabaseOperations.execute_sql_flush
STAY = {"django_migrations", "django_content_type", "auth_permission"}
"""Tables that migrations fill and no test changes."""
TRIES = 5


def install() -> None:
    """Make tests empty tables by DELETE; on PostgreSQL without triggers and foreign keys, like TRUNCATE."""
    TransactionTestCase._fixture_teardown = _empty  # type: ignore[attr-defined]
    DatabaseOperations.sql_flush = _sql_flush  # type: ignore[method-assign]
    DatabaseOperations.execute_sql_flush = _execute  # type: ignore[method-assign]


def _empty(self: Any) -> None:
    for alias in self._databases_names(include_mirrors=False):
        connection = connections[alias]
        tables = set(connection.introspection.django_table_names()) - STAY
        connection.ops.execute_sql_flush(connection.ops.sql_flush(no_style(), sorted(tables)))


def _sql_flush(
    self: DatabaseOperations, style: Any, tables: Iterable[str], *, reset_sequences: bool = False, **more: Any
) -> list[str]:
    if reset_sequences:
        return _truncating(self, style, tables, reset_sequences=True, **more)
    names = [self.quote_name(table) for table in tables]
    if not names:
        return []
    # Like TRUNCATE, wait until other processes have finished their work. All of this is one transaction.
    locked = f"LOCK TABLE {', '.join(names)} IN ACCESS EXCLUSIVE MODE"
    emptied = [f"DELETE FROM {name}" for name in names]
    return ["; ".join([locked, "SET LOCAL session_replication_role = replica", *emptied])]


def _execute(self: DatabaseOperations, sql_list: list[str]) -> None:
    """Execute, and retry if PostgreSQL aborted it because of a deadlock with another process."""
    for attempt in range(1, TRIES + 1):
        try:
            return _executing(self, sql_list)
        except OperationalError as error:
            if attempt == TRIES or not isinstance(error.__cause__, DeadlockDetected):
                raise

"""`manage.py migrate`: Django's command, beside a site that runs.

One process at a time migrates. A migration waits only briefly for a table that is in use, since all requests that need
the table wait behind it, and is then tried again. Migrations beside which older code cannot work are refused while
processes with such code run (`core/db_schema.py`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.core.management.commands import migrate
from django.db import OperationalError, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations import Migration
from django.db.migrations.executor import MigrationExecutor

from leaderboard.core import db_clock, db_locks, db_schema
from leaderboard.management.base import BaseCommand
from leaderboard.models.worker import FRESH
from leaderboard.work_queue import process_reports

LOCK_MILLISECONDS = 500
"""Longest wait of a migration for a table. Requests that need the table wait as long; web processes give up after 5 s.

It is shorter than PostgreSQL's deadlock_timeout of a second, so that in a deadlock it is the migration that gives way.
"""
LONGEST_PAUSE = 5.0
PATIENCE = 600.0
"""Seconds after which a migration whose tables are always in use, and a wait for another `migrate`, are given up."""
POLL_SECONDS = 1.0
IN_USE = "the tables are in use"


class Command(BaseCommand, migrate.Command):
    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--stop-older-code",
            action="store_true",
            help="migrate although processes run whose older code cannot work beside the migrations; they answer 503 "
            "and take no work until their code is replaced",
        )

    def handle(self, *args: Any, stop_older_code: bool = False, **options: Any) -> None:
        """Run Django's `migrate`. Raises CommandError if older code, or another `migrate`, does not end.

        A migration may compute for any time between two statements, so the timeout of idle transactions is switched
        off for the session.
        """
        connection = connections[options["database"]]
        if options["plan"] or options["check_unapplied"]:
            super().handle(*args, **options)
            return
        with _settings(connection), db_locks.migration_lock(connection, wait=self._other_migrates()):
            executor = MigrationExecutor(connection)
            # A database without tables has no older code.
            if executor.loader.applied_migrations:
                self._wait_for_older_code(executor, stop=stop_older_code)
            self._until_tables_are_free(lambda: super(Command, self).handle(*args, **options))

    def _other_migrates(self) -> Callable[[], None]:
        """Return a function that pauses, and raises CommandError after PATIENCE."""
        deadline = time.monotonic() + PATIENCE

        def wait() -> None:
            if time.monotonic() > deadline:
                raise CommandError(
                    f"Nothing was migrated: another manage.py migrate has run for {PATIENCE:.0f} seconds."
                )
            time.sleep(POLL_SECONDS)

        return wait

    def _wait_for_older_code(self, executor: MigrationExecutor, *, stop: bool) -> None:
        """Return when no process runs whose code cannot work beside the pending migrations.

        A process that has ended counts until its last report is FRESH old. Raises CommandError as soon as one reports
        again. stop: do not wait. Code of that kind which starts later finds in the database that it does not fit.
        """
        needed = self._needed(executor)
        began = db_clock.read()
        said: set[str] = set()
        while needed and not stop:
            older = process_reports.lacking(needed.values(), since=db_clock.read() - FRESH)
            if not older:
                break
            if any(seen_at > began for seen_at in older.values()):
                raise CommandError(_refusal(needed, older))
            if older.keys() - said:
                said |= older.keys()
                self.stdout.write(f"Waiting up to {FRESH.seconds} s until these have ended: {', '.join(older)}")
            time.sleep(POLL_SECONDS)
        db_schema.require(needed.values())

    def _needed(self, executor: MigrationExecutor) -> dict[str, db_schema.Key]:
        """Return the pending migrations beside which not all older code works: APP.NAME -> what code has to know."""
        plan: list[tuple[Migration, bool]] = executor.migration_plan(executor.loader.graph.leaf_nodes())
        needed = {}
        for migration, _ in plan:
            key = (migration.app_label, migration.name)
            required = db_schema.required_code(migration, executor.loader.project_state(key, at_end=False))
            if required is not None:
                needed[".".join(key)] = required
        return needed

    def _until_tables_are_free(self, do: Callable[[], object]) -> None:
        """Call `do` until it needs no table that is in use; after PATIENCE, raise CommandError.

        What it has migrated stays, and each migration is applied completely or not at all.
        """
        deadline, pause = time.monotonic() + PATIENCE, 1.0
        while True:
            try:
                do()
            except OperationalError as error:
                if db_locks.transient_message(error) != db_locks.BUSY:
                    raise
                if time.monotonic() + pause > deadline:
                    raise CommandError(
                        f"A migration was given up: {IN_USE} ({error}). The migrations before it are applied, and it "
                        "has changed nothing. Run manage.py migrate again."
                    ) from error
            else:
                return
            self.stderr.write(f"{IN_USE[:1].upper()}{IN_USE[1:]}; trying again in {pause:.0f} s")
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)


@contextmanager
def _settings(connection: BaseDatabaseWrapper) -> Iterator[None]:
    """Set the timeouts of a session that migrates; PostgreSQL only."""
    if connection.vendor != "postgresql":
        yield
        return
    values = {db_locks.IDLE_LIMIT: "0", "lock_timeout": f"{LOCK_MILLISECONDS}ms"}
    with connection.cursor() as cursor:
        for name, value in values.items():
            cursor.execute("SELECT set_config(%s, %s, false)", [name, value])
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            for name in values:
                cursor.execute(f"RESET {name}")


def _refusal(needed: Iterable[str], running: Iterable[str]) -> str:
    return (
        f"Nothing was migrated. Processes of an earlier release run, and cannot work beside {', '.join(needed)}: "
        f"{', '.join(running)}. Stop them, and run manage.py migrate again. With --stop-older-code the database is "
        "migrated all the same: they then answer 503 and take no work until their code is replaced."
    )

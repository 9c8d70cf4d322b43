"""Emptying PostgreSQL between tests leaves no row, keeps foreign keys enforced, and continues sequences."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from django.apps import apps
from django.contrib.contenttypes.models import ContentType
from django.core.management import call_command
from django.core.management.sql import emit_post_migrate_signal
from django.db import IntegrityError, connection, transaction

from leaderboard.models import Membership, System, Team
from tests.support import database_flush
from tests.support.postgresql import on_postgresql
from tests.support.rows.board_rows import stand
from tests.support.rows.tiny_world import build

pytestmark = [
    pytest.mark.django_db(transaction=True),
    on_postgresql,
]
KEPT = {"django_migrations"}


@pytest.fixture(autouse=True)
def filled() -> Iterator[None]:
    world = build()
    stand(world, "First")
    stand(world, "Second", spent={"wall_seconds": 1.0})
    assert {"leaderboard_team", "leaderboard_team_members", "leaderboard_release"} & tables_with_rows() - KEPT
    yield
    # These tests flush content types and permissions too, which the following tests of this process expect.
    emit_post_migrate_signal(verbosity=0, interactive=False, db=connection.alias)
    assert ContentType.objects.exists()


def tables_with_rows() -> set[str]:
    """Returns the tables that have a row."""
    with connection.cursor() as cursor:
        names = connection.introspection.table_names(cursor)
        tables = set()
        for name in names:
            cursor.execute(f"SELECT EXISTS (SELECT FROM {connection.ops.quote_name(name)})")
            if cursor.fetchone() == (True,):
                tables.add(name)
    return tables


def flush(*, reset_sequences: bool = False) -> None:
    """Flushes like Django's own test case after each test."""
    call_command(
        "flush",
        verbosity=0,
        interactive=False,
        reset_sequences=reset_sequences,
        allow_cascade=False,
        inhibit_post_migrate=True,
    )


def test_every_table_is_empty() -> None:
    assert len(tables_with_rows()) > 15
    flush()
    assert tables_with_rows() <= KEPT
    assert not any(model._default_manager.exists() for model in apps.get_models())


def test_the_flush_deletes_rows() -> None:
    """Otherwise this file does not test the code that empties tables between tests."""
    assert type(connection.ops).sql_flush is database_flush._sql_flush
    statements = connection.ops.sql_flush(None, ["one", "two"])
    assert "TRUNCATE" not in statements[0] and statements[0].count("DELETE") == 2


def test_sequences_continue_so_that_ids_are_not_reused() -> None:
    last = Team.objects.create(name="Last").pk
    flush()
    assert Team.objects.create(name="Next").pk > last


def test_sequences_are_reset_on_request() -> None:
    Team.objects.create(name="Last")
    flush(reset_sequences=True)
    assert tables_with_rows() <= KEPT
    assert Team.objects.create(name="Next").pk == 1


def test_foreign_keys_are_enforced_afterwards() -> None:
    flush()
    with connection.cursor() as cursor:
        cursor.execute("SHOW session_replication_role")
        assert cursor.fetchone() == ("origin",)
    with pytest.raises(IntegrityError), transaction.atomic():
        System.objects.create(team_id=10**9, name="of nobody")
        connection.check_constraints()
    team = Team.objects.create(name="Next")
    with pytest.raises(IntegrityError), transaction.atomic():
        Membership.objects.create(team=team, user_id=10**9)
        connection.check_constraints()
    assert not System.objects.exists() and not Membership.objects.exists()


def test_checks_are_enforced_afterwards() -> None:
    flush()
    Team.objects.create(name="Same")
    with pytest.raises(IntegrityError), transaction.atomic():
        Team.objects.create(name="same")


def test_a_deadlocked_transaction_ends_before_the_flush() -> None:
    """PostgreSQL aborts one of the two: here the flush, because the other never checks for a deadlock."""
    names = [name for name in connection.introspection.django_table_names(only_existing=True) if name not in KEPT]
    first, last = names[0], names[-1]
    holds = threading.Event()
    took: list[bool] = []

    def work() -> None:
        with psycopg.connect(**connection.get_connection_params() | {"cursor_factory": psycopg.Cursor}) as other:
            other.execute("SET deadlock_timeout = '1h'")
            other.execute(f"LOCK TABLE {last} IN ROW EXCLUSIVE MODE")
            holds.set()
            waits_for_the_flush(other)
            other.execute(f"LOCK TABLE {first} IN ROW EXCLUSIVE MODE")
            took.append(True)

    worker = threading.Thread(target=work)
    worker.start()
    holds.wait()
    flush()
    worker.join()
    assert took == [True] and tables_with_rows() <= KEPT


def waits_for_the_flush(other: psycopg.Connection[Any]) -> None:
    """Waits until another session waits for a table that this connection has locked."""
    waiting = "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE pg_backend_pid() = ANY(pg_blocking_pids(pid)))"
    while other.execute(waiting).fetchone() != (True,):
        pass

"""On PostgreSQL a frozen process holds up nobody: sessions have timeouts; submissions need no lock of publishers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from django.db import OperationalError, connection, transaction
from django.test import Client

from leaderboard.core import db_locks
from leaderboard.models import Benchmark, Phase, Split
from tests.support.rows.tiny_world import World, build

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="needs PostgreSQL (HOLDOUT_DATABASE_URL)"),
]


@pytest.fixture
def world(transactional_db: None, sandbox: str) -> World:
    world = build()
    Benchmark.objects.update(state=Benchmark.State.PUBLIC)
    return world


def session(**seconds: int) -> psycopg.Connection[Any]:
    """Another process's connection to the test database, with the site's timeouts."""
    settings = connection.settings_dict
    return psycopg.connect(
        dbname=settings["NAME"],
        user=settings["USER"],
        password=settings["PASSWORD"],
        host=settings["HOST"],
        port=settings["PORT"],
        **db_locks.session_options(**{"lock_seconds": 60, "idle_seconds": 60, **seconds}),
    )


@contextmanager
def frozen(table: str, key: int, **seconds: int) -> Iterator[psycopg.Connection[Any]]:
    """A process that stopped in the middle of a transaction in which it has locked a row as workers do."""
    with session(**seconds) as other:
        other.execute(f"SELECT 1 FROM {table} WHERE id = %s FOR NO KEY UPDATE", [key])
        yield other
        other.close()


def test_a_frozen_publisher_does_not_delay_submissions(world: World) -> None:
    with frozen(Phase._meta.db_table, world.phase.pk) as other:
        with connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = '1s'")
        assert world.submit().phase == world.phase
        other.rollback()


def test_the_database_ends_a_frozen_transaction(world: World) -> None:
    with frozen(Phase._meta.db_table, world.phase.pk, idle_seconds=1) as other:
        with transaction.atomic():
            Phase.objects.select_for_update(no_key=True).get(pk=world.phase.pk)
        with pytest.raises(psycopg.errors.IdleInTransactionSessionTimeout):
            other.execute("SELECT 1")


def test_a_submission_that_waits_for_a_lock_too_long_says_so(world: World) -> None:
    with frozen(Split._meta.db_table, world.split.pk), connection.cursor() as cursor:
        cursor.execute("SET lock_timeout = '50ms'")
        with pytest.raises(OperationalError) as raised:
            world.submit()
        assert db_locks.transient_message(raised.value) == db_locks.BUSY
        cursor.execute("RESET lock_timeout")


def test_a_database_that_is_away_answers_503(world: World) -> None:
    client = Client(raise_request_exception=False)
    with session() as other:
        pid = connection.cursor().execute("SELECT pg_backend_pid()").fetchone()[0]
        other.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])
    answer = client.get("/api/v1/benchmarks/tiny/")
    assert (answer.status_code, answer["Retry-After"]) == (503, str(db_locks.RETRY_AFTER))
    assert answer.json() == {"code": "busy", "message": db_locks.AWAY}
    connection.close()
    assert client.get("/api/v1/benchmarks/tiny/").status_code == 200

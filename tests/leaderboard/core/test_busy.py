"""A locked database gives a 503 with Retry-After, not a server error."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import OperationalError
from django.test import Client

from leaderboard.core import db_locks
from leaderboard.models import Benchmark
from tests.conftest import ROOT
from tests.support.api_calls import error_of
from tests.support.rows.tiny_world import World, build

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    world = build()
    Benchmark.objects.update(state=Benchmark.State.PUBLIC)
    return world


def broken_site(monkeypatch: pytest.MonkeyPatch, words: str) -> Client:
    """A client on a site where reading benchmarks raises a database error."""

    def refuse(*_: Any, **__: Any) -> None:
        raise OperationalError(words)

    monkeypatch.setattr("leaderboard.models.benchmark.BenchmarkQuerySet.visible_to", refuse)
    return Client(raise_request_exception=False)


def test_a_page_says_that_the_site_is_busy(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = broken_site(monkeypatch, "database is locked").get("/benchmarks/tiny/")
    assert (answer.status_code, answer["Retry-After"]) == (503, str(db_locks.RETRY_AFTER))
    assert db_locks.BUSY in answer.content.decode() and "Internal server error" not in answer.content.decode()


@pytest.mark.parametrize("words", ["database table is locked", "deadlock detected", "canceling: lock timeout"])
def test_the_api_says_so_too(world: World, monkeypatch: pytest.MonkeyPatch, words: str) -> None:
    answer = broken_site(monkeypatch, words).get("/api/v1/benchmarks/tiny/")
    assert (answer.status_code, answer["Retry-After"]) == (503, str(db_locks.RETRY_AFTER))
    assert error_of(answer) == {"code": "busy", "message": db_locks.BUSY}


def test_another_database_error_is_a_server_error(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    client = broken_site(monkeypatch, "disk I/O error")
    for address in ("/benchmarks/tiny/", "/api/v1/benchmarks/tiny/"):
        answer = client.get(address)
        assert answer.status_code == 500 and "Retry-After" not in answer
        assert "disk I/O" not in answer.content.decode()


STATES = {
    **dict.fromkeys(("55P03", "40P01", "40001", "57014"), db_locks.BUSY),
    **dict.fromkeys(("57P01", "57P02", "57P03", "53300", "25P03", "08006", None), db_locks.AWAY),
    **dict.fromkeys(("53100", "42601"), ""),
}


@pytest.mark.parametrize("state", STATES)
def test_errors_of_postgresql_are_classified(state: str | None) -> None:
    """None: psycopg gives no SQLSTATE to a connection that cannot be made."""
    error = OperationalError("words that say nothing")
    error.__cause__ = psycopg.OperationalError() if state is None else psycopg.errors.lookup(state)()
    assert db_locks.transient_message(error) == STATES[state]


@pytest.mark.parametrize(("module", "seconds"), [("leaderboard.wsgi", 5), ("leaderboard.celery", 60)])
def test_sessions_of_postgresql_have_timeouts(tmp_path: Path, module: str, seconds: int) -> None:
    """`test_db_timeouts.py` shows on PostgreSQL what they do."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("HOLDOUT_", "DJANGO_"))}
    database = {"HOLDOUT_DATA": str(tmp_path), "HOLDOUT_DATABASE_URL": "postgres://ada@127.0.0.1/absent"}
    lease = {"HOLDOUT_LEASE_SECONDS": "40"}
    code = (
        f"import {module}; from django.conf import settings; print(settings.DATABASES['default']['OPTIONS']['options'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment | database | lease,
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=True,
    )
    options = done.stdout.split()
    assert f"lock_timeout={seconds}000" in options and "idle_in_transaction_session_timeout=40000" in options

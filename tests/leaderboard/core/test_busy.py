"""A locked database gives a 503 with Retry-After, not a server error."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import OperationalError
from django.test import Client

from leaderboard.core import db_locks
from leaderboard.models import Benchmark
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
    assert answer.json() == {"code": "busy", "message": db_locks.BUSY}


def test_another_database_error_is_a_server_error(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    client = broken_site(monkeypatch, "disk I/O error")
    for address in ("/benchmarks/tiny/", "/api/v1/benchmarks/tiny/"):
        answer = client.get(address)
        assert answer.status_code == 500 and "Retry-After" not in answer
        assert "disk I/O" not in answer.content.decode()

"""Anonymous visitors read public pages from a replica that is up to date; everything else uses the primary."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import router
from django.http import HttpResponse
from django.test import RequestFactory

from leaderboard.core import read_replica
from leaderboard.models import Benchmark
from tests.conftest import ROOT
from tests.support import postgresql

Read = Callable[..., str]


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch, settings: Any) -> Read:
    """Return a function that makes a request and returns the database that its view reads from."""
    settings.DATABASES = {**settings.DATABASES, read_replica.ALIAS: {}}
    monkeypatch.setattr(router, "routers", [read_replica.Router()])
    monkeypatch.setattr(read_replica.freshness, "check", lambda: True)

    def read(
        verb: str, path: str, *, act: Callable[[], object] = lambda: None, cookie: str = "", **headers: str
    ) -> str:
        def view(_: Any) -> HttpResponse:
            act()
            return HttpResponse(router.db_for_read(Benchmark))

        request = getattr(RequestFactory(), verb)(path, headers=headers)
        if cookie:
            request.COOKIES[cookie] = "1"
        return read_replica.replica_middleware(view)(request).content.decode()  # type: ignore[attr-defined]

    return read


@pytest.mark.parametrize(
    "path", ["/", "/benchmarks/tiny/test/", "/api/v1/benchmarks/tiny/", "/systems/1/", "/feed.atom"]
)
def test_anonymous_reads_of_public_pages_use_the_replica(read: Read, path: str) -> None:
    assert read("get", path) == read("head", path) == "replica"


@pytest.mark.parametrize(
    "path",
    [
        "/accounts/login/",
        "/me/submissions/",
        "/manage/",
        "/admin/",
        "/metrics",
        "/api/v1/submissions/",
        "/invitations/x/",
    ],
)
def test_other_pages_use_the_primary(read: Read, path: str) -> None:
    assert read("get", path) == "default"


def test_whoever_may_have_written_uses_the_primary(read: Read) -> None:
    assert read("get", "/", cookie="sessionid") == "default"
    assert read("get", "/", Authorization="Token x") == "default"
    assert read("post", "/benchmarks/tiny/test/submit/") == "default"
    assert read("get", "/", act=lambda: router.db_for_write(Benchmark)) == "default", "it reads what it wrote"
    assert router.db_for_read(Benchmark) == "default", "not beyond the request"


def test_a_page_that_the_replica_fails_comes_from_the_primary(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(read_replica.freshness, "fail", lambda error: None)

    def view(_: Any) -> HttpResponse:
        asked.append(router.db_for_read(Benchmark))
        return HttpResponse(status=503 if asked[-1] == "replica" else 200)

    assert read_replica.replica_middleware(view)(RequestFactory().get("/")).status_code == 200
    assert asked == ["replica", "default"]


SITE = """
import django, json, sys
django.setup()
from django.db import connections
from django.test import Client
from leaderboard.core import read_replica
read_replica.CHECK_SECONDS = 0
for line in sys.stdin:
    path, cookie = json.loads(line)
    seen = []
    def count(execute, sql, params, many, context):
        seen.append(context["connection"].alias)
        return execute(sql, params, many, context)
    client = Client()
    if cookie:
        client.cookies["sessionid"] = "x"
    with connections["default"].execute_wrapper(count), connections["replica"].execute_wrapper(count):
        answer = client.get(path)
    print(json.dumps([answer.status_code, "Second" in answer.content.decode(), sorted(set(seen))]), flush=True)
"""


@pytest.fixture(scope="module")
def primary() -> Iterator[postgresql.Server]:
    with postgresql.server() as server:
        yield server


@pytest.mark.slow
@postgresql.needs_postgresql
def test_streaming_replication(primary: postgresql.Server, tmp_path: Any) -> None:
    """A replica that follows, one whose replay stands still, and one that is gone."""
    own = {key: value for key, value in os.environ.items() if not key.startswith(("HOLDOUT_", "PYTEST_"))}
    own |= {
        "HOLDOUT_DATABASE_URL": primary.url(),
        "HOLDOUT_DATA": str(tmp_path),
        "DJANGO_SETTINGS_MODULE": "leaderboard.settings",
    }
    own |= {"HOLDOUT_HOSTS": "testserver"}
    subprocess.run([sys.executable, "manage.py", "migrate", "-v", "0"], cwd=ROOT, env=own, check=True)

    def insert(title: str) -> None:
        name = title.lower()
        code = (
            "import django; django.setup(); from leaderboard.models import *; "
            f"d = Dataset.objects.create(slug='{name}', title='{title}', task='fact-verification'); "
            f"Benchmark.objects.create(slug='{name}', title='{title}', dataset=d, task=d.task, state='public')"
        )
        subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=own, check=True)

    insert("First")
    with postgresql.standby(primary) as replica:
        site = subprocess.Popen(
            [sys.executable, "-c", SITE],
            cwd=ROOT,
            env={**own, "HOLDOUT_DATABASE_REPLICA_URL": replica.url()},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

        def ask(path: str = "/api/v1/benchmarks/", *, cookie: bool = False) -> list[Any]:
            assert site.stdin and site.stdout
            site.stdin.write(json.dumps([path, cookie]) + "\n")
            site.stdin.flush()
            answer: list[Any] = json.loads(site.stdout.readline())
            return answer

        # Each check asks the primary for its position; the page's own queries go to one of the two.
        postgresql.eventually(lambda: ask()[2] == ["default", "replica"])
        assert ask(cookie=True)[2] == ["default"]
        replica.execute("SELECT pg_wal_replay_pause()")
        insert("Second")
        ask()
        assert ask()[:2] == [200, True], "it is behind, so the primary answers"
        replica.execute("SELECT pg_wal_replay_resume()")
        postgresql.eventually(lambda: ask()[1:] == [True, ["default", "replica"]])
        replica.kill()
        assert ask()[:2] == [200, True]
        assert ask()[2] == ["default"]
        site.communicate()
        assert site.returncode == 0

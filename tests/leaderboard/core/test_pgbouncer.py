"""The site behind PgBouncer in transaction mode, as deploy/pgbouncer.ini configures it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from leaderboard.core.db_locks import session_options
from tests.conftest import ROOT
from tests.support import postgresql

AT_THE_SAME_TIME = (
    "tests/leaderboard/submissions/test_quotas.py",
    "tests/leaderboard/submissions/test_api_quota.py",
    "tests/leaderboard/accounts/test_one_team_a_phase.py",
    "tests/leaderboard/boards/disclosure/test_budgets.py",
    "tests/leaderboard/work_queue/test_every_kind_of_work.py",
    "tests/leaderboard/scoring/test_ranking_batches.py",
    "tests/leaderboard/core/test_compiled_queries.py",
)
"""Tests with simultaneous requests, leases, locks, and statements that are compiled once."""


def test_a_pooled_connection_has_no_options_of_its_own_session() -> None:
    assert "options" in session_options(lock_seconds=5, idle_seconds=30)
    assert "options" not in session_options(lock_seconds=5, idle_seconds=30, pooled=True)


@pytest.fixture(scope="module")
def direct() -> Iterator[postgresql.Server]:
    with postgresql.server() as server:
        yield server


@pytest.fixture(scope="module")
def pool(direct: postgresql.Server) -> Iterator[postgresql.Server]:
    with postgresql.pgbouncer(direct) as server:
        yield server


def run(server: postgresql.Server, *arguments: str, name: str = "holdout", pooled: bool = True) -> str:
    """Run Python with this server as the site's database; return what it prints."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("HOLDOUT_", "PYTEST_"))}
    site = {"HOLDOUT_DATABASE_URL": server.url(name), "HOLDOUT_PGBOUNCER": str(pooled)}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, env={**environment, **site}, capture_output=True, text=True, check=False
    )
    return f"{done.stdout}{done.stderr}\nended with {done.returncode}"


@pytest.mark.slow
@postgresql.needs_postgresql
@postgresql.needs_pgbouncer
def test_simultaneous_requests_and_workers(direct: postgresql.Server, pool: postgresql.Server) -> None:
    """The database is created without PgBouncer, which would keep sessions open that are in the way."""
    pytest_ = ("-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "--reuse-db", "-m", "not slow and not benchmark")
    created = run(direct, *pytest_, f"{AT_THE_SAME_TIME[0]}", pooled=False)
    assert created.endswith("ended with 0"), created
    passed = run(pool, *pytest_, *AT_THE_SAME_TIME)
    assert passed.endswith("ended with 0"), passed


@pytest.mark.slow
@postgresql.needs_postgresql
@postgresql.needs_pgbouncer
def test_sessions_have_the_timeouts(direct: postgresql.Server, pool: postgresql.Server) -> None:
    shown = {name: pool.execute("SHOW lock_timeout", name=name) for name in ("postgres", "holdout_web")}
    assert shown == {"postgres": "1min", "holdout_web": "5s"}
    assert pool.execute("SHOW idle_in_transaction_session_timeout", name="holdout_web") == "30s"
    check = ("manage.py", "check", "--database", "default")
    assert run(pool, *check).endswith("ended with 0")
    forgotten = run(direct, *check)
    assert "leaderboard.E001" in forgotten and "lock_timeout is 0" in forgotten and forgotten.endswith("ended with 1")

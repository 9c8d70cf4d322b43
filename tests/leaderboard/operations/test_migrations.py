"""Upgrading a site of an earlier release on either database: its rows, and the values that migrations compute."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import uuid
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest

from tests.conftest import ROOT

pytestmark = pytest.mark.slow  # a minute on each database, and a migration that has landed is never changed

OLDER = ROOT / "tests" / "docs" / "older" / "site-0015.tgz"
ODD_SLICE = '{"name":"x","transparency":"0.2","é":"true"}'


@pytest.fixture(scope="module")
def databases() -> Iterator[dict[str, str]]:
    """An empty database of each kind; PostgreSQL only if the tests run on it."""
    url = os.environ.get("HOLDOUT_DATABASE_URL", "")
    if not url.startswith("postgres"):
        yield {"sqlite": ""}
        return
    name = f"older_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(url, autocommit=True) as server:
        server.execute(f"CREATE DATABASE {name}")
        yield {"sqlite": "", "postgresql": urlunsplit(urlsplit(url)._replace(path=f"/{name}"))}
        server.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def upgraded(
    request: pytest.FixtureRequest, databases: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Any]:
    """The state of the older site after the upgrade."""
    if request.param not in databases:
        pytest.skip("needs PostgreSQL: HOLDOUT_DATABASE_URL=postgres://...")
    folder = tmp_path_factory.mktemp("older")
    with tarfile.open(OLDER) as archive:
        archive.extract("holdout.sqlite3", folder)
    environment = {**os.environ, "HOLDOUT_DATA": str(folder / "data"), "HOLDOUT_DATABASE_URL": databases[request.param]}
    command = [sys.executable, "-m", "tests.support.older_site", str(folder / "holdout.sqlite3")]
    process = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stderr[-3000:]
    report: dict[str, Any] = json.loads(process.stdout)
    return report


def test_no_row_is_lost_and_no_value_changed(upgraded: dict[str, Any]) -> None:
    assert upgraded["rows"] > 300
    assert upgraded["differences"] == []


def test_releases_have_the_slices_that_the_older_site_revealed(upgraded: dict[str, Any]) -> None:
    """Its own rows were written during scoring, by other code than the migration."""
    regular_slices = [row for row in upgraded["slices"] if row[1] != ODD_SLICE]
    assert len(regular_slices) == 99 and regular_slices == upgraded["slices_expected"]
    (odd_slice,) = (row for row in upgraded["slices"] if row[1] == ODD_SLICE)
    assert odd_slice[2:] == ['["name", "transparency", "é"]'.replace(", ", ","), {"accuracy": [None, None, None, 3]}]


def test_boards_are_shown_since_their_first_release_was_revealed(upgraded: dict[str, Any]) -> None:
    later = 0
    for board in upgraded["boards"]:
        awaited = [released for received, released in board["told"] if received < board["created_at"]]
        assert board["shown_from"] == max(awaited) > board["created_at"]
        later += len(board["told"]) - len(awaited)
    assert len(upgraded["boards"]) == 2 and later > 0, "what came later held no board back"


def test_existing_splits_are_published_since_their_creation(upgraded: dict[str, Any]) -> None:
    assert len(upgraded["splits"]) == 3
    assert all(row == ["published", row[2], row[2]] for row in upgraded["splits"])


def test_immutable_rows_are_guarded_and_constraints_are_enforced(upgraded: dict[str, Any]) -> None:
    assert [name for name, error in upgraded["refused"].items() if not error] == []
    assert all("immutable" in upgraded["refused"][name] for name in ("a release's values", "gold's digest", "an act"))
    assert "immutable" in upgraded["refused"]["a submission's track"]
    assert upgraded["missing"] == []


def test_the_upgraded_site_works(upgraded: dict[str, Any]) -> None:
    assert upgraded["next_key_is_free"]
    status, body = upgraded["api"]
    assert status == 200 and json.loads(body)["count"] == 1

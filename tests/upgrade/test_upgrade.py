"""A site of an earlier release with a history shows the same data after its migration."""

from __future__ import annotations

import os
import shutil
import subprocess
import uuid
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest

from tests.upgrade.compare_commits import ROOT, Site, checkout, differences

pytestmark = pytest.mark.slow
EARLIER = "d14ad5c"


@pytest.fixture
def database_url() -> Iterator[str]:
    """Create a database on the server of HOLDOUT_DATABASE_URL; yield its URL, or "" for SQLite without a server."""
    server = os.environ.get("HOLDOUT_DATABASE_URL", "")
    if not server.startswith("postgres"):
        yield ""
        return
    name = f"upgrade_{uuid.uuid4().hex}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        yield urlsplit(server)._replace(path=f"/{name}").geturl()
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def test_a_site_of_an_earlier_release_shows_the_same(tmp_path: Path, database_url: str) -> None:
    lookup = subprocess.run(["git", "-C", ROOT, "cat-file", "-e", f"{EARLIER}^{{commit}}"], check=False)
    if lookup.returncode:
        pytest.skip(f"commit {EARLIER} is not in this clone")
    (data := tmp_path / "data").mkdir()
    with checkout(EARLIER) as tree:
        fixtures = shutil.copytree(tree / "fixtures", tmp_path / "fixtures")
        earlier = Site(tree, data, database_url)
        earlier.fill(fixtures)
        before = earlier.dump()
    present = Site(ROOT, data, database_url)
    present.run("manage.py", "migrate", "--verbosity", "0")
    after = present.dump()
    assert {name.partition(" ")[0] for name in before} >= {"submission", "scores"} and len(before) > 500
    different = differences(before, after)
    assert not different, "\n".join(different[:50])
    present.run("manage.py", "check_boards")
    present.run("manage.py", "seed", "--fixtures", fixtures, "--no-images", "--wait-seconds", "0")
    assert present.log.read_text().count("nothing was changed") == len([*fixtures.glob("*/benchmark.json")])

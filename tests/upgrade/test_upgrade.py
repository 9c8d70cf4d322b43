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
WITHOUT_HISTORY = ("24f3beb", "28e948f")
"""Commits that were landed with migrations that have other names now."""
READ_ALL = """
from django.apps import apps
for model in apps.get_models():
    list(model.objects.all()[:1])
"""


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


def skip_without(commit: str) -> None:
    lookup = subprocess.run(["git", "-C", ROOT, "cat-file", "-e", f"{commit}^{{commit}}"], check=False)
    if lookup.returncode:
        pytest.skip(f"commit {commit} is not in this clone")


@pytest.mark.parametrize("commit", WITHOUT_HISTORY)
def test_a_database_of_an_earlier_commit_is_migrated(commit: str, tmp_path: Path, database_url: str) -> None:
    skip_without(commit)
    (data := tmp_path / "data").mkdir()
    with checkout(commit) as tree:
        Site(tree, data, database_url).run("manage.py", "migrate", "--verbosity", "0")
    present = Site(ROOT, data, database_url)
    present.run("manage.py", "migrate", "--verbosity", "0")
    present.run("manage.py", "migrate", "--check")
    with present.start("manage.py", "shell", "-c", READ_ALL) as process:
        pass
    assert process.returncode == 0, present.tail()


def test_a_site_of_an_earlier_release_shows_the_same(tmp_path: Path, database_url: str) -> None:
    skip_without(EARLIER)
    (data := tmp_path / "data").mkdir()
    with checkout(EARLIER) as tree:
        fixtures = shutil.copytree(tree / "fixtures", tmp_path / "fixtures")
        earlier = Site(tree, data, database_url)
        earlier.fill(fixtures)
        before = earlier.dump()
    present = Site(ROOT, data, database_url)
    present.run("manage.py", "migrate", "--verbosity", "0")
    present.run("manage.py", "collectstatic", "--no-input", "--verbosity", "0")
    after = present.dump()
    assert {name.partition(" ")[0] for name in before} >= {"submission", "scores"} and len(before) > 500
    different = differences(before, after)
    assert not different, "\n".join(different[:50])
    present.run("manage.py", "check_boards")
    present.run("manage.py", "seed", "--fixtures", fixtures, "--no-images", "--wait-seconds", "0")
    assert present.log.read_text().count("nothing was changed") == len([*fixtures.glob("*/benchmark.json")])

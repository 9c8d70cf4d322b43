"""Executes docs/operators.md: one machine, PostgreSQL, an archive on another server, an upgrade."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import boto3
import pytest
from moto.server import ThreadedMotoServer

from tests.conftest import ROOT
from tests.docs.blocks import blocks_of, indented_code, walk_of
from tests.docs.conftest import copy_project, free_port
from tests.docs.shell import shell
from tests.upgrade.compare_commits import Site

PAGE = ROOT / "docs" / "operators.md"
RUN_HERE = {"one-machine", "archive", "postgresql", "recovery", "s3", "upgrade"}
RUN_IN_CONTAINERS = {"compose"}


def test_every_block_of_commands_is_in_a_walk() -> None:
    assert {block.walk for block in blocks_of(PAGE)} == RUN_HERE | RUN_IN_CONTAINERS
    assert indented_code(PAGE) == []


def test_one_machine_and_its_archive_on_another(project: Path, tmp_path: Path, needs: Callable[..., None]) -> None:
    needs("sqlite3", "curl", "openssl", "flock")
    with shell(project, {"8000": str(free_port())}) as terminal:
        for block in walk_of(PAGE, "one-machine"):
            terminal.run(block)
    second_project = tmp_path / "other"
    second_project.mkdir()
    copy_project(second_project)
    for name in ("mirror.zip", "key.txt"):
        shutil.copy(project / name, second_project / name)
    with shell(second_project, {}, **activated(second_project)) as second_terminal:
        for block in walk_of(PAGE, "archive"):
            second_terminal.run(block)


def test_upgrade(project: Path, needs: Callable[..., None]) -> None:
    needs("sqlite3")
    _fill(project)
    with shell(project, {"8000": str(free_port())}) as terminal:
        for block in walk_of(PAGE, "upgrade"):
            terminal.run(block)


def test_postgresql(project: Path, postgres: str, needs: Callable[..., None]) -> None:
    needs("pg_dump", "pg_restore", "psql")
    _fill(project)
    (project / "var" / "secret_key").write_text("kept from before " * 4)
    with shell(project, {"holdout@127.0.0.1:5432": postgres}, **activated(project)) as terminal:
        for block in walk_of(PAGE, "postgresql"):
            terminal.run(block)


def test_files_in_buckets(project: Path, s3: str, needs: Callable[..., None]) -> None:
    needs("rclone")
    _fill(project)
    keys = {"AWS_ACCESS_KEY_ID": "one", "AWS_SECRET_ACCESS_KEY": "two", "AWS_DEFAULT_REGION": "us-east-1"}
    with shell(project, {"127.0.0.1:9000": s3}, **keys, **activated(project)) as terminal:
        moved, backup, restored = walk_of(PAGE, "s3")
        terminal.run(moved)
        # Now only the buckets have the files.
        (project / "var" / "files").rename(project / "var" / "files.lost")
        terminal.run(backup)
        copied = {path.relative_to(project / "backup") for path in (project / "backup").rglob("*") if path.is_file()}
        lost = project / "var" / "files.lost"
        assert copied == {Path("files") / path.relative_to(lost) for path in lost.rglob("*") if path.is_file()}
        assert any(path.parts[1] == "gold" for path in copied)
        _empty(f"http://{s3}", "holdout-files", "holdout-gold")
        terminal.run(restored)


def _empty(endpoint: str, *buckets: str) -> None:
    """Delete all objects, as in a disaster."""
    store = boto3.resource("s3", endpoint_url=endpoint, aws_access_key_id="one", aws_secret_access_key="two")
    for bucket in buckets:
        assert store.Bucket(bucket).objects.all().delete()


def _fill(project: Path) -> None:
    """Make the data folder of a small site: one benchmark of the demonstration."""
    (project / "var").mkdir(mode=0o700)
    shutil.copytree(ROOT / "fixtures" / "mirror-claims", project / "small" / "mirror-claims")
    site = Site(project, project / "var")
    with site.serving():
        site.run("manage.py", "seed", "--fixtures", project / "small", "--no-images")


def activated(project: Path) -> dict[str, str]:
    """Return the environment that `. .venv/bin/activate` would set."""
    return {"PATH": f"{project / '.venv' / 'bin'}:{os.environ['PATH']}"}


@pytest.fixture
def s3() -> Iterator[str]:
    """Start an S3 server in memory; yield its `host:port`."""
    port = free_port()
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=port, verbose=False)
    server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        server.stop()


@pytest.fixture
def postgres() -> Iterator[str]:
    """Start a PostgreSQL cluster; yield its `user@host:port`."""
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    if not programs:
        pytest.skip("needs PostgreSQL: apt-get install postgresql")
    bin_, port = programs[-1], free_port()
    # Not in pytest's folders, which other users cannot enter; a socket's path must also be short.
    folder = Path(tempfile.mkdtemp(prefix="holdout-postgres-"))
    as_user: list[str] = []
    if os.geteuid() == 0:
        # PostgreSQL refuses to run as root.
        shutil.chown(folder, "postgres")
        as_user = ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--init-groups"]
    data = str(folder / "data")
    subprocess.run(
        [*as_user, bin_ / "initdb", "-D", data, "-U", "holdout", "--auth", "trust", "-E", "UTF8"], check=True
    )
    options = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off"
    control = [*as_user, str(bin_ / "pg_ctl"), "-D", data, "-w", "-l", str(folder / "log")]
    subprocess.run([*control, "-o", options, "start"], check=True)
    try:
        subprocess.run([bin_ / "createdb", "-h", "127.0.0.1", "-p", str(port), "-U", "holdout", "holdout"], check=True)
        yield f"holdout@127.0.0.1:{port}"
    finally:
        subprocess.run([*control, "-m", "immediate", "stop"], check=True)
        shutil.rmtree(folder)

"""docs/operators.md, done as it says: one machine, PostgreSQL, an archive on another server, an upgrade."""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.documents.blocks import blocks_of, indented_code, walk_of
from tests.documents.conftest import copy_project, free_port
from tests.documents.shell import shell

PAGE = ROOT / "docs" / "operators.md"
OLDER = Path(__file__).parent / "older" / "site-0015.tgz"
RUN_HERE = {"one-machine", "archive", "postgresql", "upgrade"}
RUN_IN_CONTAINERS = {"compose"}


def test_every_block_of_commands_is_in_a_walk() -> None:
    assert {block.walk for block in blocks_of(PAGE)} == RUN_HERE | RUN_IN_CONTAINERS
    assert indented_code(PAGE) == []


def test_one_machine_and_its_archive_on_another(project: Path, tmp_path: Path, needs: Callable[..., None]) -> None:
    needs("sqlite3", "curl", "openssl", "flock")
    with shell(project, {"8000": str(free_port())}) as here:
        for block in walk_of(PAGE, "one-machine"):
            here.run(block)
    other = tmp_path / "other"
    other.mkdir()
    copy_project(other)
    for name in ("mirror.zip", "key.txt"):
        shutil.copy(project / name, other / name)
    with shell(other, {}, **activated(other)) as there:
        for block in walk_of(PAGE, "archive"):
            there.run(block)


def test_a_site_of_an_earlier_release_is_brought_up(project: Path, needs: Callable[..., None]) -> None:
    needs("sqlite3")
    _as_it_was(project)
    with shell(project, {"8000": str(free_port())}) as here:
        for block in walk_of(PAGE, "upgrade"):
            here.run(block)


def test_postgresql(project: Path, postgres: str, needs: Callable[..., None]) -> None:
    needs("pg_dump", "pg_restore", "psql")
    _as_it_was(project)
    python = [str(project / ".venv" / "bin" / "python"), "manage.py"]
    (project / "var" / "secret_key").write_text("kept from before " * 4)
    with shell(project, {"holdout@127.0.0.1:5432": postgres}, **activated(project)) as here:
        # The site that is taken along is one of this release.
        subprocess.run([*python, "migrate", "--verbosity", "0"], cwd=project, env=here.environment, check=True)
        for block in walk_of(PAGE, "postgresql"):
            here.run(block)


def _as_it_was(project: Path) -> None:
    """The data folder of a small site that an earlier release has left: a benchmark, two boards, eleven submissions."""
    (project / "var").mkdir(mode=0o700)
    with tarfile.open(OLDER) as archive:
        archive.extractall(project / "var", filter="data")


def activated(project: Path) -> dict[str, str]:
    """What `. .venv/bin/activate` would set."""
    return {"PATH": f"{project / '.venv' / 'bin'}:{os.environ['PATH']}"}


@pytest.fixture
def postgres() -> Iterator[str]:
    """`user@host:port` of a cluster of its own."""
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    if not programs:
        pytest.skip("needs PostgreSQL: apt-get install postgresql")
    bin_, port = programs[-1], free_port()
    # Not below pytest's folders, which nobody else may enter; a socket's path must be short, too.
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

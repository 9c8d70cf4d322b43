"""Executes *Point-in-time recovery* of docs/operators.md on a PostgreSQL cluster of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.docs.blocks import walk_of
from tests.docs.conftest import free_port
from tests.docs.shell import shell
from tests.docs.test_operators import PAGE, activated

pytestmark = [pytest.mark.slow, pytest.mark.services, pytest.mark.root]
STATES = ["done", "queued"]
"""States of the runs at the moment to which the database is restored."""


@dataclass
class Cluster:
    folder: Path
    bin: Path
    port: int

    def control(self, *arguments: str) -> None:
        command = [self.bin / "pg_ctl", "-D", self.folder / "data", "-w", "-l", self.folder / "log", *arguments]
        subprocess.run(["runuser", "-u", "postgres", "--", *command], check=True, stdout=subprocess.DEVNULL)

    def ask(self, query: str) -> str:
        connect = [self.bin / "psql", "-h", "127.0.0.1", "-p", str(self.port), "-U", "postgres", "-At"]
        return subprocess.run([*connect, "-c", query], check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    if not programs:
        pytest.skip("needs PostgreSQL: apt-get install postgresql")
    if os.geteuid() != 0:
        pytest.skip("needs root, as the commands of the page do")
    # Not in pytest's folders, which other users cannot enter.
    cluster = Cluster(Path(tempfile.mkdtemp(prefix="holdout-recovery-")), programs[-1], free_port())
    shutil.chown(cluster.folder, "postgres")
    cluster.folder.chmod(0o755)
    data = cluster.folder / "data"
    initdb = [cluster.bin / "initdb", "-D", data, "-U", "postgres", "--auth", "trust", "-E", "UTF8"]
    subprocess.run(["runuser", "-u", "postgres", "--", *initdb], check=True, stdout=subprocess.DEVNULL)
    with (data / "postgresql.conf").open("a") as file:
        file.write(
            f"port = {cluster.port}\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = ''\nfsync = off\n"
        )
    cluster.control("start")
    try:
        cluster.ask("CREATE DATABASE holdout")
        yield cluster
    finally:
        cluster.control("-m", "immediate", "stop")
        shutil.rmtree(cluster.folder)


def test_the_database_of_a_moment_with_later_files(project: Path, cluster: Cluster, needs: Callable[..., None]) -> None:
    needs("runuser", "psql")
    substitutions = {
        "/var/lib/postgresql/15/main": str(cluster.folder / "data"),
        "/var/backups/holdout": str(cluster.folder / "backup"),
        "/usr/lib/postgresql/15/bin": str(cluster.bin),
    }
    environment = {
        "HOLDOUT_DATABASE_URL": f"postgres://postgres@127.0.0.1:{cluster.port}/holdout",
        "PGHOST": "127.0.0.1",
        "PGPORT": str(cluster.port),
        "PGUSER": "postgres",
        **activated(project),
    }
    archive, base, copy, restore, check = walk_of(PAGE, "recovery")
    with shell(project, substitutions, **environment) as terminal:

        def python(*arguments: str) -> str:
            command = [str(project / ".venv" / "bin" / "python"), *arguments]
            settings = {"DJANGO_SETTINGS_MODULE": "leaderboard.settings"}
            done = subprocess.run(
                command,
                cwd=project,
                env={**terminal.environment, **settings},
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, done.stdout + done.stderr
            return done.stdout

        def step(name: str) -> dict[str, Any]:
            result: dict[str, Any] = json.loads(python("-m", "tests.support.recovered_site", name).splitlines()[-1])
            return result

        terminal.run(archive)
        terminal.run(base)
        python("manage.py", "migrate", "--verbosity", "0")
        at_t = step("before")
        assert sorted(at_t["states"].values()) == STATES
        moment = cluster.ask("SELECT now()")
        later = step("after")
        assert sorted(later["states"].values()) == ["done"] * 3 and later["rows"] != at_t["rows"]
        terminal.run(copy)
        shutil.rmtree(project / "var" / "files")
        (project / ".moment").write_text(f"T='{moment}'\n")
        terminal.process.stdin.write(b". ./.moment\n")  # type: ignore[union-attr]
        terminal.run(restore)
        output = terminal.run(check)
        # Stored after the moment: two files of outcomes and one of predictions.
        assert output.count(": no record") == 3
        assert step("look") == at_t
        # What waited at that moment is scored again, although a file of its outcomes exists from the lost time.
        again = step("again")
        assert sorted(again["states"].values()) == ["done", "done"]
        python("manage.py", "check_boards", "--without-plots")
        python("manage.py", "check_files")
        assert cluster.ask("SELECT pg_is_in_recovery()") == "f"
        assert "recovery_target" not in (cluster.folder / "data" / "postgresql.auto.conf").read_text()

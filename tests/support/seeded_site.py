"""The site as `manage.py serve` starts it. The demonstration is seeded once per test run; each site has a copy."""

from __future__ import annotations

import fcntl
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.support import schema_template

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 600.0


def copy_of_seeded(shared: Path, folder: Path) -> None:
    """Copy a seeded data folder to `folder`.

    The source is TEST_SEEDED, or is created once in `shared`, a folder of all processes of the test run.
    """
    configured = os.environ.get("TEST_SEEDED")
    original = Path(configured) if configured else shared / "seeded"
    with (shared / "seeded.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not original.exists():
            unfinished = shared / "seeding"
            shutil.rmtree(unfinished, ignore_errors=True)
            unfinished.mkdir()
            with serving(unfinished):
                pass
            unfinished.rename(original)
    # Servers create their sockets again.
    shutil.copytree(original, folder, dirs_exist_ok=True, ignore=_special)
    # No audits and no further images in each copy: tests/leaderboard/operations/test_seed.py tests them.
    for mark in ("audited", "systems-submitted"):
        (folder / mark).touch()
    # Nor pictures of plots, which the original has queued: each board takes more than a second of processor time.
    with closing(sqlite3.connect(folder / "holdout.sqlite3")) as database, database:
        database.execute("DELETE FROM leaderboard_plotrendering WHERE finished_at IS NULL")


def prepare_data(folder: Path) -> None:
    """Fill a data folder with a migrated database and, in CI, with collected static files.

    A server on it starts sooner. CI's first command starts from an empty folder.
    """
    folder.mkdir(exist_ok=True)
    schema_template.copy_to(folder / "holdout.sqlite3")
    if seeded := os.environ.get("TEST_SEEDED"):
        shutil.copytree(Path(seeded) / "static", folder / "static")


def _special(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if not (Path(folder, name).is_file() or Path(folder, name).is_dir())]


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """Start a server with the embedded default on the data folder; yield its address."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(("HOLDOUT_", "DJANGO_"))}
    if base := os.environ.get("TEST_BASE_IMAGE"):
        # With a base image and an engine, the demonstration builds and runs its systems; its boards show their costs.
        own["HOLDOUT_BASE_IMAGE"] = base
    log = folder / "serve.log"
    with log.open("wb") as output:
        server = subprocess.Popen(
            [sys.executable, "manage.py", "serve", "--port", "0"],
            cwd=ROOT,
            env={**own, "HOLDOUT_DATA": str(folder), "DJANGO_SETTINGS_MODULE": "tests.process_settings"},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        yield _address(server, log)
    finally:
        server.terminate()
        server.wait(60)


def _address(server: subprocess.Popen[bytes], log: Path) -> str:
    """Wait until the server is ready, and return the address that it prints."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and server.poll() is None:
        output = log.read_text(errors="replace")
        if "holdout: ready" in output:
            return output.split("Holdout is at ")[1].split()[0].rstrip("/")
        time.sleep(0.2)
    pytest.fail(f"the site was not ready in time:\n{log.read_text(errors='replace')[-6000:]}")

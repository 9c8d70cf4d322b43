"""A copy of the project like a fresh clone, for the tests that follow a document."""

from __future__ import annotations

import hashlib
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import ROOT

# Playwright keeps an event loop running in this process, in which Django's database code refuses to run.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def copy_project(into: Path) -> Path:
    """Copy the project's files, and create an environment that `bin/bootstrap` accepts as complete."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    for name in listed.stdout.decode().split("\0"):
        if name and (ROOT / name).is_file():
            (into / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, into / name)
    environment, venv = Path(sys.prefix), into / ".venv"
    venv.mkdir()
    for part in ("bin", "lib", "pyvenv.cfg"):
        (venv / part).symlink_to(environment / part)
    digest = hashlib.sha256(sys.version.encode() + (into / "requirements.lock").read_bytes())
    (venv / ".requirements.lock.sha256").write_text(digest.hexdigest() + "\n")
    return into


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "holdout").mkdir()
    return copy_project(tmp_path / "holdout")


@pytest.fixture
def needs() -> Callable[..., None]:
    """Return a callable that skips the test if a command of the document is not installed."""

    def needs(*commands: str) -> None:
        for command in commands:
            if shutil.which(command) is None:
                pytest.skip(f"needs the command {command}")

    return needs

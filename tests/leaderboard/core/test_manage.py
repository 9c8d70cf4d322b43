"""`manage.py` says in one line that a folder has no database."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT


def manage(folder: Path, command: str) -> subprocess.CompletedProcess[str]:
    """Run a command on the site whose data folder is `folder`."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("HOLDOUT_", "DJANGO_"))}
    settings = {"HOLDOUT_DATA": str(folder), "DJANGO_SETTINGS_MODULE": "leaderboard.settings"}
    words = [sys.executable, str(ROOT / "manage.py"), command]
    return subprocess.run(words, env=environment | settings, capture_output=True, text=True, cwd=folder, check=False)


@pytest.mark.parametrize("command", ["cleanup", "check_files"])
def test_a_folder_without_a_database_is_named_in_one_line(tmp_path: Path, command: str) -> None:
    result = manage(tmp_path, command)
    assert result.returncode == 1
    (line,) = result.stderr.splitlines()
    assert f"the database of {tmp_path} has no tables yet" in line and "migrate" in line

"""`manage.py` beside a folder without a database says so in a line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT


@pytest.mark.parametrize("command", ["tidy", "check_files"])
def test_a_folder_without_a_database_is_named_in_one_line(tmp_path: Path, command: str) -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("HOLDOUT_", "DJANGO_"))}
    settings = {"HOLDOUT_DATA": str(tmp_path), "DJANGO_SETTINGS_MODULE": "leaderboard.settings"}
    words = [sys.executable, str(ROOT / "manage.py"), command]
    done = subprocess.run(words, env=kept | settings, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert f"the database of {tmp_path} has no tables yet" in line and "migrate" in line

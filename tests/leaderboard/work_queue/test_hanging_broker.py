"""A Redis that accepts connections and never answers delays a request by seconds; the sweep enqueues the row later."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

ENQUEUE = "import django; django.setup(); from leaderboard.work_queue import enqueue; enqueue._send('task', 'key')"


@pytest.mark.slow
def test_enqueuing_gives_up(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        settings = {
            "DJANGO_SETTINGS_MODULE": "leaderboard.settings",
            "HOLDOUT_DATA": str(tmp_path),
            "HOLDOUT_BROKER_URL": f"redis://127.0.0.1:{listening.getsockname()[1]}/0",
        }
        # Without a timeout of the broker's connection this would hang.
        done = subprocess.run(
            [sys.executable, "-c", ENQUEUE], env={**os.environ, **settings}, capture_output=True, text=True, check=True
        )
    assert "enqueue_failed" in done.stderr

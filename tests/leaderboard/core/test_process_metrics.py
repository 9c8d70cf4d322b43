"""Counters of several processes in one folder: sums that survive killed processes, and no file more than needed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from leaderboard.core import process_metrics
from tests.conftest import ROOT

KILLED = """
import os, signal
from leaderboard.core import process_metrics as metrics
for _ in range(3):
    pids = []
    gates = [os.pipe() for _ in range(3)]
    for ready, written in gates:
        pid = os.fork()
        if not pid:
            for _ in range(5):
                metrics.REPEATED_ATTEMPTS.labels("score").inc()
            metrics.PUBLISH_SECONDS.observe(0.2)
            os.write(written, b"x")
            signal.pause()
        pids.append(pid)
    for ready, _ in gates:
        os.read(ready, 1)
    print(metrics.n_processes())
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
read = metrics.registry().get_sample_value
print(int(read("holdout_repeated_attempts_total", {"kind": "score"})), int(read("holdout_publish_seconds_count")))
"""


def start(code: str, data: Path) -> list[str]:
    """Run code of the site with its own data folder; return the lines that it prints."""
    environment = {**os.environ, "HOLDOUT_DATA": str(data), "DJANGO_SETTINGS_MODULE": "leaderboard.settings"}
    process = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert process.returncode == 0, process.stderr
    return [*process.stdout.splitlines(), *process.stderr.splitlines()]


def test_killed_processes_leave_their_counts_and_their_slots(tmp_path: Path) -> None:
    assert start(KILLED, tmp_path) == ["4", "4", "4", "45 9"]
    files = {path.name for path in (tmp_path / "metrics").iterdir()}
    assert files == {name for n in range(4) for name in (f"{n}.lock", f"counter_{n}.db", f"histogram_{n}.db")}
    # The next processes continue these values; a file that a crash has left damaged begins again.
    (tmp_path / "metrics" / "counter_0.db").write_bytes(b"\xff\xff\xff\x00" * 999)
    lines = start(KILLED, tmp_path)
    assert lines[:4] == ["4", "4", "4", "90 18"]
    assert "metrics_file_damaged" in lines[4]


def test_without_a_usable_folder_a_process_counts_for_itself(tmp_path: Path) -> None:
    (tmp_path / "metrics").write_text("no folder")
    code = "; ".join(
        (
            "from leaderboard.core import process_metrics as metrics",
            "metrics.REPEATED_ATTEMPTS.labels('score').inc()",
            "print(metrics.registry().get_sample_value('holdout_repeated_attempts_total', {'kind': 'score'}))",
        )
    )
    printed, logged = start(code, tmp_path)
    assert printed == "1.0" and "metrics_folder_unusable" in logged


def counted(view: str, method: str, status: str) -> float:
    labels = {"view": view, "method": method, "status": status}
    return process_metrics.registry().get_sample_value("holdout_http_requests_total", labels) or 0.0


@pytest.mark.django_db
def test_requests_are_counted_by_view_and_class_of_status() -> None:
    before = counted("home", "GET", "2xx"), counted("admin", "GET", "3xx"), counted("health", "GET", "2xx")
    client = Client()
    client.get("/")
    client.get("/admin/leaderboard/run/")
    client.get("/health/live")
    after = counted("home", "GET", "2xx"), counted("admin", "GET", "3xx"), counted("health", "GET", "2xx")
    assert after == tuple(n + 1 for n in before)


@pytest.mark.django_db
def test_invented_paths_and_methods_add_no_series(settings: Any) -> None:
    client = Client()
    client.get("/invented")
    client.generic("INVENT", "/")
    first = process_metrics.registry().collect()
    n = sum(len(family.samples) for family in first)
    for index in range(20):
        client.get(f"/invented-{index}", query_params={"q": str(index)})
        client.get(f"/{settings.STATIC_URL.strip('/')}/none-{index}.css")
        client.generic(f"INVENT{index}", "/", headers={"X-Request-ID": f"{index:032d}"})
    assert sum(len(family.samples) for family in process_metrics.registry().collect()) - n <= len(("static",)) * 15

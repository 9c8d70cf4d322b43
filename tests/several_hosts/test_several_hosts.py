"""A small run of faults across hosts; `.ci/run full` also makes a large one, with RabbitMQ, Swift and an engine."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.several_hosts.network import SKIPPED

ROOT = Path(__file__).resolve().parents[2]

pytestmark = [pytest.mark.slow, pytest.mark.root, pytest.mark.services]


def test_no_submission_is_lost_to_a_fault_of_another_host(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.several_hosts", "--submissions", "200", "--folder", str(tmp_path / "run")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode == SKIPPED:
        pytest.skip(done.stdout)
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-4000:]

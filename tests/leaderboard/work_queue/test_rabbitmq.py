"""Quorum queues on a cluster of three RabbitMQ nodes; the tests of messages and of killed workers pass there too.

The broker of a process is set by its environment, so pytest runs the tests in a process of their own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.support import rabbitmq

pytestmark = [pytest.mark.slow, rabbitmq.needs_rabbitmq]
HERE = "tests/leaderboard"


@pytest.fixture(scope="module")
def cluster() -> Iterator[rabbitmq.Cluster]:
    with tempfile.TemporaryDirectory() as folder, rabbitmq.cluster(Path(folder)) as nodes:
        yield nodes


def run(cluster: rabbitmq.Cluster, *arguments: str, queue_type: str = "quorum") -> None:
    """Run pytest on SQLite with the cluster as the broker; fail with its output unless every test passes."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("HOLDOUT_", "PYTEST_"))}
    settings = {
        "HOLDOUT_BROKER_URL": cluster.url,
        "HOLDOUT_QUEUE_TYPE": queue_type,
        "TEST_RABBITMQ": json.dumps([(node.process.pid, node.ports) for node in cluster.nodes if node.process]),
    }
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *arguments]
    done = subprocess.run(
        command, cwd=ROOT, env={**environment, **settings}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "skipped" not in done.stdout.splitlines()[-1]


@pytest.mark.parametrize("queue_type", ["quorum", "classic"])
def test_messages_are_counted_and_lost_ones_sent_again(cluster: rabbitmq.Cluster, queue_type: str) -> None:
    run(cluster, f"{HERE}/work_queue/rabbitmq_cases.py", "-k", "delete_all_queues")
    run(cluster, f"{HERE}/work_queue/test_lost_messages.py", queue_type=queue_type)
    run(cluster, f"{HERE}/work_queue/rabbitmq_cases.py", "-k", "delete_all_queues")


def test_submissions_are_scored_once_though_workers_are_killed(cluster: rabbitmq.Cluster) -> None:
    run(cluster, f"{HERE}/scoring/test_faults.py", "-k", "killed_after_commit or wiped or ten_times")


def test_nodes_that_are_killed_or_hang_and_queues_of_another_type(cluster: rabbitmq.Cluster) -> None:
    run(cluster, f"{HERE}/work_queue/rabbitmq_cases.py")

"""Forked processes: what they have of their own, how they end, and what the supervisor hears of it."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.management.base import CommandError

from leaderboard.operations import forks


def refuse() -> None:
    sys.exit("no such table")


def object_to() -> None:
    raise CommandError("no such folder")


def fail() -> None:
    raise ValueError


def terminate() -> None:
    os.kill(os.getpid(), signal.SIGTERM)


def ended(run: Callable[[], object], log: Path, *close: Callable[[], object]) -> tuple[int | None, str]:
    """Return the status and the output of a fork that has run `run`."""

    def run_with_output() -> None:
        # pytest's own streams have other descriptors.
        sys.stdout, sys.stderr = (os.fdopen(descriptor, "w", closefd=False) for descriptor in (1, 2))
        run()

    with log.open("wb") as output:
        fork = forks.start("test", run_with_output, output=output.fileno(), close=close)
        assert fork.wait() == fork.poll() == fork.returncode
    return fork.returncode, log.read_text()


@pytest.mark.parametrize(
    ("run", "status", "words"),
    [
        (lambda: print("done"), 0, "done\n"),
        (lambda: sys.exit(3), 3, ""),
        (sys.exit, 0, ""),
        (refuse, 1, "no such table\n"),
        (object_to, 1, "CommandError: no such folder\n"),
        (fail, 1, "ValueError\n"),
        (terminate, -signal.SIGTERM, ""),
    ],
    ids=["returns", "status", "exits", "message", "command error", "error", "signal"],
)
def test_a_fork_reports_how_it_ended(run: Callable[[], object], status: int, words: str, tmp_path: Path) -> None:
    handler = signal.signal(signal.SIGTERM, signal.SIG_IGN)  # a fork must not inherit it
    try:
        assert ended(run, tmp_path / "log")[0] == status
    finally:
        signal.signal(signal.SIGTERM, handler)
    assert (tmp_path / "log").read_text().endswith(words)


def test_a_fork_has_a_session_and_a_name_of_its_own_and_no_input(tmp_path: Path) -> None:
    def describe() -> None:
        name = Path("/proc/self/comm").read_text().strip()
        print(os.getsid(0) == os.getpid(), name, os.read(0, 1), reader.closed)

    with (tmp_path / "locked").open("w") as reader:
        assert ended(describe, tmp_path / "log", reader.close) == (0, "True holdout-test b'' True\n")
        assert not reader.closed


def test_a_fork_runs_the_command_line_of_a_process(tmp_path: Path) -> None:
    def run() -> None:
        forks.run_module([sys.executable, "-m", "calendar", "2026", "11"])

    status, text = ended(run, tmp_path / "log")
    assert (status, text.split()[:2]) == (0, ["November", "2026"])
    assert "CELERY_SKIP_CHECKS" not in os.environ

"""The supervisor with real processes: small scripts that exit, hang or ignore signals."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from leaderboard.operations import supervisor
from leaderboard.operations.supervisor import CannotStart, Child, Supervisor

SLEEPS = "import signal; signal.pause()"
DIES = "raise SystemExit(3)"
IGNORES = "import signal, sys; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); signal.pause()"
HAS_A_CHILD = f"""
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", {SLEEPS!r}])
print(child.pid, flush=True)
child.wait()
"""


@pytest.fixture(autouse=True)
def _signals() -> Iterator[None]:
    """A supervisor replaces the process's signal handlers; this restores them for the test runner."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD)
    before = [signal.getsignal(number) for number in numbers]
    yield
    signal.set_wakeup_fd(-1)
    for number, handler in zip(numbers, before, strict=True):
        signal.signal(number, handler)


def starts(script: str, output: Path | None = None) -> Callable[[], subprocess.Popen[bytes]]:
    def start() -> subprocess.Popen[bytes]:
        with Path(output or os.devnull).open("wb") as file:
            return subprocess.Popen([sys.executable, "-c", script], stdout=file, start_new_session=True)

    return start


def test_a_dead_child_is_restarted_with_growing_pauses_and_a_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "FIRST_PAUSE", 0.05)
    messages: list[str] = []
    child = Child("web", starts(DIES), pause=0.05)
    keeper = Supervisor([child], messages.append)
    keeper.start()
    keeper.follow(lambda: sum("web ended with status 3" in line for line in messages) >= 4)
    keeper.stop()
    assert len(messages) == 7
    assert messages[1::2] == ["web is running again"] * 3
    assert child.pause == pytest.approx(0.05 * 2**4)


def test_the_signal_that_ended_a_child_is_named() -> None:
    messages: list[str] = []
    child = Child("worker", starts(SLEEPS))
    keeper = Supervisor([child], messages.append)
    keeper.start()
    assert child.process is not None
    first = child.process.pid
    os.kill(first, signal.SIGKILL)
    keeper.follow(lambda: child.due is None and child.process is not None and child.process.pid != first)
    keeper.stop()
    assert re.fullmatch(r"worker was ended by SIGKILL after \d+ s; restarting in 1 s", messages[0])
    assert messages[1:] == ["worker is running again"]


def test_processes_of_a_dead_child_are_killed(tmp_path: Path) -> None:
    child = Child("worker", starts(HAS_A_CHILD, tmp_path / "pid"))
    keeper = Supervisor([child], lambda _: None)
    keeper.start()
    while not (tmp_path / "pid").read_text().endswith("\n"):
        os.sched_yield()
    grandchild = os.pidfd_open(int((tmp_path / "pid").read_text()))
    assert child.process is not None
    os.kill(child.process.pid, signal.SIGKILL)
    keeper.follow(lambda: child.due is not None)
    # The descriptor can be read when that process is dead; select waits for that.
    assert supervisor.select.select([grandchild], [], [], 10)[0]
    os.close(grandchild)
    keeper.stop()


def test_children_that_others_need_are_stopped_last() -> None:
    order: list[str] = []
    needed = Child("sandbox", starts(SLEEPS), needed_by_others=True)
    children = [needed, *(Child(name, starts(SLEEPS)) for name in ("web", "worker"))]
    keeper = Supervisor(children, lambda _: None)
    keeper.start()
    ask_of_keeper = keeper._ask

    def ask_and_note(child: Child) -> None:
        order.append(child.name)
        if child is needed:
            assert all(other.process is not None and other.process.returncode is not None for other in children[1:])
        ask_of_keeper(child)

    keeper._ask = ask_and_note  # type: ignore[method-assign]
    keeper.stop()
    assert order == ["web", "worker", "sandbox"]
    assert all(child.process is not None and child.process.returncode == -signal.SIGTERM for child in children)


def test_only_the_process_gets_the_signal_and_not_its_children(tmp_path: Path) -> None:
    child = Child("worker", starts(HAS_A_CHILD, tmp_path / "pid"))
    keeper = Supervisor([child], lambda _: None)
    keeper.start()
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text().endswith("\n"):
        os.sched_yield()
    assert child.process is not None
    grandchild = os.pidfd_open(int((tmp_path / "pid").read_text()))
    keeper._ask(child)
    os.waitid(os.P_PID, child.process.pid, os.WEXITED | os.WNOWAIT)
    alive = not supervisor.select.select([grandchild], [], [], 0)[0]
    keeper.stop()
    assert alive
    assert supervisor.select.select([grandchild], [], [], 10)[0]
    os.close(grandchild)


def test_a_child_that_ignores_the_signal_is_killed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(supervisor, "STOP_TIMEOUT", 0.3)
    messages: list[str] = []
    child = Child("web", starts(IGNORES, tmp_path / "ready"))
    keeper = Supervisor([child], messages.append)
    keeper.start()
    while not (tmp_path / "ready").stat().st_size:
        os.sched_yield()
    keeper.stop()
    assert child.process is not None
    assert child.process.returncode == -signal.SIGKILL
    assert messages == ["web did not stop within 0 s and was killed"]


def test_a_signal_ends_supervision_without_restarts() -> None:
    child = Child("web", starts(SLEEPS))
    keeper = Supervisor([child], lambda _: None)
    keeper.start()
    os.kill(os.getpid(), signal.SIGTERM)
    keeper.follow()
    assert keeper.stopping
    keeper.stop()
    assert child.due is None


def test_a_failed_first_start_is_an_error_and_a_later_one_is_retried(monkeypatch: pytest.MonkeyPatch) -> None:
    attempts: list[int] = []

    def start() -> subprocess.Popen[bytes]:
        attempts.append(1)
        if len(attempts) in (1, 3):
            raise CannotStart("no sandbox here")
        return starts(DIES if len(attempts) == 2 else SLEEPS)()

    messages: list[str] = []
    child = Child("sandbox", start, pause=0.01)
    keeper = Supervisor([child], messages.append)
    with pytest.raises(CannotStart, match="no sandbox here"):
        keeper.start()
    keeper.start()
    keeper.follow(lambda: len(attempts) >= 4)
    keeper.stop()
    assert "ended with status 3" in messages[0]
    assert messages[1].startswith("no sandbox here")
    assert messages[2] == "sandbox is running again"

"""The worker dies, the engine restarts, the lease is lost: nothing stays behind, and the blame is ours."""

from __future__ import annotations

import io
import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from evaluator.errors import SandboxError
from evaluator.sandbox.containers.system_contract import CancelledError
from evaluator.sandbox.contract import Verdict
from tests.container import engine
from tests.container.systems.own_engine import OwnEngine, own_engine
from tests.container.systems.running import INPUTS, Systems

WORKER = """
import io, sys
from evaluator.sandbox.containers.docker import DockerSandbox
from evaluator.sandbox.containers.system_contract import SystemExecution
instance, runtime, image, inputs, execution = sys.argv[1:]
with open(inputs, "rb") as file:
    DockerSandbox(instance=instance, runtime=runtime).run(
        SystemExecution(execution_id=execution, image=image, inputs=file.fileno(), task="t", options={"do": "deaf"}),
        io.BytesIO(),
    )
"""


def eventually(true: Callable[[], bool], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "not in time"
        time.sleep(0.1)


def running(systems: Systems, part: str) -> list[str]:
    labels = (f"holdout.instance={systems.sandbox.instance}", f"holdout.part={part}")
    filters = [word for label in labels for word in ("--filter", f"label={label}")]
    return engine.docker("ps", "--quiet", "--no-trunc", *filters).stdout.split()


@pytest.mark.hostile
def test_worker_killed_while_the_container_runs(systems: Systems) -> None:
    """The container lives on without its worker; the reaper knows it by its label."""
    sandbox = systems.sandbox
    arguments = [sandbox.instance, sandbox.runtime, systems.image, str(systems.inputs), "orphan"]
    worker = subprocess.Popen([sys.executable, "-c", WORKER, *arguments], cwd=engine.ROOT)
    eventually(lambda: bool(running(systems, "system")))
    worker.send_signal(signal.SIGKILL)
    worker.wait()
    assert len(systems.left()) == 4  # system, keeper, inputs, output
    assert sandbox.reap() == [], "what is that young may belong to a worker that the caller has not heard of"
    assert sandbox.reap(keep=frozenset({"orphan"}), settle_seconds=0) == []
    other = type(sandbox)(instance=f"{sandbox.instance}-2", runtime=sandbox.runtime)
    assert other.reap(settle_seconds=0) == [], "another instance's are not touched"
    assert len(systems.left()) == 4
    assert sorted(sandbox.reap(settle_seconds=0)) == [
        "input volume of orphan",
        "keeper container of orphan",
        "output volume of orphan",
        "system container of orphan",
    ]
    assert systems.left() == []


def test_the_reaper_takes_what_is_past_its_deadline(systems: Systems) -> None:
    labels = {"instance": systems.sandbox.instance, "execution": "late", "part": "system", "deadline": "1000"}
    words = [word for name, value in labels.items() for word in ("--label", f"holdout.{name}={value}")]
    engine.docker("create", *words, systems.image)
    assert systems.sandbox.reap(keep=frozenset({"late"})) == ["system container of late"]


def test_the_reaper_touches_nothing_without_all_of_our_labels(systems: Systems) -> None:
    label = f"holdout.instance={systems.sandbox.instance}"
    half = engine.docker("create", "--label", label, systems.image).stdout.strip()
    try:
        assert systems.sandbox.reap(settle_seconds=0) == []
        assert engine.docker("inspect", half, check=False).returncode == 0
    finally:
        engine.docker("rm", half)


def test_a_lost_lease_ends_the_container(systems: Systems) -> None:
    with systems.inputs.open("rb") as inputs, pytest.raises(CancelledError):
        execution = systems.execution("deaf")(inputs=inputs.fileno())
        systems.sandbox.run(execution, io.BytesIO(), keep_going=lambda: False)


def test_killed_from_outside_is_ours(systems: Systems) -> None:
    def kill() -> None:
        eventually(lambda: bool(running(systems, "system")))
        engine.docker("kill", *running(systems, "system"))

    killer = threading.Thread(target=kill)
    killer.start()
    with pytest.raises(SandboxError, match="killed from outside"):
        systems.run("deaf")
    killer.join()


def test_removed_from_outside_is_ours(systems: Systems) -> None:
    def remove() -> None:
        eventually(lambda: bool(running(systems, "system")))
        engine.docker("rm", "--force", *running(systems, "system"), *running(systems, "keeper"))

    remover = threading.Thread(target=remove)
    remover.start()
    with pytest.raises(SandboxError):
        systems.run("deaf")
    remover.join()


@pytest.mark.parametrize("how", ["kill", "rm"])
def test_output_lost_with_its_keeper_is_ours(systems: Systems, how: str) -> None:
    def lose() -> None:
        eventually(lambda: bool(running(systems, "system")))
        engine.docker(how, *(["--force"] if how == "rm" else []), *running(systems, "keeper"))

    loser = threading.Thread(target=lose)
    loser.start()
    with pytest.raises(SandboxError):
        systems.run("sleep", seconds=4)
    loser.join()


@pytest.mark.root
@pytest.mark.slow
def test_the_keepers_image_is_loaded_again(program: str, tmp_path: Path) -> None:
    """It has no tag, so `docker image prune` takes it. In an engine where nobody else's container uses it."""
    with own_engine(tmp_path) as mine:
        mine.start()
        _give(mine, program)
        systems = Systems(mine.sandbox(), program, tmp_path)
        assert mine.docker("rmi", systems.sandbox._keeper_image().id).returncode == 0
        with pytest.raises(SandboxError):
            systems.run()
        assert systems.run().content == INPUTS


@pytest.mark.root
@pytest.mark.slow
def test_the_engine_restarts_mid_run(program: str, tmp_path: Path) -> None:
    with own_engine(tmp_path) as mine:
        mine.start()
        _give(mine, program)
        systems = Systems(mine.sandbox(), program, tmp_path)
        failed: list[Exception] = []

        def run() -> None:
            try:
                systems.run("deaf")
            except SandboxError as problem:
                failed.append(problem)

        worker = threading.Thread(target=run)
        worker.start()
        eventually(lambda: len(mine.docker("ps", "--quiet").stdout.split()) == 2)
        mine.stop()
        worker.join(60)
        assert not worker.is_alive() and failed, "the run ends with the engine, and it is our fault"
        mine.start()
        systems.sandbox.reap(settle_seconds=0)
        label = "label=holdout.instance=own"
        assert mine.docker("ps", "--all", "--quiet", "--filter", label).stdout == b""
        assert mine.docker("volume", "ls", "--quiet").stdout == b""
        done = systems.run()
        assert (done.result.verdict, done.content) == (Verdict.DONE, INPUTS)


@pytest.mark.root
@pytest.mark.slow
def test_a_runtime_that_is_another_in_disguise(program: str, tmp_path: Path) -> None:
    """An engine whose `runsc` is runc: nothing is run, rather than on the host's kernel."""
    with own_engine(tmp_path) as mine:
        mine.runtimes = {"runsc": {"path": "runc"}}
        mine.start()
        _give(mine, program)
        disguised = mine.sandbox("runsc")
        with pytest.raises(SandboxError, match="ran under runsc on the host's kernel"):
            disguised.layers()
        with pytest.raises(SandboxError, match="no system is run here"):
            Systems(disguised, program, tmp_path).run()
        assert json.loads(mine.docker("ps", "--all", "--format", "json").stdout or "[]") == []


def _give(mine: OwnEngine, image: str) -> None:
    with subprocess.Popen(["docker", "save", image], stdout=subprocess.PIPE) as saving:
        assert saving.stdout
        assert mine.docker("load", stdin=saving.stdout.fileno()).returncode == 0

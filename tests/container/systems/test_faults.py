"""The worker dies, the engine restarts, the lease is lost: nothing is left, and the error is the sandbox's."""

from __future__ import annotations

import dataclasses
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
from evaluator.sandbox.containers import docker, execution
from evaluator.sandbox.containers.system_contract import CancelledError
from evaluator.sandbox.contract import Verdict
from tests.container import engine
from tests.container.systems.own_engine import OwnEngine, own_engine
from tests.container.systems.running import INPUTS, Systems
from tests.evaluator.sandbox.containers.archives import stored
from tests.support import container_images
from tests.support.hostile_images import RUN_BY_ENGINE

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


def eventually(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "not in time"
        time.sleep(0.1)


def running(systems: Systems, part: str) -> list[str]:
    labels = (f"holdout.instance={systems.instance}", f"holdout.part={part}")
    filters = [word for label in labels for word in ("--filter", f"label={label}")]
    return engine.docker("ps", "--quiet", "--no-trunc", *filters).stdout.split()


@pytest.mark.hostile
def test_worker_killed_while_the_container_runs(systems: Systems) -> None:
    """The container keeps running without its worker; the reaper finds it by its label."""
    sandbox = systems.sandbox
    arguments = [sandbox.instance, sandbox.runtime, systems.image, str(systems.inputs), "orphan"]
    worker = subprocess.Popen([sys.executable, "-c", WORKER, *arguments], cwd=engine.ROOT)
    eventually(lambda: bool(running(systems, "system")))
    worker.send_signal(signal.SIGKILL)
    worker.wait()
    assert len(systems.left()) == 4  # system, volume holder, inputs, output
    assert sandbox.reap() == [], "a recent container may belong to a worker that the caller does not know"
    assert sandbox.reap(keep=frozenset({"orphan"}), min_age_seconds=0) == []
    other_instance = type(sandbox)(instance=f"{sandbox.instance}-2", runtime=sandbox.runtime)
    assert other_instance.reap(min_age_seconds=0) == [], "containers of another instance are not removed"
    assert len(systems.left()) == 4
    assert sorted(sandbox.reap(min_age_seconds=0)) == [
        "input volume of orphan",
        "keeper container of orphan",
        "output volume of orphan",
        "system container of orphan",
    ]
    assert systems.left() == []


def test_reaper_removes_containers_past_their_deadline(systems: Systems) -> None:
    labels = {"instance": systems.instance, "execution": "late", "part": "system", "deadline": "1000"}
    words = [word for name, value in labels.items() for word in ("--label", f"holdout.{name}={value}")]
    engine.docker("create", *words, systems.image)
    assert systems.sandbox.reap(keep=frozenset({"late"})) == ["system container of late"]


def test_reaper_ignores_containers_without_all_labels(systems: Systems) -> None:
    label = f"holdout.instance={systems.instance}"
    half = engine.docker("create", "--label", label, systems.image).stdout.strip()
    try:
        assert systems.sandbox.reap(min_age_seconds=0) == []
        assert engine.docker("inspect", half, check=False).returncode == 0
    finally:
        engine.docker("rm", half)


def test_a_lost_lease_ends_the_container(systems: Systems) -> None:
    with systems.inputs.open("rb") as inputs, pytest.raises(CancelledError):
        execution = systems.execution("deaf")(inputs=inputs.fileno())
        systems.sandbox.run(execution, io.BytesIO(), keep_going=lambda: False)


def test_container_killed_from_outside_is_a_sandbox_error(systems: Systems) -> None:
    def kill() -> None:
        eventually(lambda: bool(running(systems, "system")))
        engine.docker("kill", *running(systems, "system"))

    killer = threading.Thread(target=kill)
    killer.start()
    with pytest.raises(SandboxError, match="killed from outside"):
        systems.run("deaf")
    killer.join()


def test_container_removed_from_outside_is_a_sandbox_error(systems: Systems) -> None:
    def remove() -> None:
        eventually(lambda: bool(running(systems, "system")))
        engine.docker("rm", "--force", *running(systems, "system"), *running(systems, "keeper"))

    remover = threading.Thread(target=remove)
    remover.start()
    with pytest.raises(SandboxError):
        systems.run("deaf")
    remover.join()


@pytest.mark.hostile
@pytest.mark.slow
def test_a_container_that_the_engine_creates_late_is_reaped(
    systems: Systems, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The engine needs many seconds for 8,000 variables, which the check of an archive refuses."""
    settings = {"Cmd": ["/probe"], "Env": [f"A{number}=1" for number in range(8_000)]}
    image = RUN_BY_ENGINE["the probe"][0]
    archive = dataclasses.replace(image, settings=settings)
    stored(tmp_path, archive.legacy())
    engine.docker("load", "--input", str(tmp_path / "image.tar"))
    monkeypatch.setattr(docker, "check_settings", lambda settings: None)
    monkeypatch.setattr(execution, "_ENGINES_SHARE", 0.5)
    before = container_images.volumes()
    try:
        result = systems.run(image=archive.id(), limits={"wall_seconds": 0.5}).result
        assert result.verdict == Verdict.TIME
        assert result.explanation == "its container was not created and started within its time limit of 0.5 seconds"
        label = f"label=holdout.instance={systems.instance}"
        eventually(lambda: bool(engine.docker("ps", "--all", "--quiet", "--filter", label).stdout), 300.0)
        assert len(systems.left()) == 3, "the container and its two volumes, which the engine created again"
        assert len(systems.sandbox.reap(min_age_seconds=0)) == 3
        assert container_images.volumes() <= before
    finally:
        engine.docker("rmi", "--force", archive.id(), check=False)


@pytest.mark.parametrize("how", ["kill", "rm"])
def test_output_lost_with_its_volume_holder_is_a_sandbox_error(systems: Systems, how: str) -> None:
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
def test_volume_holder_image_is_loaded_again(program: str, tmp_path: Path) -> None:
    """`docker image prune` removes the image, because it has no tag. Tested in an engine without other containers."""
    with own_engine(tmp_path) as own:
        own.start()
        _give(own, program)
        systems = Systems(own.sandbox(), program, tmp_path)
        systems.sandbox.layers()  # otherwise the first run begins with the health check, which loads the image
        assert own.docker("rmi", systems.sandbox._volume_holder_image().id).returncode == 0
        with pytest.raises(SandboxError):
            systems.run()
        assert systems.run().content == INPUTS


@pytest.mark.root
@pytest.mark.slow
def test_engine_restart_during_a_run(program: str, tmp_path: Path) -> None:
    with own_engine(tmp_path) as own:
        own.start()
        _give(own, program)
        systems = Systems(own.sandbox(), program, tmp_path)
        failed: list[Exception] = []

        def run() -> None:
            try:
                systems.run("deaf")
            except SandboxError as problem:
                failed.append(problem)

        worker = threading.Thread(target=run)
        worker.start()
        eventually(lambda: len(own.docker("ps", "--quiet").stdout.split()) == 2)
        own.stop()
        worker.join(60)
        assert not worker.is_alive() and failed, "the run ends with the engine, as a sandbox error"
        own.start()
        systems.sandbox.reap(min_age_seconds=0)
        label = "label=holdout.instance=own"
        assert own.docker("ps", "--all", "--quiet", "--filter", label).stdout == b""
        assert own.docker("volume", "ls", "--quiet").stdout == b""
        done = systems.run()
        assert (done.result.verdict, done.content) == (Verdict.DONE, INPUTS)


@pytest.mark.root
@pytest.mark.slow
def test_runtime_that_is_not_what_its_name_says(program: str, tmp_path: Path) -> None:
    """If an engine's `runsc` is runc, nothing is run, because it would run on the host's kernel."""
    with own_engine(tmp_path) as own:
        own.runtimes = {"runsc": {"path": "runc"}}
        own.start()
        _give(own, program)
        disguised = own.sandbox("runsc")
        with pytest.raises(SandboxError, match="ran under runsc on the host's kernel"):
            disguised.layers()
        with pytest.raises(SandboxError, match="no system is run here"):
            Systems(disguised, program, tmp_path).run()
        assert json.loads(own.docker("ps", "--all", "--format", "json").stdout or "[]") == []


def _give(own: OwnEngine, image: str) -> None:
    with subprocess.Popen(["docker", "save", image], stdout=subprocess.PIPE) as saving:
        assert saving.stdout
        assert own.docker("load", stdin=saving.stdout.fileno()).returncode == 0

"""Jobs of the Docker sandbox: their names, limits and end, and what a dead worker's job leaves."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from evaluator.errors import SandboxError, UsageError
from evaluator.sandbox.containers.resources import JobExistsError
from evaluator.sandbox.containers.system_contract import CancelledError, ImageMissingError
from evaluator.sandbox.contract import Verdict
from tests.container import engine
from tests.container.systems.running import INPUTS, Systems

WORKER = """
import io, os, signal, sys
from evaluator.sandbox.containers import execution
from evaluator.sandbox.containers.docker import DockerSandbox
from evaluator.sandbox.containers.system_contract import SystemExecution, SystemLimits

instance, runtime, image, inputs, name, dies = sys.argv[1:]
die = lambda *arguments: os.kill(os.getpid(), signal.SIGKILL)
if dies == "within":
    execution.Run._start = die
with open(inputs, "rb") as file:
    DockerSandbox(instance=instance, runtime=runtime).run(
        SystemExecution(
            execution_id=name, image=image, inputs=file.fileno(), task="t", limits=SystemLimits(wall_seconds=60.0),
            options={"do": "deaf"},
        ),
        io.BytesIO(),
        keep_going=die,
    )
"""


def test_a_name_is_used_once_at_a_time(systems: Systems) -> None:
    """The second job leaves the first as it is."""
    refusals = []

    def second() -> bool:
        if not refusals:
            with pytest.raises(JobExistsError) as raised:
                systems.run(execution_id="twice")
            refusals.append(raised)
        return True

    done = systems.run("sleep", execution_id="twice", keep_going=second, seconds=3)
    assert refusals
    assert (done.result.verdict, done.content) == (Verdict.DONE, INPUTS)
    assert systems.run(execution_id="twice").content == INPUTS, "when it has ended, its name is free"


def test_a_running_job_is_cancelled_by_its_name(systems: Systems) -> None:
    def cancel() -> bool:
        assert systems.sandbox.cancel("cancelled")
        assert systems.left() == []
        assert not systems.sandbox.cancel("cancelled")
        return True

    with pytest.raises(SandboxError):
        systems.run("deaf", execution_id="cancelled", keep_going=cancel)


@pytest.mark.slow
def test_a_job_that_is_no_longer_needed(systems: Systems) -> None:
    with pytest.raises(CancelledError):
        systems.run("deaf", keep_going=lambda: False)


@pytest.mark.slow
def test_a_job_is_ended_at_its_time_limit(systems: Systems) -> None:
    result = systems.run("deaf", limits={"wall_seconds": 2.0}).result
    assert (result.verdict, result.exit_code) == (Verdict.TIME, None)
    assert result.explanation == "it was stopped at its limit of 2 seconds"
    assert result.wall_seconds >= 2


def test_a_request_that_the_engine_cannot_serve(systems: Systems) -> None:
    with pytest.raises(UsageError, match="1000 CPUs"):
        systems.run(limits={"cpus": 1000.0})
    with pytest.raises(ImageMissingError):
        systems.run(image="sha256:" + "0" * 64)


@pytest.mark.hostile
@pytest.mark.parametrize("dies", ["within", pytest.param("after", marks=pytest.mark.slow)])
def test_the_job_of_a_worker_that_died(systems: Systems, dies: str) -> None:
    """dies: when the worker is killed, `within` the start of the job or `after` it."""
    sandbox = systems.sandbox
    words = [sandbox.instance, sandbox.runtime, systems.image, str(systems.inputs), "orphan", dies]

    def die() -> None:
        worker = subprocess.run([sys.executable, "-c", WORKER, *words], cwd=engine.ROOT, check=False)
        assert worker.returncode == -signal.SIGKILL
        assert systems.left()
        with pytest.raises(JobExistsError):
            systems.run(execution_id="orphan")

    die()
    assert sandbox.cancel("orphan")
    assert systems.left() == []
    die()
    assert sandbox.reap(keep=frozenset({"orphan"}), min_age_seconds=0) == []
    assert sandbox.reap(min_age_seconds=0)
    assert systems.left() == []
    assert systems.run(execution_id="orphan").content == INPUTS

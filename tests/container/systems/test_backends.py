"""The contract of `backend.ContainerBackend`, of which every backend runs the same tests."""

from __future__ import annotations

import io
import signal
import subprocess
import sys
from typing import Any

import pytest

from evaluator.errors import SandboxError, UsageError
from evaluator.sandbox.containers import container_spec
from evaluator.sandbox.containers.backend import ContainerBackend, JobExistsError, JobMissingError, JobState, Promise
from evaluator.sandbox.containers.container_spec import Job
from evaluator.sandbox.containers.podman import PodmanSandbox
from evaluator.sandbox.containers.system_contract import CancelledError, ImageMissingError
from evaluator.sandbox.contract import Verdict
from tests.container import engine
from tests.container.systems.running import INPUTS, Systems

WORKER = """
import io, os, signal, sys
from evaluator.sandbox.containers import container_spec, execution, podman
from evaluator.sandbox.containers.backend import Promise
from evaluator.sandbox.containers.docker import DockerSandbox
from evaluator.sandbox.containers.system_contract import SystemExecution, SystemLimits

backend, instance, image, inputs, name, seconds, dies, *options = sys.argv[1:]
die = lambda *arguments: os.kill(os.getpid(), signal.SIGKILL)
if dies == "within":
    execution.Run._start = podman.PodmanSandbox._start = die
if backend == "podman":
    sandbox = podman.PodmanSandbox(instance=instance, options=options, waived=frozenset({Promise.LOG}))
else:
    sandbox = DockerSandbox(instance=instance, runtime=backend)
with open(inputs, "rb") as file:
    sandbox.submit(container_spec.of_system(
        SystemExecution(
            execution_id=name, image=image, inputs=file.fileno(), task="t", limits=SystemLimits(wall_seconds=60.0),
            options={"do": "sleep", "seconds": float(seconds)},
        ),
        io.BytesIO(),
    ))
die()
"""


class Submitted:
    """A job, and the file into which its output is collected."""

    def __init__(self, systems: Systems, do: str, **more: Any) -> None:
        self.output = io.BytesIO()
        self.systems, self.do, self.more = systems, do, more

    def __enter__(self) -> Job:
        self.inputs = self.systems.inputs.open("rb")
        execution = self.systems.execution(self.do, **self.more)(inputs=self.inputs.fileno())
        self.job = container_spec.of_system(execution, self.output)
        return self.job

    def __exit__(self, *_: object) -> None:
        self.inputs.close()
        self.systems.sandbox.cancel(self.job.execution_id)


def ended(sandbox: ContainerBackend, job: Job) -> None:
    while (status := sandbox.poll(job, seconds=1.0)).state is not JobState.ENDED:
        assert status.state is JobState.RUNNING


def test_the_states_of_a_job(systems: Systems) -> None:
    sandbox, submitted = systems.sandbox, Submitted(systems, "sleep", seconds=2)
    with submitted as job:
        assert sandbox.poll(job).state is JobState.ABSENT
        with pytest.raises(JobMissingError):
            sandbox.collect(job)
        sandbox.submit(job)
        status = sandbox.poll(job)
        assert status.state is JobState.RUNNING and 0 <= status.running_seconds < 60
        with pytest.raises(JobMissingError, match="has not ended"):
            sandbox.collect(job)
        ended(sandbox, job)
        result = sandbox.collect(job)
        assert (result.verdict, result.output_bytes) == (Verdict.DONE, len(INPUTS)), result
        assert submitted.output.getvalue() == INPUTS
        submitted.output.seek(0)
        assert sandbox.collect(job).output_sha256 == result.output_sha256, "it may be collected again"
        assert sandbox.poll(job).state is JobState.ENDED
        assert sandbox.cancel(job.execution_id)
        assert sandbox.poll(job).state is JobState.ABSENT
        assert systems.left() == []
        assert not sandbox.cancel(job.execution_id)


def test_a_name_is_submitted_once(systems: Systems) -> None:
    """The second job leaves the first as it is."""
    sandbox, submitted = systems.sandbox, Submitted(systems, "sleep", seconds=2)
    with submitted as job:
        sandbox.submit(job)
        with pytest.raises(JobExistsError):
            sandbox.submit(job)
        ended(sandbox, job)
        assert sandbox.collect(job).verdict is Verdict.DONE
        assert submitted.output.getvalue() == INPUTS


def test_a_running_job_is_cancelled_by_its_name(systems: Systems) -> None:
    with Submitted(systems, "deaf") as job:
        systems.sandbox.submit(job)
        assert systems.sandbox.cancel(job.execution_id)
        assert systems.left() == []


@pytest.mark.slow
def test_a_submission_that_is_no_longer_needed(systems: Systems) -> None:
    with Submitted(systems, "deaf") as job, pytest.raises(CancelledError):
        systems.sandbox.run_job(job, lambda: False)
    assert systems.left() == []


@pytest.mark.slow
def test_a_job_is_ended_at_its_time_limit(systems: Systems) -> None:
    with Submitted(systems, "deaf", limits={"wall_seconds": 2.0}) as job:
        result = systems.sandbox.run_job(job)
    assert (result.verdict, result.exit_code) == (Verdict.TIME, None)
    assert result.explanation == "it was stopped at its limit of 2 seconds"
    assert result.wall_seconds >= 2


def test_a_request_that_the_backend_cannot_serve(systems: Systems) -> None:
    with Submitted(systems, "copy", limits={"cpus": 1000.0}) as job, pytest.raises(UsageError, match="1000 CPUs"):
        systems.sandbox.submit(job)
    with Submitted(systems, "copy", image="sha256:" + "0" * 64) as job, pytest.raises(ImageMissingError):
        systems.sandbox.submit(job)
    assert systems.left() == []


def other_worker(request: pytest.FixtureRequest, systems: Systems, name: str, *, seconds: float, dies: str) -> None:
    """Submit a job in another process, which is killed afterwards or `within` the submission."""
    backend = request.getfixturevalue("backend")
    options = request.getfixturevalue("podman_options") if backend == "podman" else []
    words = [backend, systems.instance, systems.image, str(systems.inputs), name, str(seconds), dies, *options]
    worker = subprocess.run([sys.executable, "-c", WORKER, *words], cwd=engine.ROOT, check=False)
    assert worker.returncode == -signal.SIGKILL


@pytest.mark.hostile
@pytest.mark.parametrize("seconds", [pytest.param(0, marks=pytest.mark.slow), 4])
def test_another_worker_collects_the_job_of_a_dead_worker(
    systems: Systems, request: pytest.FixtureRequest, seconds: float
) -> None:
    submitted = Submitted(systems, "sleep", seconds=seconds)
    with submitted as job:
        other_worker(request, systems, job.execution_id, seconds=seconds, dies="after")
        result = systems.sandbox.follow(job)
        assert (result.verdict, submitted.output.getvalue()) == (Verdict.DONE, INPUTS), result
        assert result.wall_seconds >= seconds
        assert systems.left() == []


@pytest.mark.hostile
@pytest.mark.slow
def test_another_worker_cancels_the_job_of_a_dead_worker(systems: Systems, request: pytest.FixtureRequest) -> None:
    submitted = Submitted(systems, "copy")
    with submitted as job:
        other_worker(request, systems, job.execution_id, seconds=50, dies="after")
        assert systems.left()
        assert systems.sandbox.cancel(job.execution_id)
        assert systems.left() == []
        systems.sandbox.submit(job)
        ended(systems.sandbox, job)
        assert systems.sandbox.collect(job).verdict is Verdict.DONE


@pytest.mark.hostile
def test_a_worker_that_died_while_it_submitted(systems: Systems, request: pytest.FixtureRequest) -> None:
    with Submitted(systems, "copy") as job:
        other_worker(request, systems, job.execution_id, seconds=0, dies="within")
        assert systems.left()
        assert systems.sandbox.poll(job).state is JobState.ABSENT
        with pytest.raises(JobMissingError):
            systems.sandbox.collect(job)
        with pytest.raises(JobExistsError):
            systems.sandbox.submit(job)
        assert systems.sandbox.reap(keep=frozenset({job.execution_id}), min_age_seconds=0) == []
        assert systems.sandbox.reap(min_age_seconds=0)
        assert systems.left() == []


def test_a_broken_promise_is_refused_unless_it_is_waived(systems: Systems, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(systems.sandbox, "broken", {Promise.NETWORK: "it has a bridge"})
    monkeypatch.setattr(systems.sandbox, "waived", frozenset())
    with pytest.raises(SandboxError, match=r"network \(it has a bridge\)\. No container is run here .*ENGINE_WAIVED"):
        systems.sandbox.layers()
    monkeypatch.setattr(systems.sandbox, "waived", frozenset({Promise.NETWORK}))
    assert systems.sandbox.layers()["without_network"]


def test_podman_is_refused_unless_its_broken_promise_is_waived() -> None:
    with pytest.raises(SandboxError, match=r"log \(Podman starts a log over"):
        PodmanSandbox(instance="refused").layers()

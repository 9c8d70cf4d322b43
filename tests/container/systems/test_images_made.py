"""Images whose Dockerfiles request more than is allowed."""

from __future__ import annotations

import io
import os
import time

import pytest

from evaluator.errors import SandboxError, UsageError
from evaluator.sandbox.containers.docker import DockerSandbox
from evaluator.sandbox.containers.image_errors import ConfigError, VolumeError
from evaluator.sandbox.containers.system_contract import ImageMissingError
from evaluator.sandbox.contract import Verdict
from tests.container import engine
from tests.container.systems.running import INPUTS, Systems

pytestmark = pytest.mark.hostile


def test_volume_is_refused_before_any_container_is_created(systems: Systems) -> None:
    image, started = systems.variant("VOLUME /data"), time.time()
    with pytest.raises(VolumeError, match="/data"):
        systems.run(image=image)
    ours = ("--filter", "event=create", "--filter", f"label=holdout.instance={systems.instance}")
    assert engine.docker("events", "--since", f"{started}", "--until", f"{time.time()}", *ours).stdout.split() == []


@pytest.mark.parametrize("folder", ["/proc/self/fd/7", "/proc/self/fd/8", "/sys/kernel", "/dev/fd/9"])
def test_workdir_on_a_descriptor_is_refused(systems: Systems, folder: str) -> None:
    with pytest.raises(ConfigError, match="WORKDIR"):
        systems.run(image=systems.variant(f"WORKDIR {folder}"))


@pytest.mark.parametrize("number", [3, 7, 8, 9, 10])
def test_workdir_through_a_link_to_a_descriptor(systems: Systems, number: int) -> None:
    """The config does not show such links, so the runtime must refuse them or start inside the image's root."""
    image = systems.variant(
        f"RUN ln -s /proc/self/fd/{number} /here",
        "WORKDIR /here",
        'CMD ["sh", "-c", "cat ../../../etc/hostname; exit 3"]',
    )
    done = systems.run(image=image)
    assert done.result.verdict == Verdict.EXIT
    assert os.uname().nodename not in done.result.log.split()


def test_healthcheck_is_disabled(systems: Systems) -> None:
    image = systems.variant("HEALTHCHECK --interval=1s CMD touch /tmp/healthy")
    assert systems.run("wait_for_health", image=image).found is False


def test_user_root_runs_as_nobody(systems: Systems) -> None:
    status = systems.run("surroundings", image=systems.variant("USER root")).found["status"]
    assert status["Uid"].split() == ["65534"] * 4


@pytest.mark.parametrize(
    "line",
    [
        "ONBUILD RUN false",
        "STOPSIGNAL SIGUSR1",
        "ENV LD_PRELOAD=/nowhere.so",
        "ENV HOLDOUT_INPUTS=/etc/passwd",
        "EXPOSE 80 443",
        "LABEL holdout.instance=mine com.docker.compose.project=other",
        'ENTRYPOINT ["python3"]\nCMD ["/program.py"]',
        "WORKDIR /usr/lib",
    ],
)
def test_ignored_instructions(systems: Systems, line: str) -> None:
    done = systems.run(image=systems.variant(line))
    assert (done.result.verdict, done.content) == (Verdict.DONE, INPUTS), done.result


@pytest.mark.parametrize("command", ['["/nowhere"]', '["/etc/passwd"]', '["/etc"]', '["/tmp/a\\u001b[31m"]'])
def test_a_command_that_cannot_be_started(systems: Systems, command: str) -> None:
    result = systems.run(image=systems.variant(f"ENTRYPOINT {command}")).result
    assert result.verdict == Verdict.EXIT
    assert "\x1b" not in result.explanation + result.log


@pytest.mark.parametrize("place", ["/input", "/output", "/tmp"])
def test_a_file_where_a_folder_is_mounted(systems: Systems, place: str) -> None:
    """The run succeeds or fails by the image's fault, never with a sandbox error."""
    image = systems.variant(f"RUN rm -rf {place} && touch {place}")
    assert systems.run(image=image).result.verdict in {Verdict.EXIT, Verdict.DONE}


@pytest.mark.parametrize("place", ["/input", "/output", "/tmp"])
def test_a_link_where_a_folder_is_mounted(systems: Systems, place: str) -> None:
    image = systems.variant(f"RUN rm -rf {place} && ln -s ../../../../etc {place}")
    assert systems.run(image=image).result.verdict in {Verdict.EXIT, Verdict.DONE, Verdict.OUTPUT}


def test_files_of_the_image_in_output_are_no_output(systems: Systems) -> None:
    image = systems.variant("RUN mkdir /output && echo early > /output/predictions.jsonl")
    assert systems.run("output_nothing", image=image).result.verdict == Verdict.OUTPUT


def test_files_of_the_image_in_input_are_not_copied_to_the_host(systems: Systems) -> None:
    """Engines copy the image's files into a new volume, as root and without a limit."""
    image = systems.variant("RUN mkdir /input && echo early > /input/more")
    assert systems.run("list_input", image=image).found == ["inputs.jsonl", "task.json"]


def test_a_gpu_is_refused(systems: Systems) -> None:
    with (
        systems.inputs.open("rb") as inputs,
        pytest.raises(UsageError, match="1 GPUs are requested, but this worker offers 0"),
    ):
        systems.sandbox.run(systems.execution()(inputs=inputs.fileno(), gpus=1), io.BytesIO())


def test_more_processors_than_the_engine_has(systems: Systems) -> None:
    with pytest.raises(UsageError, match="10000 CPUs are requested"):
        systems.run(limits={"cpus": 10_000})


def test_missing_image(systems: Systems) -> None:
    with pytest.raises(ImageMissingError):
        systems.run(image="sha256:" + "0" * 64)


def test_missing_runtime(program: str) -> None:
    with pytest.raises(SandboxError, match="no runtime nowhere, only: "):
        DockerSandbox(instance="test", runtime="nowhere").layers()


def test_missing_engine() -> None:
    with pytest.raises(SandboxError, match="does not respond"):
        DockerSandbox(instance="test", url="unix:///nowhere/docker.sock").layers()

"""Whose fault it is that an engine does not create or start a container; with a scripted engine."""

from __future__ import annotations

import io
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from evaluator.errors import SandboxError
from evaluator.sandbox.containers import container_spec, create_settings, engine_refusals, execution, resources
from evaluator.sandbox.containers.engine import EngineError, EngineTimeoutError, NotFoundError
from evaluator.sandbox.containers.engine_refusals import Step
from evaluator.sandbox.containers.execution import Run
from evaluator.sandbox.containers.image_errors import EngineRefusalError
from evaluator.sandbox.containers.resources import Resources
from evaluator.sandbox.containers.system_contract import CancelledError, SystemExecution, SystemLimits, SystemResult
from evaluator.sandbox.containers.volume_holder_image import VolumeHolderImage
from evaluator.sandbox.contract import Verdict

OCI = "failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: "
TAR = "Error processing tar file(exit status 1): "
AT_FAULT = [
    (Step.LOAD, "max depth exceeded"),
    (Step.LOAD, "json: cannot unmarshal number into Go struct field Config.config.Env of type string"),
    (Step.LOAD, TAR + "open /a/x: not a directory"),
    (Step.LOAD, TAR + "link /missing /h: no such file or directory"),
    (Step.LOAD, TAR + "open /a\nb: file name too long"),
    (Step.CREATE, "No command specified"),
    (Step.CREATE, "Cannot mkdir: /probe is not a directory"),
    (Step.CREATE, "lstat /var/lib/docker/overlay2/0/merged/probe/x: not a directory"),
    (Step.START, "unable to find user 65534: read /var/lib/docker/overlay2/0/merged/etc/passwd: is a directory"),
    (Step.START, OCI + "error during container init: environment variable name can't be empty"),
]
SERVERS_FAULT = [
    (Step.LOAD, TAR + "write /big: no space left on device"),
    (Step.LOAD, TAR + "open /x: not a directory: input/output error"),
    (Step.LOAD, "open /var/lib/docker/tmp/docker-import-1/manifest.json: no such file or directory"),
    (Step.LOAD, "error creating overlay mount to /var/lib/docker/overlay2/0/merged: invalid argument"),
    (Step.CREATE, "error creating overlay mount to /var/lib/docker/overlay2/0/merged: invalid argument"),
    (Step.CREATE, "mkdir /var/lib/docker/overlay2/0: no space left on device"),
    (Step.CREATE, "json: cannot unmarshal number into Go struct field Config.config.Env of type string"),
    (Step.CREATE, ""),
    (Step.START, OCI + "error during container init: cannot allocate memory"),
    (Step.START, "connection error: desc = transport: dialing containerd.sock: connection refused"),
    (Step.START, "driver failed programming external connectivity on endpoint"),
]


@pytest.mark.parametrize(("step", "message"), AT_FAULT)
def test_an_image_that_the_engine_refuses_is_at_fault(step: Step, message: str) -> None:
    error = EngineError("refused", 500, message)
    refusal = engine_refusals.find(step, error)
    assert refusal is not None and refusal.is_ambiguous == (step is Step.START and message.startswith(OCI))
    with pytest.raises(EngineRefusalError, match=f"^the engine refuses to {step}: ") as raised:
        engine_refusals.raise_if_image_is_at_fault(step, error)
    assert "/var/lib" not in str(raised.value) and not raised.value.is_refunded


@pytest.mark.parametrize(("step", "message"), SERVERS_FAULT)
def test_any_other_error_is_the_servers_fault(step: Step, message: str) -> None:
    error = EngineError("refused", 500, message)
    assert engine_refusals.find(step, error) is None
    engine_refusals.raise_if_image_is_at_fault(step, error)


class ScriptedEngine:
    """An engine whose containers end at once.

    failures: method -> the exception that it raises for the job's container. files: path in the image -> its status.
    during_create: called while the job's container is created.
    """

    def __init__(
        self,
        failures: dict[str, Exception] | None = None,
        files: dict[str, dict[str, Any]] | None = None,
        during_create: Callable[[], None] = lambda: None,
    ) -> None:
        self.failures = failures or {}
        self.files = files or {}
        self.during_create = during_create
        self.existing: set[str] = set()
        self.waited: list[float] = []

    def create_volume(self, labels: dict[str, str], options: dict[str, str]) -> str:
        name = f"volume of {labels['holdout.part']}"
        self.existing.add(name)
        return name

    def remove_volume(self, name: str) -> None:
        self.existing.discard(name)

    def create(self, config: dict[str, Any], seconds: float, *, name: str) -> str:
        part = str(config["Labels"]["holdout.part"])
        if part == "system":
            self.during_create()
            self._fail("create")
        self.existing.add(part)
        return part

    def remove(self, container: str) -> None:
        self.existing.discard(container)

    def put(self, container: str, folder: str, archive: Any) -> None:
        list(archive)

    def start(self, container: str, seconds: float = 0) -> None:
        if container == "system":
            self._fail("start")

    def file_status(self, container: str, path: str) -> dict[str, Any]:
        self._fail("file_status")
        if path not in self.files:
            raise NotFoundError("no such file", 404)
        return {"size": 0, "linkTarget": "", **self.files[path]}

    def wait(self, container: str, seconds: float) -> bool:
        self.waited.append(seconds)
        return False

    def kill(self, container: str) -> None:
        self.wait = lambda container, seconds: True  # type: ignore[method-assign]

    def state(self, container: str) -> dict[str, Any]:
        return {"ExitCode": 128}

    def inspect(self, container: str) -> dict[str, Any]:
        return {}

    def stats(self, container: str) -> dict[str, Any]:
        return {}

    def logs(self, container: str) -> list[bytes]:
        return []

    def _fail(self, method: str) -> None:
        if method in self.failures:
            raise self.failures[method]


def run(engine: Any, *, is_healthy: bool = True, keep_going: Callable[[], bool] | None = None) -> SystemResult:
    with open(__file__, "rb") as inputs:  # noqa: PTH123
        job = container_spec.of_system(
            SystemExecution(
                execution_id="e1",
                image="sha256:" + "a" * 64,
                inputs=inputs.fileno(),
                task="t",
                limits=SystemLimits(wall_seconds=0.2),
            ),
            io.BytesIO(),
        )
        parts = Resources(
            engine,
            job,
            volume_holder=VolumeHolderImage("sha256:h", b""),
            instance="test",
            runtime="runc",
            architecture="amd64",
            image_labels=(),
        )
        execution = Run(engine, job, resources=parts, layers={}, image_bytes=0, probe=lambda: is_healthy)
        try:
            return execution.to_its_end(keep_going, began=0.0)
        finally:
            assert engine.existing == set()


@pytest.mark.parametrize("step", ["create", "start"])
def test_a_container_that_is_not_created_in_time_used_the_submissions_time(step: str) -> None:
    engine = ScriptedEngine({step: EngineTimeoutError("no answer")})
    result = run(engine)
    assert result.verdict is Verdict.TIME
    assert result.explanation == "its container was not created and started within its time limit of 0.2 seconds"


@pytest.mark.parametrize("step", ["create", "start"])
def test_an_engine_that_fails_its_health_check_is_the_servers_fault(step: str) -> None:
    with pytest.raises(SandboxError):
        run(ScriptedEngine({step: EngineTimeoutError("no answer")}), is_healthy=False)


@pytest.mark.parametrize(("step", "message"), [pair for pair in AT_FAULT if pair[0] is Step.CREATE])
def test_a_container_that_the_engine_does_not_create(step: Step, message: str) -> None:
    with pytest.raises(EngineRefusalError):
        run(ScriptedEngine({"create": EngineError("refused", 500, message)}))


@pytest.mark.parametrize(("step", "message"), [pair for pair in SERVERS_FAULT if pair[0] is not Step.LOAD])
def test_an_unknown_refusal_is_a_sandbox_error(step: Step, message: str) -> None:
    with pytest.raises(EngineError):
        run(ScriptedEngine({"create" if step is Step.CREATE else "start": EngineError("refused", 500, message)}))


def test_files_that_the_engine_cannot_look_at_are_the_images_fault_only_if_the_engine_is_healthy() -> None:
    """The container is not started: its files may be such that the engine would hang."""
    engine = ScriptedEngine({"file_status": EngineError("no message", 500), "start": AssertionError("not started")})
    assert run(engine).verdict is Verdict.EXIT
    with pytest.raises(SandboxError):
        run(engine, is_healthy=False)


def test_an_ambiguous_refusal_is_the_images_only_if_the_engine_is_healthy() -> None:
    failure = {"start": EngineError("refused", 500, OCI + "permission denied")}
    assert run(ScriptedEngine(failure)).verdict is Verdict.EXIT
    with pytest.raises(SandboxError):
        run(ScriptedEngine(failure), is_healthy=False)


def test_time_beyond_the_engines_share_counts_for_the_submission(monkeypatch: pytest.MonkeyPatch) -> None:
    """Creating the container takes so long that nothing of the limit is left: it is killed without waiting."""
    clock, later = time.monotonic, execution._ENGINES_SHARE + 0.2

    def pass_time() -> None:
        monkeypatch.setattr(time, "monotonic", lambda: clock() + later)

    engine = ScriptedEngine(during_create=pass_time)
    result = run(engine)
    assert (result.verdict, engine.waited) == (Verdict.TIME, [])
    quick = ScriptedEngine()
    assert run(quick).verdict is Verdict.TIME
    assert quick.waited, "a container that is created at once has its whole limit"


def test_a_cancelled_submission_does_not_wait_for_a_slow_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """The container that the engine creates afterwards is removed by the thread that waits for it."""
    cancelled, removed = threading.Event(), threading.Event()
    engine = ScriptedEngine(during_create=cancelled.wait)  # type: ignore[arg-type]
    monkeypatch.setattr(resources, "_ASK", 0.01)
    with pytest.raises(CancelledError):
        run(engine, keep_going=lambda: False)
    monkeypatch.setattr(engine, "remove", lambda container: removed.set() if container == "system" else None)
    cancelled.set()
    assert removed.wait(60)


FIFO, DEVICE, FOLDER, LINK = 1 << 25, 1 << 26, 1 << 31, 1 << 27
FILES: dict[str, dict[str, dict[str, Any]]] = {
    "a FIFO of 0 bytes": {"/etc/passwd": {"mode": FIFO}},
    "a device of 0 bytes": {"/etc/group": {"mode": DEVICE | 1 << 21}},
    "a folder of 0 bytes": {"/etc/group": {"mode": FOLDER}},
    "a file of 1048577 bytes": {"/etc/group": {"mode": 0o644, "size": (1 << 20) + 1}},
    "a FIFO": {"/etc/passwd": {"mode": LINK, "linkTarget": "/fifo"}, "/fifo": {"mode": FIFO}},
    "a link to nothing": {"/etc/passwd": {"mode": LINK, "linkTarget": "/dev/ptmx"}},
    "a link of 0 bytes": {"/etc/passwd": {"mode": LINK, "linkTarget": "/etc/passwd"}},
}


@pytest.mark.parametrize("name", FILES)
def test_files_of_users_at_which_an_engine_would_hang_are_refused(name: str) -> None:
    with pytest.raises(EngineRefusalError, match=f"the image's /etc/[a-z]+ is {name}"):
        run(ScriptedEngine(files=FILES[name]))


def test_a_link_to_a_regular_file_of_users_is_accepted() -> None:
    link = {"/etc/passwd": {"mode": LINK, "linkTarget": "/users"}, "/users": {"mode": 0o644, "size": 1 << 20}}
    assert run(ScriptedEngine(files=link)).verdict is Verdict.TIME


def test_volumes_that_an_engine_creates_again_have_labels() -> None:
    """A volume that was removed before a slow engine creates the container is created with it."""
    job = container_spec.of_system(
        SystemExecution(execution_id="e1", image="sha256:" + "a" * 64, inputs=0, task="t"), io.BytesIO()
    )
    labels = {"holdout.instance": "test"}
    config = create_settings.work(
        job,
        folders={"/input": "in"},
        output="out",
        runtime="runc",
        architecture="amd64",
        labels=labels,
        image_labels=(),
    )
    mounts = config["HostConfig"]["Mounts"]
    assert len(mounts) == 2 and all(mount["VolumeOptions"]["Labels"] == labels for mount in mounts)

"""The container sandbox on Podman (4.3 or later), by its command line, as root on the worker's own host.

`backend` is its interface. Files go in and out through the folders of Podman's volumes, so there is no volume holder:
`podman volume mount` keeps the tmpfs of /output until its files are read. Usage is read from the control group, for the
last time when the container's first process has ended, before Podman removes the group.
"""

from __future__ import annotations

import json
import logging
import math
import os
import re
import select
import shutil
import stat
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from evaluator.errors import SandboxError, UsageError, shown
from evaluator.sandbox.containers import engine_refusals, health, log_tail, reaper, seccomp_profile
from evaluator.sandbox.containers.backend import (
    LOAD_SECONDS,
    ContainerBackend,
    JobExistsError,
    JobMissingError,
    JobState,
    JobStatus,
    KeepGoing,
    Promise,
    check_needed,
)
from evaluator.sandbox.containers.container_spec import InputFile, Job
from evaluator.sandbox.containers.create_settings import NOBODY
from evaluator.sandbox.containers.engine import EngineError, EngineTimeoutError
from evaluator.sandbox.containers.execution import KILLED, judge, result_of
from evaluator.sandbox.containers.image_config import check_settings, this_architecture
from evaluator.sandbox.containers.image_errors import EngineRefusalError, ImageMismatchError, LoadTimeError
from evaluator.sandbox.containers.image_reader import ImageArchive
from evaluator.sandbox.containers.output import Output, OutputError, read
from evaluator.sandbox.containers.resource_usage import Meter
from evaluator.sandbox.containers.resources import GRACE, USER_FILE_BYTES, USER_FILES, container_name
from evaluator.sandbox.containers.system_contract import ImageMissingError, LoadedImage, SystemResult
from evaluator.sandbox.containers.volume_holder_image import volume_holder_image
from evaluator.sandbox.contract import Verdict
from evaluator.sandbox.openfile import open_file

_log = logging.getLogger(__name__)
_SECONDS = 120.0  # for one command; disks may be slow
_SAMPLE = 0.1  # seconds between two samples of the usage
_BACKSTOP = 10.0  # seconds after the time limit at which Podman itself kills a container whose worker has died
_PAGE = 4096
_LINKS = 40
_TMP_INODES = 100_000
# Podman raises the limit of nobody's processes to its own, for which a worker may lack the capability. The control
# group limits the number of a container's processes.
_NPROC = 32768
_NO_COMMAND = re.compile(r"command that was not found|exec: .*(permission denied|exec format error)")
_CONFINED = f"""
--pull never --network none --read-only --read-only-tmpfs=false --user {NOBODY} --cap-drop all
--security-opt no-new-privileges --ipc private --cgroupns private --pid private --uts private --shm-size 64m
--image-volume ignore --no-hosts --no-healthcheck --stop-signal SIGKILL --restart no --systemd false
--http-proxy=false --oom-score-adj 500 --ulimit core=0:0 --ulimit nproc={_NPROC}:{_NPROC}
""".split()


class PodmanError(EngineError):
    """A command of Podman failed; `status` is its exit status."""


class Podman:
    """Podman's command line. options: global options of every command, such as --root."""

    def __init__(self, options: Sequence[str] = ()) -> None:
        self._command = ["podman", *options]

    def run(self, *arguments: str, seconds: float = _SECONDS, archive: Iterable[bytes] = ()) -> bytes:
        """Run a command of Podman and return its standard output. archive: the bytes of the command's standard input.

        Raises EngineTimeoutError after `seconds`, when the command is killed; PodmanError if the command fails.
        """
        doing = " ".join(argument for argument in arguments[:2] if not argument.startswith("-"))
        is_late = threading.Event()
        with tempfile.TemporaryDirectory(prefix="holdout-podman-") as folder, tempfile.TemporaryFile() as errors:
            environment = {**os.environ, "LC_ALL": "C", "TMPDIR": folder}
            environment.pop("CONTAINER_HOST", None)  # this host's Podman and no other
            try:
                process = subprocess.Popen(  # noqa: S603  (our own arguments, no shell)
                    [*self._command, *arguments],
                    env=environment,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                )
            except OSError as problem:
                raise PodmanError(f"podman cannot be started: {problem.strerror}") from None

            def stop() -> None:
                is_late.set()
                process.kill()

            alarm = threading.Timer(max(seconds, 0.01), stop)
            alarm.start()
            try:
                assert process.stdin and process.stdout
                try:
                    for piece in archive:
                        process.stdin.write(piece)
                    process.stdin.close()
                except BrokenPipeError:
                    pass  # it has ended; its status says why
                output = process.stdout.read()
                process.wait()
            finally:
                alarm.cancel()
                process.kill()
                process.wait()
            if is_late.is_set():
                raise EngineTimeoutError(f"podman {doing} did not end in {seconds:g} seconds")
            if process.returncode:
                errors.seek(0)
                message = errors.read(1 << 16).decode("utf-8", "replace").strip()
                raise PodmanError(f"podman {doing} failed: {shown(message)}", process.returncode, message)
        return output

    def json(self, *arguments: str) -> Any:
        return json.loads(self.run(*arguments) or b"null")

    def inspect(self, container: str) -> dict[str, Any]:
        return dict(self.json("container", "inspect", container)[0])

    def containers(self, *labels: str) -> list[dict[str, Any]]:
        """Return Podman's descriptions of the containers with all these labels, in any state."""
        filters = [f"--filter=label={label}" for label in labels]
        return list(self.json("ps", "--all", "--no-trunc", "--format", "json", *filters) or [])

    def volumes(self, *labels: str) -> list[dict[str, Any]]:
        found = self.json("volume", "ls", "--format", "json", "--filter", f"label={labels[0]}") or []
        pairs = [label.partition("=")[::2] for label in labels]  # Podman's filters of volumes are alternatives
        return [volume for volume in found if all(volume["Labels"].get(name) == value for name, value in pairs)]

    def remove(self, container: str) -> None:
        """Kill and remove a container. A missing one is not an error."""
        self.run("rm", "--force", "--time", "0", "--ignore", container)

    def remove_volume(self, name: str) -> None:
        """Unmount and remove a volume. A missing one is not an error."""
        try:
            if self.json("volume", "inspect", name)[0].get("MountCount"):
                self.run("volume", "unmount", name)
            self.run("volume", "rm", "--force", name)
        except PodmanError as problem:
            if "no such volume" not in problem.engine_message:
                raise


class _Running:
    """A submitted job that this process waits for and measures."""

    def __init__(self, job: Job, *, image_bytes: int, began: float) -> None:
        self.job = job
        self.image_bytes = image_bytes
        self.began = began
        self.deadline = began + job.limits.wall_seconds
        self.refused: SystemResult | None = None
        self.in_time, self.has_ended = True, False
        self.meter = Meter()
        self.oom_kills = 0
        self.pidfd = -1
        self.cgroups: tuple[Path, Path] | None = None  # of memory and of processor time
        self.timings: dict[str, float] = {}

    def watch(self, pid: int) -> None:
        """Open a pidfd of the container's first process, whose id is `pid`, and find its control groups."""
        try:
            self.pidfd = os.pidfd_open(pid)
            lines = Path(f"/proc/{pid}/cgroup").read_text().splitlines()
        except OSError:
            self.close()  # it has ended
            return
        groups = {name: path for _, names, path in (line.split(":", 2) for line in lines) for name in names.split(",")}
        root = Path("/sys/fs/cgroup")
        if "memory" in groups:
            self.cgroups = (root / "memory" / groups["memory"][1:], root / "cpuacct" / groups["cpuacct"][1:])
        else:
            self.cgroups = (root / groups[""][1:], root / groups[""][1:])

    def wait(self, until: float) -> bool:
        """Wait until the first process ends, at most until a monotonic time; return True if it ended.

        Meanwhile, the container's resource usage is measured.
        """
        if self.pidfd < 0:
            return True
        waiting = select.poll()
        waiting.register(self.pidfd, select.POLLIN)
        while True:
            left = until - time.monotonic()
            has_ended = bool(waiting.poll(max(min(left, _SAMPLE), 0) * 1000))
            self.measure()
            if has_ended or left <= 0:
                return has_ended

    def measure(self) -> None:
        if self.cgroups is None:
            return
        memory, cpu = self.cgroups
        try:
            if (memory / "memory.usage_in_bytes").exists():
                used, peak = (_number(memory / f"memory.{name}_in_bytes") for name in ("usage", "max_usage"))
                nanoseconds = _number(cpu / "cpuacct.usage")
                events = (memory / "memory.oom_control").read_text()
            else:
                used, peak = _number(memory / "memory.current"), _number(memory / "memory.peak")
                nanoseconds = 1000 * int(_field((cpu / "cpu.stat").read_text(), "usage_usec"))
                events = (memory / "memory.events").read_text()
        except (OSError, ValueError):
            return  # the group is gone
        self.oom_kills = int(_field(events, "oom_kill"))
        usage = {"usage": max(used, 1), "max_usage": peak}
        self.meter.look({"memory_stats": usage, "cpu_stats": {"cpu_usage": {"total_usage": nanoseconds}}})

    def close(self) -> None:
        if self.pidfd >= 0:
            os.close(self.pidfd)
            self.pidfd = -1


class PodmanSandbox(ContainerBackend):
    """Sandbox that runs containers with this host's Podman. Threads may share it.

    instance, runtime, load_seconds: as for `docker.DockerSandbox`. waived: promises that the operator does not require.
    options: global options of every command of Podman.
    """

    broken = {
        Promise.LOG: "Podman starts a log over when it has a megabyte, so that less than its end may be left",
    }

    def __init__(
        self,
        *,
        instance: str,
        runtime: str = "runc",
        load_seconds: float = LOAD_SECONDS,
        waived: frozenset[Promise] = frozenset(),
        options: Sequence[str] = (),
    ) -> None:
        self.instance = instance
        self.runtime = runtime
        self.load_seconds = load_seconds
        self.waived = waived
        self._podman = Podman(options)
        self._running: dict[str, _Running] = {}
        self._layers: Mapping[str, bool | str] = {}

    # Jobs

    def submit(self, job: Job, *, keep_going: KeepGoing | None = None) -> None:
        """Implement `ContainerBackend.submit`: give a job to Podman. Its container runs when this returns."""
        name = job.execution_id
        if job.gpus:
            raise UsageError(f"{job.gpus} GPUs are requested, expected 0: Podman passes no devices to containers here")
        self.check_job(job)
        image = self._image(job.image)
        if not self._layers:
            self.layers()
        began = time.monotonic()
        running = _Running(job, image_bytes=int(image.get("Size") or 0), began=began)
        container = container_name(self.instance, name, job.kind)
        try:
            self._prepare(job, image, container, lambda: check_needed(job, keep_going))
            running.timings["prepare"] = time.monotonic() - began
            self._start(running, container)
        except JobExistsError:
            raise
        except BaseException as error:
            if isinstance(error, SandboxError):
                self._layers = {}
            self.cancel(name)
            raise
        self._running[name] = running

    def poll(self, job: Job, *, seconds: float = 0.0) -> JobStatus:
        """Implement `ContainerBackend.poll`: return the job's status, after waiting up to `seconds` for its end.

        A job at its time limit is killed here; if nobody calls this method in time, Podman kills the job soon after.
        """
        try:
            running = self._running_job(job)
        except JobMissingError:
            return JobStatus(state=JobState.ABSENT)
        if running.refused is None and not running.has_ended:
            running.has_ended = running.wait(min(time.monotonic() + seconds, running.deadline))
            if not running.has_ended and time.monotonic() >= running.deadline:
                running.in_time = False
                self._podman.run("kill", "--signal", "KILL", container_name(self.instance, job.execution_id, job.kind))
                running.has_ended = running.wait(time.monotonic() + _BACKSTOP)
        if running.refused is not None or running.has_ended:
            return JobStatus(state=JobState.ENDED)
        return JobStatus(state=JobState.RUNNING, running_seconds=time.monotonic() - running.began)

    def collect(self, job: Job) -> SystemResult:
        """Implement `ContainerBackend.collect`: copy an ended job's output files, and return the result."""
        if self.poll(job).state is not JobState.ENDED:
            raise JobMissingError(f"the job {job.execution_id} has not ended")
        running = self._running[job.execution_id]
        if running.refused is not None:
            return running.refused
        container = container_name(self.instance, job.execution_id, job.kind)
        # The first process has ended, but Podman notices it a moment later.
        self._podman.run("wait", container)
        state = self._podman.inspect(container)["State"]
        log, is_cut = log_tail.tail([self._podman.run("logs", container)], int(job.limits.log_bytes))
        seconds = max((_moment(state["FinishedAt"]) - _moment(state["StartedAt"])).total_seconds(), 0.0)
        return self._judge(running, state, seconds, log=log, log_is_cut=is_cut)

    def cancel(self, name: str) -> bool:
        """Implement `ContainerBackend.cancel`: kill a job and remove all that it has in Podman."""
        running = self._running.pop(name, None)
        if running is not None:
            running.close()
        try:
            return reaper.remove_execution(self._podman, self.instance, name)
        except EngineError as problem:
            if running is None:
                raise
            _log.error("%s could not be removed and is left to the reaper: %s", name, problem)
            return True

    def reap(
        self, *, keep: frozenset[str] | Callable[[], frozenset[str]] = frozenset(), min_age_seconds: float = 60.0
    ) -> list[str]:
        """Implement `ContainerBackend.reap`: remove the jobs of dead workers."""
        return reaper.reap(self._podman, self.instance, keep, min_age_seconds)

    def _prepare(self, job: Job, image: dict[str, Any], container: str, still_needed: Callable[[], None]) -> None:
        """Create the job's volumes and its container. Raises ImageError, JobExistsError, SandboxError."""
        limits = job.limits
        volumes = []
        for folder, files in job.folders.items():
            name = self._volume(job, folder.strip("/"))
            _write(
                Path(self._podman.run("volume", "inspect", "--format", "{{.Mountpoint}}", name).decode().strip()), files
            )
            volumes.append(f"{name}:{folder}:ro,nocopy,nosuid,nodev,noexec")
            still_needed()
        # Podman takes `size` of a volume for a disk quota; a tmpfs can be limited in pages as well.
        output = self._volume(job, "output", _tmpfs(limits.output_bytes, limits.output_files + 1, "0777", "noexec"))
        self._podman.run("volume", "mount", output)  # it stays until the output has been read
        scratch = self._volume(job, "tmp", _tmpfs(limits.tmp_bytes, _TMP_INODES, "1777", "exec"))
        volumes += [f"{output}:/output:nocopy,nosuid,nodev,noexec", f"{scratch}:/tmp:nocopy,nosuid,nodev,exec"]
        image_labels = (image.get("Config") or {}).get("Labels") or {}
        file_bytes = max(limits.tmp_bytes, limits.output_bytes)
        settings = f"""
        --name {container} --hostname {job.kind} --timeout {math.ceil(limits.wall_seconds + _BACKSTOP)}
        --memory {limits.memory_bytes}b --memory-swap {limits.memory_bytes}b --cpus {limits.cpus:.9f}
        --pids-limit {limits.processes} --ulimit nofile={limits.open_files}:{limits.open_files}
        --ulimit fsize={file_bytes}:{file_bytes} --log-driver k8s-file --log-opt max-size=1mb
        """.split()
        settings += [f"--volume={volume}" for volume in volumes]
        settings += [f"--env={name}={value}" for name, value in job.environment.items()]
        settings += [f"--label={label}=" for label in image_labels]
        try:
            self._create(settings, job.image, self._labels(job, job.kind))
        except PodmanError as problem:
            if "no command or entrypoint" in problem.engine_message:
                raise EngineRefusalError("it has no command, expected ENTRYPOINT or CMD") from None
            raise
        still_needed()
        root = Path(self._podman.run("mount", container).decode().strip())
        for path in USER_FILES:
            _check_user_file(root, path)
        self._podman.run("unmount", container)

    def _create(self, settings: Sequence[str], image: str, labels: Mapping[str, str], *command: str) -> None:
        with tempfile.NamedTemporaryFile("w", prefix="holdout-seccomp-") as profile:
            profile.write(seccomp_profile.profile(this_architecture()))
            profile.flush()
            marks = [f"--label={name}={value}" for name, value in labels.items()]
            confined = ["--runtime", self.runtime, "create", *_CONFINED, "--security-opt", f"seccomp={profile.name}"]
            self._podman.run(*confined, *marks, *settings, image, *command)

    def _start(self, running: _Running, container: str) -> None:
        began = time.monotonic()
        limits = running.job.limits
        try:
            # Its first process and its control group exist before the program runs, so that no measurement is missed.
            self._podman.run("init", container)
            running.watch(int(self._podman.inspect(container)["State"]["Pid"]))
            self._podman.run("start", container, seconds=limits.wall_seconds + _SECONDS)
        except PodmanError as problem:
            _log.info("%s could not be started: %s", running.job.execution_id, problem.engine_message[:300])
            if _NO_COMMAND.search(problem.engine_message):
                why = "its command could not be started: it does not exist, or the user nobody may not execute it"
            elif self.is_well():
                why = f"its container could not be started: {engine_refusals.AT_MOUNT_POINTS}"
            else:
                raise
            running.refused = self._result(running, Verdict.EXIT, why)
            return
        running.timings["start"] = time.monotonic() - began
        running.began = time.monotonic()
        running.deadline = running.began + limits.wall_seconds

    def _follow(self, running: _Running, inspected: dict[str, Any]) -> None:
        """Compute the job's deadline from the container's start, and watch the container if it has not ended.

        inspected: Podman's description of the container.
        """
        state = inspected["State"]
        age = max(time.time() - _moment(state["StartedAt"]).timestamp(), 0.0)
        running.began = time.monotonic() - age
        running.deadline = running.began + running.job.limits.wall_seconds
        if state["Running"]:
            running.watch(int(state["Pid"]))

    def _running_job(self, job: Job) -> _Running:
        """Return a job that this or another process has submitted. Raises JobMissingError, SandboxError."""
        name = job.execution_id
        if name not in self._running:
            try:
                inspected = self._podman.inspect(container_name(self.instance, name, job.kind))
            except PodmanError as problem:
                if "no such container" not in problem.engine_message.lower():
                    raise
                raise JobMissingError(f"the engine has no container of job {name}") from None
            if _moment(inspected["State"]["StartedAt"]).year == 1:
                raise JobMissingError(f"the job {name} was not started: its worker died before that")
            if not self._layers:
                self.layers()
            image_bytes = int(self._image(job.image).get("Size") or 0)
            running = _Running(job, image_bytes=image_bytes, began=time.monotonic())
            self._follow(running, inspected)
            self._running[name] = running
        return self._running[name]

    def _judge(self, running: _Running, state: dict[str, Any], seconds: float, **log: Any) -> SystemResult:
        job, code = running.job, int(state["ExitCode"])
        # A container that Podman itself has stopped at its limit has the status -1.
        in_time = running.in_time and not (code in (KILLED, -1) and seconds >= job.limits.wall_seconds)
        is_out_of_memory = bool(running.oom_kills or state.get("OOMKilled"))
        verdict, explanation = judge(job, code, in_time=in_time, is_out_of_memory=is_out_of_memory)
        facts = {"seconds": seconds, "code": None if verdict is Verdict.TIME else code, **log}
        if verdict is not Verdict.DONE:
            return self._result(running, verdict, explanation, **facts)
        volume = container_name(self.instance, job.execution_id, "output")
        folder = Path(self._podman.json("volume", "inspect", volume)[0]["Mountpoint"])
        if not folder.is_mount():
            raise SandboxError("the volume that holds the output no longer exists")
        try:
            outputs = [output for expected in job.output_files if (output := read(folder, expected))]
        except OutputError as problem:
            return self._result(running, Verdict.OUTPUT, str(problem), **facts)
        return self._result(running, Verdict.DONE, "", outputs=outputs, **facts)

    def _result(
        self,
        running: _Running,
        verdict: Verdict,
        explanation: str,
        seconds: float = 0.0,
        *,
        code: int | None = None,
        outputs: Sequence[Output] = (),
        log: str = "",
        log_is_cut: bool = False,
    ) -> SystemResult:
        return result_of(
            verdict,
            explanation,
            outputs,
            exit_code=code,
            wall_seconds=seconds,
            timings=dict(running.timings),
            usage=running.meter.usage(),
            image_bytes=running.image_bytes,
            log=log,
            log_is_cut=log_is_cut,
            layers=self._layers,
        )

    def _volume(self, job: Job, part: str, options: Sequence[str] = ()) -> str:
        name = container_name(self.instance, job.execution_id, part)
        marks = [f"--label={label}={value}" for label, value in self._labels(job, part).items()]
        try:
            self._podman.run("volume", "create", *marks, *options, name)
        except PodmanError as problem:
            if "already exists" in problem.engine_message:
                raise JobExistsError(f"the engine already has a job {job.execution_id}") from None
            raise
        return name

    def _labels(self, job: Job, part: str) -> dict[str, str]:
        return reaper.labels(self.instance, job.execution_id, part, job.limits.wall_seconds + GRACE)

    # Images

    def load(self, archive: ImageArchive) -> LoadedImage:
        """Implement `ContainerBackend.load`: load an image that `image_reader.read_image` has read."""
        try:
            self._podman.run("load", "--quiet", seconds=self.load_seconds, archive=archive.clean())
        except EngineTimeoutError:
            if not self.is_well():
                raise
            raise LoadTimeError(f"the engine did not unpack the image within {self.load_seconds:g} seconds") from None
        except PodmanError as problem:
            if engine_refusals.is_bad_layer(problem.engine_message):
                raise EngineRefusalError(
                    "the engine refuses to unpack the image: a layer has a file that cannot be unpacked"
                ) from None
            raise
        image = self._image(archive.id)
        if list((image.get("RootFS") or {}).get("Layers") or []) != list(archive.diff_ids):
            raise ImageMismatchError("the layers of the loaded image differ from those in the archive's config")
        return LoadedImage(id=archive.id, size=int(image.get("Size") or 0))

    def pull(self, reference: str) -> LoadedImage:
        """Raise UsageError: images cannot be pulled here, since Podman cannot limit the bytes of a pull."""
        raise UsageError(
            f"{reference} is a registry's reference, expected an image file as `docker save` writes it: "
            "Podman pulls images without a size limit"
        )

    def images(self) -> frozenset[str]:
        """Implement `ContainerBackend.images`: return the ids of all images that Podman has."""
        return frozenset(self._podman.run("images", "--quiet", "--no-trunc").decode().split())

    def forget(self, image: str) -> bool:
        """Implement `ContainerBackend.forget`: remove an image by its id; return False if it cannot be removed."""
        try:
            if self._image(image).get("RepoTags"):
                return False
            self._podman.run("rmi", image)
        except ImageMissingError:
            return False
        except PodmanError as problem:
            if problem.status == 2:  # a container uses it
                return False
            raise
        return True

    def _image(self, image: str) -> dict[str, Any]:
        """Return Podman's description of an image. Raises ImageMissingError; ImageError if it must not be run."""
        try:
            description = dict(self._podman.json("image", "inspect", image)[0])
        except PodmanError as problem:
            if "image not known" not in problem.engine_message:
                raise
            raise ImageMissingError(f"the engine has no image {image[:80]}: load or pull it again") from None
        check_settings(description.get("Config") or {})
        return description

    # The engine

    def layers(self) -> Mapping[str, bool | str]:
        """Implement `ContainerBackend.layers`: run the health check, and return the layers of confinement."""
        self.check_promises()
        if os.geteuid():
            raise SandboxError(f"the worker is user {os.geteuid()}, expected root, as which Podman mounts volumes")
        info = self._podman.json("info", "--format", "json")
        holder = volume_holder_image(this_architecture())
        try:
            self._image(holder.id)
        except ImageMissingError:
            self._podman.run("load", "--quiet", archive=[holder.archive])
        labels = reaper.labels(self.instance, reaper.PROBE, "probe", health.PATIENCE)
        name = f"holdout-{self.instance}-probe-{os.urandom(6).hex()}"
        settings = f"--name {name} --memory 64m --memory-swap 64m --pids-limit 64 --ulimit nofile=64:64".split()
        try:
            self._create([*settings, "--entrypoint", "/probe"], holder.id, labels)
            output = self._podman.run("start", "--attach", name, seconds=health.PATIENCE)
            runtime = str(self._podman.inspect(name)["OCIRuntime"])
        finally:
            self._podman.remove(name)
        self._layers = {
            **health.read_layers(output, asked=self.runtime, runtime=runtime, kernel=os.uname().release),
            "user_namespace": False,
            "cgroup": str(info["host"]["cgroupVersion"]).removeprefix("v"),
            "engine": f"podman {info['version']['Version']}",
            **self.waivers(),
        }
        return self._layers

    def check(self) -> None:
        """Implement `ContainerBackend.check`: raise SandboxError unless Podman responds.

        The health check is run as well if it has not passed yet.
        """
        if not self._layers:
            self.layers()
            return
        try:
            self._podman.run("version")
        except EngineError:
            self._layers = {}
            raise

    @property
    def processors(self) -> float:
        """Implement `ContainerBackend.processors`: the number of processors of this host."""
        return float(os.cpu_count() or 1)

    @property
    def memory_bytes(self) -> int:
        """Implement `ContainerBackend.memory_bytes`: the memory of this host, in bytes."""
        return int(self._podman.json("info", "--format", "json")["host"]["memTotal"])

    @property
    def root_folder(self) -> str:
        """Implement `ContainerBackend.root_folder`: the folder in which Podman keeps images and containers."""
        return str(self._podman.json("info", "--format", "json")["store"]["graphRoot"])


def _tmpfs(size: int, inodes: int, mode: str, execution: str) -> list[str]:
    options = f"nr_blocks={-(-size // _PAGE)},nr_inodes={inodes},mode={mode},nosuid,nodev,{execution}"
    return ["--opt", "type=tmpfs", "--opt", "device=tmpfs", "--opt", f"o={options}"]


def _write(folder: Path, files: Sequence[InputFile]) -> None:
    """Write input files to a volume's folder. Raises SandboxError if a file's size changes while it is read."""
    for file in files:
        path = folder / file.name
        if isinstance(file.content, bytes):
            path.write_bytes(file.content)
        else:
            with open_file(file.content) as content, path.open("wb") as copy:
                size = content.seek(0, 2)
                content.seek(0)
                shutil.copyfileobj(content, copy, 1 << 20)
                if copy.tell() != size:
                    raise SandboxError(f"a file changed while it was read: {file.name}")
        path.chmod(0o444)


def _check_user_file(root: Path, path: str) -> None:
    """Raise EngineRefusalError unless /etc/passwd or /etc/group is a small regular file: Podman would hang at a FIFO.

    root: the root folder of a container that is not running; links are resolved inside it. path: /etc/passwd or
    /etc/group. A missing file is accepted.
    """
    parts, resolved, links = path.strip("/").split("/"), root, 0
    while parts:
        part = parts.pop(0)
        if part in ("", "."):
            continue
        resolved = resolved.parent if part == ".." and resolved != root else resolved / part if part != ".." else root
        try:
            status = resolved.lstat()
        except OSError:
            return
        if stat.S_ISLNK(status.st_mode):
            links += 1
            if links > _LINKS:
                raise EngineRefusalError(f"the image's {path} is a loop of links, expected a file")
            target = str(resolved.readlink())
            parts = target.split("/") + parts
            resolved = root if target.startswith("/") else resolved.parent
    if not stat.S_ISREG(status.st_mode) or status.st_size > USER_FILE_BYTES:
        raise EngineRefusalError(
            f"the image's {path} is {stat.filemode(status.st_mode)} of {status.st_size} bytes, expected a regular file "
            f"of at most {USER_FILE_BYTES} bytes"
        )


def _number(path: Path) -> int:
    return int(path.read_text())


def _field(text: str, name: str) -> str:
    """Return VALUE from the line `NAME VALUE` of the text, where NAME is `name`; "0" if there is no such line."""
    return next((line.split()[1] for line in text.splitlines() if line.split()[:1] == [name]), "0")


def _moment(text: str) -> datetime:
    """Return the time in Podman's text, which may have nanoseconds."""
    return datetime.fromisoformat(text)

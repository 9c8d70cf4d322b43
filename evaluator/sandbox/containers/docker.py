"""The container sandbox on a Docker engine.

`backend` is its interface; `system_contract` and `scorer_contract` define a container's files. Access to the engine's
socket amounts to root on its host, so the worker that runs submitted systems has no gold (`docs/sandbox.md`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from evaluator.errors import SandboxError
from evaluator.sandbox.containers import engine_images, health, reaper
from evaluator.sandbox.containers.backend import (
    LOAD_SECONDS,
    ContainerBackend,
    JobMissingError,
    JobState,
    JobStatus,
    KeepGoing,
)
from evaluator.sandbox.containers.container_spec import Job
from evaluator.sandbox.containers.engine import Engine, EngineError, NotFoundError
from evaluator.sandbox.containers.execution import Run
from evaluator.sandbox.containers.gpu import Gpus, reservation_name
from evaluator.sandbox.containers.image_config import check_settings
from evaluator.sandbox.containers.image_reader import ImageArchive, ImageLimits
from evaluator.sandbox.containers.image_reference import parse_reference
from evaluator.sandbox.containers.resources import Resources, container_name
from evaluator.sandbox.containers.system_contract import LoadedImage, SystemResult
from evaluator.sandbox.containers.volume_holder_image import VolumeHolderImage, volume_holder_image

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,62}")
_CONTAINERD_STORE = "io.containerd.snapshotter"


class DockerSandbox(ContainerBackend):
    """Sandbox that runs containers on one Docker engine, connecting on first use. Threads may share it.

    instance: the name of the site, which labels its containers; two sites on one engine need two names. url: the
    engine's address, as for `Engine`. runtime: the container runtime's name in the engine's configuration (runc,
    runsc); no other is ever used. registries: those that `pull` may use, as `host[:port]`. image_limits: limits of
    pulled images. gpus: those offered to systems; None: no GPUs. certs, allow_plain: as for `Engine`. load_seconds: the
    time limit of loading an image.
    """

    def __init__(
        self,
        *,
        instance: str,
        url: str | None = None,
        runtime: str = "runc",
        registries: Collection[str] = (),
        image_limits: ImageLimits | None = None,
        gpus: Gpus | None = None,
        certs: str | None = None,
        allow_plain: bool = False,
        load_seconds: float = LOAD_SECONDS,
    ) -> None:
        for name, value in (("instance", instance), ("runtime", runtime)):
            if not _NAME.fullmatch(value):
                raise ValueError(f"{name} is {value!r}, expected a letter or digit and up to 62 of A-Z a-z 0-9 _ . -")
        self.instance = instance
        self.runtime = runtime
        self.registries = frozenset(registries)
        self.image_limits = image_limits or ImageLimits()
        self.gpus = gpus or Gpus()
        self.load_seconds = load_seconds
        self._engine = Engine(url, certs=certs, allow_plain=allow_plain)
        self._runs: dict[str, Run] = {}  # the jobs that this process has submitted or polled, by name
        # Cached facts about the engine.
        self._info: dict[str, Any] = {}
        self._layers: Mapping[str, bool | str] = {}
        self._volume_holder: VolumeHolderImage | None = None

    def submit(self, job: Job, *, keep_going: KeepGoing | None = None) -> None:
        """Implement `ContainerBackend.submit`: give a job to the engine. Its containers run when this returns."""
        self.check_job(job)
        image = engine_images.inspect_image(self._engine, job.image)
        settings = image.get("Config") or {}
        check_settings(settings)
        layers = self._layers or self.layers()
        run = self._new_run(job, layers, image_labels=settings.get("Labels") or {})
        run.image_bytes = int(image.get("Size") or 0)
        try:
            with self._facts_of_a_working_engine():
                run.submit(keep_going)
        except BaseException:
            run.clean_up()
            raise
        self._runs[job.execution_id] = run

    def poll(self, job: Job, *, seconds: float = 0.0) -> JobStatus:
        """Implement `ContainerBackend.poll`: return the job's status, after waiting up to `seconds` for its end.

        A job at its time limit is killed here, since Docker has no such limit.
        """
        try:
            run = self._run_of(job)
        except JobMissingError:
            return JobStatus(state=JobState.ABSENT)
        with self._facts_of_a_working_engine():
            return run.poll(seconds)

    def collect(self, job: Job) -> SystemResult:
        """Implement `ContainerBackend.collect`: copy an ended job's output files, and return the result."""
        run = self._run_of(job)
        with self._facts_of_a_working_engine():
            if run.poll(0).state is not JobState.ENDED:
                raise JobMissingError(f"the job {job.execution_id} has not ended")
            return run.collect()

    def cancel(self, name: str) -> bool:
        """Implement `ContainerBackend.cancel`: kill a job and remove all that it has on the engine.

        The engine is queried only for jobs of other processes.
        """
        run = self._runs.pop(name, None)
        if run is None:
            return reaper.remove_execution(self._engine, self.instance, name)
        run.clean_up()
        return True

    def _run_of(self, job: Job) -> Run:
        """Return a job that this or another process has submitted. Raises JobMissingError, EngineError."""
        name = job.execution_id
        if name in self._runs:
            return self._runs[name]
        try:
            holder, working = (
                self._engine.inspect(container_name(self.instance, name, part)) for part in ("keeper", job.kind)
            )
        except NotFoundError:
            raise JobMissingError(f"the engine has no container of job {name}") from None
        if working["State"]["Status"] == "created":
            raise JobMissingError(f"the job {name} was not started: its worker died before that")
        run = self._new_run(job, self._layers or self.layers(), image_labels=())
        run.adopt(holder, working)
        run.resources.adopt_gpus()
        self._runs[name] = run
        return run

    def _new_run(self, job: Job, layers: Mapping[str, bool | str], *, image_labels: Iterable[str]) -> Run:
        resources = Resources(
            self._engine,
            job,
            volume_holder=self._volume_holder_image(),
            instance=self.instance,
            runtime=self.runtime,
            architecture=self.architecture,
            image_labels=image_labels,
            gpus=self.gpus,
        )
        return Run(self._engine, job, resources=resources, layers=layers, probe=self.is_well)

    @contextmanager
    def _facts_of_a_working_engine(self) -> Iterator[None]:
        """Clear the cached facts about the engine if it fails in the context: another engine may respond afterwards."""
        try:
            yield
        except EngineError:
            self._info, self._layers, self._volume_holder = {}, {}, None
            raise

    def load(self, archive: ImageArchive) -> LoadedImage:
        """Implement `ContainerBackend.load`: load an image that `image_reader.read_image` has read."""
        return engine_images.load(
            self._engine,
            archive,
            has_containerd_store=self._has_containerd_store(),
            seconds=self.load_seconds,
            probe=self.is_well,
        )

    def pull(self, reference: str) -> LoadedImage:
        """Implement `ContainerBackend.pull`: pull the image `registry/name@sha256:...` from an allowed registry."""
        target = parse_reference(reference, self.registries)
        return engine_images.pull(self._engine, target, limits=self.image_limits, architecture=self.architecture)

    def has_free_gpus(self, n: int, memory_bytes: int = 0) -> bool:
        """Return True if `n` of the offered GPUs are not reserved and have this memory each. Raises SandboxError."""
        if not n:
            return True
        taken = {name for row in self._engine.containers(reaper.GPU_LABEL) for name in row.get("Names") or ()}
        enough = [gpu for gpu in self.gpus.offered() if gpu.memory_bytes >= memory_bytes]
        return sum(f"/{reservation_name(gpu)}" not in taken for gpu in enough) >= n

    def images(self) -> frozenset[str]:
        """Implement `ContainerBackend.images`: return the ids of all images on the engine."""
        return self._engine.images()

    def forget(self, image: str) -> bool:
        """Implement `ContainerBackend.forget`: remove an image by its id; return False if it cannot be removed."""
        return engine_images.forget(self._engine, image)

    def reap(
        self, *, keep: frozenset[str] | Callable[[], frozenset[str]] = frozenset(), min_age_seconds: float = 60.0
    ) -> list[str]:
        """Implement `ContainerBackend.reap`: remove the jobs of dead workers."""
        return reaper.reap(self._engine, self.instance, keep, min_age_seconds)

    def check(self) -> None:
        """Implement `ContainerBackend.check`: raise SandboxError unless the engine responds.

        The health check is run as well if it has not passed yet.
        """
        if not self._layers:
            self.layers()
            return
        with self._facts_of_a_working_engine():
            self._info = self._engine.info()

    def layers(self) -> Mapping[str, bool | str]:
        """Implement `ContainerBackend.layers`: run the health check, and return the layers of confinement.

        A missing or wrong runtime also raises SandboxError.
        """
        self.check_promises()
        self._info, self._volume_holder = {}, None
        info = self._about()
        if self.runtime not in (info.get("Runtimes") or {}):
            runtimes = ", ".join(sorted(info.get("Runtimes") or {}))
            raise SandboxError(f"the engine has no runtime {self.runtime}, only: {runtimes}")
        labels = reaper.labels(self.instance, reaper.PROBE, "probe", health.PATIENCE)
        layers = health.examine(
            self._engine,
            self._volume_holder_image().id,
            runtime=self.runtime,
            info=info,
            architecture=self.architecture,
            labels=labels,
        )
        self._layers = {**layers, **self.waivers()}
        return self._layers

    @property
    def processors(self) -> float:
        """Implement `ContainerBackend.processors`: the number of processors of the engine's machine."""
        return float(self._about().get("NCPU") or 1)

    @property
    def memory_bytes(self) -> int:
        """The memory of the engine's machine, in bytes. Raises SandboxError."""
        return int(self._about().get("MemTotal") or 0)

    @property
    def root_folder(self) -> str:
        """The folder on the engine's machine in which the engine keeps images and containers. Raises SandboxError."""
        return str(self._about().get("DockerRootDir") or "")

    @property
    def architecture(self) -> str:
        """The engine's architecture, amd64 or arm64. Raises SandboxError."""
        machine = str(self._about().get("Architecture"))
        names = {"x86_64": "amd64", "aarch64": "arm64"}
        if machine not in names:
            raise SandboxError(f"the engine's machine is {machine}, expected one of: {', '.join(names)}")
        return names[machine]

    def _about(self) -> dict[str, Any]:
        if not self._info:
            self._info = self._engine.info()
        return self._info

    def _has_containerd_store(self) -> bool:
        return any(_CONTAINERD_STORE in str(pair) for pair in self._about().get("DriverStatus") or ())

    def _volume_holder_image(self) -> VolumeHolderImage:
        """Load the volume holder's image if it is missing (`docker image prune` removes it), and return it."""
        if self._volume_holder is None:
            holder = volume_holder_image(self.architecture)
            try:
                self._engine.image(holder.id)
            except NotFoundError:
                ids = self._engine.load([holder.archive])
                holder = VolumeHolderImage(ids[0] if ids else holder.id, holder.archive)
            self._volume_holder = holder
        return self._volume_holder

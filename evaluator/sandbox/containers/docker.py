"""The container sandbox: it runs submitted systems and custom scorers in containers of a Docker engine.

`system_contract` and `scorer_contract` define a container's files. Access to the engine's socket amounts to root on its
host, so the worker that runs submitted systems has no gold (`docs/sandbox.md`).

Errors, by whose fault they are:

    ImageError        its author's: the image must not be run. A retry fails again.
    UsageError        the request's: it asks for what this engine does not have. A retry fails again here.
    KilledError       unknown: killed from outside, or the job chose this exit status. The caller limits retries.
    CancelledError    nobody's: `keep_going` returned False.
    JobExistsError    the caller's: the engine still has a job of this name. Cancel it first.
    ImageMissingError the platform's: load or pull the image (again), and run the job.
    GpusBusyError     nobody's: other jobs have the GPUs. Run the job later.
    SandboxError      the platform's: the engine failed, is gone, or lacks a layer of confinement. Run the job again.

A failure of the job's own program is none of these errors: it is the verdict of its result.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, BinaryIO

from evaluator.errors import SandboxError, UsageError
from evaluator.sandbox.containers import container_spec, engine_images, health, reaper
from evaluator.sandbox.containers.container_spec import Job
from evaluator.sandbox.containers.engine import Engine, EngineError, NotFoundError
from evaluator.sandbox.containers.execution import KeepGoing, Run
from evaluator.sandbox.containers.gpu import Gpus, reservation_name
from evaluator.sandbox.containers.image_config import check_settings
from evaluator.sandbox.containers.image_reader import ImageArchive, ImageLimits
from evaluator.sandbox.containers.image_reference import parse_reference
from evaluator.sandbox.containers.resources import Resources
from evaluator.sandbox.containers.scorer_contract import ScorerExecution
from evaluator.sandbox.containers.system_contract import LoadedImage, SystemExecution, SystemResult
from evaluator.sandbox.containers.volume_holder_image import VolumeHolderImage, volume_holder_image
from evaluator.sandbox.openfile import check_readable

LOAD_SECONDS = 600.0
"""Longest time in which an engine may load an image. The largest one needs minutes on a slow disk."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,62}")
_CONTAINERD_STORE = "io.containerd.snapshotter"


class DockerSandbox:
    """Sandbox that runs containers on one Docker engine, connecting on first use. Threads may share it.

    instance: the name of the site, which labels its containers; two sites on one engine need two names. url: the
    engine's address, as for `Engine`. runtime: the container runtime's name in the engine's configuration (runc,
    runsc); no other is ever used. registries: those that `pull` may use, as `host[:port]`. image_limits: limits of
    pulled images. gpus: those offered to systems; None: no GPUs. allow_plain: as for `Engine`.
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
        allow_plain: bool = False,
    ) -> None:
        for name, value in (("instance", instance), ("runtime", runtime)):
            if not _NAME.fullmatch(value):
                raise ValueError(f"{name} is {value!r}, expected a letter or digit and up to 62 of A-Z a-z 0-9 _ . -")
        self.instance = instance
        self.runtime = runtime
        self.registries = frozenset(registries)
        self.image_limits = image_limits or ImageLimits()
        self.gpus = gpus or Gpus()
        self._engine = Engine(url, allow_plain=allow_plain)
        # Cached facts about the engine.
        self._info: dict[str, Any] = {}
        self._layers: Mapping[str, bool | str] = {}
        self._volume_holder: VolumeHolderImage | None = None

    # Jobs

    def run(
        self, execution: SystemExecution, predictions: BinaryIO, *, keep_going: KeepGoing | None = None
    ) -> SystemResult:
        """Run a system to its end and write its predictions file, unchanged, to `predictions`.

        At most `output_bytes` are written; the predictions are valid only if the verdict is DONE. keep_going: called
        about once a second while the container runs (for example to renew a lease); if it returns False, the execution
        is cancelled. None: never called.

        Raises the errors that this module lists. In any case all containers and volumes of the execution are removed,
        unless the engine itself is gone; then `reap` removes them later.
        """
        return self._run(container_spec.of_system(execution, predictions), keep_going)

    def score(
        self,
        execution: ScorerExecution,
        *,
        scores: BinaryIO,
        outcomes: BinaryIO,
        keep_going: KeepGoing | None = None,
    ) -> SystemResult:
        """Run a custom scorer to its end and copy its output files, unchanged, to `scores` and `outcomes`.

        The copied files are valid only if the verdict is DONE; the result's `outputs` names those that the scorer
        wrote. keep_going, errors and cleaning up are as in `run`. Participants may see nothing of the result.
        """
        return self._run(container_spec.of_scorer(execution, scores, outcomes), keep_going)

    def _run(self, job: Job, keep_going: KeepGoing | None) -> SystemResult:
        """Run a job to its end, copy its output into `job.output_files`, and return its result, as `run` does."""
        began = time.monotonic()
        self._check_job(job)
        image = engine_images.inspect_image(self._engine, job.image)
        settings = image.get("Config") or {}
        check_settings(settings)
        layers = self._layers or self.layers()
        resources = Resources(
            self._engine,
            job,
            volume_holder=self._volume_holder_image(),
            instance=self.instance,
            runtime=self.runtime,
            architecture=self.architecture,
            image_labels=settings.get("Labels") or {},
            gpus=self.gpus,
        )
        run = Run(
            self._engine,
            job,
            resources=resources,
            layers=layers,
            image_bytes=int(image.get("Size") or 0),
            probe=self.is_well,
        )
        with self._facts_of_a_working_engine():
            return run.to_its_end(keep_going, began=began)

    def cancel(self, name: str) -> bool:
        """Kill a job and remove all that it has on the engine. Return False if it has nothing there.

        name: the job's `execution_id`; the worker that ran it may be dead. What cannot be removed is left to `reap`.
        Raises SandboxError if the engine does not respond.
        """
        return reaper.remove_execution(self._engine, self.instance, name)

    def reap(
        self, *, keep: frozenset[str] | Callable[[], frozenset[str]] = frozenset(), min_age_seconds: float = 60.0
    ) -> list[str]:
        """Remove the jobs of dead workers: all that carry this site's name on the engine, except those in `keep`.

        keep: names of jobs, or a function that returns them. The function is called after the engine has been queried.
        So it protects a job if it returns the job's name already before the job is run. After its deadline a job is
        removed even if it is in `keep`. min_age_seconds: younger jobs stay, unless they are past their deadline. It may
        be 0 if no worker of this site runs, or if `keep` is such a function. Returns descriptions of the removed
        containers and volumes. Raises SandboxError.
        """
        return reaper.reap(self._engine, self.instance, keep, min_age_seconds)

    def _check_job(self, job: Job) -> None:
        """Raise UsageError if a job requests too many processors, SandboxError if an input file is not readable."""
        if job.limits.cpus > self.processors:
            raise UsageError(f"{job.limits.cpus:g} CPUs are requested, but the engine has {self.processors:g}")
        try:
            for name, descriptor in job.descriptors.items():
                check_readable(name, descriptor)
        except ValueError as problem:
            raise SandboxError(f"invalid execution: {problem}") from None

    @contextmanager
    def _facts_of_a_working_engine(self) -> Iterator[None]:
        """Clear the cached facts about the engine if it fails in the context: another engine may respond afterwards."""
        try:
            yield
        except EngineError:
            self._info, self._layers, self._volume_holder = {}, {}, None
            raise

    # Images

    def load(self, archive: ImageArchive) -> LoadedImage:
        """Load an image that `image_reader.read_image` has read. Loading it twice is harmless; no tag is set or moved.

        Raises SandboxError; ImageError if the loaded image differs from the archive's config, or if a healthy engine
        does not load it within the time limit for loading.
        """
        return engine_images.load(
            self._engine,
            archive,
            has_containerd_store=self._has_containerd_store(),
            seconds=LOAD_SECONDS,
            probe=self.is_well,
        )

    def pull(self, reference: str) -> LoadedImage:
        """Pull the image `registry/name@sha256:...` from an allowed registry.

        The engine unpacks the layers before their sizes are checked, so only trusted registries should be allowed.
        Raises ImageError if the image must not be run or cannot be found; SandboxError.
        """
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
        """Return the ids of all images on the engine, also of images that others have loaded. Raises SandboxError."""
        return self._engine.images()

    def forget(self, image: str) -> bool:
        """Remove an image by its id. Return False if it is missing, in use, or has a tag (this class sets none)."""
        return engine_images.forget(self._engine, image)

    # The engine

    def check(self) -> None:
        """Raise SandboxError unless the engine responds and has passed the health check of `layers`.

        The health check is run only if it has not passed since this object was created or the engine last failed.
        """
        if not self._layers:
            self.layers()
            return
        with self._facts_of_a_working_engine():
            self._info = self._engine.info()

    def layers(self) -> Mapping[str, bool | str]:
        """Run the health check: start a container confined like a system's, and inspect it.

        Return layer of confinement -> True if it is active, False if not; for the layer `runtime`, the runtime's name.
        Raises SandboxError if a required layer or the runtime is missing, or if the engine fails.
        """
        self._info, self._volume_holder = {}, None
        info = self._about()
        if self.runtime not in (info.get("Runtimes") or {}):
            runtimes = ", ".join(sorted(info.get("Runtimes") or {}))
            raise SandboxError(f"the engine has no runtime {self.runtime}, only: {runtimes}")
        labels = reaper.labels(self.instance, reaper.PROBE, "probe", health.PATIENCE)
        self._layers = health.examine(
            self._engine,
            self._volume_holder_image().id,
            runtime=self.runtime,
            info=info,
            architecture=self.architecture,
            labels=labels,
        )
        return self._layers

    def is_well(self) -> bool:
        """Run the health check again, and return True if it passes."""
        try:
            return bool(self.layers())
        except SandboxError:
            return False

    @property
    def processors(self) -> float:
        """The number of processors of the engine's machine, the most that a job may request. Raises SandboxError."""
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

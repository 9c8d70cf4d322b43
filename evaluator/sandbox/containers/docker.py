"""The container sandbox: runs submitted systems and custom scorers in containers of a Docker engine.

`system_contract` and `scorer_contract` define its behaviour. Access to the engine's socket amounts to root on its host,
so the worker that runs submitted systems has no gold (`docs/sandbox.md`).
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Collection, Mapping
from typing import Any, BinaryIO

from evaluator.errors import SandboxError, UsageError
from evaluator.sandbox.containers import container_spec, engine_images, health, reaper
from evaluator.sandbox.containers.container_spec import Job
from evaluator.sandbox.containers.engine import Engine, EngineError, NotFoundError
from evaluator.sandbox.containers.execution import Run
from evaluator.sandbox.containers.gpu import Gpus, reservation_name
from evaluator.sandbox.containers.image_config import check_settings
from evaluator.sandbox.containers.image_reader import ImageArchive, ImageLimits
from evaluator.sandbox.containers.image_reference import parse_reference
from evaluator.sandbox.containers.resources import Resources
from evaluator.sandbox.containers.scorer_contract import ScorerExecution
from evaluator.sandbox.containers.system_contract import LoadedImage, SystemExecution, SystemResult
from evaluator.sandbox.containers.volume_holder_image import VolumeHolderImage, volume_holder_image
from evaluator.sandbox.openfile import check_readable

_log = logging.getLogger(__name__)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,62}")
_CONTAINERD_STORE = "io.containerd.snapshotter"


class DockerSandbox:
    """Sandbox that runs containers on one Docker engine, connecting on first use. Threads may share it.

    instance: the name of the site, which labels its containers; two sites on one engine need two names. url: of the
    engine, as for `Engine`. runtime: the container runtime's name in the engine's configuration (runc, runsc); no other
    is ever used. registries: those that `pull` may use, as `host[:port]`. image_limits: for pulled images. gpus: those
    offered to systems; None: none.
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
    ) -> None:
        for name, value in (("instance", instance), ("runtime", runtime)):
            if not _NAME.fullmatch(value):
                raise ValueError(f"{name} is {value!r}, expected a letter or digit and up to 62 of A-Z a-z 0-9 _ . -")
        self.instance = instance
        self.runtime = runtime
        self.registries = frozenset(registries)
        self.image_limits = image_limits or ImageLimits()
        self.gpus = gpus or Gpus()
        self._engine = Engine(url)
        # Cached facts about the engine; cleared when it fails, since a different engine may come back.
        self._info: dict[str, Any] = {}
        self._layers: Mapping[str, bool | str] = {}
        self._volume_holder: VolumeHolderImage | None = None

    def run(
        self, execution: SystemExecution, predictions: BinaryIO, *, keep_going: Callable[[], bool] | None = None
    ) -> SystemResult:
        """Implement `system_contract.SystemSandbox.run`."""
        return self._run(container_spec.of_system(execution, predictions), keep_going)

    def score(
        self,
        execution: ScorerExecution,
        *,
        scores: BinaryIO,
        outcomes: BinaryIO,
        keep_going: Callable[[], bool] | None = None,
    ) -> SystemResult:
        """Run a custom scorer to its end and copy its output files, unchanged, to `scores` and `outcomes`.

        The copied files are valid only if the verdict is DONE; the result's `outputs` names those that the scorer
        wrote. keep_going, errors and cleaning up are as in `run`. Participants may see nothing of the result.
        """
        return self._run(container_spec.of_scorer(execution, scores, outcomes), keep_going)

    def _run(self, job: Job, keep_going: Callable[[], bool] | None) -> SystemResult:
        began = time.monotonic()
        self._check(job)
        image = engine_images.inspect_image(self._engine, job.image)
        settings = image.get("Config") or {}
        check_settings(settings)
        layers = self._layers or self.layers()
        holder = self._volume_holder_image()
        resources = Resources(
            self._engine,
            job,
            volume_holder=holder,
            instance=self.instance,
            runtime=self.runtime,
            architecture=self.architecture,
            image_labels=settings.get("Labels") or {},
            gpus=self.gpus,
        )
        run = Run(self._engine, job, resources=resources, layers=layers, probe=self._is_well)
        try:
            result = run.follow(keep_going)
        except EngineError:
            self._info, self._layers, self._volume_holder = {}, {}, None
            raise
        finally:
            run.clean_up()
        return run.completed(result, image_bytes=int(image.get("Size") or 0), total_seconds=time.monotonic() - began)

    def load(self, archive: ImageArchive) -> LoadedImage:
        """Implement `system_contract.SystemSandbox.load`."""
        return engine_images.load(self._engine, archive, has_containerd_store=self._has_containerd_store())

    def pull(self, reference: str) -> LoadedImage:
        """Implement `system_contract.SystemSandbox.pull`."""
        target = parse_reference(reference, self.registries)
        return engine_images.pull(self._engine, target, limits=self.image_limits, architecture=self.architecture)

    def has_free_gpus(self, n: int, memory_bytes: int = 0) -> bool:
        """Return whether `n` offered GPUs with at least this memory each are not reserved. Raises SandboxError."""
        if not n:
            return True
        taken = {name for row in self._engine.containers(reaper.GPU_LABEL) for name in row.get("Names") or ()}
        enough = [gpu for gpu in self.gpus.offered() if gpu.memory_bytes >= memory_bytes]
        return sum(f"/{reservation_name(gpu)}" not in taken for gpu in enough) >= n

    def images(self) -> frozenset[str]:
        """Return the ids of all images on the engine, also of images that others have loaded. Raises SandboxError."""
        return self._engine.images()

    def forget(self, image: str) -> bool:
        """Implement `system_contract.SystemSandbox.forget`."""
        return engine_images.forget(self._engine, image)

    def reap(
        self, *, keep: frozenset[str] | Callable[[], frozenset[str]] = frozenset(), min_age_seconds: float = 60.0
    ) -> list[str]:
        """Implement `system_contract.SystemSandbox.reap`.

        min_age_seconds: younger containers and volumes are kept, unless they are past their deadline. It may be 0 if no
        worker of this instance runs, or if `keep` is a function and every execution is recorded before its first
        container or volume is created.
        """
        removed = reaper.reap(self._engine, self.instance, keep, min_age_seconds)
        for item in removed:
            _log.warning("removed resources of a dead worker: %s", item)
        return removed

    def check(self) -> None:
        """Raise SandboxError unless the engine responds and has passed the health check of `layers`.

        The health check is run only if it has not passed since this object was created or the engine last failed.
        """
        if not self._layers:
            self.layers()
            return
        try:
            self._info = self._engine.info()
        except EngineError:
            self._info, self._layers, self._volume_holder = {}, {}, None
            raise

    def layers(self) -> Mapping[str, bool | str]:
        """Implement `system_contract.SystemSandbox.layers`. A missing or wrong runtime also raises SandboxError."""
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

    @property
    def processors(self) -> float:
        """The number of processors of the engine's machine, the most that a container may request.

        Raises SandboxError.
        """
        return float(self._about().get("NCPU") or 1)

    @property
    def memory_bytes(self) -> int:
        """The memory of the engine's machine. Raises SandboxError."""
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

    def _is_well(self) -> bool:
        try:
            return bool(self.layers())
        except SandboxError:
            return False

    def _check(self, job: Job) -> None:
        if job.limits.cpus > self.processors:
            raise UsageError(f"{job.limits.cpus:g} CPUs are requested, but the engine has {self.processors:g}")
        try:
            for name, descriptor in job.descriptors.items():
                check_readable(name, descriptor)
        except ValueError as problem:
            raise SandboxError(f"invalid execution: {problem}") from None

    def _about(self) -> dict[str, Any]:
        if not self._info:
            self._info = self._engine.info()
        return self._info

    def _has_containerd_store(self) -> bool:
        return any(_CONTAINERD_STORE in str(pair) for pair in self._about().get("DriverStatus") or ())

    def _volume_holder_image(self) -> VolumeHolderImage:
        """Return the volume holder's image, loaded if missing: it has no tag, so `docker image prune` may remove it."""
        if self._volume_holder is None:
            holder = volume_holder_image(self.architecture)
            try:
                self._engine.image(holder.id)
            except NotFoundError:
                ids = self._engine.load([holder.archive])
                holder = VolumeHolderImage(ids[0] if ids else holder.id, holder.archive)
            self._volume_holder = holder
        return self._volume_holder

"""The container sandbox: submitted systems, and organisers' scorers, in containers of a Docker engine.

`systems` and `scorers` say what it promises. The engine's socket is root on its host, so the worker that runs submitted
systems holds no gold (`docs/sandbox.md`).
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
from evaluator.sandbox.containers.engine import Engine, EngineError, NotThereError
from evaluator.sandbox.containers.execution import Run
from evaluator.sandbox.containers.image_config import check_settings
from evaluator.sandbox.containers.image_reader import ImageArchive, ImageLimits
from evaluator.sandbox.containers.image_reference import parse_reference
from evaluator.sandbox.containers.resources import Belongings
from evaluator.sandbox.containers.scorer_contract import ScorerExecution
from evaluator.sandbox.containers.system_contract import LoadedImage, SystemExecution, SystemResult
from evaluator.sandbox.containers.volume_holder_image import KeeperImage, keeper_image
from evaluator.sandbox.openfile import check_readable

_log = logging.getLogger(__name__)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,62}")
_CONTAINERD_STORE = "io.containerd.snapshotter"


class DockerSandbox:
    """Runs submitted systems by one engine. Threads may share it; nothing is asked of the engine before the first use.

    instance: whose containers these are; two sites on one engine have two names. runtime: as the engine knows it
    (runc, runsc); there is no falling back to another. registries: from which `pull` may fetch, as `host[:port]`.
    """

    def __init__(
        self,
        *,
        instance: str,
        url: str | None = None,
        runtime: str = "runc",
        registries: Collection[str] = (),
        image_limits: ImageLimits | None = None,
    ) -> None:
        if not _NAME.fullmatch(instance) or not _NAME.fullmatch(runtime):
            raise ValueError(f"instance {instance!r} or runtime {runtime!r}: expected letters, digits, _ . -")
        self.instance = instance
        self.runtime = runtime
        self.registries = frozenset(registries)
        self.image_limits = image_limits or ImageLimits()
        self._engine = Engine(url)
        # What is known of the engine; forgotten when it fails, since it may come back as another.
        self._info: dict[str, Any] = {}
        self._layers: Mapping[str, bool | str] = {}
        self._keeper: KeeperImage | None = None

    def run(
        self, execution: SystemExecution, predictions: BinaryIO, *, keep_going: Callable[[], bool] | None = None
    ) -> SystemResult:
        """As `systems.SystemSandbox.run`."""
        if execution.gpus:
            raise UsageError(f"{execution.gpus} GPUs are asked for, expected 0: this sandbox passes no device on")
        return self._run(container_spec.of_system(execution, predictions), keep_going)

    def score(
        self,
        execution: ScorerExecution,
        *,
        scores: BinaryIO,
        outcomes: BinaryIO,
        keep_going: Callable[[], bool] | None = None,
    ) -> SystemResult:
        """Run an organiser's scorer to its end; what it wrote goes, as it is, to `scores` and `outcomes`.

        It counts only if the verdict is DONE; `outputs` names what was there. Raises what `run` raises, and leaves as
        little behind. None of the result is for participants.
        """
        return self._run(container_spec.of_scorer(execution, scores, outcomes), keep_going)

    def _run(self, job: Job, keep_going: Callable[[], bool] | None) -> SystemResult:
        began = time.monotonic()
        self._check(job)
        image = engine_images.described(self._engine, job.image)
        settings = image.get("Config") or {}
        check_settings(settings)
        layers = self._layers or self.layers()
        keeper = self._keeper_image()
        belongings = Belongings(
            self._engine,
            job,
            keeper=keeper,
            instance=self.instance,
            runtime=self.runtime,
            architecture=self.architecture,
            image_labels=settings.get("Labels") or {},
        )
        run = Run(self._engine, job, belongings=belongings, layers=layers, probe=self._is_well)
        try:
            result = run.follow(keep_going)
        except EngineError:
            self._info, self._layers, self._keeper = {}, {}, None
            raise
        finally:
            run.clean_up()
        return run.told(result, image_bytes=int(image.get("Size") or 0), total_seconds=time.monotonic() - began)

    def load(self, archive: ImageArchive) -> LoadedImage:
        """As `systems.SystemSandbox.load`."""
        return engine_images.load(self._engine, archive, has_containerd_store=self._has_containerd_store())

    def pull(self, reference: str) -> LoadedImage:
        """As `systems.SystemSandbox.pull`."""
        wanted = parse_reference(reference, self.registries)
        return engine_images.pull(self._engine, wanted, limits=self.image_limits, architecture=self.architecture)

    def images(self) -> frozenset[str]:
        """The ids of the images that the engine has, whosever they are. Raises SandboxError."""
        return self._engine.images()

    def forget(self, image: str) -> bool:
        """As `systems.SystemSandbox.forget`."""
        return engine_images.forget(self._engine, image)

    def reap(
        self, *, keep: frozenset[str] | Callable[[], frozenset[str]] = frozenset(), settle_seconds: float = 60.0
    ) -> list[str]:
        """As `systems.SystemSandbox.reap`. settle_seconds: 0 at a start, when no worker of this instance runs, and
        where `keep` is a function that knows of every execution before it begins.
        """
        removed = reaper.reap(self._engine, self.instance, keep, settle_seconds)
        for what in removed:
            _log.warning("removed what a dead worker left: %s", what)
        return removed

    def check(self) -> None:
        """Raises SandboxError unless the engine answers and the last health check passed. Cheap: no container."""
        if not self._layers:
            self.layers()
            return
        try:
            self._info = self._engine.info()
        except EngineError:
            self._info, self._layers, self._keeper = {}, {}, None
            raise

    def layers(self) -> Mapping[str, bool | str]:
        """As `systems.SystemSandbox.layers`. Raises SandboxError also where the runtime is not the one asked for."""
        self._info, self._keeper = {}, None
        info = self._about()
        if self.runtime not in (info.get("Runtimes") or {}):
            known = ", ".join(sorted(info.get("Runtimes") or {}))
            raise SandboxError(f"the engine has no runtime {self.runtime}, it has: {known}")
        labels = reaper.labels(self.instance, reaper.PROBE, "probe", health.PATIENCE)
        self._layers = health.examine(
            self._engine,
            self._keeper_image().id,
            runtime=self.runtime,
            info=info,
            architecture=self.architecture,
            labels=labels,
        )
        return self._layers

    @property
    def processors(self) -> float:
        """How many the engine has: a container that asks for more is not made. Raises SandboxError."""
        return float(self._about().get("NCPU") or 1)

    @property
    def architecture(self) -> str:
        """The engine's: amd64 or arm64. Raises SandboxError."""
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
            raise UsageError(f"{job.limits.cpus:g} processors are asked for, the engine has {self.processors:g}")
        try:
            for name, descriptor in job.descriptors.items():
                check_readable(name, descriptor)
        except ValueError as problem:
            raise SandboxError(f"no execution can be made of this: {problem}") from None

    def _about(self) -> dict[str, Any]:
        if not self._info:
            self._info = self._engine.info()
        return self._info

    def _has_containerd_store(self) -> bool:
        return any(_CONTAINERD_STORE in str(pair) for pair in self._about().get("DriverStatus") or ())

    def _keeper_image(self) -> KeeperImage:
        """Loaded if the engine has it not: it has no tag, so an operator's cleaning may have taken it."""
        if self._keeper is None:
            made = keeper_image(self.architecture)
            try:
                self._engine.image(made.id)
            except NotThereError:
                found = self._engine.load([made.archive])
                made = KeeperImage(found[0] if found else made.id, made.archive)
            self._keeper = made
        return self._keeper

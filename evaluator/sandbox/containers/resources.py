"""The volumes and containers of one execution: their creation, their input files and their removal."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import partial
from typing import Any

from evaluator.errors import SandboxError
from evaluator.sandbox.containers import create_settings, gpu, reaper, tar
from evaluator.sandbox.containers.container_spec import InputFile, Job
from evaluator.sandbox.containers.engine import (
    TIMEOUT,
    Engine,
    EngineError,
    EngineTimeoutError,
    NameTakenError,
    NotFoundError,
)
from evaluator.sandbox.containers.engine_refusals import AT_MOUNT_POINTS, Step, raise_if_image_is_at_fault
from evaluator.sandbox.containers.gpu import Gpu, GpuMeter, Gpus
from evaluator.sandbox.containers.image_errors import EngineRefusalError
from evaluator.sandbox.containers.volume_holder_image import VolumeHolderImage
from evaluator.sandbox.contract import Verdict
from evaluator.sandbox.openfile import open_file

_log = logging.getLogger(__name__)
_CHUNK = 1 << 20
GRACE = 60.0  # seconds after an execution's time limit until the reaper may remove its containers and volumes
_ASK = 1.0  # seconds between calls of `still_needed` while the engine creates a container
_USER_FILES = ("/etc/passwd", "/etc/group")
_USER_FILE_BYTES = 1 << 20
# Bits of Go's os.FileMode; a regular file has none of those in _NOT_REGULAR (os.ModeType).
_SYMLINK = 1 << 27
_KINDS = {1 << 31: "folder", _SYMLINK: "link", 1 << 26: "device", 1 << 25: "FIFO", 1 << 24: "socket"}
_NOT_REGULAR = 0x8F280000


class JobExistsError(SandboxError):
    """The engine still has a job of this name. The caller ran it twice, or did not cancel that of a dead worker."""


class AmbiguousFailureError(EngineError):
    """The engine failed to create or start the job's container. If it passes its health check, the image is at fault.

    verdict, explanation: those of the job's result if the image is at fault.
    """

    def __init__(self, text: str, verdict: Verdict, explanation: str) -> None:
        super().__init__(text)
        self.verdict = verdict
        self.explanation = explanation


def too_slow(error: EngineTimeoutError, seconds: float) -> AmbiguousFailureError:
    """Return the error for a container that the engine did not create or start in time. It may still do so later.

    seconds: the job's limit of wall time, for the explanation.
    """
    explanation = f"its container was not created and started within its time limit of {seconds:g} seconds"
    return AmbiguousFailureError(str(error), Verdict.TIME, explanation)


def not_started(error: EngineError, reason: str) -> AmbiguousFailureError:
    return AmbiguousFailureError(str(error), Verdict.EXIT, f"its container could not be started: {reason}")


class Resources:
    """The containers and volumes of a job. After `make`, `remove` must be called, even if `make` has failed."""

    def __init__(
        self,
        engine: Engine,
        job: Job,
        *,
        volume_holder: VolumeHolderImage,
        instance: str,
        runtime: str,
        architecture: str,
        image_labels: Iterable[str],
        gpus: Gpus | None = None,
    ) -> None:
        self.engine = engine
        self.job = job
        self.volume_holder = volume_holder
        self.instance = instance
        self.runtime = runtime
        self.architecture = architecture
        self.image_labels = image_labels
        self.offered_gpus = gpus or Gpus()
        self.gpus: list[Gpu] = []  # the reserved ones
        self.gpu_meter: GpuMeter | None = None
        self.containers: list[str] = []
        self._reservations: list[str] = []  # containers that reserve the GPUs
        self.volumes: list[str] = []
        self.create_seconds = 0.0  # spent on creating the job's container, successfully or not
        self._is_removed = False
        self._pool = ThreadPoolExecutor(3)  # for independent requests to the engine

    def make(self, *, create_seconds: float, still_needed: Callable[[], None]) -> tuple[str, str]:
        """Create the volumes and containers, and return the ids of the two containers.

        The first is the volume holder, which runs; through it the job's input files were copied into the volumes. The
        second is the job's container, which is not started yet.

        create_seconds: the maximum time for creating the job's container. still_needed: called about once a second
        until the container is created; an exception that it raises ends the waiting. Raises EngineRefusalError if the
        image is at fault; AmbiguousFailureError if it may be, for example because the container was not created in
        time; GpusBusyError; UsageError if the GPUs are not offered here; SandboxError.
        """
        limits = self.job.limits
        if self.job.gpus:
            self._reserve_gpus()
        folders = {folder: self._volume(folder.strip("/"), {}) for folder in self.job.folders}
        output = self._volume("output", create_settings.output_volume(limits.output_bytes, limits.output_files))
        working = self._pool.submit(self._create_working, folders, output, create_seconds)
        try:
            holder = self._create(
                create_settings.volume_holder(
                    self.volume_holder.id,
                    folders=folders,
                    output=output,
                    architecture=self.architecture,
                    labels=self._labels("keeper"),
                ),
                "keeper",
            )
            try:
                for folder, files in self.job.folders.items():
                    self.engine.put(holder, folder, _packed(files))
            except ValueError as problem:
                raise SandboxError(f"a file changed while it was read: {problem}") from None
            self.engine.start(holder)
        finally:
            _await(working, still_needed)  # until the container is registered, so that it is cleaned up
        return holder, working.result()

    def remove(self) -> None:
        """Remove the containers, then the volumes. What cannot be removed is logged and left to the reaper."""
        self._is_removed = True
        all_removed = self._each("container", self.engine.remove, self.containers)
        self._each("volume", self.engine.remove_volume, self.volumes)
        if all_removed:  # otherwise a container may still use the GPUs
            self._release_gpus()
        self._pool.shutdown(wait=False)  # the engine may still be creating a container

    def _each(self, what: str, remove: Callable[[str], None], names: list[str]) -> bool:
        """Remove containers or volumes by name, in parallel; log failures, and return True if all were removed.

        what: `container` or `volume`, for the log. remove: the engine's function that removes one.
        """
        failures = 0
        for name, removal in [(name, self._pool.submit(remove, name)) for name in names]:
            try:
                removal.result()
            except EngineError as problem:
                failures += 1
                _log.error(
                    "a %s of %s could not be removed and is left to the reaper: %s (%s)",
                    what,
                    self.job.execution_id,
                    problem,
                    name,
                )
        return not failures

    def _create_working(self, folders: Mapping[str, str], output: str, seconds: float) -> str:
        config = create_settings.work(
            self.job,
            folders=folders,
            output=output,
            runtime=self.runtime,
            architecture=self.architecture,
            labels=self._labels(self.job.kind),
            image_labels=self.image_labels,
            gpus=self.gpus,
            gpu_runtime=self.offered_gpus.runtime,
        )
        began = time.monotonic()
        try:
            container = self._create(config, self.job.kind, seconds)
        except EngineTimeoutError as problem:
            raise too_slow(problem, self.job.limits.wall_seconds) from None
        except EngineError as problem:
            raise_if_image_is_at_fault(Step.CREATE, problem)
            raise
        finally:
            self.create_seconds = time.monotonic() - began
        self._check_user_files(container)
        return container

    def _check_user_files(self, container: str) -> None:
        """Raise EngineRefusalError unless the image's /etc/passwd and /etc/group are small regular files or missing.

        To start a container the engine reads both, outside of the container's limits. It would wait for ever at a FIFO,
        and then could not even remove the container; reading a device would never end.
        """
        for path in _USER_FILES:
            try:
                status = self.engine.file_status(container, path)
            except NotFoundError:
                continue
            except EngineTimeoutError:
                raise
            except EngineError as problem:
                # To look into the container the engine mounts its volumes, which fails where the image has a file.
                raise not_started(problem, AT_MOUNT_POINTS) from None
            if status["mode"] & _SYMLINK:
                try:
                    status = self.engine.file_status(container, status["linkTarget"])
                except NotFoundError:
                    raise EngineRefusalError(f"the image's {path} is a link to nothing, expected a file") from None
            if status["mode"] & _NOT_REGULAR or status["size"] > _USER_FILE_BYTES:
                kind = next((kind for bit, kind in _KINDS.items() if status["mode"] & bit), "file")
                raise EngineRefusalError(
                    f"the image's {path} is a {kind} of {status['size']} bytes, expected a regular file of at most "
                    f"{_USER_FILE_BYTES} bytes"
                )

    def _reserve_gpus(self) -> None:
        gpus = gpu.fitting(self.offered_gpus.offered(), self.job.gpus, self.job.gpu_memory_bytes)
        self.gpus = gpu.reserve(gpus, self.job.gpus, create=self._is_reserved, release=self._release_gpus)
        self.gpu_meter = GpuMeter(self.gpus, self.offered_gpus.samples)

    def _is_reserved(self, name: str) -> bool:
        """Try to reserve a GPU by creating the container with this name; return False if the name is taken."""
        # A reservation outlives the execution's other containers, also when their deadline has passed.
        labels = reaper.labels(
            self.instance, self.job.execution_id, reaper.GPU, self.job.limits.wall_seconds + 2 * GRACE
        )
        try:
            container = self.engine.create(create_settings.reservation(self.volume_holder.id, labels=labels), name=name)
        except NameTakenError:
            return False
        self._reservations.append(container)
        return True

    def _release_gpus(self) -> None:
        self._each("reservation", self.engine.remove, self._reservations)
        self._reservations = []

    def _volume(self, part: str, options: dict[str, str]) -> str:
        name = self.engine.create_volume(self._labels(part), options)
        self.volumes.append(name)
        return name

    def _create(self, config: dict[str, Any], part: str, seconds: float = TIMEOUT) -> str:
        name = f"holdout-{self.instance}-{self.job.execution_id}-{part}"
        try:
            container = self.engine.create(config, seconds, name=name)
        except NameTakenError:
            raise JobExistsError(f"the engine already has a job {self.job.execution_id}") from None
        self.containers.append(container)
        if self._is_removed:
            self.engine.remove(container)
        return container

    def _labels(self, part: str) -> dict[str, str]:
        seconds = self.job.limits.wall_seconds + GRACE
        return reaper.labels(self.instance, self.job.execution_id, part, seconds)


def _await(future: Future[Any], still_needed: Callable[[], None]) -> None:
    """Wait until a future is done, without raising its exception.

    still_needed: called about once a second; an exception that it raises ends the waiting.
    """
    while not wait([future], timeout=_ASK).done:
        still_needed()


def _packed(files: Sequence[InputFile]) -> Iterator[bytes]:
    """Yield the files of a folder as tar, in pieces. Raises ValueError if a file's size changes while it is read."""
    for file in files:
        if isinstance(file.content, bytes):
            yield from tar.file(file.name, [file.content], len(file.content))
            continue
        with open_file(file.content) as content:
            size = content.seek(0, 2)
            content.seek(0)
            yield from tar.file(file.name, iter(partial(content.read, _CHUNK), b""), size)
    yield tar.END

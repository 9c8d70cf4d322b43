"""The volumes and containers of one execution: their creation, their input files and their removal."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from evaluator.errors import SandboxError
from evaluator.sandbox.containers import create_settings, reaper, tar
from evaluator.sandbox.containers.container_spec import InputFile, Job
from evaluator.sandbox.containers.engine import Engine, EngineError
from evaluator.sandbox.containers.volume_holder_image import VolumeHolderImage
from evaluator.sandbox.openfile import open_file

_log = logging.getLogger(__name__)
_CHUNK = 1 << 20
_GRACE = 60.0  # seconds after an execution's time limit until the reaper may remove its containers and volumes


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
    ) -> None:
        self.engine = engine
        self.job = job
        self.volume_holder = volume_holder
        self.instance = instance
        self.runtime = runtime
        self.architecture = architecture
        self.image_labels = image_labels
        self.containers: list[str] = []
        self.volumes: list[str] = []
        self._pool = ThreadPoolExecutor(3)  # for independent requests to the engine

    def make(self) -> tuple[str, str]:
        """Create the volumes and containers, and return the ids of the two containers.

        The first is the volume holder, which runs; through it the job's input files were copied into the volumes. The
        second is the job's container, which is not started yet. Raises SandboxError.
        """
        limits = self.job.limits
        folders = {folder: self._volume(folder.strip("/"), {}) for folder in self.job.folders}
        output = self._volume("output", create_settings.output_volume(limits.output_bytes, limits.output_files))
        working = self._pool.submit(self._create_working, folders, output)
        try:
            holder = self._create(
                create_settings.volume_holder(
                    self.volume_holder.id,
                    folders=folders,
                    output=output,
                    architecture=self.architecture,
                    labels=self._labels("keeper"),
                )
            )
            try:
                for folder, files in self.job.folders.items():
                    self.engine.put(holder, folder, _packed(files))
            except ValueError as problem:
                raise SandboxError(f"a file changed while it was read: {problem}") from None
            self.engine.start(holder)
        finally:
            working.exception()  # wait until the container is registered, so that it is cleaned up
        return holder, working.result()

    def remove(self) -> None:
        """Remove the containers, then the volumes. What cannot be removed is logged and left to the reaper."""
        self._each("container", self.engine.remove, self.containers)
        self._each("volume", self.engine.remove_volume, self.volumes)
        self._pool.shutdown()

    def _each(self, what: str, remove: Callable[[str], None], names: list[str]) -> None:
        for name, removal in [(name, self._pool.submit(remove, name)) for name in names]:
            try:
                removal.result()
            except EngineError as problem:
                _log.error(
                    "a %s of %s could not be removed and is left to the reaper: %s (%s)",
                    what,
                    self.job.execution_id,
                    problem,
                    name,
                )

    def _create_working(self, folders: Mapping[str, str], output: str) -> str:
        return self._create(
            create_settings.work(
                self.job,
                folders=folders,
                output=output,
                runtime=self.runtime,
                architecture=self.architecture,
                labels=self._labels(self.job.kind),
                image_labels=self.image_labels,
            )
        )

    def _volume(self, part: str, options: dict[str, str]) -> str:
        name = self.engine.create_volume(self._labels(part), options)
        self.volumes.append(name)
        return name

    def _create(self, config: dict[str, Any]) -> str:
        container = self.engine.create(config)
        self.containers.append(container)
        return container

    def _labels(self, part: str) -> dict[str, str]:
        seconds = self.job.limits.wall_seconds + _GRACE
        return reaper.labels(self.instance, self.job.execution_id, part, seconds)


def _packed(files: Sequence[InputFile]) -> Iterator[bytes]:
    """Yield the files of a folder as tar. Raises ValueError if the size of a file changes while it is read."""
    for file in files:
        if isinstance(file.content, bytes):
            yield from tar.file(file.name, [file.content], len(file.content))
            continue
        with open_file(file.content) as content:
            size = content.seek(0, 2)
            content.seek(0)
            yield from tar.file(file.name, iter(partial(content.read, _CHUNK), b""), size)
    yield tar.END

"""One execution of a submitted system, or of a scorer, from its volumes to its result."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from typing import Any

from evaluator.errors import SandboxError
from evaluator.sandbox.containers import log, reaper, settings, tar
from evaluator.sandbox.containers.engine import Engine, EngineError
from evaluator.sandbox.containers.jobs import Given, Job
from evaluator.sandbox.containers.keeper_image import KeeperImage
from evaluator.sandbox.containers.output import Output, OutputError, fetch
from evaluator.sandbox.containers.usage import Meter
from evaluator.sandbox.contract import Verdict
from evaluator.sandbox.openfile import open_file
from evaluator.sandbox.systems import CancelledError, KilledError, SystemResult

_log = logging.getLogger(__name__)
_CHUNK = 1 << 20
_GRACE = 60.0  # seconds that an execution may last beyond its limit, before the reaper may take it
_DEATH = 8.0  # seconds that a killed container may take to be gone
_ASK = 1.0  # seconds between two questions to the caller
_KILLED = 128 + 9
_NOT_STARTED = (126, 127)  # the engine's statuses for a command that is not there or cannot be run


class Run:
    """What exists for one execution, and what is known of it so far."""

    def __init__(
        self,
        engine: Engine,
        job: Job,
        *,
        keeper: KeeperImage,
        instance: str,
        runtime: str,
        architecture: str,
        image_labels: Iterable[str],
        layers: Mapping[str, bool | str],
        probe: Callable[[], bool],
    ) -> None:
        """layers: what the last probe saw. probe: whether another one can be started."""
        self.engine = engine
        self.pool = ThreadPoolExecutor(3)  # to do at one time what does not depend on the other
        self.job = job
        self.limits = job.limits
        self.keeper_image = keeper
        self.instance = instance
        self.runtime = runtime
        self.architecture = architecture
        self.image_labels = image_labels
        self.layers = layers
        self.probe = probe
        self.meter = Meter()
        self.timings: dict[str, float] = {}
        self.containers: list[str] = []
        self.volumes: list[str] = []
        self.log, self.log_is_cut = "", False
        self.wall_seconds = 0.0

    def follow(self, keep_going: Callable[[], bool] | None) -> SystemResult:
        """To the container's end and its output's. Raises SandboxError; `clean_up` must follow, whatever comes."""
        with self._timed("prepare"):
            keeper, working = self._prepare()
        with self._timed("start"):
            refused = self._start(working)
        if refused:
            return self._result(Verdict.EXIT, refused)
        began = time.monotonic()
        with self._timed("run"):
            in_time = self._wait(working, began, keep_going)
        with self._timed("read"):
            state = self.engine.state(working)
            self.wall_seconds = _lasted(state) or time.monotonic() - began
            self.log, self.log_is_cut = log.tail(self.engine.logs(working), int(self.limits.log_bytes))
            return self._judge(state, in_time, keeper)

    def told(self, result: SystemResult, *, image_bytes: int, total_seconds: float) -> SystemResult:
        """The result with what is known only after the cleaning up."""
        known = {"image_bytes": image_bytes, "total_seconds": total_seconds, "timings": dict(self.timings)}
        return SystemResult(**{**vars(result), **known})

    def clean_up(self) -> None:
        """Remove containers, then volumes. What the engine does not let go is the reaper's."""
        with self._timed("clean_up"):
            self._each("container", self.engine.remove, self.containers)
            self._each("volume", self.engine.remove_volume, self.volumes)
        self.pool.shutdown(wait=False)  # a late measurement may still be under way

    def _each(self, what: str, remove: Callable[[str], None], names: list[str]) -> None:
        for name, removal in [(name, self.pool.submit(remove, name)) for name in names]:
            try:
                removal.result()
            except EngineError as problem:
                _log.error("a %s of %s is left to the reaper: %s (%s)", what, self.job.execution_id, problem, name)

    def _prepare(self) -> tuple[str, str]:
        """A running keeper whose volumes hold what the job is given, and a container that is created."""
        size = self.limits.output_bytes
        folders = {folder: self._volume(folder.strip("/"), {}) for folder in self.job.folders}
        output = self._volume("output", settings.output_volume(size, self.limits.output_files))
        working = self.pool.submit(self._create_working, folders, output)
        try:
            keeper = self._create(
                settings.keeper(
                    self.keeper_image.id,
                    folders=folders,
                    output=output,
                    architecture=self.architecture,
                    labels=self._labels("keeper"),
                )
            )
            try:
                for folder, files in self.job.folders.items():
                    self.engine.put(keeper, folder, _packed(files))
            except ValueError as problem:
                raise SandboxError(f"a file changed while it was read: {problem}") from None
            self.engine.start(keeper)
        finally:
            working.exception()  # it is known, and so cleaned up, before anything else happens
        return keeper, working.result()

    def _create_working(self, folders: Mapping[str, str], output: str) -> str:
        return self._create(
            settings.work(
                self.job,
                folders=folders,
                output=output,
                runtime=self.runtime,
                architecture=self.architecture,
                labels=self._labels(self.job.kind),
                image_labels=self.image_labels,
            )
        )

    def _start(self, system: str) -> str:
        """Empty, or why the image could not be started.

        Engines give one status for a WORKDIR that is no folder and for a runtime that is broken. So where they do not
        tell, the probe is run once more: if it can be started and the system cannot, that is the image's fault.
        """
        try:
            self.engine.start(system)
        except EngineError as problem:
            code = self.engine.state(system).get("ExitCode")
            _log.info("%s could not be started: %s", self.job.execution_id, problem.said[:300])
            if code in _NOT_STARTED:
                return "its command could not be started: not found, or not executable by nobody"
            if not problem.status or not self.probe():
                raise
            return "its container could not be started: look at WORKDIR, and at what it has at /input, /output and /tmp"
        return ""

    def _wait(self, system: str, began: float, keep_going: Callable[[], bool] | None) -> bool:
        """Whether it ended in time; if not, it is dead all the same. Raises CancelledError."""
        deadline = began + self.limits.wall_seconds
        asked = began
        measuring: Future[None] | None = None
        while (left := deadline - (now := time.monotonic())) > 0:
            if self.engine.wait(system, min(left, self.meter.gap)):
                return True
            if time.monotonic() - now < min(left, self.meter.gap) / 2:
                self.engine.inspect(system)  # the engine hung up: raises if it is gone
            if measuring is None or measuring.done():
                if measuring:
                    measuring.result()
                measuring = self.pool.submit(self._measure, system)
            if keep_going and time.monotonic() - asked >= _ASK:
                asked = time.monotonic()
                if not keep_going():
                    raise CancelledError(f"execution {self.job.execution_id} was cancelled")
        self.engine.kill(system)
        if not self.engine.wait(system, _DEATH):
            raise EngineError(f"a container was killed and is not gone after {_DEATH:g} seconds")
        return False

    def _measure(self, system: str) -> None:
        """In a thread, since an engine may take a second over it when the container is just ending."""
        self.meter.look(self.engine.stats(system))

    def _judge(self, state: dict[str, Any], in_time: bool, keeper: str) -> SystemResult:
        if not in_time:
            return self._result(Verdict.TIME, f"it was stopped at its limit of {self.limits.wall_seconds:g} seconds")
        code = int(state.get("ExitCode") or 0)
        # OOMKilled is true also when only a child was killed and the system lived with it.
        if code and state.get("OOMKilled"):
            return self._result(Verdict.MEMORY, f"it needed more than {self.limits.memory_bytes} bytes of memory", code)
        if code == _KILLED:
            # Neither by us nor for memory. A program cannot send this to the first process of its own namespace, but
            # that process may end with this status of its own accord, and the engine tells no difference.
            raise KilledError(f"the container of {self.job.execution_id} was killed from outside, or says so")
        if code:
            return self._result(Verdict.EXIT, "it ended with an exit status that is not 0", code)
        if state.get("Error"):
            raise EngineError("the engine lost a container", said=str(state["Error"]))
        try:
            left = [output for one in self.job.wanted if (output := fetch(self.engine, keeper, one))]
        except OutputError as problem:
            # The output lies in memory that the keeper holds: who has lost that has lost the file, not its author.
            if not self.engine.state(keeper).get("Running"):
                raise EngineError("the container that holds the output is gone") from None
            return self._result(Verdict.OUTPUT, str(problem), code)
        return self._result(Verdict.DONE, "", code, left)

    def _result(
        self, verdict: Verdict, explanation: str, code: int | None = None, left: Sequence[Output] = ()
    ) -> SystemResult:
        first = left[0] if left else Output("", 0, "")
        return SystemResult(
            verdict=verdict,
            explanation=explanation,
            exit_code=code,
            output_name=first.name,
            output_bytes=first.size,
            output_sha256=first.sha256,
            outputs={output.name: output.size for output in left},
            wall_seconds=self.wall_seconds,
            usage=self.meter.usage(),
            log=self.log,
            log_is_cut=self.log_is_cut,
            layers=self.layers,
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
        seconds = self.limits.wall_seconds + _GRACE
        return reaper.labels(self.instance, self.job.execution_id, part, seconds)

    @contextmanager
    def _timed(self, step: str) -> Iterator[None]:
        began = time.monotonic()
        try:
            yield
        finally:
            self.timings[step] = time.monotonic() - began


def _packed(files: Sequence[Given]) -> Iterator[bytes]:
    """The files of a folder as tar. Raises ValueError where one has changed its size meanwhile."""
    for file in files:
        if isinstance(file.content, bytes):
            yield from tar.file(file.name, [file.content], len(file.content))
            continue
        with open_file(file.content) as content:
            size = content.seek(0, 2)
            content.seek(0)
            yield from tar.file(file.name, iter(partial(content.read, _CHUNK), b""), size)
    yield tar.END


def _lasted(state: dict[str, Any]) -> float:
    """Seconds by the engine's clock; 0 where it does not tell."""
    try:
        started, finished = (datetime.fromisoformat(str(state[name])) for name in ("StartedAt", "FinishedAt"))
    except (KeyError, ValueError):
        return 0.0
    return max((finished - started).total_seconds(), 0.0)

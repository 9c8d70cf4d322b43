"""One execution of a submitted system, or of a scorer, from its start to its result."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from evaluator.sandbox.containers import log_tail
from evaluator.sandbox.containers.container_spec import Job
from evaluator.sandbox.containers.engine import Engine, EngineError
from evaluator.sandbox.containers.output import Output, OutputError, fetch
from evaluator.sandbox.containers.resource_usage import Meter
from evaluator.sandbox.containers.resources import Belongings
from evaluator.sandbox.containers.system_contract import CancelledError, KilledError, SystemResult
from evaluator.sandbox.contract import Verdict

_log = logging.getLogger(__name__)
_DEATH = 8.0  # seconds that a killed container may take to be gone
_ASK = 1.0  # seconds between two questions to the caller
_KILLED = 128 + 9
_NOT_STARTED = (126, 127)  # the engine's statuses for a command that is not there or cannot be run


class Run:
    """One execution, and what is known of it so far."""

    def __init__(
        self,
        engine: Engine,
        job: Job,
        *,
        belongings: Belongings,
        layers: Mapping[str, bool | str],
        probe: Callable[[], bool],
    ) -> None:
        """layers: what the last probe saw. probe: whether another one can be started."""
        self.engine = engine
        self.job = job
        self.limits = job.limits
        self.belongings = belongings
        self.layers = layers
        self.probe = probe
        self.meter = Meter()
        self.timings: dict[str, float] = {}
        self.log, self.log_is_cut = "", False
        self.wall_seconds = 0.0
        self._measurements = ThreadPoolExecutor(1)

    def follow(self, keep_going: Callable[[], bool] | None) -> SystemResult:
        """To the container's end and its output's. Raises SandboxError; `clean_up` must follow, whatever comes."""
        with self._timed("prepare"):
            keeper, working = self.belongings.make()
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
            self.log, self.log_is_cut = log_tail.tail(self.engine.logs(working), int(self.limits.log_bytes))
            return self._judge(state, in_time, keeper)

    def told(self, result: SystemResult, *, image_bytes: int, total_seconds: float) -> SystemResult:
        """The result with what is known only after the cleaning up."""
        known = {"image_bytes": image_bytes, "total_seconds": total_seconds, "timings": dict(self.timings)}
        return SystemResult(**{**vars(result), **known})

    def clean_up(self) -> None:
        """Take away what exists of it on the engine; what that does not let go is the reaper's."""
        with self._timed("clean_up"):
            self.belongings.remove()
        self._measurements.shutdown(wait=False)  # a late one may still be under way

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
                measuring = self._measurements.submit(self._measure, system)
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

    @contextmanager
    def _timed(self, step: str) -> Iterator[None]:
        began = time.monotonic()
        try:
            yield
        finally:
            self.timings[step] = time.monotonic() - began


def _lasted(state: dict[str, Any]) -> float:
    """Seconds by the engine's clock; 0 where it does not tell."""
    try:
        started, finished = (datetime.fromisoformat(str(state[name])) for name in ("StartedAt", "FinishedAt"))
    except (KeyError, ValueError):
        return 0.0
    return max((finished - started).total_seconds(), 0.0)

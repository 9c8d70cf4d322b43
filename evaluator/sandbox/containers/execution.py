"""One execution of a submitted system or a scorer, from its start to its result."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from evaluator.sandbox.containers import engine_refusals, log_tail
from evaluator.sandbox.containers.container_spec import Job
from evaluator.sandbox.containers.engine import Engine, EngineError, EngineTimeoutError
from evaluator.sandbox.containers.engine_refusals import Step
from evaluator.sandbox.containers.output import Output, OutputError, fetch
from evaluator.sandbox.containers.resource_usage import Meter
from evaluator.sandbox.containers.resources import AmbiguousFailureError, Resources, not_started, too_slow
from evaluator.sandbox.containers.system_contract import CancelledError, KilledError, SystemResult
from evaluator.sandbox.contract import Verdict

_log = logging.getLogger(__name__)
_DEATH = 8.0  # seconds that a killed container may take to end
_ENGINES_SHARE = 5.0  # seconds of creating and starting a container that do not count as the submission's
KILLED = 128 + 9
"""Exit status of a container whose first process was killed by SIGKILL."""
POLL_SECONDS = 1.0
"""Seconds between two calls of `keep_going`."""
_NOT_STARTED = (126, 127)  # the engine's statuses for a command that is missing or not executable

KeepGoing = Callable[[], bool]


class Run:
    """One execution of a container: its timings, measurements and log, from which its result is made."""

    def __init__(
        self,
        engine: Engine,
        job: Job,
        *,
        resources: Resources,
        layers: Mapping[str, bool | str],
        image_bytes: int,
        probe: Callable[[], bool],
    ) -> None:
        """Prepare an execution; nothing is created on the engine yet.

        layers: the layers of confinement that the last health check found. image_bytes: the size of the job's image.
        probe: runs the health check again and returns True if it passes.
        """
        self.engine = engine
        self.job = job
        self.limits = job.limits
        self.resources = resources
        self.layers = layers
        self.probe = probe
        self.meter = Meter()
        self.timings: dict[str, float] = {}
        self.log, self.log_is_cut = "", False
        self.wall_seconds = 0.0
        self.image_bytes = image_bytes
        self.holder, self.working = "", ""  # the ids of the two containers
        self._began = self._deadline = 0.0  # monotonic times
        self._in_time = True
        self._refused: SystemResult | None = None  # the result of a container that could not be started
        self._measurements = ThreadPoolExecutor(1)
        self._measuring: Future[None] | None = None

    def to_its_end(self, keep_going: KeepGoing | None, *, began: float) -> SystemResult:
        """Start the containers, wait for the end, copy the output, and remove all that the execution has there.

        keep_going: called about once a second until the end; if it returns False, CancelledError is raised. None: never
        called. began: the monotonic time from which `total_seconds` counts. Raises ImageError, KilledError,
        SandboxError.
        """
        try:
            self._submit(keep_going)
            with self._timed("run"):
                while not self._has_ended():
                    check_needed(self.job, keep_going)
            with self._timed("read"):
                result = self._collect()
        finally:
            with self._timed("clean_up"):
                self._clean_up()
        changes: dict[str, Any] = {"timings": dict(self.timings), "total_seconds": time.monotonic() - began}
        return SystemResult(**{**vars(result), **changes})

    def _submit(self, keep_going: KeepGoing | None) -> None:
        """Create and start the containers. keep_going: as for `to_its_end`."""
        allowed = self.limits.wall_seconds + _ENGINES_SHARE
        try:
            with self._timed("prepare"):
                self.holder, self.working = self.resources.make(
                    create_seconds=allowed, still_needed=lambda: check_needed(self.job, keep_going)
                )
            with self._timed("start"):
                refused = self._start(self.working, allowed - self.resources.create_seconds)
        except AmbiguousFailureError as failure:
            if not self.probe():
                raise
            self.wall_seconds = allowed if failure.verdict is Verdict.TIME else 0.0
            self._refused = self._result(failure.verdict, failure.explanation)
            return
        if refused:
            self._refused = self._result(Verdict.EXIT, refused)
        self.meter.gpus = self.resources.gpu_meter
        if self.meter.gpus is not None:
            self.meter.gpus.begin()
        spent = self.resources.create_seconds + self.timings["start"]
        # What the engine took beyond its share counts towards the time limit.
        self._began = time.monotonic()
        self._deadline = self._began - max(spent - _ENGINES_SHARE, 0.0) + self.limits.wall_seconds

    def _has_ended(self) -> bool:
        """Wait up to POLL_SECONDS for the container's end, and return True if it ended; kill it at its time limit."""
        if self._refused is not None:
            return True
        if self._wait(self.working, min(time.monotonic() + POLL_SECONDS, self._deadline)):
            return True
        if time.monotonic() < self._deadline:
            return False
        self._in_time = False
        self._kill(self.working)
        return True

    def _collect(self) -> SystemResult:
        """Copy the output of the ended container and return the result. Raises SandboxError."""
        if self._refused is not None:
            return self._refused
        state = self.engine.state(self.working)
        self.wall_seconds = _lasted(state) or time.monotonic() - self._began
        self.log, self.log_is_cut = log_tail.tail(self.engine.logs(self.working), int(self.limits.log_bytes))
        return self._judge(state, self.holder)

    def _clean_up(self) -> None:
        """Remove the execution's containers and volumes; what cannot be removed is left to the reaper."""
        self.resources.remove()
        self._measurements.shutdown(wait=False)  # the last one may still be in progress

    def _start(self, system: str, seconds: float) -> str:
        """Start the container. Return an empty string, or the reason why the image could not be started.

        system: the container's id. Raises AmbiguousFailureError if either the image or the engine may be at fault:
        engines report a WORKDIR that is not a folder and a broken runtime in the same words, and a start may take
        longer than `seconds` for many reasons. Raises EngineError for any other failure.
        """
        try:
            self.engine.start(system, seconds)
        except EngineTimeoutError as problem:
            raise too_slow(problem, self.limits.wall_seconds) from None
        except EngineError as problem:
            code = self.engine.state(system).get("ExitCode")
            _log.info("%s could not be started: %s", self.job.execution_id, problem.engine_message[:300])
            if code in _NOT_STARTED:
                return "its command could not be started: it does not exist, or the user nobody may not execute it"
            refusal = engine_refusals.find(Step.START, problem)
            if refusal is None:
                raise
            if refusal.is_ambiguous:
                raise not_started(problem, refusal.reason) from None
            return f"its container could not be started: {refusal.reason}"
        return ""

    def _wait(self, system: str, until: float) -> bool:
        """Wait for the container's end, at most until a monotonic time; return True if it ended.

        Meanwhile, the container's resource usage is measured. system: the container's id.
        """
        while (left := until - (now := time.monotonic())) > 0:
            if self.engine.wait(system, min(left, self.meter.gap)):
                return True
            if time.monotonic() - now < min(left, self.meter.gap) / 2:
                self.engine.inspect(system)  # the wait broke off early: raises if the engine is gone
            if self._measuring is None or self._measuring.done():
                if self._measuring:
                    self._measuring.result()
                self._measuring = self._measurements.submit(self._measure, system)
        return False

    def _kill(self, system: str) -> None:
        self.engine.kill(system)
        if not self.engine.wait(system, _DEATH):
            raise EngineError(f"a killed container still exists after {_DEATH:g} seconds")

    def _measure(self, system: str) -> None:
        """Sample the container's resource usage. system: the container's id.

        This runs in a thread, so that the end of the container is noticed while the engine computes a sample (a
        second).
        """
        self.meter.look(self.engine.stats(system))

    def _judge(self, state: dict[str, Any], holder: str) -> SystemResult:
        code = int(state.get("ExitCode") or 0)
        verdict, explanation = self._verdict(code, is_out_of_memory=bool(state.get("OOMKilled")))
        if verdict is not Verdict.DONE:
            return self._result(verdict, explanation, None if verdict is Verdict.TIME else code)
        if state.get("Error"):
            raise EngineError("the engine lost a container", engine_message=str(state["Error"]))
        try:
            outputs = [output for expected in self.job.output_files if (output := fetch(self.engine, holder, expected))]
        except OutputError as problem:
            # The volume holder keeps the output in memory: if it has ended, the loss is not the author's fault.
            if not self.engine.state(holder).get("Running"):
                raise EngineError("the container that holds the output no longer exists") from None
            return self._result(Verdict.OUTPUT, str(problem), code)
        return self._result(Verdict.DONE, "", code, outputs)

    def _verdict(self, code: int, *, is_out_of_memory: bool) -> tuple[Verdict, str]:
        """Return (verdict on the ended container, explanation for the image's author).

        The verdict DONE means that the output is to be read. code: the exit status. is_out_of_memory: True if one of
        the container's processes was killed because memory was short; the container may have gone on. Raises
        KilledError.
        """
        if not self._in_time:
            return Verdict.TIME, f"it was stopped at its limit of {self.limits.wall_seconds:g} seconds"
        if code and is_out_of_memory:
            return Verdict.MEMORY, f"it needed more than {self.limits.memory_bytes} bytes of memory"
        if code == KILLED:
            # Neither killed by us nor out of memory. A program cannot kill the first process of its own namespace, but
            # that process may exit with this status itself, which the engine does not distinguish.
            raise KilledError(
                f"the container of {self.job.execution_id} was killed from outside, or exited with status {KILLED}"
            )
        return (Verdict.EXIT, "it ended with a non-zero exit status") if code else (Verdict.DONE, "")

    def _result(
        self, verdict: Verdict, explanation: str, code: int | None = None, outputs: Sequence[Output] = ()
    ) -> SystemResult:
        first = outputs[0] if outputs else Output("", 0, "")
        return SystemResult(
            verdict=verdict,
            explanation=explanation,
            output_name=first.name,
            output_bytes=first.size,
            output_sha256=first.sha256,
            outputs={output.name: output.size for output in outputs},
            exit_code=code,
            wall_seconds=self.wall_seconds,
            timings=dict(self.timings),
            usage=self.meter.usage(),
            image_bytes=self.image_bytes,
            log=self.log,
            log_is_cut=self.log_is_cut,
            layers=self.layers,
            gpus=tuple(gpu.name for gpu in self.resources.gpus),
        )

    @contextmanager
    def _timed(self, step: str) -> Iterator[None]:
        began = time.monotonic()
        try:
            yield
        finally:
            self.timings[step] = time.monotonic() - began


def check_needed(job: Job, keep_going: KeepGoing | None) -> None:
    """Call `keep_going`, and raise CancelledError if it returns False, since the caller no longer needs the job.

    keep_going: None: nothing is called or raised.
    """
    if keep_going and not keep_going():
        raise CancelledError(f"execution {job.execution_id} was cancelled")


def _lasted(state: dict[str, Any]) -> float:
    """Return a container's duration in seconds by the engine's clock; 0 if unknown. state: the engine's `State`."""
    started, finished = (_moment(state, name) for name in ("StartedAt", "FinishedAt"))
    return max((finished - started).total_seconds(), 0.0) if started and finished else 0.0


def _moment(state: dict[str, Any], name: str) -> datetime | None:
    """Return the time in the field `name` of a container's state; None if it is missing or in year 1 (not yet set)."""
    try:
        moment = datetime.fromisoformat(str(state[name]))
    except (KeyError, ValueError):
        return None
    return moment if moment.year > 1 else None

"""Interface of the engines that run containers: a job is submitted, polled and collected, or cancelled.

A job goes through these states, and never back:

    ABSENT ── submit ──▶ PENDING ──▶ RUNNING ──▶ ENDED ── cancel ──▶ ABSENT

`submit` returns when the backend has the job's input files, so the caller may close them. PENDING is for a backend
with a queue of its own; Docker and Podman start the container within `submit`. `collect` copies the output of an ended
job and may be repeated. `cancel` ends a job in any state and removes all that it left, also after `collect`.

The caller names a job (`Job.execution_id`), and the backend finds it again by this name. So after the death of the
worker that submitted a job, another worker that reaches the same engine polls and collects it, or cancels it and
submits it anew under another name. A job that nobody cancels is removed by `reap` after its deadline.

Errors, by whose fault they are:

    ImageError        its author's: the image must not be run. A retry fails again.
    UsageError        the request's: it asks for what this backend does not have. A retry fails again here.
    KilledError       unknown: killed from outside, or the job chose this exit status. The caller limits retries.
    CancelledError    nobody's: `keep_going` returned False.
    JobExistsError    the caller's: it submitted a name twice. Cancel the job, or poll and collect it.
    JobMissingError   the platform's: nobody has submitted this job here, or it was removed. Submit it (again).
    ImageMissingError the platform's: load or pull the image (again), and submit the job.
    GpusBusyError     nobody's: other jobs have the GPUs. Submit the job later.
    SandboxError      the platform's: the engine failed, is gone, or cannot keep a promise. Submit the job again.

A failure of the job's own program is none of these errors: it is the verdict of its result.
"""

from __future__ import annotations

import enum
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping
from typing import Any, BinaryIO

import msgspec

from evaluator.errors import SandboxError, UsageError
from evaluator.sandbox.containers import container_spec
from evaluator.sandbox.containers.container_spec import Job
from evaluator.sandbox.containers.gpu import Gpus
from evaluator.sandbox.containers.image_reader import ImageArchive
from evaluator.sandbox.containers.scorer_contract import ScorerExecution
from evaluator.sandbox.containers.system_contract import CancelledError, LoadedImage, SystemExecution, SystemResult
from evaluator.sandbox.openfile import check_readable

POLL_SECONDS = 1.0
"""How long one `poll` waits for a job's end, and so the seconds between calls of `keep_going`."""

LOAD_SECONDS = 600.0
"""Default limit of the time in which an engine loads an image."""

KeepGoing = Callable[[], bool]


class JobState(enum.StrEnum):
    """State of a job on its backend. Only an ENDED job can be collected."""

    ABSENT = "absent"  # never submitted here, or cancelled, or its worker died within `submit`: cancel it
    PENDING = "pending"  # submitted; its container does not run yet
    RUNNING = "running"
    ENDED = "ended"


class JobStatus(msgspec.Struct, frozen=True, kw_only=True):
    """Status of a job, as `poll` returns it. running_seconds: since the container's start; 0 unless it is RUNNING."""

    state: JobState
    running_seconds: float = 0.0


class Promise(enum.StrEnum):
    """The guarantees for every container, as `docs/sandbox.md` lists them."""

    NETWORK = "network"  # a loopback of its own and nothing else
    ROOT = "root"  # the root is read-only, and nothing of the host is mounted
    PRIVILEGES = "privileges"  # nobody, no capability, no new privileges, namespaces of its own
    SECCOMP = "seccomp"  # Holdout's own list of system calls
    MEMORY = "memory"  # without swap, and including /tmp and /output
    CPUS = "cpus"
    PROCESSES = "processes"
    TIME = "time"  # SIGKILL at the limit of wall time
    OUTPUT = "output"  # bytes and files in /output, and in /tmp
    LOG = "log"  # limited on the host's disk, and its end is retained
    RUNTIME = "runtime"  # containers run under the configured runtime and no other
    LOAD = "load"  # what an engine unpacks is limited in bytes and in time


class JobExistsError(SandboxError):
    """The backend already has a job of this name. The caller submitted it twice."""


class JobMissingError(SandboxError):
    """The backend does not have this job (any more), or the worker that submitted it died before the job started."""


class ContainerBackend(ABC):
    """An engine that runs jobs in containers. Threads may share the object.

    broken: promise that this backend cannot keep -> the reason. waived: promises that the operator does not require
    (HOLDOUT_ENGINE_WAIVED). If a broken promise is not waived, no container is run.
    """

    broken: Mapping[Promise, str] = {}
    gpus: Gpus = Gpus()
    """The GPUs that this backend offers to systems; by default none."""
    waived: frozenset[Promise] = frozenset()

    # Jobs

    @abstractmethod
    def submit(self, job: Job, *, keep_going: KeepGoing | None = None) -> None:
        """Give a job to the engine, with its input files.

        keep_going: called about once a second until the job is submitted; if it returns False, the job is cancelled.
        None: never called. Raises ImageError, UsageError, JobExistsError, ImageMissingError, CancelledError and
        SandboxError; then nothing of the job is left. If the engine cannot start the image, the job may also be
        submitted and have ended.
        """

    @abstractmethod
    def poll(self, job: Job, *, seconds: float = 0.0) -> JobStatus:
        """Return the job's status, after waiting up to `seconds` for its end.

        A running job is ended at its time limit by the engine, or by `poll` itself, which therefore has to be called in
        time. Raises SandboxError.
        """

    @abstractmethod
    def collect(self, job: Job) -> SystemResult:
        """Copy an ended job's output files into those of `job.output_files`, and return the result.

        At most `job.limits.output_bytes` are written; the copied files are valid only if the verdict is DONE. Raises
        JobMissingError unless the job has ended, KilledError, SandboxError.
        """

    @abstractmethod
    def cancel(self, name: str) -> bool:
        """Kill a job and remove all that it has on the engine. Return False if it has nothing there.

        name: the job's `execution_id`. What cannot be removed is left to `reap`. Raises SandboxError if the engine does
        not respond.
        """

    @abstractmethod
    def reap(
        self, *, keep: frozenset[str] | Callable[[], frozenset[str]] = frozenset(), min_age_seconds: float = 60.0
    ) -> list[str]:
        """Remove the jobs of dead workers: all that carry this site's name on the engine, except those in `keep`.

        keep: names of jobs, or a function that returns them. The function is called after the engine has been queried.
        So it protects a job if it returns the job's name already before the job is submitted. After its deadline a job
        is removed even if it is in `keep`. min_age_seconds: younger jobs stay, unless they are past their deadline. It
        may be 0 if no worker of this site runs, or if `keep` is such a function. Returns descriptions of the removed
        containers and volumes. Raises SandboxError.
        """

    # Images

    @abstractmethod
    def load(self, archive: ImageArchive) -> LoadedImage:
        """Load an image that `image_reader.read_image` has read. Loading it twice is harmless; no tag is set or moved.

        Raises SandboxError; ImageError if the loaded image differs from the archive's config, or if a healthy engine
        does not load it within the time limit for loading.
        """

    @abstractmethod
    def pull(self, reference: str) -> LoadedImage:
        """Pull the image `registry/name@sha256:...` from an allowed registry.

        The engine unpacks the layers before their sizes are checked, so only trusted registries should be allowed.
        Raises ImageError if the image must not be run or cannot be found; UsageError if this backend pulls no images;
        SandboxError.
        """

    @abstractmethod
    def images(self) -> frozenset[str]:
        """Return the ids of all images on the engine, also of images that others have loaded. Raises SandboxError."""

    @abstractmethod
    def forget(self, image: str) -> bool:
        """Remove an image by its id. Return False if it is missing, in use, or has a tag (this class sets none)."""

    # The engine

    @abstractmethod
    def layers(self) -> Mapping[str, bool | str]:
        """Run the health check: start a container confined like a system's, and inspect it.

        Return layer of confinement -> True if it is active, False if not; for the layer `runtime`, the runtime's name.

        Raises SandboxError if a required layer or the runtime is missing, if a promise is broken that is not waived, or
        if the engine fails.
        """

    @abstractmethod
    def check(self) -> None:
        """Raise SandboxError unless the engine responds and has passed the health check of `layers`.

        The health check is run only if it has not passed since this object was created or the engine last failed.
        """

    @property
    @abstractmethod
    def processors(self) -> float:
        """The maximum number of processors that a job may request. Raises SandboxError."""

    @property
    @abstractmethod
    def memory_bytes(self) -> int:
        """The memory of the engine's machine, in bytes. Raises SandboxError."""

    @property
    @abstractmethod
    def root_folder(self) -> str:
        """The folder on the engine's machine in which the engine keeps images and containers. Raises SandboxError."""

    # The same for all backends

    def run(
        self, execution: SystemExecution, predictions: BinaryIO, *, keep_going: KeepGoing | None = None
    ) -> SystemResult:
        """Run a system to its end and write its predictions file, unchanged, to `predictions`.

        At most `output_bytes` are written; the predictions are valid only if the verdict is DONE. keep_going: called
        about once a second while the container runs (for example to renew a lease); if it returns False, the execution
        is cancelled. None: never called.

        Raises errors as `submit` and `collect` do. In any case all containers and volumes of the execution are removed,
        unless the engine itself is gone; then `reap` removes them later.
        """
        return self.run_job(container_spec.of_system(execution, predictions), keep_going)

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
        return self.run_job(container_spec.of_scorer(execution, scores, outcomes), keep_going)

    def run_job(self, job: Job, keep_going: KeepGoing | None = None) -> SystemResult:
        """Submit a job, wait for its end, and return its result.

        Raises errors as `submit` and `follow` do. keep_going: as for `run`.
        """
        began = time.monotonic()
        self.submit(job, keep_going=keep_going)
        return self.follow(job, keep_going, began=began)

    def follow(self, job: Job, keep_going: KeepGoing | None = None, *, began: float | None = None) -> SystemResult:
        """Wait for the end of a job that this or another worker has submitted; remove it and return its result.

        keep_going: as for `run`. began: the monotonic time at which the job was submitted; None: now. Raises errors as
        `collect` does, CancelledError and SandboxError; the job is removed in any case.
        """
        now = time.monotonic()
        began = now if began is None else began
        timings: dict[str, float] = {}
        try:
            while (state := self.poll(job, seconds=POLL_SECONDS).state) is not JobState.ENDED:
                if state is JobState.ABSENT:
                    raise JobMissingError(f"the engine has no container of job {job.execution_id} any more")
                check_needed(job, keep_going)
            timings["run"], now = time.monotonic() - now, time.monotonic()
            result = self.collect(job)
            timings["read"], now = time.monotonic() - now, time.monotonic()
        finally:
            self.cancel(job.execution_id)
        timings["clean_up"] = time.monotonic() - now
        changes: dict[str, Any] = {
            "timings": {**result.timings, **timings},
            "total_seconds": time.monotonic() - began,
        }
        return SystemResult(**{**vars(result), **changes})

    def is_well(self) -> bool:
        """Run the health check again, and return True if it passes."""
        try:
            return bool(self.layers())
        except SandboxError:
            return False

    def check_job(self, job: Job) -> None:
        """Raise UsageError if a job requests too many processors, SandboxError if an input file is not readable."""
        if job.limits.cpus > self.processors:
            raise UsageError(f"{job.limits.cpus:g} CPUs are requested, but the engine has {self.processors:g}")
        try:
            for name, descriptor in job.descriptors.items():
                check_readable(name, descriptor)
        except ValueError as problem:
            raise SandboxError(f"invalid execution: {problem}") from None

    def check_promises(self) -> None:
        """Raise SandboxError if this backend breaks a promise that the operator has not waived."""
        broken = [f"{name} ({why})" for name, why in self.broken.items() if name not in self.waived]
        if broken:
            raise SandboxError(
                f"this engine cannot keep what docs/sandbox.md promises: {'; '.join(broken)}. No container is run here "
                "unless the operator waives these promises (HOLDOUT_ENGINE_WAIVED)"
            )

    def waivers(self) -> dict[str, bool | str]:
        """Return the promises that this backend breaks, for the layers of a result: "without_" and the name -> True."""
        return {f"without_{name}": True for name in self.broken}


def check_needed(job: Job, keep_going: KeepGoing | None) -> None:
    """Call `keep_going`, and raise CancelledError if it returns False, since the caller no longer needs the job.

    keep_going: None: nothing is called or raised.
    """
    if keep_going and not keep_going():
        raise CancelledError(f"execution {job.execution_id} was cancelled")


def waived_promises(names: Collection[str]) -> frozenset[Promise]:
    """Return the promises with these names, which the operator waives. Raises ValueError for an unknown name."""
    known = [str(promise) for promise in Promise]
    for name in names:
        if name not in known:
            raise ValueError(f"the unknown promise {name!r}, expected one of: {', '.join(known)}")
    return frozenset(Promise(name) for name in names)

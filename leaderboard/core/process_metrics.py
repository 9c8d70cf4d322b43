"""Counters and histograms of the site's processes, whose sums over all processes of a host `/metrics` shows.

The processes of one host write to memory-mapped files in settings.METRICS_FOLDER (prometheus_client's multiprocess
mode). A slot is a number in the names of a process's files, in place of the process id: a process takes the lowest slot
that no living process has locked, and adds to the values in its files. So a counter never decreases when a process
dies, there are never more slots than processes that ran at the same time, and containers with equal process ids can
share the folder.

A label of a metric has few values, and never the name of a user, a benchmark or a system.
"""

from __future__ import annotations

import fcntl
import os
import tempfile
from pathlib import Path

import structlog
from django.conf import settings
from prometheus_client import CollectorRegistry, Counter, Histogram, values
from prometheus_client.mmap_dict import MmapedDict
from prometheus_client.multiprocess import MultiProcessCollector

log = structlog.get_logger(__name__)
_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
"""Environment variable in which prometheus_client looks up the folder."""
FILE_BYTES = {"counter": 1 << 18, "histogram": 1 << 20}
"""Size of a slot's file for each type of metric.

It is allocated at once: on a disk that is full, writing to a page without space would end the process.
"""


class Slot:
    """The slot of the current process: the number in the names of the metrics files to which the process writes.

    A process takes a slot at its first call; a forked child takes another slot than its parent.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._pid = 0
        self._lock = -1
        self._number = ""

    def __call__(self) -> str:
        """Return the number of this process's slot as text; a process's first call takes the slot.

        If the folder is not usable, the process writes to a temporary folder that `/metrics` does not read.
        """
        if self._pid != os.getpid():
            try:
                self.take()
            except OSError as error:
                # The caller only counts something: it must not fail. The values of this process are not published.
                log.warning("metrics_folder_unusable", error=type(error).__name__)
                os.environ[_VARIABLE] = tempfile.mkdtemp(dir="/dev/shm")
                self._pid = os.getpid()
        return self._number

    def take(self) -> None:
        """Lock the lowest free slot for this process, and prepare its files. Raises OSError for an unusable folder."""
        if self._lock >= 0:
            os.close(self._lock)  # the parent's: it stays locked, because the parent has a descriptor too
            self._lock = -1
        number = 0
        while True:
            lock = os.open(self._folder / f"{number}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(lock)
                number += 1
            else:
                break
        self._lock, self._number, self._pid = lock, str(number), os.getpid()
        for kind, n_bytes in FILE_BYTES.items():
            _prepare(self._folder / f"{kind}_{number}.db", n_bytes)


def _prepare(path: Path, n_bytes: int) -> None:
    """Allocate a metrics file of `n_bytes` bytes; first delete an existing one that a crash has left unreadable."""
    if path.exists():
        try:
            for _ in MmapedDict.read_all_values_from_file(str(path)):
                pass
        except Exception as error:  # noqa: BLE001  whatever the parser makes of a damaged file
            log.warning("metrics_file_damaged", error=type(error).__name__)
            path.unlink()
    with path.open("ab") as file:
        os.posix_fallocate(file.fileno(), 0, n_bytes)


def _use_folder(folder: Path) -> bool:
    """Make this module store its metrics in files of the folder; return False if the folder is not usable."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        slot = Slot(folder)
        slot.take()
    except OSError as error:
        log.warning("metrics_folder_unusable", error=type(error).__name__)
        return False
    os.environ[_VARIABLE] = str(folder)
    values.ValueClass = values.MultiProcessValue(slot)
    return True


_IN_FILES = _use_folder(settings.METRICS_FOLDER)
_OWN = CollectorRegistry()

REQUESTS = Counter(
    "holdout_http_requests", "Requests by view and class of the status.", ["view", "method", "status"], registry=_OWN
)
REQUEST_SECONDS = Histogram(
    "holdout_http_request_seconds",
    "Duration of requests, from when they were received whole until the response began.",
    ["view"],
    buckets=(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30),
    registry=_OWN,
)
SANDBOX_RESULTS = Counter(
    "holdout_sandbox_jobs",
    "Sandbox jobs by result; unavailable: no server answered.",
    ["operation", "result"],
    registry=_OWN,
)
SANDBOX_WAIT_SECONDS = Histogram(
    "holdout_sandbox_wait_seconds",
    "Time until the sandbox server had a confined process ready for a job.",
    ["operation"],
    buckets=(0.01, 0.05, 0.1, 0.5, 1, 2, 5, 10, 30, 60),
    registry=_OWN,
)
SANDBOX_SECONDS = Histogram(
    "holdout_sandbox_seconds",
    "Wall time of sandbox jobs, with the wait.",
    ["operation"],
    buckets=(0.05, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 600),
    registry=_OWN,
)
JOB_WAIT_SECONDS = Histogram(
    "holdout_job_wait_seconds",
    "Time from when background work was queued until it was first claimed.",
    ["kind"],
    buckets=(0.1, 0.5, 1, 2, 5, 10, 30, 60, 300, 600, 3600),
    registry=_OWN,
)
ATTEMPT_SECONDS = Histogram(
    "holdout_attempt_seconds",
    "Duration of attempts at background work.",
    ["kind"],
    buckets=(0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 600, 3600),
    registry=_OWN,
)
ATTEMPTS = Counter(
    "holdout_attempts",
    "Attempts at background work: ended by the work, by an error, or without effect because the lease was lost.",
    ["kind", "outcome"],
    registry=_OWN,
)
REPEATED_ATTEMPTS = Counter(
    "holdout_repeated_attempts", "Attempts at background work after the first one.", ["kind"], registry=_OWN
)
EXPIRED_LEASES = Counter(
    "holdout_expired_leases",
    "Leases that the sweep took from workers that did not renew them.",
    ["kind"],
    registry=_OWN,
)
PUBLISH_SECONDS = Histogram(
    "holdout_publish_seconds",
    "Duration of the transaction that stores a run's scores and releases them, with the wait for its lock.",
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30),
    registry=_OWN,
)
RANKING_SECONDS = Histogram(
    "holdout_ranking_seconds",
    "Duration of the transaction that includes new releases in a phase's boards.",
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30),
    registry=_OWN,
)
LOCK_SECONDS = Histogram(
    "holdout_lock_wait_seconds",
    "Wait for the lock of a row: a phase's for publishing, a split's for receiving submissions.",
    ["lock"],
    buckets=(0.001, 0.005, 0.025, 0.1, 0.5, 1, 5, 30, 60),
    registry=_OWN,
)


def registry() -> CollectorRegistry:
    """Return a registry with the sums over all processes of this host; only of this one if the folder is not usable."""
    if not _IN_FILES:
        return _OWN
    summed = CollectorRegistry()
    MultiProcessCollector(summed, path=str(settings.METRICS_FOLDER))
    return summed


def n_processes() -> int:
    """Return the number of processes on this host that have a slot now."""
    n = 0
    for path in settings.METRICS_FOLDER.glob("*.lock"):
        with path.open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                n += 1
    return n

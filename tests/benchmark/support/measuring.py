"""Measures time and memory of a function in a separate process, for the benchmarks' output."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from django.db import connection

SIZES = (1, 4, 16)


class Timer:
    """Wall and processor seconds, and the megabytes that the work adds at its peak.

    Processor seconds vary less on a machine that does other work too.
    """

    def __enter__(self):
        Path("/proc/self/clear_refs").write_text("5")  # resets the peak
        self._held = megabytes("VmRSS")
        self._begin = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *_):
        now = time.perf_counter(), time.process_time()
        self.wall, self.processor = (end - begin for end, begin in zip(now, self._begin, strict=True))
        self.memory = max(megabytes("VmHWM") - self._held, 0)

    def __str__(self):
        return f"{self.wall:.3f} s, processor {self.processor:.3f} s, peak memory +{self.memory:.0f} MB"


def megabytes(name: str) -> float:
    """Return VmRSS or VmHWM: the memory of this process, or its peak, in MB."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition(f"{name}:")[2].split()[0]) / 1024


def database_cpu() -> float:
    """Return the processor seconds of all processes that a local PostgreSQL server has started; 0 on SQLite."""
    if connection.vendor != "postgresql":
        return 0.0
    connection.ensure_connection()
    server = int(_stat(connection.connection.info.backend_pid)[1])  # the parent process
    ended = sum(int(ticks) for ticks in _stat(server)[13:15]) / os.sysconf("SC_CLK_TCK")
    running = 0
    for pid in Path(f"/proc/{server}/task/{server}/children").read_text().split():
        with suppress(OSError):  # it has ended
            running += int(Path(f"/proc/{pid}/schedstat").read_text().split()[0])
    return ended + running / 1e9


def _stat(pid: int) -> list[str]:
    """Return the fields of /proc/PID/stat that follow the name in parentheses."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def timed(work: Callable[[], object]) -> Timer:
    with Timer() as timer:
        work()
    return timer


def compared(ours: Callable[[], object], theirs: Callable[[], object], times: int = 5) -> str:
    """Return how many times as long `theirs` takes, by medians of runs that alternate, under the same load."""
    pairs = [(timed(ours).processor, timed(theirs).processor) for _ in range(times)]
    one, other = (statistics.median(runs) for runs in zip(*pairs, strict=True))
    each = sorted(slow / fast for fast, slow in pairs)
    return (
        f"processor {one:.3f} s and {other:.3f} s, medians of {times} alternating runs: {other / one:.1f} times "
        f"(single pairs {each[0]:.1f} to {each[-1]:.1f})"
    )


def median(work: Callable[[], object], times: int = 5) -> Timer:
    """Return the median run by processor time, with the largest memory of all runs."""
    runs = sorted((timed(work) for _ in range(times)), key=lambda run: run.processor)
    middle = runs[times // 2]
    middle.memory = max(run.memory for run in runs)
    return middle


def grown(timer: Timer, first: Timer, size: int) -> str:
    """Return a line for `size` times the data, compared with the first."""
    return f"{size:2}x: {timer} ({timer.processor / first.processor:.1f} times the time of 1x)"

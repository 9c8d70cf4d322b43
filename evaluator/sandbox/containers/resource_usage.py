"""Resource usage of a container, sampled while it runs, since its control group disappears when it ends."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from evaluator.sandbox.containers.gpu import GpuMeter
from evaluator.sandbox.containers.system_contract import Usage

_FIRST_GAP, _MOST_GAP = 0.05, 1.0


class Meter:
    """Samples of a container's resource usage.

    gap: seconds until the next sample is due, growing from 0.05 to 1. gpus: the meter of the container's GPUs, if it
    has any.
    """

    def __init__(self) -> None:
        self.gap = _FIRST_GAP
        self.gpus: GpuMeter | None = None
        self._cpu: float | None = None
        self._peak: int | None = None
        self._sampled = False
        self._samples = 0
        self._last = time.monotonic()

    def look(self, stats: Mapping[str, Any]) -> None:
        """Add a sample. stats: the engine's statistics of the container; if they have no figures, they are ignored."""
        self.gap = min(self.gap * 2, _MOST_GAP)
        if self.gpus is not None:
            self.gpus.look()
        memory = stats.get("memory_stats") or {}
        nanoseconds = ((stats.get("cpu_stats") or {}).get("cpu_usage") or {}).get("total_usage")
        if not nanoseconds or not memory.get("usage"):
            return
        self._last = time.monotonic()
        self._samples += 1
        self._cpu = max(self._cpu or 0.0, nanoseconds / 1e9)
        self._sampled = not memory.get("max_usage")  # cgroup 2: the engine does not report memory.peak
        self._peak = max(self._peak or 0, memory.get("max_usage") or memory["usage"])

    def usage(self) -> Usage:
        """Return the usage so far. To be called when the container has ended."""
        return Usage(
            cpu_seconds=self._cpu,
            peak_memory_bytes=self._peak,
            peak_is_sampled=self._sampled,
            samples=self._samples,
            gap_seconds=time.monotonic() - self._last if self._samples else 0.0,
            gpu_seconds=self.gpus.busy_seconds if self.gpus else None,
            peak_gpu_memory_bytes=self.gpus.peak_memory_bytes if self.gpus else None,
        )

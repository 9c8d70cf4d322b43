"""Container limits as text for pages."""

from __future__ import annotations

from dataclasses import dataclass

from leaderboard.evaluation import container_limits
from leaderboard.models import Phase

UNITS = ((1_000_000_000, "GB"), (1_000_000, "MB"), (1000, "kB"))


@dataclass(frozen=True)
class LimitRow:
    """One limit as a table row: its name, its value with a unit, and `about`, what the limit applies to."""

    name: str
    value: str
    about: str


def rows(allowed: container_limits.ContainerLimits) -> list[LimitRow]:
    """Return one row for each limit of a container; GPUs have a row only if the container may use any."""
    limit_rows = [
        LimitRow("Time", duration(allowed.wall_seconds), "from start to end; then the container is killed"),
        LimitRow("Memory", size(allowed.memory_bytes), "including files in /tmp and /output; there is no swap"),
        LimitRow("Processors", f"{allowed.cpus:g}", "in parallel"),
        LimitRow("Processes", f"{allowed.processes:,}", "processes and threads at the same time"),
        LimitRow("Image", size(allowed.image_bytes), "unpacked layers; also the limit for the archive"),
        LimitRow("Output", size(allowed.output_bytes), f"in at most {allowed.output_files:,} files"),
        LimitRow("Log", size(allowed.log_bytes), "the end of the container's output is stored"),
    ]
    if allowed.gpus:
        memory = f" \N{MULTIPLICATION SIGN} {allowed.gpu_memory_gb:,} GB" if allowed.gpu_memory_gb else ""
        limit_rows.append(LimitRow("GPUs", f"{allowed.gpus}{memory}", "at least; no other container uses them"))
    return limit_rows


def of(phase: Phase) -> list[LimitRow]:
    """Return a table row for each limit of the containers submitted to a phase."""
    return rows(container_limits.of(phase))


def size(number: float) -> str:
    """Format a number of bytes in decimal units with three significant digits: `4 GB`, `1.05 MB`.

    js/image-upload.js formats sizes in the same way.
    """
    rounded = float(f"{number:.3g}")  # 999,900 bytes are 1 MB, not 1,000 kB
    for unit, name in UNITS:
        if rounded >= unit:
            return f"{rounded / unit:.3g} {name}" if rounded < 1000 * unit else f"{number / unit:,.0f} {name}"
    return f"{number:.0f} byte{'' if number == 1 else 's'}"


def duration(seconds: float) -> str:
    """Format seconds: `600 s (10 min)`. The minutes are added only if they are a whole number greater than one."""
    minutes, rest = divmod(seconds, 60)
    return f"{seconds:,g} s ({minutes:g} min)" if minutes > 1 and not rest else f"{seconds:,g} s"

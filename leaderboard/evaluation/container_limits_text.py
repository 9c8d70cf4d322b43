"""A container's limits as people read them."""

from __future__ import annotations

from dataclasses import dataclass

from leaderboard.evaluation import container_limits
from leaderboard.models import Phase

UNITS = ((1_000_000_000, "GB"), (1_000_000, "MB"), (1000, "kB"))


@dataclass(frozen=True)
class LimitRow:
    """One limit: its name, its value with the unit, and what happens there."""

    name: str
    value: str
    about: str


def rows(allowed: container_limits.ContainerLimits) -> list[LimitRow]:
    """Every limit that a container of this phase meets."""
    found = [
        LimitRow("Time", duration(allowed.wall_seconds), "from its start to its end; then it is killed"),
        LimitRow("Memory", size(allowed.memory_bytes), "what it writes to /tmp and /output counts; there is no swap"),
        LimitRow("Processors", f"{allowed.cpus:g}", "at a time"),
        LimitRow("Processes", f"{allowed.processes:,}", "and threads, at a time"),
        LimitRow("Image", size(allowed.image_bytes), "its layers unpacked; the archive may not be larger either"),
        LimitRow("Output", size(allowed.output_bytes), f"in at most {allowed.output_files:,} files"),
        LimitRow("Log", size(allowed.log_bytes), "the end of what it prints is kept"),
    ]
    if allowed.gpus:
        found.append(LimitRow("GPUs", f"{allowed.gpus}", "it runs on a worker that has them"))
    return found


def of(phase: Phase) -> list[LimitRow]:
    """The limits of a phase's containers."""
    return rows(container_limits.of(phase))


def size(number: float) -> str:
    """Bytes in decimal units, to three digits: `4 GB`, `1.05 MB`. js/image-upload.js says them the same way."""
    rounded = float(f"{number:.3g}")  # 999,900 bytes are 1 MB, not 1,000 kB
    for unit, name in UNITS:
        if rounded >= unit:
            return f"{rounded / unit:.3g} {name}" if rounded < 1000 * unit else f"{number / unit:,.0f} {name}"
    return f"{number:.0f} byte{'' if number == 1 else 's'}"


def duration(seconds: float) -> str:
    """`600 s (10 min)`; minutes only where they are whole."""
    whole, rest = divmod(seconds, 60)
    return f"{seconds:,g} s ({whole:g} min)" if whole > 1 and not rest else f"{seconds:,g} s"

"""A container's limits as people read them."""

from __future__ import annotations

from dataclasses import dataclass

from leaderboard import limits
from leaderboard.models import Phase

UNITS = ((1_000_000_000, "GB"), (1_000_000, "MB"), (1000, "kB"))


@dataclass(frozen=True)
class LimitRow:
    """One limit: its name, its value with the unit, and what happens there."""

    name: str
    value: str
    about: str


def rows(allowed: limits.ContainerLimits) -> list[LimitRow]:
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
    return rows(limits.of(phase))


def size(number: float) -> str:
    """Bytes in decimal units, to three digits: `4 GB`, `1.05 MB`."""
    for unit, name in UNITS:
        if number >= unit:
            return f"{number / unit:.3g} {name}" if number < 1000 * unit else f"{number / unit:,.0f} {name}"
    return f"{number:.0f} bytes"


def duration(seconds: float) -> str:
    """`600 s (10 min)`; minutes only where they are whole."""
    whole, rest = divmod(seconds, 60)
    return f"{seconds:,g} s ({whole:g} min)" if whole > 1 and not rest else f"{seconds:,g} s"

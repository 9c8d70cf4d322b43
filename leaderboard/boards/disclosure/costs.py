"""Published costs of containers, rounded up to coarse steps: an exact time could reveal hidden inputs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from leaderboard.models import Prediction

MB = 1_000_000


@dataclass(frozen=True)
class Cost:
    """Cost of a container execution: seconds and MB (10**6 bytes), rounded up by `step`; None: not measured."""

    wall_seconds: float | None = None
    cpu_seconds: float | None = None
    memory_mb: float | None = None
    image_mb: float | None = None
    gpu_seconds: float | None = None
    gpu_memory_mb: float | None = None

    def as_dict(self) -> dict[str, float | None]:
        """Return {kind of cost: cost}; kinds of GPU costs are left out if unknown, since most phases use no GPUs."""
        return {kind: value for kind, value in asdict(self).items() if value is not None or kind not in OF_GPUS}

    @property
    def is_known(self) -> bool:
        return any(value is not None for value in self.as_dict().values())


OF_GPUS = ("gpu_seconds", "gpu_memory_mb")
"""Kinds of cost that only containers with GPUs have."""
KINDS = tuple(field.name for field in fields(Cost))
"""Names of the kinds of cost, in the order of a board's columns."""


def of(prediction: Prediction) -> Cost:
    """Return the published cost of the container execution that wrote a prediction; all None for an uploaded file."""
    measured: dict[str, Any] = prediction.cost
    return Cost(
        wall_seconds=step(measured.get("wall_seconds")),
        cpu_seconds=step(measured.get("cpu_seconds")),
        memory_mb=step(_megabytes(measured.get("peak_memory_bytes"))),
        image_mb=step(_megabytes(measured.get("image_bytes"))),
        gpu_seconds=step(measured.get("gpu_seconds")),
        gpu_memory_mb=step(_megabytes(measured.get("peak_gpu_memory_bytes"))),
    )


def shown_cost(stored: Mapping[str, float | None] | None) -> Cost | None:
    """Convert a release's stored cost, a {kind: number} mapping or None, to a `Cost`; None stays None."""
    return None if stored is None else Cost(**{name: stored.get(name) for name in KINDS})


def step(value: float | None) -> float | None:
    """Round a cost up to a power of the square root of two, with three significant digits: 1, 1.41, 2, 2.83, 4...

    Values below 1 become 1, so that the time of a short execution reveals nothing about its inputs. None stays None.
    """
    if value is None:
        return None
    if value <= 1:
        return 1.0
    exponent = math.ceil(2 * math.log2(value) - 1e-9)
    return float(f"{2 ** (exponent / 2):.3g}")


def _megabytes(measured: float | None) -> float | None:
    return None if measured is None else measured / MB

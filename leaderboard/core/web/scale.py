"""Linear scale of a chart, with ticks at round values; positions are in percent of the chart's width."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Scale:
    """Linear scale on which the value `low` is at 0 % of a chart's width and `high` at 100 %.

    step: the difference between the values of two neighbouring ticks.
    """

    low: float
    high: float
    step: float

    def at(self, value: float) -> str:
        """Return the position of a value as an SVG length in percent: at the edge for a value outside the scale."""
        return f"{self._share(value) * 100:.2f}%"

    def span(self, low: float, high: float) -> str:
        """Return the distance between the positions of two values as an SVG length in percent."""
        return f"{(self._share(high) - self._share(low)) * 100:.2f}%"

    def _share(self, value: float) -> float:
        return min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))

    @property
    def ticks(self) -> list[tuple[str, str]]:
        """(Position as an SVG length in percent, label) of each tick, from low to high."""
        count = round((self.high - self.low) / self.step)
        decimals = _decimals(self.step)
        values = (self.low + i * self.step for i in range(count + 1))
        return [(self.at(v), f"{v + 0.0:.{decimals}f}".replace("-", "\N{MINUS SIGN}")) for v in values]


def _decimals(step: float) -> int:
    """Return the number of decimals with which multiples of the step are written exactly: 1 for 0.2, 2 for 0.25."""
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    shifted = step * 10.0**decimals
    return decimals if math.isclose(shifted, round(shifted), rel_tol=1e-6) else decimals + 1


def covering(values: Iterable[float], *, ticks: int = 5) -> Scale:
    """Return a scale that contains the values, begins and ends at a round number, and has about `ticks` steps.

    Infinite values and NaN are ignored; without other values, the scale is from 0 to 1.
    """
    finite = [value for value in values if math.isfinite(value)]
    low, high = (min(finite), max(finite)) if finite else (0.0, 1.0)
    if high - low < 1e-9:
        low, high = low - 0.05, high + 0.05
    step = _round_step((high - low) / ticks)
    # The tolerance is for rounding errors (0.6000000000000001 needs no extra tick) and far below a pixel.
    return Scale(math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step, step)


def _round_step(raw: float) -> float:
    """Round the difference between two ticks up to 1, 2, 2.5 or 5 times a power of ten."""
    power: float = 10.0 ** math.floor(math.log10(raw))
    return next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= raw * 0.999)

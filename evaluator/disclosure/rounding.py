"""Rounding of shown numbers to steps that are small beside their standard errors.

The step is a quarter of the largest standard error that the mean of `n_groups` independent numbers within the
measure's bounds can have, (high - low) / (2 sqrt(n_groups)), rounded down to 1, 2 or 5 times a power of ten. So it
depends on the gold alone: a step that followed a file's own standard error would tell something about its labels, and
the scores of one column would have different decimals. Digits below the step would not let anybody tell systems apart,
and let their owner read labels (Whitehill 2017).
"""

from __future__ import annotations

import math
from typing import Protocol

SHARE = 0.25
"""The step as a share of the largest standard error, before it is rounded down."""
DIGITS = 12
"""Decimals to which shown numbers are rounded in the end, to remove floating-point noise."""
_SLACK = 1e-9
_MANTISSAS = (5, 2, 1)


class Bounded(Protocol):
    """The attributes of a measure on which its steps depend."""

    @property
    def low(self) -> float: ...

    @property
    def high(self) -> float: ...

    @property
    def higher_is_better(self) -> bool | None: ...


def step(measure: Bounded, n_groups: int) -> float | None:
    """Return the step to which a measure's values are rounded; None if the measure is unbounded.

    n_groups: the number of groups (resampling units) behind the value, at least 1. For an unbounded measure the step
    follows each value: see `relative_step`.
    """
    width = measure.high - measure.low
    return round_down(SHARE * width / (2 * math.sqrt(n_groups))) if math.isfinite(width) else None


def relative_step(value: float, n_groups: int) -> float:
    """Return the step for a value of an unbounded measure: that of a measure whose range is the value's magnitude.

    1.0 for a value that DIGITS decimals cannot tell from 0.
    """
    is_zero = abs(value) < 10.0**-DIGITS
    return 1.0 if is_zero else round_down(SHARE * abs(value) / (2 * math.sqrt(n_groups)))


def round_down(number: float) -> float:
    """Return the largest of 1, 2 and 5 times a power of ten that is at most `number`, which is positive."""
    exponent = math.floor(math.log10(number) + _SLACK)
    power = 10.0**exponent
    mantissa = next((each for each in _MANTISSAS if each * power <= number * (1 + _SLACK)), 1)
    return round(mantissa * power, DIGITS + max(0, -exponent))


def nearest(value: float, size: float) -> float:
    """Return the multiple of the step `size` that is nearest to `value`, halves to even multiples."""
    return _tidy(round(value / size) * size)


def below(value: float, size: float) -> float:
    """Return the largest multiple of the step `size` that is at most `value`."""
    return _tidy(math.floor(value / size + _SLACK) * size)


def above(value: float, size: float) -> float:
    """Return the smallest multiple of the step `size` that is at least `value`."""
    return _tidy(math.ceil(value / size - _SLACK) * size)


def decimals(size: float) -> int:
    """Return with how many decimals multiples of the step `size` are written: 3 for .002, 0 for 1 or more."""
    return max(0, -math.floor(math.log10(size) + _SLACK))


def count(n: int) -> int:
    """Round a number of units to a multiple of a step of about its square root, on the same grid as scores.

    By the exact number of units with each label, a slice for each label would tell the balance of the labels.
    """
    return n if n < 1 else int(nearest(n, max(1.0, round_down(math.sqrt(n)))))


def p_value(p: float) -> float:
    """Round a p-value up to one significant digit: .0132 to .02. Never 0, and never smaller than it is."""
    power = 10.0 ** math.floor(math.log10(p) + _SLACK)
    return min(1.0, above(p, power))


def _tidy(value: float) -> float:
    return round(value, DIGITS)

"""Quantiles of Student's t distribution for integer degrees of freedom, in plain Python: SciPy is not needed."""

import math
from functools import lru_cache
from statistics import NormalDist

_MANY = 200  # from so many degrees of freedom on, `_by_series` is accurate to 1e-8 for probabilities up to .995


@lru_cache(maxsize=4096)
def quantile(probability: float, degrees_of_freedom: int) -> float:
    """Return a quantile of Student's t distribution: the t with P(T <= t) = probability.

    probability: at least .5 and below 1; degrees_of_freedom: an integer from 1.
    """
    if degrees_of_freedom >= _MANY:
        return _by_series(NormalDist().inv_cdf(probability), degrees_of_freedom)
    inside = 2 * probability - 1
    low, high = 0.0, math.pi / 2
    for _ in range(60):  # bisection, to the last bit
        middle = (low + high) / 2
        low, high = (middle, high) if _within(middle, degrees_of_freedom) < inside else (low, middle)
    return math.sqrt(degrees_of_freedom) * math.tan(low)


def _within(angle: float, degrees_of_freedom: int) -> float:
    """Return P(|T| <= sqrt(degrees_of_freedom) tan(angle)) (Abramowitz & Stegun 1964, 26.7.3 and 26.7.4)."""
    cosine = math.cos(angle)
    odd = degrees_of_freedom % 2
    term = cosine if odd else 1.0
    total = 0.0
    for power in range(odd, degrees_of_freedom - 1, 2):
        total += term
        term *= cosine * cosine * (power + 1) / (power + 2)
    return 2 / math.pi * (angle + math.sin(angle) * total) if odd else math.sin(angle) * total


def _by_series(z: float, degrees_of_freedom: int) -> float:
    """Return the quantile of Student's t from the normal quantile z (Abramowitz & Stegun 1964, 26.7.5)."""
    first = z * (z**2 + 1) / 4
    second = z * (5 * z**4 + 16 * z**2 + 3) / 96
    third = z * (3 * z**6 + 19 * z**4 + 17 * z**2 - 15) / 384
    return z + first / degrees_of_freedom + second / degrees_of_freedom**2 + third / degrees_of_freedom**3

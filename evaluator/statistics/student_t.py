"""Quantiles of Student's t distribution for integer degrees of freedom, in plain Python: SciPy is not needed."""

import math
from functools import lru_cache
from statistics import NormalDist

_MANY = 200  # from so many degrees of freedom on, `_by_series` is accurate to 1e-8


@lru_cache(maxsize=4096)
def quantile(share: float, freedom: int) -> float:
    """Return a quantile of Student's t distribution: the t with P(T <= t) = share.

    share: a probability, at least .5 and below 1; freedom: the degrees of freedom, an integer from 1.
    """
    if freedom >= _MANY:
        return _by_series(NormalDist().inv_cdf(share), freedom)
    inside = 2 * share - 1
    low, high = 0.0, math.pi / 2
    for _ in range(60):  # bisection, to the last bit
        middle = (low + high) / 2
        low, high = (middle, high) if _within(middle, freedom) < inside else (low, middle)
    return math.sqrt(freedom) * math.tan(low)


def _within(angle: float, freedom: int) -> float:
    """Return P(|T| <= sqrt(freedom) tan(angle)) (Abramowitz & Stegun 1964, 26.7.3 and 26.7.4)."""
    cosine = math.cos(angle)
    odd = freedom % 2
    term = cosine if odd else 1.0
    total = 0.0
    for power in range(odd, freedom - 1, 2):
        total += term
        term *= cosine * cosine * (power + 1) / (power + 2)
    return 2 / math.pi * (angle + math.sin(angle) * total) if odd else math.sin(angle) * total


def _by_series(z: float, freedom: int) -> float:
    """Return the quantile of Student's t from the normal quantile z (Abramowitz & Stegun 1964, 26.7.5)."""
    first = z * (z**2 + 1) / 4
    second = z * (5 * z**4 + 16 * z**2 + 3) / 96
    third = z * (3 * z**6 + 19 * z**4 + 17 * z**2 - 15) / 384
    return z + first / freedom + second / freedom**2 + third / freedom**3

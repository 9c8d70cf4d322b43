"""The order of what is left when each system's mean is taken away, in whole numbers: so that what ties on paper ties.

Floats would let rounding decide: .1 and .3 lie as far from their mean as .6 and .8 do, but not in binary.
"""

from decimal import Decimal
from math import lcm

import numpy as np

from evaluator.outcomes.table import Numbers
from evaluator.outcomes.weighted import Rows


def places_within(column: Numbers, systems: Rows) -> Numbers:
    """One a row: its residual's place among the distinct residuals, 0 for the least.

    column: finite, each taken as the shortest decimal that reads as it; systems: a number from 0 a row. Exact for any
    finite numbers. Some two microseconds a distinct value: what about five resamples of an interval cost.
    """
    values, which = np.unique(column, return_inverse=True)
    cells, cell = np.unique(systems * len(values) + which, return_inverse=True)
    whole = _whole_numbers(values.tolist())
    pairs = [(code // len(values), whole[code % len(values)]) for code in cells.tolist()]
    sizes = np.bincount(systems).tolist()
    totals = [0] * len(sizes)
    for (system, value), count in zip(pairs, np.bincount(cell).tolist(), strict=True):
        totals[system] += count * value
    # value - total / size, all over one denominator
    common = lcm(*(size for size in sizes if size))
    shares = [common // size if size else 0 for size in sizes]
    left = [shares[system] * (sizes[system] * value - totals[system]) for system, value in pairs]
    place = {residual: float(i) for i, residual in enumerate(sorted(set(left)))}
    return np.array([place[residual] for residual in left])[cell]


def _whole_numbers(values: list[float]) -> list[int]:
    """The values times the power of ten that makes all of them whole."""
    decimals = [Decimal(repr(value)) for value in values]
    last = min((int(decimal.as_tuple().exponent) for decimal in decimals), default=0)
    return [int(decimal.scaleb(-last)) for decimal in decimals]

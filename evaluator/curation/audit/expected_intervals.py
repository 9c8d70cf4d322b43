"""Expected width of a confidence interval before any submission, from the number of units and their groups.

The variance of a measure follows from a model of a system that is half right (a share or an F1 of .5, an AUROC of
.75, a correlation of .5), and the half-width from the rule for few groups (`evaluator.statistics.bootstrap`): Student's
t, by the effective number of groups. There are two widths: for a system whose mistakes are independent, and for one
that is right or wrong about a whole group. Real systems are in between; if each unit is its own group both are equal.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from evaluator.outcomes.table import Numbers
from evaluator.statistics import student_t
from evaluator.statistics.confidence import LEVEL


@dataclass(frozen=True)
class Width:
    """Half-width of the interval. independent, shared: see the module; None: too few units. at: the measure's value."""

    at: float
    independent: float | None
    shared: float | None


def share(units: Numbers) -> Width:
    """Return the width for a share of right answers of .5. units: number in each group, none 0."""
    return _width(0.5, units, 0.25, 0.25)


def f1(units: Numbers) -> Width:
    """Return the width for an F1 of .5 = 2 tp / (2 tp + fp + fn) with equal precision and recall, by the delta method.

    A unit is a tp with probability .5, and fp is Poisson with mean .5 per unit (or, shared, all of a group's or none).
    """
    return _width(0.5, units, (2.25 * 0.25 + 0.25 * 0.5) / 4, (2.25 * 0.25 + 0.25 * 0.25) / 4)


def correlation(units: Numbers) -> Width:
    """Return the width for a rank correlation of .5: Fisher's z with the variance of Bonett & Wright 2000."""
    n = float(units.sum())
    if n <= 4:
        return Width(0.5, None, None)
    variance = (1 - 0.5**2) ** 2 * (1 + 0.5**2 / 2) * n / (n - 3)
    return _width(0.5, units, variance, variance)


def auroc(positive: Numbers, negative: Numbers, area: float = 0.75) -> Width:
    """Return the width for an AUROC (Hanley & McNeil 1982). positive, negative: units by group, not both 0."""
    n, m = float(positive.sum()), float(negative.sum())
    if min(n, m) < 1:
        return Width(area, None, None)
    half_widths = []
    for shared in (False, True):
        # Groups with common mistakes have a smaller effective sample size (Kish 1965).
        a, b = (float(x.sum()) ** 2 / float((x**2).sum()) if shared else float(x.sum()) for x in (positive, negative))
        first, second = area / (2 - area), 2 * area**2 / (1 + area)
        variance = area * (1 - area) + (a - 1) * (first - area**2) + (b - 1) * (second - area**2)
        half_widths.append(_half_width(effective(positive + negative, shared)) * math.sqrt(variance / (a * b)))
    return Width(area, *(min(half_width, 0.5) for half_width in half_widths))


def effective(units: Numbers, shared: bool) -> int:
    """Return the effective number of groups, as `bootstrap.shape` does, but from expected influences."""
    units = units[units > 0]
    if shared:
        return max(math.floor(float((units**2).sum()) ** 2 / float((units**4).sum()) + 1e-9), 1)
    fourths = float((3 * units**2 - 2 * units).sum())  # fourth moment of a sum of n values of +1 or -1
    return max(math.floor(float(units.sum()) ** 2 / fourths + 1e-9), 1)


def _width(at: float, units: Numbers, unit_variance: float, shared_variance: float) -> Width:
    """Return the width at a value. unit_variance: of independent mistakes; shared_variance: of a group's common one."""
    units = units[units > 0]
    n = float(units.sum())
    if len(units) < 2:
        return Width(at, None, None)
    independent = _half_width(effective(units, False)) * math.sqrt(unit_variance / n)
    shared = _half_width(effective(units, True)) * math.sqrt(shared_variance * float((units**2).sum())) / n
    return Width(at, min(independent, 0.5), min(shared, 0.5))


def _half_width(groups: int) -> float:
    """Return the half-width in standard deviations (Hesterberg 2015)."""
    groups = max(groups, 2)
    return math.sqrt(groups / (groups - 1)) * student_t.quantile((1 + LEVEL) / 2, groups - 1)


MODELS: dict[str, Callable[[Numbers], Width]] = {"share": share, "f1": f1, "correlation": correlation}
"""Models by `Measure.variance`; AUROC is separate, since it needs both classes."""

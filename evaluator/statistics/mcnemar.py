"""McNemar's exact test of two systems on units that each system has either right or wrong.

Only discordant units, which exactly one of the two systems has right, carry information (McNemar 1947). Under the null
hypothesis either system is the right one with probability 1/2, so given the number of discordant units their split is
binomial: the test is conditional on that number, and exact (Fagerland, Lydersen & Laake 2013). The units must be
independent: where a group holds several units, the test does not apply, and only the permutation test, which swaps
whole groups, is reported.
"""

import math

import numpy as np
import numpy.typing as npt

from evaluator.measures.base import LinearCombination, Measure, Ratio
from evaluator.outcomes.pooled import rows_are_paired
from evaluator.outcomes.table import Numbers, Outcomes

_ENOUGH = 1e-17  # a term below this fraction of the sum does not change the sum in float64


class PairedBinaryOutcomes:
    """The units of one measure, and for each unit which of two systems, a and b, have it right."""

    def __init__(self, unit: Numbers, a: Numbers, b: Numbers, groups: npt.NDArray[np.int32]) -> None:
        """Take four columns with one number per row of the two systems' outcomes.

        unit: 1 for rows that are units of the measure, else 0; a, b: 1 for rows that system a (b) has right, else 0;
        groups: the index of the row's group.
        """
        self._unit = unit > 0
        self._both = (a > 0) & (b > 0) & self._unit
        self._a_only = (a > b) & self._unit
        self._b_only = (b > a) & self._unit
        self._groups = groups

    def counts(self, rows: npt.NDArray[np.int64]) -> tuple[int, int, int, int]:
        """Return the numbers of units among these rows that both systems, only a, only b, and neither has right.

        rows: indices of rows.
        """
        counts = [int(mask[rows].sum()) for mask in (self._both, self._a_only, self._b_only, self._unit)]
        both, a_only, b_only, units = counts
        return both, a_only, b_only, units - both - a_only - b_only

    def discordant(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return the indices of the discordant rows: (those that only a has right, those that only b has right)."""
        return np.flatnonzero(self._a_only), np.flatnonzero(self._b_only)

    def p(self, rows: npt.NDArray[np.int64]) -> float | None:
        """Return the two-sided p-value of McNemar's exact test on the units among these rows.

        rows: indices of rows. None: there is no unit, or two units belong to one group, so that they are not
        independent.
        """
        groups = np.sort(self._groups[rows[self._unit[rows]]])
        if not len(groups) or np.any(groups[1:] == groups[:-1]):
            return None
        return exact_p_value(int(self._a_only[rows].sum()), int(self._b_only[rows].sum()))


def paired_outcomes(measure: Measure, a: Outcomes, b: Outcomes) -> PairedBinaryOutcomes | None:
    """Return the units of a measure in the outcomes of systems a and b, or None where McNemar's test does not apply.

    It applies if the measure is a proportion of units that are either right or wrong, and the rows of both tables are
    the same units.
    """
    if not isinstance(measure, Ratio):
        return None
    right, unit = single_statistic(measure.numerator), single_statistic(measure.denominator)
    if right is None or unit is None or not rows_are_paired(a, b):
        return None
    units = a.statistics[unit]
    answers = [table.statistics[right] for table in (a, b)]
    if not np.array_equal(units, b.statistics[unit]) or not _zero_or_one(units):
        return None
    if not all(_zero_or_one(column) and np.all(column <= units) for column in answers):
        return None
    return PairedBinaryOutcomes(units, answers[0], answers[1], a.groups)


def exact_p_value(a_only: int, b_only: int) -> float:
    """Return the two-sided p-value of McNemar's exact test.

    a_only, b_only: the numbers of discordant units that only a, and only b, has right. The p-value is the probability
    that a_only + b_only tosses of a fair coin split at least as unevenly.
    """
    n, k = a_only + b_only, min(a_only, b_only)
    if 2 * k >= n:
        return 1.0
    log_last = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) - n * math.log(2)
    # From k downwards each term is the previous one times i / (n - i + 1).
    total = term = 1.0
    for i in range(k, 0, -1):
        term *= i / (n - i + 1)
        total += term
        if term < _ENOUGH * total:
            break
    return min(1.0, 2 * total * math.exp(log_last))


def single_statistic(total: LinearCombination) -> str | None:
    """Return the statistic's name if a linear combination is one statistic with the factor 1, else None."""
    terms = list(total.terms.items())
    return terms[0][0] if len(terms) == 1 and terms[0][1] == 1 else None


def _zero_or_one(column: Numbers) -> bool:
    return bool(np.all((column == 0) | (column == 1)))

"""Transformations that put the scores of different systems on a common scale.

A permutation test exchanges groups between two systems. Scores of .9 among scores of 900 would reveal only the system
they came from; ranks within a system do not (Venkatraman & Begg 1996 for AUROC; for correlations of metrics Deutsch et
al. 2021, who standardise).
"""

from dataclasses import dataclass, replace

import numpy as np

from evaluator.measures.ties import Ties
from evaluator.outcomes.table import Numbers, Outcomes


@dataclass(frozen=True)
class ByRank:
    """Replaces the statistic by its average rank within the system, for measures that depend on the order alone."""

    statistic: str

    def __call__(self, outcomes: Outcomes) -> Outcomes:
        ties = Ties.of(outcomes.statistics[self.statistic])
        ends = np.append(ties.starts[1:], len(ties.order))
        return _with(outcomes, self.statistic, ((ties.starts + ends) / 2)[ties.codes])


@dataclass(frozen=True)
class Standardised:
    """Standardises the statistic (zero mean, unit standard deviation), for measures invariant to shift and scale."""

    statistic: str

    def __call__(self, outcomes: Outcomes) -> Outcomes:
        column = scaled(outcomes.statistics[self.statistic])
        if len(column) and column.min() < column.max():
            column = column - column.mean()
            column = column / np.max(np.abs(column))
            column = column / np.sqrt(np.mean(column * column))
        return _with(outcomes, self.statistic, column)


def scaled(column: Numbers) -> Numbers:
    """Return the column divided by a power of two, so that no sum or square overflows. Correlations stay the same, bit
    for bit.
    """
    _, exponent = np.frexp(np.max(np.abs(column), initial=0.0))
    rescaled: Numbers = np.ldexp(column, -exponent)
    return rescaled


def _with(outcomes: Outcomes, statistic: str, column: Numbers) -> Outcomes:
    return replace(outcomes, statistics={**outcomes.statistics, statistic: column})

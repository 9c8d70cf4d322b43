"""Numbers that each system gives on a scale of its own, put on one that systems share.

A permutation test exchanges groups between two systems. Scores of .9 among scores of 900 would then tell which system
they came from and nothing else; places in a system's own order do not (Venkatraman & Begg 1996 for AUROC; for
correlations of metrics Deutsch et al. 2021, who standardise).
"""

from dataclasses import dataclass, replace

import numpy as np

from evaluator.measures.ties import Ties
from evaluator.outcomes.table import Numbers, Outcomes


@dataclass(frozen=True)
class ByRank:
    """The statistic's place in the system's own order, equal ones sharing it: for measures of order alone."""

    statistic: str

    def __call__(self, outcomes: Outcomes) -> Outcomes:
        ties = Ties.of(outcomes.statistics[self.statistic])
        ends = np.append(ties.starts[1:], len(ties.order))
        return _with(outcomes, self.statistic, ((ties.starts + ends) / 2)[ties.codes])


@dataclass(frozen=True)
class Standardised:
    """The statistic less its mean, over its standard deviation: for measures that no shift or stretch changes."""

    statistic: str

    def __call__(self, outcomes: Outcomes) -> Outcomes:
        column = scaled(outcomes.statistics[self.statistic])
        if len(column) and column.min() < column.max():
            column = column - column.mean()
            column = column / np.max(np.abs(column))
            column = column / np.sqrt(np.mean(column * column))
        return _with(outcomes, self.statistic, column)


def scaled(column: Numbers) -> Numbers:
    """Divided by a power of two, so that no sum or square of it overflows: correlations stay the same, bit for bit."""
    _, exponent = np.frexp(np.max(np.abs(column), initial=0.0))
    power: Numbers = np.ldexp(column, -exponent)
    return power


def _with(outcomes: Outcomes, statistic: str, column: Numbers) -> Outcomes:
    return replace(outcomes, statistics={**outcomes.statistics, statistic: column})

"""ROC curves: exact, and as a path on a lattice so coarse that it tells little more than the area under it.

A curve in full spells the labels in the order of the scores, so a submission that orders its claims as it likes would
read them off it. docs/adr/0016 says what the lattice lets out.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

import numpy as np
import numpy.typing as npt

from evaluator.measures.ties import Ties
from evaluator.outcomes.table import Numbers
from evaluator.outcomes.weighted import View

MOST_STEPS = 100
LEAST_STEPS = 4
"""Below it nothing is drawn: it would be no curve, and few claims would stand behind it."""

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Roc:
    """The vertices from the highest score down: how many negative and positive rows score at least as high.

    The first is (0, 0), the last holds all rows; rows of one score are one step, so that the line between two vertices
    is a tie's half (Hanley & McNeil 1982).
    """

    false_positives: Counts
    true_positives: Counts

    @property
    def n_negative(self) -> int:
        return int(self.false_positives[-1])

    @property
    def n_positive(self) -> int:
        return int(self.true_positives[-1])


def roc(scores: Numbers, positive: npt.NDArray[np.bool_]) -> Roc:
    """scores, positive: one a row. As scikit-learn's roc_curve has it with drop_intermediate=False, in counts."""
    ties = Ties.of(scores)
    downward = ties.order[::-1]
    hits = np.cumsum(np.take(positive, downward), dtype=np.int64)
    seen = np.arange(1, len(scores) + 1, dtype=np.int64)
    ends = np.flatnonzero(np.append(ties.begins_downward[1:], True)) if len(scores) else np.zeros(0, dtype=np.int64)
    found = np.append(0, hits[ends])
    return Roc(np.append(0, seen[ends]) - found, found)


def on_lattice(curve: Roc, steps: int) -> tuple[int, ...]:
    """The curve's height at 0, 1, ... `steps` of `steps` parts of the false positive rate, in whole such parts of the
    true positive rate, halves upward; where it is upright, its upper end. The curve has both classes.

    In whole numbers, so that every processor says the same.
    """
    wanted = np.arange(steps + 1, dtype=np.int64) * curve.n_negative
    places = np.searchsorted(curve.false_positives * steps, wanted, side="right") - 1
    return tuple(_height(curve, at, place, steps) for at, place in zip(wanted.tolist(), places.tolist(), strict=True))


def _height(curve: Roc, at: int, place: int, steps: int) -> int:
    """at: `steps` times the number of false positives; place: the last vertex that is not to the right of it."""
    x, y = int(curve.false_positives[place]), int(curve.true_positives[place])
    height = Fraction(y)
    if steps * x < at:
        width = int(curve.false_positives[place + 1]) - x
        height += Fraction((int(curve.true_positives[place + 1]) - y) * (at - steps * x), steps * width)
    return int(height * steps / curve.n_positive + Fraction(1, 2))


def steps_for(n_groups: int, n_positive: int, n_negative: int) -> int | None:
    """As many steps as a ladder's grid has, counted on twice the rarer class where that is less; None: too few."""
    steps = min(MOST_STEPS, isqrt(min(n_groups, 2 * n_positive, 2 * n_negative)))
    return steps if steps >= LEAST_STEPS else None


def heights(view: View, score: str, positive: str) -> Sequence[int] | None:
    """A slice's curve on its lattice; the number of steps is one less than that of the heights. None: too few rows."""
    labels = view.column(positive) > 0
    n_positive = int(np.count_nonzero(labels))
    steps = steps_for(len(view.groups), n_positive, len(labels) - n_positive)
    return None if steps is None else on_lattice(roc(view.column(score), labels), steps)

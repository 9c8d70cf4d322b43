"""ROC curves: exact, and rounded to a lattice that is so coarse that it reveals little more than the area under it.

An exact curve reveals the labels in the order of the scores, so the author of a submission with a deliberate order
could read the labels off the curve. docs/adr/0016 states what the lattice discloses.
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
"""Curves with fewer steps are not plotted: they are too coarse and based on too few claims."""

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Roc:
    """An exact ROC curve: one vertex per distinct score, from the highest score down.

    A vertex is the number of negative rows (false_positives) and of positive rows (true_positives) that score at least
    as high. The first vertex is (0, 0), the last counts all rows. Rows with the same score are one step, so that the
    area under the line between two vertices counts a tie as half (Hanley & McNeil 1982).
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
    """Return the exact curve, in counts: that of scikit-learn's roc_curve with drop_intermediate=False.

    scores, positive: one score and one label per row.
    """
    ties = Ties.of(scores)
    downward = ties.order[::-1]
    hits = np.cumsum(np.take(positive, downward), dtype=np.int64)
    seen = np.arange(1, len(scores) + 1, dtype=np.int64)
    ends = np.flatnonzero(np.append(ties.begins_downward[1:], True)) if len(scores) else np.zeros(0, dtype=np.int64)
    true_positives = np.append(0, hits[ends])
    return Roc(np.append(0, seen[ends]) - true_positives, true_positives)


def on_lattice(curve: Roc, steps: int) -> tuple[int, ...]:
    """Return the true positive rates at the false positive rates 0, 1 / steps, 2 / steps, ... 1, in units of 1 / steps.

    They are rounded to whole units, halves up. At a vertical segment of the curve its upper end counts. The curve must
    have positive and negative rows. Integer arithmetic gives the same result on every processor.
    """
    grid_points = np.arange(steps + 1, dtype=np.int64) * curve.n_negative
    vertices = np.searchsorted(curve.false_positives * steps, grid_points, side="right") - 1
    return tuple(
        _height(curve, grid_point, vertex, steps)
        for grid_point, vertex in zip(grid_points.tolist(), vertices.tolist(), strict=True)
    )


def _height(curve: Roc, at: int, vertex: int, steps: int) -> int:
    """Return the true positive rate at one false positive rate of the grid, rounded to whole units of 1 / steps.

    at: `steps` times the number of false positives at the grid point; vertex: the index of the last vertex that is at
    the grid point or to its left.
    """
    x, y = int(curve.false_positives[vertex]), int(curve.true_positives[vertex])
    height = Fraction(y)
    if steps * x < at:
        width = int(curve.false_positives[vertex + 1]) - x
        height += Fraction((int(curve.true_positives[vertex + 1]) - y) * (at - steps * x), steps * width)
    return int(height * steps / curve.n_positive + Fraction(1, 2))


def steps_for(n_groups: int, n_positive: int, n_negative: int) -> int | None:
    """Return the number of steps, in each direction, of the lattice to which a ROC curve is rounded.

    n_positive, n_negative: the numbers of rows with each label. The number of steps is the square root of the number of
    groups, as for the steps of the disclosure policy Ladder, or of twice the number of rows of the rarer label if that
    is smaller; at most MOST_STEPS. None: there would be fewer than LEAST_STEPS.
    """
    steps = min(MOST_STEPS, isqrt(min(n_groups, 2 * n_positive, 2 * n_negative)))
    return steps if steps >= LEAST_STEPS else None


def heights(view: View, score: str, positive: str) -> Sequence[int] | None:
    """Return a slice's ROC curve rounded to its lattice: the steps + 1 true positive rates of `on_lattice`.

    score, positive: the names of the statistics with the score and with the label, 1 for positive rows. None:
    `steps_for` gives no lattice.
    """
    labels = view.column(positive) > 0
    n_positive = int(np.count_nonzero(labels))
    steps = steps_for(len(view.groups), n_positive, len(labels) - n_positive)
    return None if steps is None else on_lattice(roc(view.column(score), labels), steps)

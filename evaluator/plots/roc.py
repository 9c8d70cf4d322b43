"""ROC curves: exact, and as a path on a lattice coarse enough to reveal little more than the area under it.

An exact curve reveals the labels in the order of the scores, so a submission that orders its claims deliberately could
read them off it. docs/adr/0016 states what the lattice discloses.
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
"""Curves with fewer steps are not plotted: too coarse to be a curve, with few claims behind them."""

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Roc:
    """The vertices from the highest score down: how many negative and positive rows score at least as high.

    The first is (0, 0), the last holds all rows. Rows of one score are one step, so that the line between two vertices
    counts a tie as half (Hanley & McNeil 1982).
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
    """Return the exact curve, as scikit-learn's roc_curve with drop_intermediate=False, in counts. scores, positive:
    one per row.
    """
    ties = Ties.of(scores)
    downward = ties.order[::-1]
    hits = np.cumsum(np.take(positive, downward), dtype=np.int64)
    seen = np.arange(1, len(scores) + 1, dtype=np.int64)
    ends = np.flatnonzero(np.append(ties.begins_downward[1:], True)) if len(scores) else np.zeros(0, dtype=np.int64)
    true_positives = np.append(0, hits[ends])
    return Roc(np.append(0, seen[ends]) - true_positives, true_positives)


def on_lattice(curve: Roc, steps: int) -> tuple[int, ...]:
    """Return the curve's heights at 0, 1, ... `steps` of `steps` equal parts of the false positive rate.

    Heights are in whole such parts of the true positive rate, halves rounded up; at a vertical segment, its upper end.
    The curve must have both classes. Integer arithmetic gives the same result on every processor.
    """
    grid_points = np.arange(steps + 1, dtype=np.int64) * curve.n_negative
    vertices = np.searchsorted(curve.false_positives * steps, grid_points, side="right") - 1
    return tuple(
        _height(curve, grid_point, vertex, steps)
        for grid_point, vertex in zip(grid_points.tolist(), vertices.tolist(), strict=True)
    )


def _height(curve: Roc, at: int, vertex: int, steps: int) -> int:
    """Return the rounded height at one grid point.

    at: `steps` times the number of false positives; vertex: the last vertex that is not to the right of it.
    """
    x, y = int(curve.false_positives[vertex]), int(curve.true_positives[vertex])
    height = Fraction(y)
    if steps * x < at:
        width = int(curve.false_positives[vertex + 1]) - x
        height += Fraction((int(curve.true_positives[vertex + 1]) - y) * (at - steps * x), steps * width)
    return int(height * steps / curve.n_positive + Fraction(1, 2))


def steps_for(n_groups: int, n_positive: int, n_negative: int) -> int | None:
    """Return the number of steps, or None for too few.

    It is that of a Ladder's grid, computed from twice the rarer class where that is smaller than the number of groups.
    """
    steps = min(MOST_STEPS, isqrt(min(n_groups, 2 * n_positive, 2 * n_negative)))
    return steps if steps >= LEAST_STEPS else None


def heights(view: View, score: str, positive: str) -> Sequence[int] | None:
    """Return a slice's curve on its lattice, one height more than there are steps; None: too few rows."""
    labels = view.column(positive) > 0
    n_positive = int(np.count_nonzero(labels))
    steps = steps_for(len(view.groups), n_positive, len(labels) - n_positive)
    return None if steps is None else on_lattice(roc(view.column(score), labels), steps)

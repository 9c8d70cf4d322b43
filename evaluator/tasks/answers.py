"""Answers of a prediction file, unit by unit, in a form that allows comparing two files.

There are two forms. `Items`: one answer per unit, equal or different: a label, a first-ranked mention, a fact that is
predicted or not. `Ordered`: one score per unit, of which only the order is meaningful.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluator.outcomes.table import Numbers

Digests = npt.NDArray[np.uint64]
NO_ANSWER = np.uint64(0)


@dataclass(frozen=True)
class Items:
    """Answers that are either equal or different.

    units: sorted and distinct; answers: one digest per unit, 0: no answer; errs: True where the answer is wrong. Where
    units are facts, they are those of the file or of gold, and the answer is 1 or 0: a predicted fact that gold lacks
    is an error, and so is a missing one.
    """

    units: Digests
    answers: Digests
    errs: npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Ordered:
    """Scores and errors, one per gold unit, in gold order."""

    scores: Numbers
    errs: npt.NDArray[np.bool_]


ComparableAnswers = Items | Ordered


def digest(value: Any) -> int:
    """Return 63 bits of a hash of the value's repr, never 0; 63 bits fit into JSON integers."""
    return int.from_bytes(hashlib.blake2b(repr(value).encode(), digest_size=8).digest(), "big") >> 1 or 1


def predicted_or_gold(predictions: Iterable[Any], gold: Iterable[Any]) -> Items:
    """Return Items whose units are facts. given, gold: keys that are equal where two facts are the same."""
    predicted = {digest(fact) for fact in predictions}
    right = {digest(fact) for fact in gold}
    units = np.array(sorted(predicted | right), dtype=np.uint64)
    is_predicted = np.isin(units, np.array(sorted(predicted), dtype=np.uint64))
    is_right = np.isin(units, np.array(sorted(right), dtype=np.uint64))
    return Items(units, is_predicted.astype(np.uint64), is_predicted != is_right)


def by_score(scores: Numbers, high: npt.NDArray[np.bool_]) -> Ordered:
    """Return Ordered answers. high: the units that gold ranks above the others.

    A unit errs if it is on the wrong side of the threshold, the score that as many units reach as `high` has; ties with
    the threshold reach it.
    """
    count = int(high.sum())
    threshold = np.inf if not count else np.partition(scores, len(scores) - count)[len(scores) - count]
    return Ordered(scores, (scores >= threshold) != high)

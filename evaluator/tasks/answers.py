"""Answers of a prediction file, unit by unit, in a form in which two files can be compared.

There are two forms. `CategoricalAnswers` has one answer per unit, such as a label or the first-ranked mention; two
answers are equal or different. `ScoredAnswers` has one score per unit, of which only the order is meaningful.
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
class CategoricalAnswers:
    """Answers that are either equal or different, as three arrays with one entry per unit.

    units: sorted and distinct numbers that identify the units. answers: a digest of each answer; 0: no answer. errs:
    True where the answer is wrong.

    In tasks whose predictions are facts, the units are all facts that are predicted or in the gold. The answer is 1 for
    a predicted fact, else 0. A predicted fact that gold does not have is wrong, and so is a gold fact that is not
    predicted.
    """

    units: Digests
    answers: Digests
    errs: npt.NDArray[np.bool_]


@dataclass(frozen=True)
class ScoredAnswers:
    """Scores of which only the order counts, one per gold unit, in gold order.

    errs: True where a score is an error, as `by_score` defines it.
    """

    scores: Numbers
    errs: npt.NDArray[np.bool_]


ComparableAnswers = CategoricalAnswers | ScoredAnswers


def digest(value: Any) -> int:
    """Return a hash of the value's repr, from 1 to 2**63 - 1, so that it fits into a signed 64-bit integer in JSON."""
    return int.from_bytes(hashlib.blake2b(repr(value).encode(), digest_size=8).digest(), "big") >> 1 or 1


def predicted_or_gold(predictions: Iterable[Any], gold: Iterable[Any]) -> CategoricalAnswers:
    """Return answers whose units are the facts that are predicted or in the gold.

    predictions, gold: the predicted facts and the gold facts, as values whose repr is equal if and only if the facts
    are equal.
    """
    predicted = {digest(fact) for fact in predictions}
    right = {digest(fact) for fact in gold}
    units = np.array(sorted(predicted | right), dtype=np.uint64)
    is_predicted = np.isin(units, np.array(sorted(predicted), dtype=np.uint64))
    is_right = np.isin(units, np.array(sorted(right), dtype=np.uint64))
    return CategoricalAnswers(units, is_predicted.astype(np.uint64), is_predicted != is_right)


def by_score(scores: Numbers, high: npt.NDArray[np.bool_]) -> ScoredAnswers:
    """Return the answers of a file that scores all units, and mark the scores that are errors.

    high: True for the units that gold ranks above the others, such as true claims. If there are k of them, the
    threshold is the k-th highest score. A score is an error if its unit is high and the score is below the threshold,
    or if its unit is not high and the score is at or above the threshold.
    """
    count = int(high.sum())
    threshold = np.inf if not count else np.partition(scores, len(scores) - count)[len(scores) - count]
    return ScoredAnswers(scores, (scores >= threshold) != high)

"""What a prediction file answered, unit by unit, in a form in which two files can be laid side by side.

Two forms. `Items`: an answer a unit, which is the same or another: a label, a first-ranked mention, a fact that is
given or not. `Ordered`: a score a unit, of which only the order means anything.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluator.outcomes.table import Numbers

Digests = npt.NDArray[np.uint64]
NOT_GIVEN = np.uint64(0)


@dataclass(frozen=True)
class Items:
    """units: sorted, each once; answers: a digest each, 0: none was given; errs: whether it is wrong.

    Where units are facts they are those that the file gives or gold has, and the answer is 1 or 0: a fact that the
    file gives and gold has not errs, and so does one that it lacks.
    """

    units: Digests
    answers: Digests
    errs: npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Ordered:
    """scores and errs, a gold unit each, in the order of gold."""

    scores: Numbers
    errs: npt.NDArray[np.bool_]


Answered = Items | Ordered


def digest(value: Any) -> int:
    """63 bits of a value's repr, never 0: JSON has room for it."""
    return int.from_bytes(hashlib.blake2b(repr(value).encode(), digest_size=8).digest(), "big") >> 1 or 1


def given_or_gold(given: Iterable[Any], gold: Iterable[Any]) -> Items:
    """Items whose units are facts, by what makes two facts the same."""
    told = {digest(fact) for fact in given}
    right = {digest(fact) for fact in gold}
    units = np.array(sorted(told | right), dtype=np.uint64)
    is_told = np.isin(units, np.array(sorted(told), dtype=np.uint64))
    is_right = np.isin(units, np.array(sorted(right), dtype=np.uint64))
    return Items(units, is_told.astype(np.uint64), is_told != is_right)


def by_score(scores: Numbers, high: npt.NDArray[np.bool_]) -> Ordered:
    """high: the units that gold puts above the others, as many as there are to be found among the highest scores.

    A unit errs that is on the wrong side of the score that so many units reach; scores that tie with it reach it.
    """
    count = int(high.sum())
    cut = np.inf if not count else np.partition(scores, len(scores) - count)[len(scores) - count]
    return Ordered(scores, (scores >= cut) != high)

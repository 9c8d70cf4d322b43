"""How alike two files of predictions are: exactly, and quickly by signatures that say which pairs are worth a look.

A near-copy has 99.5 % equal answers and 95 % shared errors. Two good systems answer alike because both are right; that
they are also wrong alike is what copies have in common.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluator.similarity.longest_common_order import longest_common_order
from evaluator.similarity.thresholds import EQUAL, SHARED_ERRORS
from evaluator.tasks.answers import NOT_GIVEN, Answered, Digests, Items, Ordered

SIZE = 256
"""Numbers of a signature."""
_SIGMAS = 6.0
_SCALE = 1_000_000
_NONE = np.uint64(0xFFFFFFFFFFFFFFFF)
_MIX = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


@dataclass(frozen=True, slots=True)
class Likeness:
    """equal: of Items, the share of units with the same answer, of the units that either answers; of Ordered, the
    largest share of units whose scores the one file orders as the other does, ties included. None: nothing answered.

    shared_errors: of the units where either errs, the share where both do, with the same answer; of Ordered, where both
    do. None: neither errs anywhere.
    """

    equal: float | None
    shared_errors: float | None
    n_units: int
    n_errors: int

    @property
    def is_near_copy(self) -> bool:
        """Where neither errs nothing speaks of copying: both are simply right."""
        if self.equal is None or self.shared_errors is None:
            return False
        return self.equal >= EQUAL and self.shared_errors >= SHARED_ERRORS

    def as_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


def likeness(a: Answered, b: Answered) -> Likeness:
    """Both of one task and gold. Raises TypeError for two forms."""
    if isinstance(a, Items) and isinstance(b, Items):
        return _of_items(a, b)
    if isinstance(a, Ordered) and isinstance(b, Ordered):
        equal = longest_common_order(a.scores, b.scores) / len(a.scores) if len(a.scores) else None
        return _likeness(equal, len(a.scores), a.errs | b.errs, a.errs & b.errs)
    raise TypeError("answers of two forms cannot be compared")


def _of_items(a: Items, b: Items) -> Likeness:
    units = np.union1d(a.units, b.units)
    answers, errs = [], []
    for one in (a, b):
        places = np.searchsorted(units, one.units)
        answers.append(np.zeros(len(units), dtype=np.uint64))
        answers[-1][places] = one.answers
        errs.append(np.zeros(len(units), dtype=np.bool_))
        errs[-1][places] = one.errs
    same = answers[0] == answers[1]
    given = (answers[0] != NOT_GIVEN) | (answers[1] != NOT_GIVEN)
    equal = float(np.mean(same[given])) if given.any() else None
    return _likeness(equal, int(given.sum()), errs[0] | errs[1], errs[0] & errs[1] & same)


def _likeness(
    equal: float | None, n_units: int, either: npt.NDArray[np.bool_], shared: npt.NDArray[np.bool_]
) -> Likeness:
    n_errors = int(either.sum())
    return Likeness(equal, int(shared.sum()) / n_errors if n_errors else None, n_units, n_errors)


def signature(answered: Answered) -> Digests:
    """At most SIZE numbers below 2**63, of the answers alone: gold has no part in them.

    Of Items, the least mixtures of unit and answer (a bottom-k sketch: Cohen & Kaplan 2007). Of Ordered, where units
    that are drawn once for all stand among the scores, ties in the middle, in millionths.
    """
    if isinstance(answered, Items):
        given = answered.answers != NOT_GIVEN
        mixed = _mixed(_mixed(answered.units[given]) ^ answered.answers[given]) >> np.uint64(1)
        return np.sort(mixed)[:SIZE]
    n = len(answered.scores)
    drawn = np.argsort(_mixed(np.arange(n, dtype=np.uint64)), kind="stable")[:SIZE]
    ordered = np.sort(answered.scores)
    below = np.searchsorted(ordered, answered.scores[drawn], side="left")
    upto = np.searchsorted(ordered, answered.scores[drawn], side="right")
    return ((below + upto) * _SCALE // max(1, 2 * n)).astype(np.uint64)


def _mixed(numbers: Digests) -> Digests:
    """splitmix64 (Steele, Lea & Flood 2014)."""
    with np.errstate(over="ignore"):
        mixed = numbers + _MIX[0]
        mixed = (mixed ^ (mixed >> np.uint64(30))) * _MIX[1]
        mixed = (mixed ^ (mixed >> np.uint64(27))) * _MIX[2]
        return mixed ^ (mixed >> np.uint64(31))


def closeness(own: Digests, others: Sequence[Digests], *, ordered: bool) -> npt.NDArray[np.float64]:
    """Each other signature's share of agreement with one's own, from 0 to 1; to be held against `worth_a_look`."""
    if ordered:
        slack = int((1 - EQUAL) * _SCALE) + 2
        return np.array([_near(own, other, slack) for other in others], dtype=np.float64)
    return _jaccard(own, others)


def worth_a_look(*, ordered: bool) -> float:
    """The closeness below which hardly a near-copy is: of those that are just near enough, one in 100,000."""
    # Of two sets of which a share e is equal unit by unit, the common ones are e / (2 - e) of all.
    expected = EQUAL if ordered else EQUAL / (2 - EQUAL)
    return expected - _SIGMAS * float(np.sqrt(expected * (1 - expected) / SIZE))


def _near(a: Digests, b: Digests, slack: int) -> float:
    # Each unit outside the common order moves one inside it by a place at most: slack is as many places, as a share.
    if len(a) != len(b) or not len(a):
        return 0.0
    return float(np.mean(np.abs(a.astype(np.int64) - b.astype(np.int64)) <= slack))


def _jaccard(own: Digests, others: Sequence[Digests]) -> npt.NDArray[np.float64]:
    """Of the least SIZE of one's own and another's together, the share that both have; for each other."""
    rows = np.full((len(others), SIZE + len(own)), _NONE, dtype=np.uint64)
    rows[:, SIZE:] = own
    for row, other in zip(rows, others, strict=True):
        row[: len(other)] = other
    rows.sort(axis=1)
    # A signature holds a number once: what comes twice is in both.
    again = np.zeros(rows.shape, dtype=np.bool_)
    again[:, 1:] = rows[:, 1:] == rows[:, :-1]
    real = rows != _NONE
    place = np.cumsum(real & ~again, axis=1)
    counted = real & (place <= SIZE)
    distinct = np.minimum(place.max(axis=1, initial=0), SIZE)
    return np.asarray((counted & again).sum(axis=1) / np.maximum(distinct, 1), dtype=np.float64)

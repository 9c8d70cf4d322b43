"""Similarity of two prediction files: the exact similarity, and an estimate from short sketches.

Similar files have similar sketches, so sketches select the pairs of files that are compared exactly. Near-duplicates
have at least 99.5 % equal answers and 95 % shared errors. Two good systems also agree where both are right; agreement
on wrong answers distinguishes copies.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluator.similarity.longest_common_order import longest_common_order
from evaluator.similarity.thresholds import EQUAL, SHARED_ERRORS
from evaluator.tasks.answers import NO_ANSWER, CategoricalAnswers, ComparableAnswers, Digests, ScoredAnswers

SIZE = 256
"""The maximum length of a similarity sketch."""
_SIGMAS = 6.0  # standard errors from the expected agreement of just near-duplicates down to `agreement_threshold`
_SCALE = 1_000_000  # relative ranks are stored in millionths
_NONE = np.uint64(0xFFFFFFFFFFFFFFFF)
_MIX = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


@dataclass(frozen=True, slots=True)
class SimilarityResult:
    """The similarity of two prediction files.

    Files with one answer per unit (`CategoricalAnswers`) and files with one score per unit (`ScoredAnswers`) differ in
    two definitions. The task decides which answers are errors.

    equal: for categorical answers, of the units that either file answers, the fraction with the same answer; for scored
    answers, the size of the largest set of units that both files put in the same order, ties included, over all units.
    None: there is no such unit. shared_errors: of the units on which at least one file has an error, the fraction on
    which both have an error; for categorical answers, the same wrong answer. None: neither file has an error. n_units,
    n_errors: the denominators of equal and of shared_errors.
    """

    equal: float | None
    shared_errors: float | None
    n_units: int
    n_errors: int

    @property
    def is_near_duplicate(self) -> bool:
        """True if `equal` and `shared_errors` both reach their thresholds; False if one of them is None.

        Two files without any error are therefore not near-duplicates: both are right.
        """
        if self.equal is None or self.shared_errors is None:
            return False
        return self.equal >= EQUAL and self.shared_errors >= SHARED_ERRORS

    def as_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


def compute_similarity(a: ComparableAnswers, b: ComparableAnswers) -> SimilarityResult:
    """Return the similarity of two files of one task and gold.

    Raises TypeError if one is CategoricalAnswers and the other ScoredAnswers.
    """
    if isinstance(a, CategoricalAnswers) and isinstance(b, CategoricalAnswers):
        return _of_items(a, b)
    if isinstance(a, ScoredAnswers) and isinstance(b, ScoredAnswers):
        equal = longest_common_order(a.scores, b.scores) / len(a.scores) if len(a.scores) else None
        return _similarity(equal, len(a.scores), a.errs | b.errs, a.errs & b.errs)
    raise TypeError(f"expected answers of one type, found {type(a).__name__} and {type(b).__name__}")


def _of_items(a: CategoricalAnswers, b: CategoricalAnswers) -> SimilarityResult:
    units = np.union1d(a.units, b.units)
    answers, errs = [], []
    for items in (a, b):
        indices = np.searchsorted(units, items.units)
        answers.append(np.zeros(len(units), dtype=np.uint64))
        answers[-1][indices] = items.answers
        errs.append(np.zeros(len(units), dtype=np.bool_))
        errs[-1][indices] = items.errs
    same = answers[0] == answers[1]
    is_answered = (answers[0] != NO_ANSWER) | (answers[1] != NO_ANSWER)
    equal = float(np.mean(same[is_answered])) if is_answered.any() else None
    return _similarity(equal, int(is_answered.sum()), errs[0] | errs[1], errs[0] & errs[1] & same)


def _similarity(
    equal: float | None, n_units: int, either: npt.NDArray[np.bool_], shared: npt.NDArray[np.bool_]
) -> SimilarityResult:
    n_errors = int(either.sum())
    return SimilarityResult(equal, int(shared.sum()) / n_errors if n_errors else None, n_units, n_errors)


def similarity_sketch(answered: ComparableAnswers) -> Digests:
    """Return a sketch of at most SIZE numbers below 2**63, computed from the answers alone, without gold.

    For files with one answer per unit (CategoricalAnswers): the smallest hashes of (unit, answer), a bottom-k sketch
    (Cohen & Kaplan 2007). For files with one score per unit (ScoredAnswers): the average ranks of some units, in
    millionths of the number of units; the units are the same for all files.
    """
    if isinstance(answered, CategoricalAnswers):
        is_answered = answered.answers != NO_ANSWER
        mixed = _mixed(_mixed(answered.units[is_answered]) ^ answered.answers[is_answered]) >> np.uint64(1)
        return np.sort(mixed)[:SIZE]
    n = len(answered.scores)
    sampled = np.argsort(_mixed(np.arange(n, dtype=np.uint64)), kind="stable")[:SIZE]
    ordered = np.sort(answered.scores)
    below = np.searchsorted(ordered, answered.scores[sampled], side="left")
    upto = np.searchsorted(ordered, answered.scores[sampled], side="right")
    return ((below + upto) * _SCALE // max(1, 2 * n)).astype(np.uint64)


def orders_units(sketch: Digests) -> bool:
    """Return True if a sketch is of ScoredAnswers (one score per unit), False if it is of CategoricalAnswers.

    Sketches of ScoredAnswers hold ranks, in millionths of the number of units; those of CategoricalAnswers hold hashes,
    which are much larger.
    """
    return bool((sketch <= _SCALE).all())


def _mixed(numbers: Digests) -> Digests:
    """Return a hash of each number, by splitmix64 (Steele, Lea & Flood 2014)."""
    with np.errstate(over="ignore"):
        mixed = numbers + _MIX[0]
        mixed = (mixed ^ (mixed >> np.uint64(30))) * _MIX[1]
        mixed = (mixed ^ (mixed >> np.uint64(27))) * _MIX[2]
        return mixed ^ (mixed >> np.uint64(31))


def sketch_agreement(own: Digests, others: Sequence[Digests], *, ordered: bool) -> npt.NDArray[np.float64]:
    """Return an estimate of each other file's similarity to one file, from 0 to 1, from their sketches.

    own: the sketch of the one file; others: the sketches of the other files. ordered: True for sketches of
    ScoredAnswers (one score per unit), False for CategoricalAnswers. For CategoricalAnswers the estimate is the Jaccard
    index of the two sets of (unit, answer), for ScoredAnswers the share of the sampled units with nearly equal ranks.
    Files that reach `agreement_threshold` have to be compared exactly.
    """
    if ordered:
        slack = int((1 - EQUAL) * _SCALE) + 2
        return np.array([_near(own, other, slack) for other in others], dtype=np.float64)
    return _jaccard(own, others)


def agreement_threshold(*, ordered: bool) -> float:
    """Return the value of `sketch_agreement` below which two files are not compared exactly.

    Of pairs whose similarity is exactly at the thresholds for near-duplicates, about one in 100,000 has less agreement
    and is missed. ordered: as for `sketch_agreement`.
    """
    # If two files of n units have the same answer to e * n of them, the Jaccard index of their sets of (unit, answer)
    # is e / (2 - e).
    expected = EQUAL if ordered else EQUAL / (2 - EQUAL)
    return expected - _SIGMAS * float(np.sqrt(expected * (1 - expected) / SIZE))


def _near(a: Digests, b: Digests, slack: int) -> float:
    # Each unit outside the longest common order moves a unit inside it by at most one rank. So the ranks of a unit
    # inside it differ by at most `slack`, the number of units outside in millionths of all units.
    if len(a) != len(b) or not len(a):
        return 0.0
    return float(np.mean(np.abs(a.astype(np.int64) - b.astype(np.int64)) <= slack))


def _jaccard(own: Digests, others: Sequence[Digests]) -> npt.NDArray[np.float64]:
    """Estimate the Jaccard index of two files' sets of (unit, answer), for one file and each other file, from their
    sketches.

    The estimate is the fraction of the SIZE smallest numbers of the two sketches' union that are in both. own: the
    sketch of the one file; others: the sketches of the other files.
    """
    width = max(map(len, others), default=0)
    rows = np.full((len(others), width + len(own)), _NONE, dtype=np.uint64)
    rows[:, width:] = own
    for row, other in zip(rows, others, strict=True):
        row[: len(other)] = other
    rows.sort(axis=1)
    # A sketch holds a number once, so a repeated number is in both.
    repeated = np.zeros(rows.shape, dtype=np.bool_)
    repeated[:, 1:] = rows[:, 1:] == rows[:, :-1]
    real = rows != _NONE
    rank = np.cumsum(real & ~repeated, axis=1)
    in_sketch = real & (rank <= SIZE)
    distinct = np.minimum(rank.max(axis=1, initial=0), SIZE)
    return np.asarray((in_sketch & repeated).sum(axis=1) / np.maximum(distinct, 1), dtype=np.float64)

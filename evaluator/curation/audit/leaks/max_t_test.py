"""Permutation test of many features at once, for an order, an id or a column that may reveal hidden values.

Hidden values are permuted, and the statistic of every feature is computed again. Whole groups are swapped with groups
of equal size, and lines are permuted within their group: a document's passages are adjacent in any file, which reveals
nothing. Statistics are standardised by their mean and standard deviation over the permutations. Each is compared with
the distribution of the largest one (Westfall & Young 1993, max-T), so p-values are adjusted for all features together.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluator.outcomes.table import Numbers
from evaluator.progress import Steps

N_PERMUTATIONS = 499
_CLASSES = 20
_ROUNDING = 1e-9
Indices = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Hidden:
    """The hidden values of a column, such as the labels, prepared for tests.

    values: one per line: the standardised rank of a number, or the code of a class. Classes beyond the 20 most frequent
    are merged into one. shares: the share of lines of each class; None if the values are numbers.
    """

    values: Numbers | Indices
    shares: Numbers | None


Statistic = Callable[[Hidden], float]


@dataclass(frozen=True)
class Feature:
    """A public feature that may reveal hidden values.

    statistic: computes the test statistic from the hidden values; it is high if the feature reveals them. signed: True
    if a low statistic reveals them too, so that the test is two-sided.
    """

    name: str
    statistic: Statistic
    signed: bool = False


class Permutations:
    """Random permutations of lines that keep the lines of a group together. groups: each line's group."""

    def __init__(self, groups: Sequence[Hashable]) -> None:
        numbers: dict[Hashable, int] = {}
        codes = np.array([numbers.setdefault(group, len(numbers)) for group in groups], dtype=np.int64)
        sizes = np.bincount(codes)
        order = np.lexsort((codes, sizes[codes]))
        self._n = len(codes)
        self._blocks: list[Indices] = []
        begin = 0
        for size, count in zip(*np.unique(sizes, return_counts=True), strict=True):
            end = begin + int(size) * int(count)
            self._blocks.append(order[begin:end].reshape(int(count), int(size)))
            begin = end

    def sample(self, random: np.random.Generator) -> Indices:
        """Return a permutation: for each line, the index of the line whose value it gets."""
        permutation = np.empty(self._n, dtype=np.int64)
        for block in self._blocks:
            rows = block[random.permutation(len(block))]
            permutation[block] = random.permuted(rows, axis=1) if block.shape[1] > 1 else rows
        return permutation


def hidden(values: Sequence[str | float | None]) -> Hidden:
    """Prepare hidden values, one per line, for tests: as ranks if all are floats, otherwise as classes."""
    if all(isinstance(value, float) for value in values):
        _, inverse, count = np.unique(np.array(values, dtype=np.float64), return_inverse=True, return_counts=True)
        ranks: Numbers = (np.cumsum(count) - (count - 1) / 2)[inverse]
        return Hidden((ranks - ranks.mean()) / (ranks.std() or 1.0), None)
    codes = encode_by_frequency([str(value) for value in values], most=_CLASSES)
    return Hidden(codes, np.bincount(codes) / len(codes))


def encode_by_frequency(values: Sequence[Hashable], *, most: int, least: int = 1) -> Indices:
    """Return one integer code per value, equal for equal values: 0 for the most frequent value, and so on.

    Values beyond the `most` most frequent ones, and values that occur fewer than `least` times, share the last code.
    Among equally frequent values, a digest of the value decides which of them share it: if the order of lines decided,
    the codes would seem to reveal the order.
    """
    numbers: dict[Hashable, int] = {}
    codes = np.array([numbers.setdefault(value, len(numbers)) for value in values], dtype=np.int64)
    counts = np.bincount(codes)
    names = list(numbers)
    order = np.array(
        sorted(range(len(names)), key=lambda code: (-counts[code], _tie_break(names[code]))), dtype=np.int64
    )
    new = np.full(len(counts), min(most, int(np.count_nonzero(counts >= least))), dtype=np.int64)
    frequent = np.sort(order[: new[0]])
    frequent = frequent[np.argsort(-counts[frequent], kind="stable")]
    new[frequent] = np.arange(len(frequent))
    dense: Indices = np.unique(new[codes], return_inverse=True)[1].astype(np.int64)
    return dense


def _tie_break(value: Hashable) -> bytes:
    return hashlib.blake2b(repr(value).encode("utf-8", "backslashreplace"), key=b"kinds", digest_size=8).digest()


@dataclass(frozen=True)
class TestResult:
    """Test of one feature.

    p: the p-value, adjusted for all features. z: the observed statistic, in standard deviations from its mean over the
    permutations; its absolute value if the test is two-sided.
    """

    name: str
    p: float
    z: float


def max_t_test(
    features: Sequence[Feature],
    secret: Hidden,
    permutations: Permutations,
    *,
    seed: int,
    n_permutations: int = N_PERMUTATIONS,
    steps: Steps,
) -> list[TestResult]:
    """Return the max-T permutation test of each feature, in the order of `features`.

    p = (1 + k) / (1 + n_permutations), where k is the number of permutations whose largest z over all features is at
    least the observed z of the feature. secret: the hidden values. steps: counts the permutations, to report progress.
    """
    random = np.random.default_rng(seed)
    statistics = np.empty((n_permutations + 1, len(features)))
    for row in range(n_permutations + 1):
        permuted = secret if row == 0 else Hidden(secret.values[permutations.sample(random)], secret.shares)
        statistics[row] = [feature.statistic(permuted) for feature in features]
        steps.add(1)
    spread = statistics.std(axis=0)
    z = (statistics - statistics.mean(axis=0)) / np.where(spread > _ROUNDING, spread, np.inf)
    signed = np.array([feature.signed for feature in features], dtype=np.bool_)
    z = np.where(signed, np.abs(z), z)
    largest = z.max(axis=1)
    p = [float(np.count_nonzero(largest >= observed - _ROUNDING)) / (n_permutations + 1) for observed in z[0]]
    return [
        TestResult(feature.name, share, float(observed))
        for feature, share, observed in zip(features, p, z[0], strict=True)
    ]

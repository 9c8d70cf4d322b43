"""Does an order, an id or a column tell what is hidden? One permutation test of many features at once.

Hidden values are dealt out again at random, and every feature is measured again. Whole groups change places with groups
of their size, and lines within their group: a document's passages stand together in any file, and that they do tells
nothing. Features are put on one scale by their own mean and deviation over the deals, and the largest of all decides
(Westfall & Young 1993, max-T), so the level holds for all features of a secret together.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluator.outcomes.table import Numbers
from evaluator.progress import Steps

TIMES = 499
_CLASSES = 20
_ROUNDING = 1e-9
Places = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Hidden:
    """What is hidden, one a line. Numbers: standardised ranks. Classes: codes, and each one's share; those beyond the
    20 most frequent are one."""

    values: Numbers | Places
    shares: Numbers | None


Statistic = Callable[[Hidden], float]


@dataclass(frozen=True)
class Feature:
    """statistic: of hidden values, higher where the feature tells them; `signed`: far from its mean, either way."""

    name: str
    statistic: Statistic
    signed: bool = False


class Deals:
    """Deals the lines out again. groups: each line's group."""

    def __init__(self, groups: Sequence[Hashable]) -> None:
        numbers: dict[Hashable, int] = {}
        codes = np.array([numbers.setdefault(group, len(numbers)) for group in groups], dtype=np.int64)
        sizes = np.bincount(codes)
        order = np.lexsort((codes, sizes[codes]))
        self._n = len(codes)
        self._blocks: list[Places] = []
        begin = 0
        for size, count in zip(*np.unique(sizes, return_counts=True), strict=True):
            end = begin + int(size) * int(count)
            self._blocks.append(order[begin:end].reshape(int(count), int(size)))
            begin = end

    def deal(self, random: np.random.Generator) -> Places:
        """For each line the line whose values it gets."""
        dealt = np.empty(self._n, dtype=np.int64)
        for block in self._blocks:
            given = block[random.permutation(len(block))]
            dealt[block] = random.permuted(given, axis=1) if block.shape[1] > 1 else given
        return dealt


def hidden(values: Sequence[str | float | None]) -> Hidden:
    """Numbers where all values are."""
    if all(isinstance(value, float) for value in values):
        _, place, count = np.unique(np.array(values, dtype=np.float64), return_inverse=True, return_counts=True)
        ranks: Numbers = (np.cumsum(count) - (count - 1) / 2)[place]
        return Hidden((ranks - ranks.mean()) / (ranks.std() or 1.0), None)
    codes = coded([str(value) for value in values], most=_CLASSES)
    return Hidden(codes, np.bincount(codes) / len(codes))


def coded(values: Sequence[Hashable], *, most: int, least: int = 1) -> Places:
    """A number a value, the most frequent first; rarer ones than `most`, or than `least` lines, share the last.

    Which of equally frequent values come first must not follow from the order of lines, or it would seem to tell them:
    a digest of the value decides.
    """
    numbers: dict[Hashable, int] = {}
    codes = np.array([numbers.setdefault(value, len(numbers)) for value in values], dtype=np.int64)
    counts = np.bincount(codes)
    names = list(numbers)
    order = np.array(sorted(range(len(names)), key=lambda code: (-counts[code], _drawn(names[code]))), dtype=np.int64)
    new = np.full(len(counts), min(most, int(np.count_nonzero(counts >= least))), dtype=np.int64)
    kept = np.sort(order[: new[0]])
    kept = kept[np.argsort(-counts[kept], kind="stable")]
    new[kept] = np.arange(len(kept))
    dense: Places = np.unique(new[codes], return_inverse=True)[1].astype(np.int64)
    return dense


def _drawn(value: Hashable) -> bytes:
    return hashlib.blake2b(repr(value).encode("utf-8", "backslashreplace"), key=b"kinds", digest_size=8).digest()


@dataclass(frozen=True)
class Tested:
    """p: of the feature among all features. z: how many deviations from what the deals give."""

    name: str
    p: float
    z: float


def deviations(
    features: Sequence[Feature], secret: Hidden, deals: Deals, *, seed: int, times: int = TIMES, steps: Steps
) -> list[Tested]:
    """One a feature, in their order. p = (1 + deals whose largest deviation is no smaller) / (1 + deals)."""
    random = np.random.default_rng(seed)
    found = np.empty((times + 1, len(features)))
    for row in range(times + 1):
        dealt = secret if row == 0 else Hidden(secret.values[deals.deal(random)], secret.shares)
        found[row] = [feature.statistic(dealt) for feature in features]
        steps.add(1)
    spread = found.std(axis=0)
    z = (found - found.mean(axis=0)) / np.where(spread > _ROUNDING, spread, np.inf)
    signed = np.array([feature.signed for feature in features], dtype=np.bool_)
    z = np.where(signed, np.abs(z), z)
    largest = z.max(axis=1)
    p = [float(np.count_nonzero(largest >= own - _ROUNDING)) / (times + 1) for own in z[0]]
    return [Tested(one.name, share, float(own)) for one, share, own in zip(features, p, z[0], strict=True)]

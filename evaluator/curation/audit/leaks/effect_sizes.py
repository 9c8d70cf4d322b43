"""Effect sizes of label leaks, for reports: from 0 (guessing is no better with the leak) to 1 (always right)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evaluator.curation.audit.leaks.max_t_test import Indices, Permutations, encode_by_frequency
from evaluator.outcomes.table import Numbers
from evaluator.tasks.audit.findings import percent

_CLASSES = 20
_BINS = 20
_N_PERMUTATIONS = 20


@dataclass(frozen=True)
class Effect:
    """An effect size. share: from 0 (nothing is leaked) to 1 (guesses are always right). text: the effect in words."""

    share: float
    text: str


class EffectSizes:
    """Effect sizes of guessing the values of one confidential column, such as the label, from public features.

    values: one per line; if all are floats, their ranks are guessed, otherwise each value is a class. permutations:
    random permutations of the lines, to estimate how often adjacent lines agree by chance.
    """

    def __init__(self, values: Sequence[str | float | None], permutations: Permutations) -> None:
        self._permutations = permutations
        self.numeric = all(isinstance(value, float) for value in values)
        if self.numeric:
            self._ranked = _ranks(np.array(values, dtype=np.float64))
        else:
            self._codes = encode_by_frequency([str(value) for value in values], most=_CLASSES)
            self._n = int(self._codes.max()) + 1

    def by_value(self, codes: Indices) -> Effect:
        """Return the effect of guessing a line's hidden value from the code that a public feature has on the line.

        The guess is the most frequent class, or for numbers the mean rank, among the lines with the same code. codes:
        the feature's code of each line.

        For classes the share is (right - majority) / (1 - majority), where `right` is the share of right guesses and
        `majority` the share of the most frequent class. For numbers it is the share of the ranks' variance that the
        codes explain.
        """
        if self.numeric:
            sizes = np.bincount(codes)
            means = (np.bincount(codes, weights=self._ranked) / np.maximum(sizes, 1))[codes]
            total = float(((self._ranked - self._ranked.mean()) ** 2).sum())
            residual = float(((self._ranked - means) ** 2).sum())
            share = 1 - residual / total if total else 0.0
            return Effect(share, f"explains {percent(share)} of the ranks' variance")
        table = np.bincount(codes * self._n + self._codes, minlength=(int(codes.max()) + 1) * self._n)
        right = float(table.reshape(-1, self._n).max(axis=1).sum()) / len(codes)
        majority = float(np.bincount(self._codes).max()) / len(codes)
        lift = (right - majority) / (1 - majority) if majority < 1 else 0.0
        if lift <= 0:
            return Effect(0.0, "the most frequent value stays the best guess, but its share depends on this feature")
        return Effect(
            lift,
            f"guessing from it is right on {percent(right)}, always guessing the most frequent value on "
            f"{percent(majority)}",
        )

    def trend(self, order: Indices) -> Effect:
        """Return the effect of guessing a line's hidden value from the line's position in an order.

        order: the indices of all lines, from the first position to the last. For numbers, the share is the absolute
        Spearman correlation of value and position. For classes, it is 1 if each class is contiguous; otherwise the
        order is cut into equal parts, and the most frequent class of each part is guessed.
        """
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        if self.numeric:
            rho = _correlation(rank.astype(np.float64), self._ranked)
            return Effect(abs(rho), f"rank correlation {rho:.2f}")
        if int(np.count_nonzero(np.diff(self._codes[order]))) == self._n - 1:
            return Effect(1.0, "the lines are sorted by it")
        bins = max(2, min(_BINS, len(order) // 5))
        effect = self.by_value(rank * bins // len(order))
        return Effect(effect.share, f"{effect.text}, using the position in {bins} equal parts of the order")

    def neighbours(self, order: Indices) -> Effect:
        """Return the effect of adjacent lines having equal hidden values more often, or less often, than by chance.

        order: the indices of all lines, from the first position to the last. For numbers, "equal" means correlated
        ranks. The chance level is the mean over random permutations.
        """
        random = np.random.default_rng(0)
        observed = self._alike(order, None)
        chance = float(np.mean([self._alike(order, self._permutations.sample(random)) for _ in range(_N_PERMUTATIONS)]))
        least = -1.0 if self.numeric else 0.0
        share = (observed - chance) / (1 - chance) if observed >= chance else (chance - observed) / (chance - least)
        if self.numeric:
            return Effect(share, f"neighbours have correlation {observed:.2f}, expected by chance {chance:.2f}")
        return Effect(
            share, f"{percent(observed)} of neighbours have the same value, {percent(chance)} expected by chance"
        )

    def _alike(self, order: Indices, permutation: Indices | None) -> float:
        """Return the share of adjacent lines with equal classes, or for numbers the correlation of adjacent ranks.

        Lines are adjacent in `order`. permutation: for each line, the index of the line whose value it gets first;
        None: each line keeps its own.
        """
        indices = order if permutation is None else permutation[order]
        if self.numeric:
            values = self._ranked[indices]
            return _correlation(values[1:], values[:-1])
        codes = self._codes[indices]
        return float((codes[1:] == codes[:-1]).mean())


def _ranks(values: Numbers) -> Numbers:
    _, inverse, count = np.unique(values, return_inverse=True, return_counts=True)
    ranks: Numbers = (np.cumsum(count) - (count - 1) / 2)[inverse]
    return ranks


def _correlation(a: Numbers, b: Numbers) -> float:
    if len(a) < 2 or not (a.std() and b.std()):
        return 0.0
    return float(np.corrcoef(a, b)[0, 1])

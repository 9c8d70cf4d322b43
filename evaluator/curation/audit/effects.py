"""How well something tells what is hidden, for a person: from 0, no better than without it, to 1, always."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evaluator.curation.audit.exchanges import Places, coded
from evaluator.curation.audit.findings import percent
from evaluator.outcomes import Numbers

_CLASSES = 20


@dataclass(frozen=True)
class Effect:
    """share: 0 to 1. told: the same in words."""

    share: float
    told: str


class Hidden:
    """Hidden values, ready to be guessed."""

    def __init__(self, values: Sequence[str | float | None]) -> None:
        self.numeric = all(isinstance(value, float) for value in values)
        self.names: list[str] = []
        if self.numeric:
            self._numbers = np.array(values, dtype=np.float64)
        else:
            self._codes = coded([str(value) for value in values], most=_CLASSES)
            self._n = int(self._codes.max()) + 1

    def by_value(self, codes: Places) -> Effect:
        """Guessing from a column's value alone: the most frequent class of each value, or its mean."""
        if self.numeric:
            sizes = np.bincount(codes)
            means = (np.bincount(codes, weights=self._numbers) / np.maximum(sizes, 1))[codes]
            whole = float(((self._numbers - self._numbers.mean()) ** 2).sum())
            left = float(((self._numbers - means) ** 2).sum())
            share = 1 - left / whole if whole else 0.0
            return Effect(share, f"explains {percent(share)} of the variance")
        table = np.bincount(codes * self._n + self._codes, minlength=(int(codes.max()) + 1) * self._n)
        right = float(table.reshape(-1, self._n).max(axis=1).sum()) / len(codes)
        most = float(np.bincount(self._codes).max()) / len(codes)
        lift = (right - most) / (1 - most) if most < 1 else 0.0
        return Effect(lift, f"guesses {percent(right)} right, the most frequent value {percent(most)}")

    def trend(self, order: Places) -> Effect:
        """Earlier lines have other values than later ones."""
        place = np.empty(len(order))
        place[order] = np.arange(len(order))
        if self.numeric:
            rho = _correlation(place, _ranks(self._numbers))
            return Effect(abs(rho), f"rank correlation {rho:.2f}")
        best = max(abs(2 * _auroc(place, self._codes == code) - 1) for code in range(self._n))
        if best > 0.999:
            return Effect(1.0, "one of the values comes first, whole")
        return Effect(best, f"the place tells a value from the others with AUROC {(1 + best) / 2:.2f}")

    def neighbours(self, order: Places) -> Effect:
        """A line has its neighbour's value, or never has it."""
        if self.numeric:
            values = _ranks(self._numbers)[order]
            rho = _correlation(values[1:], values[:-1])
            return Effect(abs(rho), f"neighbours correlate with {rho:.2f}")
        codes = self._codes[order]
        same = float((codes[1:] == codes[:-1]).mean())
        shares = np.bincount(codes) / len(codes)
        chance = float((shares**2).sum())
        share = (same - chance) / (1 - chance) if same >= chance else (chance - same) / chance
        return Effect(share, f"{percent(same)} of neighbours have one value, {percent(chance)} by chance")


def _auroc(place: Numbers, positive: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> float:
    """Of places without ties."""
    n = int(positive.sum())
    m = len(place) - n
    return float((place[positive].sum() - n * (n - 1) / 2) / (n * m)) if n and m else 0.5


def _ranks(values: Numbers) -> Numbers:
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    ranks: Numbers = (np.cumsum(count) - (count - 1) / 2)[place]
    return ranks


def _correlation(a: Numbers, b: Numbers) -> float:
    if len(a) < 2 or not (a.std() and b.std()):
        return 0.0
    return float(np.corrcoef(a, b)[0, 1])

"""Near duplicates: pairs of texts whose word bigrams overlap. No pair is missed and none is guessed.

A text is the set of its bigrams of lower-cased words, with a mark before the first word and one after the last. Two
sets of Jaccard similarity t or more share one of their rarest bigrams (of n, the n - ceil(t n) + 1 rarest), so only
texts which meet there are compared (Chaudhuri et al. 2006; Bayardo et al. 2007); their similarity is counted out.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evaluator.errors import UsageError
from evaluator.progress import Steps
from evaluator.statistics.ngrams import tokens

THRESHOLD = 0.7
MOST_PAIRS = 1_000_000
MOST_COMPARED = 20_000_000
"""Texts made from few templates may all be alike; nobody reads further."""

_EXACT = 1e-9
Ints = npt.NDArray[np.int64]


class Pair(NamedTuple):
    """Places of two texts, and the similarity of their bigrams."""

    first: int
    second: int
    jaccard: float


@dataclass
class Pairs:
    """whole: all of them are here; else looking ended at the most that anybody reads."""

    found: list[Pair] = field(default_factory=list)
    whole: bool = True


def near_pairs(
    texts: Sequence[str], others: Sequence[str] | None = None, *, threshold: float = THRESHOLD, most: int = MOST_PAIRS
) -> Pairs:
    """Pairs (first < second) within `texts`; or, with `others`, pairs of a text and one of the others. Texts without
    words are like none. threshold: above 0, at most 1. Raises UsageError."""
    if not 0 < threshold <= 1:
        raise UsageError(f"the threshold is {threshold:g}, expected a number above 0, at most 1")
    sets = _Sets([*texts, *(others or ())])
    pairs = Pairs()
    border = len(texts) if others is not None else None
    compared = 0
    for found, count in _similar(sets, border, threshold):
        compared += count
        pairs.found += found
        if len(pairs.found) >= most or compared >= MOST_COMPARED:
            pairs.whole = False
            del pairs.found[most:]
            break
    pairs.found.sort()
    return pairs


class _Sets:
    """Texts as sets of bigrams. A bigram's number is its rank: those in fewer texts have lower ones; `shared` is the
    first that more than one text has."""

    def __init__(self, texts: Sequence[str]) -> None:
        numbers: dict[str, int] = {}
        lengths = np.empty(len(texts), dtype=np.int64)
        coded: list[int] = []
        for place, text in enumerate(texts):
            found = tokens(text)
            lengths[place] = len(found) + 2
            coded += [0, *[numbers.setdefault(word, len(numbers) + 1) for word in found], 0]
        words, where = np.array(coded, dtype=np.int64), np.repeat(np.arange(len(texts)), lengths)
        del coded
        begins = np.flatnonzero((where[1:] == where[:-1]) & ((words[1:] > 0) | (words[:-1] > 0)))
        where = where[begins]
        distinct, gram = np.unique(words[begins] * (len(numbers) + 1) + words[begins + 1], return_inverse=True)
        size = max(len(distinct), 1)
        where, gram = np.divmod(np.unique(where * size + gram), size)
        counts = np.bincount(gram, minlength=size)
        rank = np.empty(size, dtype=np.int64)
        rank[np.argsort(counts, kind="stable")] = np.arange(size)
        self._ranks: Ints = np.sort(where * size + rank[gram]) % size
        self._ends = np.searchsorted(where, np.arange(len(texts)), side="right").tolist()
        self.sizes: list[int] = np.bincount(where, minlength=len(texts)).tolist()
        self.shared = int(np.count_nonzero(counts < 2))
        self._held: dict[int, frozenset[int]] = {}

    def rarest(self, place: int, count: int) -> list[int]:
        """Of the text's `count` rarest bigrams those that another text has."""
        begin = self._ends[place] - self.sizes[place]
        return [gram for gram in self._ranks[begin : begin + count].tolist() if gram >= self.shared]

    def jaccard(self, a: int, b: int) -> float:
        common = len(self._set(a) & self._set(b))
        return common / (self.sizes[a] + self.sizes[b] - common)

    def _set(self, place: int) -> frozenset[int]:
        if place not in self._held:
            end = self._ends[place]
            self._held[place] = frozenset(self._ranks[end - self.sizes[place] : end].tolist())
        return self._held[place]


def _similar(sets: _Sets, border: int | None, threshold: float) -> Iterator[tuple[list[Pair], int]]:
    """A text at a time: its pairs with texts seen before, and how many it was compared with.

    border: texts from there on are looked up by those before it; None: each is compared with each.
    """
    under: dict[int, list[int]] = defaultdict(list)  # bigram: texts that have it among their rarest
    sizes = sets.sizes
    order = range(len(sizes)) if border is None else [*range(border, len(sizes)), *range(border)]
    steps = Steps(len(sizes))
    for place in order:
        steps.add(1)
        size = sizes[place]
        if not size:
            continue
        least = math.ceil(threshold * size - _EXACT)
        rarest = sets.rarest(place, size - least + 1)
        if border is None or place < border:
            most = size / threshold + _EXACT
            met = {other for gram in rarest if gram in under for other in under[gram] if least <= sizes[other] <= most}
            found = []
            for other in met:
                jaccard = sets.jaccard(place, other)
                if jaccard >= threshold - _EXACT:
                    found.append(
                        Pair(other, place, jaccard) if border is None else Pair(place, other - border, jaccard)
                    )
            yield found, len(met)
        if border is None or place >= border:
            for gram in rarest:
                under[gram].append(place)

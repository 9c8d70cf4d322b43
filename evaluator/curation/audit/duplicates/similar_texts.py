"""Near-duplicates: pairs of texts with overlapping word bigrams. The search is exact.

A text is the set of its bigrams of lower-cased words, with a mark before the first word and one after the last. Two
sets of Jaccard similarity t or more share one of their rarest bigrams: of a set of n bigrams, one of the
n - ceil(t n) + 1 rarest. So only texts with such a bigram in common are compared (Chaudhuri et al. 2006; Bayardo et al.
2007), by their exact similarity.
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
"""Maximum number of pairs of texts that one search compares, since texts made from few templates may all be similar.
Beyond it the search stops."""

_EXACT = 1e-9  # tolerance for rounding errors in comparisons with the threshold
Ints = npt.NDArray[np.int64]


class Pair(NamedTuple):
    """Two near-duplicate texts: their indices, and the Jaccard similarity of their bigrams."""

    first: int
    second: int
    jaccard: float


@dataclass
class Pairs:
    """Pairs of near-duplicates found by a search.

    whole: True if these are all; False if the search stopped at its limit, so that there may be more.
    """

    pairs: list[Pair] = field(default_factory=list)
    whole: bool = True


def near_pairs(
    texts: Sequence[str], others: Sequence[str] | None = None, *, threshold: float = THRESHOLD, most: int = MOST_PAIRS
) -> Pairs:
    """Return the pairs of near-duplicates: texts whose word bigrams have a Jaccard similarity of `threshold` or more.

    others: None: pairs within `texts`, with first < second; else each pair has an index in `texts` and one in `others`.
    Texts without words are in no pair. threshold: above 0, at most 1. most: the maximum number of pairs. Raises
    UsageError for a threshold that is not in this range.
    """
    if not 0 < threshold <= 1:
        raise UsageError(f"the near-duplicate threshold is {threshold}, expected a number above 0 and at most 1")
    sets = _Sets([*texts, *(others or ())])
    pairs = Pairs()
    border = len(texts) if others is not None else None
    compared = 0
    for matches, count in _similar(sets, border, threshold):
        compared += count
        pairs.pairs += matches
        if len(pairs.pairs) >= most or compared >= MOST_COMPARED:
            pairs.whole = False
            del pairs.pairs[most:]
            break
    pairs.pairs.sort()
    return pairs


class _Sets:
    """Texts as sets of bigrams.

    A bigram is represented by its rank, where 0 is the bigram that occurs in the fewest texts. sizes: each text's
    number of distinct bigrams. shared: the lowest rank of a bigram that occurs in more than one text.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        numbers: dict[str, int] = {}
        lengths = np.empty(len(texts), dtype=np.int64)
        coded: list[int] = []
        for index, text in enumerate(texts):
            words = tokens(text)
            lengths[index] = len(words) + 2
            coded += [0, *[numbers.setdefault(word, len(numbers) + 1) for word in words], 0]
        word_codes, text_index = np.array(coded, dtype=np.int64), np.repeat(np.arange(len(texts)), lengths)
        del coded
        begins = np.flatnonzero((text_index[1:] == text_index[:-1]) & ((word_codes[1:] > 0) | (word_codes[:-1] > 0)))
        text_index = text_index[begins]
        distinct, gram = np.unique(
            word_codes[begins] * (len(numbers) + 1) + word_codes[begins + 1], return_inverse=True
        )
        size = max(len(distinct), 1)
        text_index, gram = np.divmod(np.unique(text_index * size + gram), size)
        counts = np.bincount(gram, minlength=size)
        rank = np.empty(size, dtype=np.int64)
        rank[np.argsort(counts, kind="stable")] = np.arange(size)
        self._ranks: Ints = np.sort(text_index * size + rank[gram]) % size
        self._ends = np.searchsorted(text_index, np.arange(len(texts)), side="right").tolist()
        self.sizes: list[int] = np.bincount(text_index, minlength=len(texts)).tolist()
        self.shared = int(np.count_nonzero(counts < 2))
        self._held: dict[int, frozenset[int]] = {}

    def rarest(self, index: int, count: int) -> list[int]:
        """Return, of a text's `count` rarest bigrams, the ranks of those that also occur in another text.

        index: the text's index. The rarest bigrams are those that occur in the fewest texts.
        """
        begin = self._ends[index] - self.sizes[index]
        return [gram for gram in self._ranks[begin : begin + count].tolist() if gram >= self.shared]

    def jaccard(self, a: int, b: int) -> float:
        """Return the Jaccard similarity of two texts, given by their indices."""
        common = len(self._set(a) & self._set(b))
        return common / (self.sizes[a] + self.sizes[b] - common)

    def _set(self, index: int) -> frozenset[int]:
        if index not in self._held:
            end = self._ends[index]
            self._held[index] = frozenset(self._ranks[end - self.sizes[index] : end].tolist())
        return self._held[index]


def _similar(sets: _Sets, border: int | None, threshold: float) -> Iterator[tuple[list[Pair], int]]:
    """Yield, for each text, (its near-duplicate pairs, the number of texts it was compared with).

    border: the index at which the second list of texts begins; each text before it is compared only with the texts from
    it on. None: there is one list, and each text is compared only with earlier ones.
    """
    texts_by_gram: dict[int, list[int]] = defaultdict(list)  # the texts that have the bigram among their rarest ones
    sizes = sets.sizes
    order = range(len(sizes)) if border is None else [*range(border, len(sizes)), *range(border)]
    steps = Steps(len(sizes))
    for index in order:
        steps.add(1)
        size = sizes[index]
        if not size:
            continue
        least = math.ceil(threshold * size - _EXACT)
        rarest = sets.rarest(index, size - least + 1)
        if border is None or index < border:
            most = size / threshold + _EXACT
            candidates = {
                other
                for gram in rarest
                if gram in texts_by_gram
                for other in texts_by_gram[gram]
                if least <= sizes[other] <= most
            }
            matches = []
            for other in candidates:
                jaccard = sets.jaccard(index, other)
                if jaccard >= threshold - _EXACT:
                    matches.append(
                        Pair(other, index, jaccard) if border is None else Pair(index, other - border, jaccard)
                    )
            yield matches, len(candidates)
        if border is None or index >= border:
            for gram in rarest:
                texts_by_gram[gram].append(index)
